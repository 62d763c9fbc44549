// SPDX-License-Identifier: GPL-2.0-or-later
/* attach, detach */
#include <stdio.h>

#include "run_plan.h"
#include "vfctl/plan.h"

static int run_attach(struct invocation *in)
{
	char done[300];

	if (!option_of(in, "pf") == !option_of(in, "vf"))
		return usage(in, "name the VF: --pf PF (any free VF of it) or --vf PF/INDEX");
	snprintf(done, sizeof(done), "attached to %s", in->args[0]);
	return run_plan(in, vfctl_plan_attach, done);
}

const struct command cmd_attach = {
	.name = "attach",
	.group = GROUP_GUESTS,
	.common = true,
	.answer = change_answer,
	.args = "DOMAIN [ATTRIBUTE=VALUE...]",
	.summary = "Attach a VF to a domain, running or off",
	.text = "vfctl leases the VF to the domain, sets its identity, reads it back, and "
		"plugs it. Without --live and --config it changes both where possible: the "
		"running domain and its definition. The attributes are those of vfctl set. "
		"With --ensure the command can be repeated: VFs that the domain already has "
		"count.",
	.examples = {{"vfctl attach web --pf ens1 vlan=42", "a free VF of ens1"},
		{"vfctl attach web --pf ens1 --count 2 --ensure", "until the domain has two"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	.call = CALL_ATTACH,
	.run = run_attach,
};

static int run_detach(struct invocation *in)
{
	char done[300];

	snprintf(done, sizeof(done), "detached from %s", in->args[0]);
	return run_plan(in, vfctl_plan_detach, done);
}

const struct command cmd_detach = {
	.name = "detach",
	.group = GROUP_GUESTS,
	.common = true,
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "Take a VF from a domain and free it",
	.text = "From a running domain vfctl unplugs the VF and waits until the guest has "
		"released it. Then it resets the VF and ends its lease.",
	.examples = {{"vfctl detach web", "the only VF of web"},
		{"vfctl detach web --vf ens1/3 --live", "one VF of the running domain"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	.call = CALL_DETACH,
	.run = run_detach,
};
