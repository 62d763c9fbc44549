/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_VF_CHANGES_H
#define VFCTL_SRIOV_VF_CHANGES_H

#include "base/planning.h"
#include "ids/derive.h"
#include "sriov/attrs.h"

/*
 * Plan changes from a snapshot (with holders filled in) to steps. The snapshot must exist until the
 * steps are done. Planning writes nothing.
 */
/* Add only the step itself, for a change that does more. */
int vf_changes_add_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct steps *steps);
int vf_changes_plan_set(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, const struct vfctl_set_item *items, size_t count,
	struct vfctl_change **ret_change);

#endif
