// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "command.h"
#include "facts/hostfile.h"
#include "guest/plans.h"
#include "lease/clean.h"
#include "lease/recover.h"
#include "session.h"
#include "spec/host_yaml.h"

static const char *word_of(enum vfctl_recovered outcome, bool dry_run)
{
	switch (outcome) {
	case VFCTL_RECOVERED_GOES_ON:
		return "in progress: its process, or a write by it in the kernel, has not ended";
	case VFCTL_RECOVERED_DONE:
		return dry_run ? "is complete, and would be closed" : "was complete, and is closed";
	case VFCTL_RECOVERED_UNDONE:
		return dry_run ? "would be rolled back" : "is rolled back";
	case VFCTL_RECOVERED_REBOOTED:
		return dry_run ? "was lost when the host booted, and would be closed"
			       : "was lost when the host booted, and is closed";
	case VFCTL_RECOVERED_ACCEPTED:
		return dry_run ? "would be accepted as it is, and closed" : "is accepted as it is, and "
			"closed";
	case VFCTL_RECOVERED_UNPLUGGED:
		return dry_run ? "is gone with its PF, and would be closed"
			       : "is gone with its PF, and is closed";
	case VFCTL_RECOVERED_FINISHED:
		return dry_run ? "cannot be rolled back any more, and would be finished"
			       : "cannot be rolled back any more, and is finished";
	case VFCTL_RECOVERED_WAITS:
		return "waits for libvirt";
	case VFCTL_RECOVERED_FAILED:
		break;
	}
	return "cannot be rolled back, and stays open";
}

static const char *key_of(enum vfctl_recovered outcome)
{
	static const char *const keys[] = {
		[VFCTL_RECOVERED_GOES_ON] = "goes-on",
		[VFCTL_RECOVERED_DONE] = "done",
		[VFCTL_RECOVERED_UNDONE] = "undone",
		[VFCTL_RECOVERED_REBOOTED] = "rebooted",
		[VFCTL_RECOVERED_ACCEPTED] = "accepted",
		[VFCTL_RECOVERED_FAILED] = "failed",
		[VFCTL_RECOVERED_UNPLUGGED] = "unplugged",
		[VFCTL_RECOVERED_FINISHED] = "finished",
		[VFCTL_RECOVERED_WAITS] = "waits",
	};

	return keys[outcome];
}

static void print_text(struct invocation *in, const struct vfctl_recovered_change *c)
{
	time_t begun = (time_t)c->begun;
	struct tm tm;
	char when[32] = "?";

	if (localtime_r(&begun, &tm))
		strftime(when, sizeof(when), "%F %T", &tm);
	out_line(in->out, "'%s' (process %lld, begun %s) %s", c->story, (long long)c->pid, when,
		word_of(c->outcome, in->dry_run));
	if (c->error)
		out_line(in->out, "  %s", c->error);
	for (size_t i = 0; i < c->step_count; i++)
		out_line(in->out, "  %s %s", c->outcome == VFCTL_RECOVERED_FAILED ? "left:" : "back:",
			c->steps[i]);
}

#define OF struct vfctl_recovered_change
TEXT_OF(recovered_outcome, OF, key_of(it->outcome))
static const struct member recovered_table[] = {
	FIELD(id, "number of the change in the journal"),
	FIELD(story, "the command", FILLED),
	FIELD(pid, "its process ID"),
	FIELD(begun, "start of the change, in seconds since 1970"),
	TEXT("outcome", recovered_outcome, "goes-on, done, undone, rebooted, accepted, failed, "
		"unplugged, finished or waits"),
	FIELD(error, "why the change cannot be rolled back"),
	SCALARS("steps", steps, step_count, "steps that are rolled back, the last one first"), END};
#undef OF

struct recovery_view {
	bool dry_run;
	const struct vfctl_recovered_change *changes;
	size_t count;
};

/* A change that goes on, waits or cannot be rolled back stays as it is. */
static bool is_closed(enum vfctl_recovered outcome)
{
	return outcome != VFCTL_RECOVERED_GOES_ON && outcome != VFCTL_RECOVERED_FAILED &&
		outcome != VFCTL_RECOVERED_WAITS;
}

static bool closes_any(const struct recovery_view *v)
{
	for (size_t i = 0; i < v->count; i++)
		if (is_closed(v->changes[i].outcome))
			return true;
	return false;
}

#define OF struct recovery_view
FLAG_OF(recovery_changed, OF, closes_any(it))
static const struct member recovery_table[] = {
	FIELD(dry_run, "nothing was changed"),
	FLAG("changed", recovery_changed, "an interrupted change was closed; in a dry run: would be "
	"closed"),
	LIST("changes", changes, count, recovered_table, "interrupted changes"), END};
#undef OF

static void print_all(struct invocation *in, const struct vfctl_recovery *recovery)
{
	if (in->json) {
		answer_put(in->out, NULL, recovery_table, &(struct recovery_view){in->dry_run,
			recovery->changes, recovery->count});
		return;
	}
	for (size_t i = 0; i < recovery->count; i++)
		print_text(in, &recovery->changes[i]);
	if (!recovery->count && !in->quiet)
		out_line(in->out, "nothing to recover");
}

static bool some_wait(const struct vfctl_recovery *recovery)
{
	for (size_t i = 0; i < recovery->count; i++)
		if (recovery->changes[i].outcome == VFCTL_RECOVERED_WAITS)
			return true;
	return false;
}

/* Rebuild a lost state file. */
static int rebuild_leases(struct invocation *in)
{
	_cleanup_(close_session) struct session s = {0};
	struct vfctl_change *change;
	int r, status = open_host(in, &s, true);

	if (status)
		return status;
	s.options.trust_metadata = option_of(in, "trust-metadata");
	r = vfctl_rebuild_plan(in->ctx, &s.options, in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_change(in, change, "the leases of libvirt's domains are "
		"restored");
}

/* Clean VFs that are not in use and have settings of earlier users. */
static int clean_recover(struct invocation *in)
{
	_cleanup_(vfctl_host_spec_freep) struct vfctl_host_spec *spec = NULL;
	struct vfctl_change *change;
	int r = vfctl_host_spec_read(in->ctx, option_of(in, "host-yaml"), &spec);

	if (r == 0)
		r = vfctl_clean_plan(in->ctx, spec, in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_change(in, change, "cleaned");
}

static int run_recover(struct invocation *in)
{
	const struct vfctl_recover_options how = {.dry_run = in->dry_run,
		.accept = option_of(in, "accept"),
		.connect = option_of(in, "without-libvirt") ? NULL : connect_system};
	_cleanup_(vfctl_recovery_freep) struct vfctl_recovery *recovery = NULL;
	int r;

	if (!!option_of(in, "rebuild") + !!option_of(in, "clean") + how.accept > 1)
		return usage(in, "use only one of --rebuild, --clean and --accept");
	if (option_of(in, "trust-metadata") && !option_of(in, "rebuild"))
		return usage(in, "--trust-metadata needs --rebuild");
	if (option_of(in, "rebuild"))
		return rebuild_leases(in);
	if (option_of(in, "clean"))
		return clean_recover(in);
	r = vfctl_recover(in->ctx, &how, &recovery);
	if (recovery)
		print_all(in, recovery);
	if (r < 0)
		return fail(in, r);
	return how.connect && some_wait(recovery) ? EXIT_PARTLY : EXIT_DONE;
}

static const struct option_row options[] = {
	{"rebuild", 0, NULL, "restore lost leases from libvirt's domains", NULL},
	{"trust-metadata", 0, NULL, "with --rebuild: also grant VLAN, trust, P_Key and minimum rate as "
		"the domains' metadata asks (default: safe defaults)", NULL},
	{"clean", 0, NULL, "reset VFs that are to be cleaned",
		NULL},
	{"without-libvirt", 0, NULL, "let changes of guests wait, because libvirt does not run yet", NULL},
	{"accept", 0, NULL, "accept the host as it is and close interrupted changes", NULL},
};

static const struct answer recover_answer[] = {{"For interrupted changes", recovery_table, false},
	{"With `--rebuild` or `--clean`, and `--dry-run`", answer_change_dry, false},
	{"With `--rebuild` or `--clean`", answer_change_done, false}, {0}};

const struct command cmd_recover = {
	.name = "recover",
	.group = GROUP_HEALTH,
	.answer = recover_answer,
	.args = "",
	.summary = "Finish or roll back interrupted changes",
	.text = "vfctl writes each change to a journal before its first effect. If the process is "
		"killed or the host crashes, the next change of that PF, the next start of a "
		"guest or the next boot recovers the change, and so does this command. Changes of "
		"guests need libvirt; a change past the point where it can be rolled back is "
		"finished. If libvirt did not report the stop of a guest, its VFs are reset as "
		"well. Later changes by other programs stay. --rebuild restores lost leases with "
		"safe defaults; --trust-metadata grants everything that the metadata of the "
		"domains asks for, and gives the lease of a domain that no longer exists to a "
		"domain that was defined from it with another UUID. --clean resets the VFs that "
		"list shows as to be cleaned. Exit status: 4 if a change cannot be rolled back, "
		"or waits for libvirt.",
	.examples = {{"vfctl recover --dry-run", "print what would be done"},
		{"vfctl recover --rebuild", "after the state file was lost"}},
	.changes = true,
	OPTIONS(options),
	.run = run_recover,
};
