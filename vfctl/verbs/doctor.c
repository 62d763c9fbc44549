// SPDX-License-Identifier: GPL-2.0-or-later
/* doctor: find the problems of this host, or of a capture. */
#include <errno.h>
#include <string.h>

#include "base/change.h"
#include "base/parse.h"
#include "command.h"
#include "facts/snapshot/snapshot.h"
#include "host_ids.h"
#include "monitor/doctor.h"

#define INDENT 10

/* ---- output ---- */

static const char *fix_word(enum vfctl_fix fix)
{
	static const char *const message[] = {[VFCTL_FIX_NONE] = NULL, [VFCTL_FIX_HOOK] = "hook",
		[VFCTL_FIX_LINK_UP] = "link-up", [VFCTL_FIX_VF_LINK] = "vf-link",
		[VFCTL_FIX_FDB] = "fdb"};

	return message[fix];
}

static enum color severity_color(enum vfctl_severity severity)
{
	return severity == VFCTL_PROBLEM ? COLOR_BAD : severity == VFCTL_WARNING ? COLOR_WARN : COLOR_NONE;
}

static enum color presence_color(enum vfctl_presence presence)
{
	return presence == VFCTL_PRESENT ? COLOR_GOOD : presence == VFCTL_MISSING ? COLOR_BAD : COLOR_WARN;
}

static void print_prerequisite(struct out *out, const struct vfctl_prerequisite *p)
{
	const char *state = vfctl_presence_name(p->presence);

	out_paint(out, presence_color(p->presence), strlen(state));
	out_line(out, "%-9s %s", state, p->name);
}

static void print_one(struct out *out, const struct vfctl_issue *a)
{
	out_paint(out, severity_color(a->severity), strlen(vfctl_severity_name(a->severity)));
	out_fold(out, INDENT, "%-9s %s%s%s", vfctl_severity_name(a->severity), a->subject,
		a->subject[0] ? ": " : "", a->what);
	out_fold(out, INDENT, "  found   %s", a->evidence);
	if (a->cause)
		out_fold(out, INDENT, "  cause   %s", a->cause);
	out_fold(out, INDENT, "  remedy  %s", a->remedy);
}

static void print_text(struct invocation *in, const struct vfctl_doctor_report *d)
{
	size_t counts[3] = {0};

	for (size_t i = 0; !in->arg_count && i < d->prerequisite_count; i++)
		print_prerequisite(in->out, &d->prerequisites[i]);
	for (size_t i = 0; i < d->count; i++) {
		counts[d->v[i].severity]++;
		print_one(in->out, &d->v[i]);
	}
	for (size_t i = 0; i < d->unexamined_count; i++)
		out_fold(in->out, INDENT, "%-9s %s: %s", "not seen", d->unexamined[i].check,
			d->unexamined[i].why);
	out_line(in->out, "%zu checks: %zu problem%s, %zu warning%s, %zu note%s%s", d->checks,
		counts[VFCTL_PROBLEM], plural(counts[VFCTL_PROBLEM]), counts[VFCTL_WARNING],
		plural(counts[VFCTL_WARNING]), counts[VFCTL_NOTE],
		plural(counts[VFCTL_NOTE]),
		d->unexamined_count ? "; some checks could not be made" : "");
}

#define OF struct vfctl_prerequisite
TEXT_OF(prerequisite_state, OF, vfctl_presence_name(it->presence))
static const struct member prerequisite_table[] = {
	FIELD(name, "the prerequisite", FILLED),
	TEXT("state", prerequisite_state, "ok, missing or unknown"), END};
#undef OF

#define OF struct vfctl_issue
TEXT_OF(issue_severity, OF, vfctl_severity_name(it->severity))
TEXT_OF(issue_fix, OF, fix_word(it->fix))
static const struct member issue_table[] = {
	FIELD(check, "name of the check", FILLED),
	TEXT("severity", issue_severity, "problem, warning or note"),
	FIELD(subject, "PF, VF, domain or file; null: the host"),
	FIELD(what, "the issue", FILLED),
	FIELD(evidence, "what was read, and where"),
	FIELD(cause, "cause of the issue"),
	FIELD(remedy, "the remedy"),
	TEXT("fix", issue_fix, "what doctor --fix does: hook, link-up, vf-link or fdb; null: "
		"nothing", NULLABLE), END};
#undef OF

#define OF struct vfctl_unexamined
static const struct member unexamined_table[] = {
	FIELD(check, "name of the check", FILLED),
	FIELD(why, "why the check was not made"), END};
#undef OF

#define OF struct vfctl_doctor_report
FLAG_OF(is_healthy, OF, it->worst == VFCTL_NOTE)
static const struct member doctor_table[] = {
	FLAG("healthy", is_healthy, "doctor found no problem and gave no warning"),
	FIELD(checks, "number of checks that were made"),
	LIST("prerequisites", prerequisites, prerequisite_count, prerequisite_table, "prerequisites "
		"of SR-IOV; each one builds on those before it"),
	LIST("ailments", v, count, issue_table, "issues, the most severe first"),
	LIST("unexamined", unexamined, unexamined_count, unexamined_table, "checks that were not "
		"made"), END};
#undef OF
static const struct answer doctor_answer[] = {{NULL, doctor_table, false}, {0}};

/* ---- fixes ---- */

/* One at a time: a failed fix does not affect the others. */
static int fix_all(struct invocation *in, const struct vfctl_doctor_report *d)
{
	size_t fixed = 0, failed = 0;

	for (size_t i = 0; i < d->count; i++) {
		const struct vfctl_issue *a = &d->v[i];
		_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
		int r;

		if (!a->fix)
			continue;
		r = vfctl_doctor_fix_plan(in->ctx, a, in->dry_run, &change);
		for (size_t k = 0; r == 0 && in->dry_run && k < vfctl_change_count(change); k++)
			out_line(in->out, "would: %s", vfctl_change_describe(change, k));
		if (r == 0 && !in->dry_run)
			r = vfctl_change_run(in->ctx, change);
		if (r < 0)
			complain_about(in, a->check, vfctl_ctx_error(in->ctx));
		fixed += r == 0;
		failed += r < 0;
	}
	if (!fixed && !failed)
		out_line(in->out, "nothing that doctor can fix");
	in->made |= fixed && !in->dry_run;
	return failed ? fixed ? EXIT_PARTLY : EXIT_FAILED : EXIT_DONE;
}

/* ---- the command ---- */

static int examine(struct invocation *in, struct vfctl_doctor_report **ret)
{
	_cleanup_(host_ids_close) struct host_ids h = {0};
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	struct vfctl_doctor_options options = {.subject = in->arg_count ? in->args[0] : NULL};
	int status = host_ids_try(in, &h), r;

	if (status)
		return status;
	options.spec = h.spec;
	options.spec_error = h.error;
	options.spec_text = h.message;
	r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);
	if (r == 0)
		r = vfctl_doctor_examine(in->ctx, snapshot, &options, ret);
	return r < 0 ? fail(in, r) : 0;
}

static int run_doctor(struct invocation *in)
{
	_cleanup_(vfctl_doctor_report_freep) struct vfctl_doctor_report *d = NULL;
	int status;

	if (option_of(in, "fix") && in->json)
		return usage(in, "--fix cannot be combined with --json");
	if (in->dry_run && !option_of(in, "fix"))
		return usage(in, "--dry-run needs --fix");
	if (option_of(in, "fix") && !in->dry_run)
		catch_signals(in->ctx);
	status = examine(in, &d);
	if (status)
		return status;
	if (option_of(in, "fix"))
		return fix_all(in, d);
	if (in->json)
		answer_put(in->out, NULL, doctor_table, d);
	else
		print_text(in, d);
	return d->worst > VFCTL_NOTE ? EXIT_DRIFT : EXIT_DONE;
}

static bool check_term(size_t at, const char **ret_name, const char **ret_help)
{
	struct vfctl_check check;

	if (!vfctl_check_at(at, &check))
		return false;
	*ret_name = check.name;
	*ret_help = check.what;
	return true;
}

static const struct option_row options[] = {
	{"fix", 0, NULL, "repair what is safe to repair: install the hook, set the link of a PF up, "
		"let the link of a VF follow its port, add the MACs behind a bridged PF to "
		"the card's table; with --dry-run only print it", NULL},
};

const struct command cmd_doctor = {
	.name = "doctor",
	.group = GROUP_HEALTH,
	.common = true,
	.answer = doctor_answer,
	.args = "[PF|DOMAIN]",
	.summary = "Find known problems and print their remedies",
	.text = "Checks for known problems of SR-IOV hosts, from the BIOS to a guest's lease. For "
		"each problem it prints the evidence, the cause and the remedy. Only --fix "
		"changes something. It reports what it could not read, for example without root. "
		"Exit status: 3 if there is a problem or a warning.",
	.examples = {{"vfctl doctor", "this host"},
		{"vfctl doctor --host capture.tar.gz", "a host that was recorded with vfctl capture"}},
	.max_args = 1,
	.operand = OPERAND_ANY,
	.reads = true,
	.changes = true,
	OPTIONS(options),
	.terms = "checks",
	.term = check_term,
	.run = run_doctor,
};
