// SPDX-License-Identifier: GPL-2.0-or-later
/* xml, define, undefine: a guest.yaml and what is made of it. */
#include <errno.h>
#include <stdio.h>

#include "command.h"
#include "verbs/define_batch.h"
#include "main.h"
#include "session.h"

static const char template_help[] = "domain XML to complete (default: the guest's template, or none)";
static const char reserve_help[] = "CPUs that are the host's own, such as 0-1";

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
	.args = "GUEST.yaml",
	.summary = "print the libvirt domain XML of a placed guest; nothing changes",
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
	{"batch", 0, "DIR", "all *.yaml of DIR, placed together, in place of GUEST.yaml", NULL},
	{"template", 't', "FILE", template_help, NULL},
	{"reserve", 0, "CPUS", reserve_help, NULL},
};

static const struct answer define_answer[] = {CHANGE_DRY_RUN, CHANGE_DONE,
	{"With `--batch`", answer_define_batch, false}, {0}};

const struct command cmd_define = {
	.name = "define",
	.answer = define_answer,
	.args = "[GUEST.yaml]",
	.summary = "lease what a guest needs and define it in libvirt, or change it there",
	.text = "A guest that is defined already becomes what its file asks now: it keeps its UUID,\n"
		"MACs, GUIDs, VFs, CPUs and nodes where the file lets it, and what others wrote into\n"
		"its definition. While it runs its definition changes, and it runs on as it was until\n"
		"it is stopped and started; until then its lease holds what both need. --dry-run\n"
		"shows each difference, old and new.\n"
		"With --batch the guests that are new are placed together, as plan --batch shows, and\n"
		"then defined one by one, each wholly or not at all; those that are there follow. The\n"
		"status is 4 when some could not be defined, 1 when none could.",
	.min_args = 0,
	.max_args = 1,
	.operand = OPERAND_FILE,
	.changes = true,
	OPTIONS(define_options),
	.run = run_define,
};

/* ---- move ---- */

static int run_move(struct invocation *in)
{
	_cleanup_(close_session) struct session s = {0};
	struct vfctl_change *change;
	int r, status = open_host(in, &s, true);

	if (status)
		return status;
	in->result_domain = in->args[0];
	r = vfctl_move_plan(in->ctx, in->args[0], &s.options, in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_ids_change(in, &s.host, change, "moved");
}

static const struct option_row move_options[] = {
	{"reserve", 0, "CPUS", reserve_help, NULL},
};

const struct command cmd_move = {
	.name = "move",
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "move a guest to where plan --rebalance proposes",
	.text = "A guest that is off moves at once. Of one that runs the definition changes: it moves\n"
		"when it is stopped and started, and until then its lease holds what both need. It keeps\n"
		"its UUID, its MACs and GUIDs, and all that its VFs are leased with; VFs of other PFs\n"
		"are those that its file's own words (pf, fabric, port, apart) find there. Where no move\n"
		"of it is proposed nothing is done.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(move_options),
	.run = run_move,
};

static const struct option_row undefine_options[] = {
	{"force", 0, NULL, "also a domain that vfctl did not define", NULL},
	{"nvram", 0, NULL, "its firmware variables go with it", NULL},
	{"managed-save", 0, NULL, "its saved memory goes with it", NULL},
	{"snapshots-metadata", 0, NULL, "what libvirt knows of its snapshots goes with it", NULL},
};

/* As virsh calls them. */
static unsigned drops_of(const struct invocation *in)
{
	return (option_of(in, "nvram") ? VFCTL_DROP_NVRAM : 0u) |
		(option_of(in, "managed-save") ? VFCTL_DROP_MANAGED_SAVE : 0u) |
		(option_of(in, "snapshots-metadata") ? VFCTL_DROP_SNAPSHOTS : 0u);
}

static int run_undefine(struct invocation *in)
{
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	_cleanup_(host_ids_close) struct host_ids h = {0};
	struct vfctl_change *change;
	struct vfctl_undefine_options options = {.force = option_of(in, "force"),
		.drop = drops_of(in)};
	int r, status = host_ids_open_guest(in, &h, &hv);

	if (status)
		return status;
	options.ids = h.ids;
	in->result_domain = in->args[0];
	r = vfctl_undefine_plan(in->ctx, hv, in->args[0], &options, in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_ids_change(in, &h, change, "undefined, and its lease ended");
}

const struct command cmd_undefine = {
	.name = "undefine",
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "undefine a domain that is off and give back what it held",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(undefine_options),
	.text = "Of a domain that libvirt does not know any more, what it still holds here is given\n"
		"back; where there is nothing of that name, nothing is done, and the answer says so.\n"
		"Nothing that would be lost with the definition is dropped unasked: the NVRAM\n"
		"stays where it is, and a domain with saved memory or snapshots is refused.",
	.run = run_undefine,
};

/* ---- release ---- */

static int run_release(struct invocation *in)
{
	_cleanup_(vfctl_hypervisor_closep) struct vfctl_hypervisor *hv = NULL;
	struct vfctl_change *change;
	int r = main_open_hypervisor(in->ctx, option_of(in, "connect"), &hv);

	if (r < 0 && !in->quiet)
		warn("libvirt does not say whether the domain runs: %s", vfctl_ctx_error(in->ctx));
	in->result_domain = in->args[0];
	r = vfctl_release_plan(in->ctx, hv, in->args[0], in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_change(in, change, "its VFs are returned");
}

const struct command cmd_release = {
	.name = "release",
	.answer = change_answer,
	.args = "DOMAIN",
	.summary = "return the VFs of a domain that is off to what they were before its last run",
	.text = "For when the hook could not: it was killed, or a device did not answer. The domain's\n"
		"definition stays, and so does its lease, unless its start took that by itself.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	.run = run_release,
};
