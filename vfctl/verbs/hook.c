// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "checks/findings.h"
#include "command.h"
#include "facts/snapshot/snapshot.h"
#include "hook/hook.h"

static const char *advice(const struct vfctl_hook_status *s)
{
	if (!s->installed)
		return "not installed; install it with: vfctl hook install";
	if (!s->executable)
		return "not executable, so libvirt ignores it; run: vfctl hook install";
	if (!s->current)
		return "not the program of this vfctl; run: vfctl hook install";
	if (!s->seen_by_daemon)
		return "newer than the libvirt daemon, which ignores it until then; run: vfctl hook "
			"install";
	return NULL;
}

/* Domains that started without the hook. NULL: the leases cannot be read. */
static struct vfctl_doctor_report *read_findings(struct invocation *in)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *snapshot = NULL;
	struct vfctl_doctor_report *found = NULL;

	if (vfctl_snapshot_read(in->ctx, NULL, &snapshot) == 0)
		vfctl_findings_read(in->ctx, snapshot, NULL, &found);
	return found;
}

static bool is_unguarded(const struct vfctl_issue *f)
{
	return strcmp(f->finding, "unguarded") == 0;
}

struct hook_view {
	struct vfctl_hook_status status;
	const char *path;
	struct vfctl_doctor_report *found; /* NULL: the leases cannot be read */
};

#define OF struct vfctl_issue
static const struct member unguarded_table[] = {
	FIELD(domain, "domain that started without the hook", FILLED),
	FIELD(vf, "PCI address of its VF that differs from the lease", FILLED),
	FIELD_AS("message", evidence, "what was found", FILLED),
	FIELD(remedy, "command that solves the problem", FILLED), END};
#undef OF

static int fill_unguarded(struct out *out, const void *of)
{
	const struct hook_view *view = of;

	for (size_t i = 0; view->found && i < view->found->count; i++)
		if (is_unguarded(&view->found->v[i]))
			answer_put(out, NULL, unguarded_table, &view->found->v[i]);
	return 0;
}

#define OF struct hook_view
static const struct member hook_table[] = {
	FIELD(path, "where libvirt expects the hook", FILLED),
	FIELD_AS("installed", status.installed, "the hook is installed"),
	FIELD_AS("executable", status.executable, "the hook is executable"),
	FIELD_AS("current", status.current, "the hook is the one of this vfctl"),
	FIELD_AS("seen_by_daemon", status.seen_by_daemon, "libvirt started after the hook was "
		"installed"),
	FIELD_AS("has_libvirt", status.has_libvirt, "libvirt's QEMU driver is installed on this "
		"host"),
	FIELD_AS("daemon_pid", status.daemon_pid, "process ID of libvirt's daemon; null: it does "
		"not run", NONZERO),
	FILL("unguarded", fill_unguarded, unguarded_table, "VFs of domains that started without the "
		"hook"), END};
#undef OF
static const struct answer hook_status_answer[] = {{NULL, hook_table, false}, {0}};

static void print_status_text(struct invocation *in, const struct hook_view *view,
	const char *wrong)
{
	out_line(in->out, "%s: %s", VFCTL_HOOK_PATH, wrong ? wrong : "installed and in use");
	if (!view->status.has_libvirt)
		out_line(in->out, "libvirt is not installed on this host");
	else if (!view->status.daemon_pid)
		out_line(in->out, "no libvirt daemon runs now");
	for (size_t i = 0; view->found && i < view->found->count; i++)
		if (is_unguarded(&view->found->v[i]))
			out_line(in->out, "%s; %s", view->found->v[i].evidence, view->found->v[i].remedy);
}

static int run_status(struct invocation *in)
{
	_cleanup_(vfctl_doctor_report_freep) struct vfctl_doctor_report *found = NULL;
	struct hook_view view = {.path = VFCTL_HOOK_PATH};
	int r = vfctl_hook_status_read(in->ctx, &view.status);
	const char *wrong = advice(&view.status);
	bool unguarded = false;

	if (r < 0)
		return fail(in, r);
	view.found = found = read_findings(in);
	for (size_t i = 0; view.found && i < view.found->count; i++)
		unguarded |= is_unguarded(&view.found->v[i]);
	if (in->json)
		answer_put(in->out, NULL, hook_table, &view);
	else
		print_status_text(in, &view, wrong);
	return wrong || unguarded ? EXIT_DRIFT : EXIT_DONE;
}

static int run_install(struct invocation *in)
{
	struct vfctl_change *change;
	int r = vfctl_hook_install_plan(in->ctx, option_of(in, "program"), &change);

	return r < 0 ? fail(in, r) : run_change(in, change, "the hook is installed");
}

static int run_remove(struct invocation *in)
{
	struct vfctl_change *change;
	int r = vfctl_hook_remove_plan(in->ctx, &change);

	return r < 0 ? fail(in, r) : run_change(in, change, "the hook is removed");
}

static const struct option_row install_options[] = {
	{"program", 0, "FILE", "hook program to install (default: the one of this vfctl)", NULL},
};
static const struct command cmd_install = {
	.name = "install", .typed = "hook install", .sub = true,
	.answer = change_answer,
	.args = "",
	.summary = "Install vfctl's libvirt hook",
	.examples = {{"vfctl hook install", "install it"},
		{"vfctl hook install --dry-run", "print the steps"}},
	.changes = true,
	OPTIONS(install_options),
	.run = run_install,
};

static const struct command cmd_hook_status = {
	.name = "status", .typed = "hook status", .sub = true,
	.answer = hook_status_answer,
	.args = "",
	.summary = "Show whether libvirt runs the hook",
	.text = "Exit status: 3 if libvirt would not run the hook, or if a domain runs "
		"without its policy because libvirt did not run it.",
	.examples = {{"vfctl hook status", "show it"},
		{"vfctl hook status --json", "as JSON"}},
	.reads = true,
	.run = run_status,
};

static const struct command cmd_remove = {
	.name = "remove", .typed = "hook remove", .sub = true,
	.answer = change_answer,
	.args = "",
	.summary = "Remove vfctl's libvirt hook",
	.examples = {{"vfctl hook remove", "remove it"},
		{"vfctl hook remove --dry-run", "print the steps"}},
	.changes = true,
	.run = run_remove,
};

static const struct command *const subs[] = {&cmd_install, &cmd_hook_status, &cmd_remove, NULL};

const struct command cmd_hook = {
	.name = "hook",
	.group = GROUP_HOST,
	.args = "VERB",
	.summary = "Install, check or remove vfctl's libvirt hook",
	.text = "libvirt runs the hook when a domain starts and stops. The hook sets the "
		"identity and policy of the domain's VFs before the guest sees them, and "
		"resets them afterwards.",
	.examples = {{"vfctl hook install", "once per host"},
		{"vfctl hook status", "check that libvirt runs it"}},
	.subs = subs,
};
