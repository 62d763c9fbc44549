// SPDX-License-Identifier: GPL-2.0-or-later
#include <string.h>

#include "command.h"
#include "vfctl/findings.h"
#include "vfctl/hook.h"

static const char *advice(const struct vfctl_hook_status *s)
{
	if (s->leftover)
		return "beside it is a half-written copy, so libvirt starts no domain; run: vfctl hook "
			"install";
	if (!s->installed)
		return "not installed; install it with: vfctl hook install";
	if (!s->executable)
		return "not executable, so libvirt skips it in silence; run: vfctl hook install";
	if (!s->current)
		return "not the program this vfctl came with; run: vfctl hook install";
	if (!s->seen_by_daemon)
		return "newer than libvirt's last look, so it is skipped; run: vfctl hook install";
	return NULL;
}

/* Domains that started while libvirt did not run it. NULL: the leases cannot be read. */
static struct vfctl_findings *read_findings(struct invocation *in)
{
	struct vfctl_snapshot *snapshot = NULL;
	struct vfctl_findings *found = NULL;
	int r = vfctl_snapshot_read(in->ctx, NULL, &snapshot);

	if (r == 0)
		r = vfctl_findings_read(in->ctx, snapshot, NULL, &found);
	vfctl_snapshot_free(snapshot);
	return r == 0 ? found : NULL;
}

static bool print_unguarded(struct invocation *in)
{
	struct vfctl_findings *found = read_findings(in);
	bool any = false;

	if (in->json)
		out_open(in->out, "unguarded", '[');
	for (size_t i = 0; found && i < found->count; i++) {
		const struct vfctl_finding *f = &found->v[i];

		if (f->kind != VFCTL_FINDING_UNGUARDED)
			continue;
		any = true;
		if (in->json) {
			out_open(in->out, NULL, '{');
			out_str(in->out, "domain", f->domain);
			out_str(in->out, "vf", f->vf);
			out_str(in->out, "words", f->words);
			out_str(in->out, "remedy", f->remedy);
			out_shut(in->out);
		} else {
			out_line(in->out, "%s; %s", f->words, f->remedy);
		}
	}
	if (in->json)
		out_shut(in->out);
	vfctl_findings_free(found);
	return any;
}

static int run_status(struct invocation *in)
{
	struct vfctl_hook_status s;
	int r = vfctl_hook_status_read(in->ctx, &s);
	const char *wrong = advice(&s);
	bool unguarded;

	if (r < 0)
		return fail(in, r);
	if (in->json) {
		out_open(in->out, NULL, '{');
		out_str(in->out, "path", VFCTL_HOOK_PATH);
		out_bool(in->out, "installed", s.installed);
		out_bool(in->out, "executable", s.executable);
		out_bool(in->out, "current", s.current);
		out_bool(in->out, "seen_by_daemon", s.seen_by_daemon);
		out_bool(in->out, "leftover", s.leftover);
		out_bool(in->out, "has_libvirt", s.has_libvirt);
		if (s.daemon_pid)
			out_int(in->out, "daemon_pid", s.daemon_pid);
		else
			out_null(in->out, "daemon_pid");
		unguarded = print_unguarded(in);
		out_shut(in->out);
	} else {
		out_line(in->out, "%s: %s", VFCTL_HOOK_PATH, wrong ? wrong : "installed and in use");
		if (!s.has_libvirt)
			out_line(in->out, "libvirt is not installed on this host");
		else if (!s.daemon_pid)
			out_line(in->out, "no libvirt daemon runs now");
		unguarded = print_unguarded(in);
	}
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
	{"program", 0, "FILE", "hook program to install (default: this vfctl's)", NULL},
};
static const struct command cmd_install = {
	.name = "install", .typed = "hook install", .sub = true,
	.args = "",
	.summary = "Install libvirt's hook",
	.changes = true,
	OPTIONS(install_options),
	.run = run_install,
};

static const struct command cmd_hook_status = {
	.name = "status", .typed = "hook status", .sub = true,
	.args = "",
	.summary = "Show whether libvirt uses the hook",
	.text = "The status is 3 when libvirt would not run it, or when a domain runs without its policy\n"
		"because libvirt did not run it.",
	.reads = true,
	.run = run_status,
};

static const struct command cmd_remove = {
	.name = "remove", .typed = "hook remove", .sub = true,
	.args = "",
	.summary = "Remove libvirt's hook",
	.changes = true,
	.run = run_remove,
};

static const struct command *const subs[] = {&cmd_install, &cmd_hook_status, &cmd_remove, NULL};

const struct command cmd_hook = {
	.name = "hook",
	.args = "VERB",
	.summary = "install libvirt's hook, look whether libvirt uses it, or remove it",
	.text = "The hook gives a domain's VFs their identity and policy when it starts, and takes\n"
		"them back when it ends.",
	.subs = subs,
};
