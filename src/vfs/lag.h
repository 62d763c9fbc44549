/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_LAG_H
#define VFCTL_VFS_LAG_H

#include "base/planning.h"
#include "vfs/apply.h"

/*
 * Add the steps that create a VF-LAG as declared; none if it exists. @planned: assume the declared
 * modes of the PFs' switches, because they are set before. -EBUSY, -EINVAL, ...: a requirement of
 * the driver is not met; the message names it.
 */
int lag_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_host_spec *spec,
	const struct vfctl_lag_spec *lag, bool planned, struct vfctl_change *change);

/* Compare all of them, for vfctl_declared_read(). */
int lag_compare(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_host_spec *spec,
	struct vfctl_declared *all);

#endif
