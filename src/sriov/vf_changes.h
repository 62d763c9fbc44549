/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_VF_CHANGES_H
#define VFCTL_SRIOV_VF_CHANGES_H

#include "base/change.h"
#include "ids/derive.h"
#include "sriov/attrs.h"
#include "core/inventory.h"
#include "core/lease.h"
#include "core/sriov.h"

/*
 * Plans from a snapshot (holders filled in) to steps. The snapshot must stay until the
 * steps are done. Nothing is written by planning.
 */
/* The step of it alone, for a change that does more. */
int vf_changes_add_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct steps *steps);
int vf_changes_plan_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct vfctl_change **ret_change);

/*
 * None of the PF's VFs (their users filled in) is in anybody's hands: -EBUSY, naming the first
 * that is, and @why.
 */
int vf_changes_check_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *why);

/* -EBUSY: of @attrs one cannot change while somebody has the VF. */
int vf_changes_check_unused(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs);

#endif
