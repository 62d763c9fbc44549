/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_LAG_H
#define VFCTL_WORKFLOW_LAG_H

#include "base/change.h"
#include "vfctl/apply.h"

/*
 * Add the steps that make a VF-LAG as declared; none when it is. @planned: the modes of the PFs' switches
 * are taken to be as declared, for they are changed before. -EBUSY, -EINVAL, ...: what keeps the driver
 * from it, in words.
 */
int lag_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const struct vfctl_host_spec *spec,
	const struct vfctl_lag_spec *lag, bool planned, struct vfctl_change *change);

/*
 * -EBUSY: somebody has a VF of another port of the VF-LAG that the PF is in, and that goes with what is
 * done to this one. Without a VF-LAG: 0. The inventory has the VFs of all PFs.
 */
int lag_check_other(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const struct vfctl_pf *pf,
	const char *meanwhile);

/* All of them, for vfctl_declared_read(). */
int lag_compare(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const struct vfctl_host_spec *spec,
	struct vfctl_declared *all);

#endif
