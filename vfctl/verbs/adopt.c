// SPDX-License-Identifier: GPL-2.0-or-later
/* adopt: lease the VFs of a foreign domain. */
#include "command.h"
#include "host_ids.h"
#include "core/workflow.h"

static int run_adopt(struct invocation *in)
{
	bool end = option_of(in, "undo") != NULL;
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
	{"undo", 0, NULL, "end the lease of the domain; the domain keeps its devices", NULL},
};

const struct command cmd_adopt = {
	.name = "adopt",
	.group = GROUP_GUESTS,
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "Lease the VFs of a foreign domain to that domain",
	.text = "For domains of virt-install, virt-manager or virsh. Each VF of the "
		"definition, a <hostdev> or an <interface type='hostdev'>, is leased to the "
		"domain with its present values; an <interface> states MAC and VLAN itself. "
		"From then on no other domain gets the VF, and the hook sets the values at "
		"each start. Only vfctl's metadata is added to the definition, and the domain"
		" may run. The command is rejected if another domain has one of the VFs, or "
		"if a libvirt network assigns them.",
	.examples = {{"vfctl adopt db --dry-run", "print the steps"},
		{"vfctl adopt db --undo", "end the lease again"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(options),
	.run = run_adopt,
};
