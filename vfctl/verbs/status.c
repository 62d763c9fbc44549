// SPDX-License-Identifier: GPL-2.0-or-later
/* status: what apply would do, interrupted changes and changes in progress, and disagreements. */
#include "checks/findings.h"
#include "command.h"
#include "host_ids.h"
#include "lease/clean.h"
#include "lease/recover.h"
#include "print/declared.h"
#include "verbs/apply.h"

struct status_view {
	struct differences differences;
	const struct vfctl_recovery *open; /* NULL: the journal was not read */
	const struct vfctl_doctor_report *found;
};

static bool goes_on(const struct vfctl_recovered_change *c)
{
	return c->outcome == VFCTL_RECOVERED_GOES_ON;
}

#define OF struct vfctl_recovered_change
FLAG_OF(open_goes_on, OF, goes_on(it))
static const struct member open_table[] = {
	FIELD(story, "the command", FILLED),
	FIELD(pid, "its process ID"),
	FLAG("goes_on", open_goes_on, "the process runs; false: the change was interrupted"), END};
#undef OF

#define OF struct vfctl_issue
FLAG_OF(finding_note, OF, it->severity == VFCTL_NOTE)
static const struct member finding_table[] = {
	FIELD_AS("kind", finding, "gone, renamed, absent, taken, dropped, claimed, exposed, other-pf, "
		"reserved, unguarded or no-monitor; for notes: unleased, accepted, left, trusted or "
		"unread", FILLED),
	FLAG("note", finding_note, "the finding is only a note: leases, domains and VFs agree, "
		"and the exit status stays 0"),
	FIELD(domain, "domain of the lease; for an unleased VF: the domain that has it"),
	FIELD(vf, "PCI address of the VF"),
	FIELD_AS("message", evidence, "what was found", FILLED),
	FIELD(remedy, "command that solves the problem", FILLED), END};
#undef OF

#define OF struct vfctl_recovery
static const struct member opens_table[] = {
	LIST("open_changes", changes, count, open_table, "changes that are in progress or were "
		"interrupted"), END};
#undef OF
#define OF struct vfctl_doctor_report
static const struct member findings_table[] = {
	LIST("findings", v, count, finding_table, "differences between leases, domains and "
		"VFs"), END};
#undef OF

static const struct vfctl_recovery no_recovery;
#define OF struct status_view
OBJECT_OF(status_open, OF, it->open ? it->open : &no_recovery)
static const struct member status_table[] = {
	PART(differences, answer_differences),
	PART_GET(status_open, opens_table),
	PART_AT(found, findings_table), END};
#undef OF

static void print_status_text(struct invocation *in, const struct status_view *view)
{
	print_declared(in, view->differences.declared);
	for (size_t i = 0; view->open && i < view->open->count; i++) {
		const struct vfctl_recovered_change *c = &view->open->changes[i];

		out_paint(in->out, goes_on(c) ? COLOR_NONE : COLOR_BAD, SIZE_MAX);
		out_line(in->out, "'%s' (process %lld) %s", c->story, (long long)c->pid,
			goes_on(c) ? "goes on" : "was interrupted: vfctl recover");
	}
	for (size_t i = 0; i < view->found->count; i++) {
		const struct vfctl_issue *f = &view->found->v[i];
		bool note = f->severity == VFCTL_NOTE;

		out_paint(in->out, note ? COLOR_NONE : COLOR_WARN, SIZE_MAX);
		out_line(in->out, "%s%s%s%s; %s", note ? "note: " : "", f->domain,
			f->domain[0] ? ": " : "", f->evidence, f->remedy);
	}
}

static int print_status(struct invocation *in, const struct apply_view *v)
{
	struct status_view view = {.differences = {.declared = v->declared, .status = true,
		.differs = declared_some_differ(v->declared)}};
	const struct vfctl_recover_options how = {.dry_run = true, .connect = connect_system};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *open = NULL;
	_cleanup_(vfctl_doctor_report_freep) struct vfctl_doctor_report *found = NULL;
	int r = vfctl_recover(in->ctx, &how, &open);
	bool differs = open && open->count;

	vfctl_snapshot_mark_left(in->ctx, v->snapshot, v->spec);
	if (r >= 0 || open)
		r = vfctl_findings_read(in->ctx, v->snapshot, v->spec, &found);
	if (r < 0)
		return fail(in, r);
	differs |= found->unexamined_count || view.differences.differs;
	for (size_t i = 0; i < found->count; i++)
		differs |= found->v[i].severity != VFCTL_NOTE;
	view.open = open;
	view.found = found;
	if (in->json)
		answer_put(in->out, NULL, status_table, &view);
	else
		print_status_text(in, &view);
	for (size_t i = 0; i < found->unexamined_count; i++)
		warn("leases and domains are not compared: %s", found->unexamined[i].why);
	return differs ? EXIT_DRIFT : EXIT_DONE;
}

static int run_status(struct invocation *in)
{
	_cleanup_(apply_close) struct apply_view v = {0};
	int status = apply_open(in, apply_declaration(in), &v);

	return status ? status : print_status(in, &v);
}

static const struct answer status_answer[] = {{NULL, status_table, false}, {0}};

const struct command cmd_status = {
	.name = "status",
	.group = GROUP_HOST,
	.common = true,
	.answer = status_answer,
	.args = "[FILE|DIR]",
	.summary = "Show differences from host.yaml and the leases",
	.text = "Shows what apply would do, changes of vfctl that are in progress or were "
		"interrupted, and where leases, domains and VFs disagree (for example a "
		"domain that was undefined or renamed with virsh), each with the command that"
		" resolves it. Exit status: 0 without differences, else 3. Notes do not count"
		" as differences: VFs without a lease, and what host.yaml permits to guests "
		"(trust, no spoof check, VFs that are not isolated).",
	.examples = {{"vfctl status", "compare with /etc/vfctl/host.yaml"},
		{"vfctl status --json", "the differences as JSON"}},
	.max_args = 1,
	.operand = OPERAND_FILE,
	.reads = true,
	.run = run_status,
};
