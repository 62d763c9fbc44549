// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The subnet manager that host.yaml declares: its files, its service, and the ports it must serve.
 */
#include "vfs/apply_subnet.h"

#include <errno.h>

#include "fleet/fleet.h"
#include "ids/pools.h"
#include "infiniband/opensm.h"
#include "sriov/ops.h"

#define UMAD "ib_umad" /* opensm sends its packets through it */

int subnet_add_partitions(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids, struct steps *steps)
{
	_cleanup_(vfctl_ids_closep) struct vfctl_ids *own = NULL;
	_free_ char *exported = NULL;
	int r = ids ? 0 : vfctl_ids_open(ctx, spec, false, &own);

	if (r == 0)
		r = vfctl_ids_partitions(ids ? ids : own, 0, &exported);
	return r < 0 ? r : opensm_add_partitions(ctx, &spec->subnet, exported, steps);
}

/*
 * At boot etcd may not answer yet. Then the partitions stay as they are, so that the huge pages and
 * the other settings of the host do not depend on it.
 */
static int try_partitions(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct steps *steps)
{
	int r = subnet_add_partitions(ctx, spec, ids, steps);

	if (r == 0 || r == -ENOMEM || r == -EEXIST || !spec->etcd)
		return r;
	log_warn(ctx, "OpenSM's partitions stay as they are: %s", vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

static int append_pending(struct vfctl_ctx *ctx, char **io_pending, char *more)
{
	_free_ char *own = more;
	char *both;

	if (!own)
		return 0;
	both = *io_pending ? str_format("%s; %s", *io_pending, own) : steal(own);
	if (!both)
		return ctx_oom(ctx);
	free(*io_pending);
	*io_pending = both;
	return 0;
}

int subnet_add_steps(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct steps *steps, char **io_pending)
{
	char *pending = NULL;
	int r = 0;

	if (spec->subnet.runs == VFCTL_SUBNET_UNSTATED)
		return 0;
	if (spec->subnet.runs == VFCTL_SUBNET_HERE) {
		r = try_partitions(ctx, spec, ids, steps);
		if (r == 0 && !module_is_here(ctx, UMAD))
			step_add_op(steps, &op_module, "tried", NULL, UMAD,
				"load the kernel module %s", UMAD);
		if (r == 0)
			r = opensm_add_service(ctx, &spec->subnet, steps, &pending);
	}
	if (r == 0)
		r = append_pending(ctx, io_pending, pending);
	return r < 0 ? r : subnet_add_ports(ctx, steps);
}
