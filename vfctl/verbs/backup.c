// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"
#include "core/recover.h"

static int run_backup(struct invocation *in)
{
	int r = vfctl_backup(in->ctx, in->args[0]);

	if (r < 0)
		return fail(in, r);
	if (!in->quiet)
		out_line(in->out, "the leases, identities and open changes of this host are in %s",
			in->args[0]);
	return EXIT_DONE;
}

const struct command cmd_backup = {
	.name = "backup",
	.args = "FILE",
	.summary = "copy the state file, whole and as of one moment, while it is in use",
	.text = "To restore it, put the copy in the place of /var/lib/vfctl/state.db (and remove\n"
		"state.db-wal and state.db-shm beside it) while no vfctl runs; then vfctl status says where\n"
		"the host has moved on. Without a copy: vfctl recover --rebuild.\n\n"
		"FILE is never replaced. It is made as FILE.part and gets its name when it is whole.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.run = run_backup,
};
