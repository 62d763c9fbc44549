// SPDX-License-Identifier: GPL-2.0-or-later
/* Used instead of load.c in a build without hwloc. */
#include <errno.h>

#include "base/ctx.h"
#include "topology/topology.h"

int vfctl_topology_load(struct vfctl_ctx *ctx, const struct vfctl_topology_source *source,
	struct vfctl_topology **ret)
{
	return ctx_fail(ctx, -ENOPKG, "this vfctl was built without hwloc");
}
