// SPDX-License-Identifier: GPL-2.0-or-later
/* adopt: a domain that others wrote, with its VFs under lease. */
#include "command.h"
#include "host_ids.h"
#include "core/workflow.h"

static int run_adopt(struct invocation *in)
{
	bool end = option_of(in, "end") != NULL;
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	_cleanup_(host_ids_close) struct host_ids h = {0};
	struct vfctl_change *change;
	int r, status = host_ids_open_guest(in, &h, &hv);

	if (status)
		return status;
	in->result_domain = in->args[0];
	r = end ? vfctl_adopt_end_plan(in->ctx, hv, in->args[0], h.ids, in->dry_run, &change)
		: vfctl_adopt_plan(in->ctx, hv, in->args[0], h.ids, in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_ids_change(in, &h, change, "its lease is ended");
}

static const struct option_row options[] = {
	{"end", 0, NULL, "the way back: its lease ends, and the domain stays with its devices", NULL},
};

const struct command cmd_adopt = {
	.name = "adopt",
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "lease to a domain that others wrote the VFs that it has",
	.text = "For domains of virt-install, virt-manager or virsh: each VF in the definition, as\n"
		"<hostdev> or <interface type='hostdev'>, is leased to it with what it has now (MAC and\n"
		"VLAN are those that an <interface> says), so that nobody else gets it, and the hook sets\n"
		"that at each start. The devices are not changed; only vfctl's metadata is added. It may\n"
		"run. Refused when a VF is another's, or comes from a network of libvirt's.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(options),
	.run = run_adopt,
};
