// SPDX-License-Identifier: GPL-2.0-or-later
/* adopt: lease the VFs of a foreign domain. */
#include "run_plan.h"

#include "vfctl/plan.h"

static int run_adopt(struct invocation *in)
{
	return run_plan(in, vfctl_plan_adopt, "its lease is ended");
}

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
	.call = CALL_ADOPT,
	.run = run_adopt,
};
