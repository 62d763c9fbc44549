/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_LIFECYCLE_H
#define VFCTL_VFS_LIFECYCLE_H

#include "change/target.h"
#include "core/sriov.h"

/* The PF has so many VFs; what is planned is not kept yet. */
int create_plan_on(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change);
/* It has none. */
int destroy_plan_on(struct vfctl_ctx *ctx, const struct target *t, struct vfctl_ids *ids,
	struct vfctl_change **ret_change);

#endif
