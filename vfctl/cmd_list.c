// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"
#include "print_host.h"

static int run(struct invocation *in)
{
	const char *only = in->arg_count ? in->args[0] : NULL;
	struct vfctl_snapshot *snapshot;
	const struct vfctl_pf *pf;
	int r;

	r = vfctl_snapshot_read(in->ctx, only, &snapshot);
	if (r < 0)
		return fail(in, r);
	if (only)
		r = vfctl_inventory_find_pf(in->ctx, snapshot->inventory, only, &pf);
	if (r == 0 && in->json)
		print_list_json(in->out, snapshot, only ? pf : NULL);
	else if (r == 0)
		print_list(in->out, snapshot, only ? pf : NULL);
	vfctl_snapshot_free(snapshot);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

const struct command cmd_list = {
	.name = "list",
	.args = "[PF]",
	.summary = "list PFs and their VFs: address, driver, NUMA node, identity, who holds them",
	.max_args = 1,
	.operand = OPERAND_PF,
	.reads = true,
	.run = run,
};
