// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves of guests that have their place, and why a guest is not on a node. */
#include <errno.h>
#include <inttypes.h>

#include "placement/placement.h"

static int nothing_yet(void)
{
	return -ENOSYS;
}

int vfctl_plan_rebalance(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_plan_options *options, struct vfctl_rebalance **ret)
{
	(void)ctx, (void)model, (void)options, (void)ret;
	return nothing_yet();
}
