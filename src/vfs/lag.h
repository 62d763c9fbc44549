/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_LAG_H
#define VFCTL_VFS_LAG_H

#include "base/change.h"
#include "core/apply.h"

/*
 * Add the steps that make a VF-LAG as declared; none when it is. @planned: the modes of the PFs' switches
 * are taken to be as declared, for they are changed before. -EBUSY, -EINVAL, ...: what keeps the driver
 * from it, in words.
 */
int lag_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const struct vfctl_host_spec *spec,
	const struct vfctl_lag_spec *lag, bool planned, struct vfctl_change *change);

/* All of them, for vfctl_declared_read(). */
int lag_compare(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const struct vfctl_host_spec *spec,
	struct vfctl_declared *all);

#endif
