/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LIFECYCLE_H
#define VFCTL_SRIOV_LIFECYCLE_H

#include "base/change.h"
#include "sriov/attrs.h"
#include "vfctl/inventory.h"
#include "vfctl/lease.h"
#include "vfctl/sriov.h"

/*
 * Plans from a snapshot (holders filled in) to steps. The snapshot must stay until the
 * steps are done. Nothing is written by planning. @guids (may be NULL: derived from the
 * PF's own) has one for each VF of an InfiniBand PF and is used while planning alone. What
 * @leases promise to domains, derived identities keep clear of.
 */
int lifecycle_plan_create(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_leases *leases, const struct vfctl_pf *pf,
	const struct vfctl_create_options *options, const uint64_t *guids,
	struct vfctl_change **ret_change);
int lifecycle_plan_destroy(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, struct vfctl_change **ret_change);
int lifecycle_plan_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct vfctl_change **ret_change);

#endif
