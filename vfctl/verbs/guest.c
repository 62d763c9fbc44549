// SPDX-License-Identifier: GPL-2.0-or-later
/* xml, define, undefine: verbs for a guest.yaml and its domain. */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "guest/plans.h"
#include "main.h"
#include "run_plan.h"
#include "session.h"
#include "verbs/define_batch.h"
#include "vfctl/plan.h"

static const char template_help[] = "domain XML to complete (default: the guest's template, if it "
	"names one)";
static const char reserve_help[] = "CPUs that are kept for the host, such as 0-1";

static const struct option_row guest_options[] = {
	{"template", 't', "FILE", template_help, NULL},
	{"reserve", 0, "CPUS", reserve_help, NULL},
};

/* ---- xml ---- */

static int run_xml(struct invocation *in)
{
	_cleanup_(close_session) struct session s = {0};
	_cleanup_(vfctl_placement_freep) struct vfctl_placement *placed = NULL;
	_free_ char *xml = NULL;
	int r, status = open_session(in, &s, false);

	if (status)
		return status;
	r = vfctl_place(in->ctx, s.guest, &s.options, &placed);
	if (r == 0)
		r = vfctl_placement_xml(in->ctx, placed, s.template_text, s.template_name,
			s.hv ? s.hv->version : 0, &xml);
	if (r < 0)
		return fail(in, r);
	fputs(xml, out_file(in->out));
	return EXIT_DONE;
}

const struct command cmd_xml = {
	.name = "xml",
	.group = GROUP_GUESTS,
	.args = "GUEST.yaml",
	.summary = "Print the libvirt domain XML of a guest",
	.text = "The guest is placed as vfctl plan shows. Nothing changes.",
	.examples = {{"vfctl xml web.yaml", "print it"},
		{"vfctl xml web.yaml --template base.xml", "complete your own XML"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_FILE,
	OPTIONS(guest_options),
	.run = run_xml,
};

/* ---- define, undefine ---- */

static int run_define(struct invocation *in)
{
	_cleanup_(close_session) struct session s = {0};
	const char *batch = option_of(in, "batch");
	struct vfctl_change *change;
	int r, status;

	if (batch && in->arg_count)
		return usage(in, "--batch takes no GUEST.yaml");
	if (!batch && !in->arg_count)
		return usage(in, "GUEST.yaml is missing");
	if (batch)
		return run_define_batch(in, batch);
	status = open_session(in, &s, true);
	if (status)
		return status;
	r = vfctl_define_plan(in->ctx, s.guest, &s.options, s.template_text, s.template_name,
		in->dry_run, &change);
	if (r < 0)
		return fail(in, r);
	warn_hook(in); /* before the answer, which repeats warnings */
	in->result_domain = s.guest->name;
	status = run_ids_change(in, &s.host, change, "defined");
	in->result_domain = NULL;
	return status;
}

static const struct option_row define_options[] = {
	{"batch", 0, "DIR", "all *.yaml files of DIR, placed together, instead of GUEST.yaml", NULL},
	{"template", 't', "FILE", template_help, NULL},
	{"reserve", 0, "CPUS", reserve_help, NULL},
};

static const struct answer define_answer[] = {CHANGE_DRY_RUN, CHANGE_DONE,
	{"With `--batch`", answer_define_batch, false}, {0}};

const struct command cmd_define = {
	.name = "define",
	.group = GROUP_GUESTS,
	.common = true,
	.answer = define_answer,
	.args = "[GUEST.yaml]",
	.summary = "Define a guest in libvirt and lease its resources",
	.text = "A guest that is defined already is changed to match its file. It keeps its "
		"UUID, MACs, GUIDs, VFs, CPUs and nodes where the file permits, and what "
		"other programs wrote into its definition. The change of a running guest "
		"takes effect when it is stopped and started; until then its lease covers "
		"both. With --batch new guests are placed together, as plan --batch shows, "
		"and then defined one by one, each as a whole or not at all; existing guests "
		"follow. Exit status: 4 if some guests could not be defined, 1 if none could.",
	.examples = {{"vfctl define web.yaml --dry-run", "show each difference"},
		{"vfctl define --batch guests/", "a whole directory"}},
	.min_args = 0,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(define_options),
	.run = run_define,
};

/* ---- move ---- */

static int plan_move(struct vfctl_session *session, const char *domain,
	const char *const options[], bool dry_run, struct vfctl_change **ret)
{
	(void)options; /* it takes none */
	return vfctl_plan_move(session, domain, dry_run, ret);
}

static int run_move(struct invocation *in)
{
	return run_plan(in, plan_move, "moved");
}

static const struct option_row move_options[] = {
	{"reserve", 0, "CPUS", reserve_help, NULL},
};

const struct command cmd_move = {
	.name = "move",
	.group = GROUP_GUESTS,
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "Move a guest to where plan --rebalance proposes",
	.text = "A guest that is off moves at once. For a running guest the definition "
		"changes: it moves when it is stopped and started, and until then its lease "
		"covers both places. The guest keeps its UUID, MACs, GUIDs and the policy of "
		"its VFs. VFs of other PFs are those that the keys of its file (pf, fabric, "
		"port, apart) permit. Without a proposal for this guest nothing changes.",
	.examples = {{"vfctl move web --dry-run", "show the move"},
		{"vfctl move web", "move it"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(move_options),
	.run = run_move,
};

static int run_undefine(struct invocation *in)
{
	return run_plan(in, vfctl_plan_undefine, "undefined, and its lease ended");
}

const struct command cmd_undefine = {
	.name = "undefine",
	.group = GROUP_GUESTS,
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "Undefine a domain that is off and end its lease",
	.text = "If libvirt no longer knows the domain, the command ends the lease that is "
		"left. If there is neither a domain nor a lease, it says so and changes "
		"nothing. Nothing is lost without an option: NVRAM stays, and a domain with "
		"saved memory or snapshots is rejected.",
	.examples = {{"vfctl undefine web", "undefine it"},
		{"vfctl undefine web --nvram", "with its firmware variables"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	.call = CALL_UNDEFINE, /* with the names that virsh uses */
	.run = run_undefine,
};

/* ---- release ---- */

static int run_release(struct invocation *in)
{
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	struct vfctl_change *change;
	int r = main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);

	if (r < 0 && !in->quiet)
		warn("libvirt does not tell whether the domain runs: %s", vfctl_ctx_error(in->ctx));
	in->result_domain = in->args[0];
	r = vfctl_release_plan(in->ctx, hv, in->args[0], in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_change(in, change, "its VFs are returned");
}

const struct command cmd_release = {
	.name = "release",
	.group = GROUP_GUESTS,
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "Reset the VFs of a domain after its last run",
	.text = "Needed only if the hook could not do it, because it was killed or a device "
		"did not answer. The domain must be off. Its definition and its lease stay; a"
		" lease that the start of the domain created ends.",
	.examples = {{"vfctl release web --dry-run", "print the steps"},
		{"vfctl release web", "reset the VFs of web"}},
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	.run = run_release,
};
