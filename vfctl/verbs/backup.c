// SPDX-License-Identifier: GPL-2.0-or-later
#include "command.h"
#include "vfctl/recover.h"

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
	.group = GROUP_HEALTH,
	.args = "FILE",
	.summary = "Copy the state file while it is in use",
	.text = "To restore it, stop all vfctl processes, replace /var/lib/vfctl/state.db "
		"with the copy, and remove state.db-wal and state.db-shm. vfctl status then "
		"shows how the host has changed since the backup. Without a backup, vfctl "
		"recover --rebuild restores the leases from libvirt's domains. An existing "
		"FILE is not replaced. The copy is written to FILE.part and renamed when it "
		"is complete.",
	.examples = {{"vfctl backup /root/state-monday.db", "make a copy"},
		{"vfctl backup /mnt/state.db", "on another disk"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.run = run_backup,
};
