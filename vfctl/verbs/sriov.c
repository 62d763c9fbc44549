// SPDX-License-Identifier: GPL-2.0-or-later
/* create, destroy */
#include <errno.h>

#include "base/cleanup.h"
#include "base/parse.h"
#include "run_plan.h"
#include "vfctl/plan.h"

/* Digits only: no sign, no 0x, no spaces, and at most the number of VFs that PCI permits. */
static int read_count(const char *text, uint32_t *ret)
{
	uint32_t value = 0;

	if (!*text)
		return -EINVAL;
	for (const char *p = text; *p; p++) {
		if (*p < '0' || *p > '9')
			return -EINVAL;
		value = value * 10 + (uint32_t)(*p - '0');
		if (value > UINT16_MAX)
			return -ERANGE;
	}
	*ret = value;
	return 0;
}

static int run_create(struct invocation *in)
{
	_cleanup_(planning_close) struct planning p = {0};
	struct vfctl_change *change = NULL;
	uint32_t count = 0;
	char done[96];
	int r = read_count(in->args[1], &count), status;

	if (r < 0)
		return usage(in, "'%s' is not a number of VFs: %s", in->args[1],
			r == -ERANGE ? "PCI allows 65535 at most" : "write a decimal number such as 8");
	status = planning_open(in, 2, false, &p);
	if (status)
		return status;
	in->result_pf = in->args[0];
	r = vfctl_plan_create(p.session, in->args[0], count, planning_options(&p), in->dry_run,
		&change);
	snprintf(done, sizeof(done), "%s has %u VF%s", in->args[0], count, plural(count));
	return planning_run(in, &p, r, change, done);
}

const struct command cmd_create = {
	.name = "create",
	.group = GROUP_VFS,
	.common = true,
	.answer = change_answer,
	.args = "PF N [ATTRIBUTE=VALUE...]",
	.summary = "Create N VFs on a PF for passthrough",
	.text = "Each VF gets a stable MAC or GUID and is bound to vfio-pci. A PF that has N "
		"VFs already keeps them; only VFs with another driver are bound again. Any "
		"other number removes all VFs and creates N new ones, so it is rejected while"
		" a VF of the PF is in use. The attributes are those "
		"of vfctl set and for new VFs: if the PF keeps its VFs and one of them has another"
		" value, the command is rejected.",
	.examples = {{"vfctl create ens1 8 --dry-run", "print the steps"},
		{"vfctl create ens1 8 vlan=42 trust=on", "with attributes for all new VFs"},
		{"vfctl create ib0 4 --guid-pool fabric-a", "GUIDs from a pool"}},
	.min_args = 2,
	.max_args = ARGS_MAX,
	.operand = OPERAND_PF,
	.changes = true,
	.call = CALL_CREATE,
	.run = run_create,
};

static int destroy_one(struct invocation *in, struct planning *p, const char *pf)
{
	struct vfctl_change *change = NULL;
	char done[96];
	int r;

	in->result_pf = pf;
	r = vfctl_plan_destroy(p->session, pf, planning_options(p), in->dry_run, &change);
	snprintf(done, sizeof(done), "%s has no VFs", pf);
	return planning_run(in, p, r, change, done);
}

/* Each PF is a separate change; a failure does not stop the others. */
static int run_destroy(struct invocation *in)
{
	_cleanup_(planning_close) struct planning p = {0};
	int worst = EXIT_DONE, status = planning_open(in, in->arg_count, false, &p);
	bool some_done = false, several;

	if (status)
		return status;
	several = in->json && in->arg_count > 1 && !option_of(in, "get");
	if (several)
		answer_open_several(in->out);
	for (size_t i = 0; i < in->arg_count && !in->again; i++) {
		status = destroy_one(in, &p, in->args[i]);
		some_done |= status == EXIT_DONE;
		worst = status ? status : worst;
	}
	if (several)
		answer_close_several(in->out);
	return worst && some_done && !in->dry_run ? EXIT_PARTLY : worst;
}

static const struct answer destroy_answer[] = {CHANGE_DRY_RUN, CHANGE_DONE, ANSWER_SEVERAL, {0}};

const struct command cmd_destroy = {
	.name = "destroy",
	.alias = "rm",
	.group = GROUP_VFS,
	.common = true,
	.answer = destroy_answer,
	.args = "PF...",
	.summary = "Remove all VFs of PFs",
	.text = "A PF is rejected while one of its VFs is in use; this does not stop the others (exit "
		"status 4).",
	.examples = {{"vfctl destroy ens1 ens2", "remove the VFs of both PFs"},
		{"vfctl destroy ens1 --ignore-definitions web", "even if the definition of web, "
								"which is off, has one"}},
	.min_args = 1,
	.max_args = ARGS_MAX,
	.operand = OPERAND_PF,
	.changes = true,
	.call = CALL_DESTROY,
	.run = run_destroy,
};
