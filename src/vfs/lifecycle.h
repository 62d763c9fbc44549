/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_LIFECYCLE_H
#define VFCTL_VFS_LIFECYCLE_H

#include "change/target.h"
#include "vfs/plans.h"

/* Plan to give the PF a number of VFs; the caller keeps the plan with target_keep(). */
int create_plan_on(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change);
/* Plan to remove all its VFs. */
int destroy_plan_on(struct vfctl_ctx *ctx, const struct target *t, struct vfctl_ids *ids,
	struct vfctl_change **ret_change);

#endif
