// SPDX-License-Identifier: GPL-2.0-or-later
#include <time.h>

#include "command.h"
#include "session.h"
#include "core/workflow.h"
#include "core/recover.h"

static const char *word_of(enum vfctl_recovered outcome, bool dry_run)
{
	switch (outcome) {
	case VFCTL_RECOVERED_GOES_ON:
		return "goes on: its process, or a write of it in the kernel, has not ended";
	case VFCTL_RECOVERED_DONE:
		return dry_run ? "is done, and would be closed" : "was done, and is closed";
	case VFCTL_RECOVERED_UNDONE:
		return dry_run ? "would be taken back" : "is taken back";
	case VFCTL_RECOVERED_REBOOTED:
		return dry_run ? "is gone since the host booted, and would be closed"
			       : "was gone since the host booted, and is closed";
	case VFCTL_RECOVERED_ACCEPTED:
		return dry_run ? "would be left as it is, and closed" : "is left as it is, and closed";
	case VFCTL_RECOVERED_UNPLUGGED:
		return dry_run ? "is gone with its PF, and would be closed"
			       : "is gone with its PF, and is closed";
	case VFCTL_RECOVERED_FINISHED:
		return dry_run ? "went too far to go back, and would be carried on to its end"
			       : "went too far to go back, and is carried on to its end";
	case VFCTL_RECOVERED_WAITS:
		return "waits: libvirt must be asked about it";
	case VFCTL_RECOVERED_FAILED:
		break;
	}
	return "cannot be taken back, and stays open";
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

#define OF struct recovery_view
static const struct member recovery_table[] = {
	FIELD(dry_run, "nothing was changed"),
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

/* The state file is lost. */
static int rebuild_leases(struct invocation *in)
{
	_cleanup_(close_session) struct session s = {0};
	struct vfctl_change *change;
	int r, status = open_host(in, &s, true);

	if (status)
		return status;
	s.options.trust_metadata = option_of(in, "trust-metadata");
	r = vfctl_rebuild_plan(in->ctx, &s.options, in->dry_run, &change);
	return r < 0 ? fail(in, r) : run_change(in, change, "what libvirt's domains hold is leased to "
		"them again");
}

/* VFs that nobody has, with what somebody left on them. */
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
		return usage(in, "--rebuild, --clean and --accept are three different things");
	if (option_of(in, "trust-metadata") && !option_of(in, "rebuild"))
		return usage(in, "--trust-metadata goes with --rebuild");
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
	{"rebuild", 0, NULL, "the state file is lost: lease to libvirt's domains what they hold", NULL},
	{"trust-metadata", 0, NULL, "with --rebuild: grant also VLAN, trust, P_Key and minimum rate that the "
		"domains' metadata asks for (default: safe defaults)", NULL},
	{"clean", 0, NULL, "reset VFs that nobody has, and take from them what was left on them",
		NULL},
	{"without-libvirt", 0, NULL, "changes of guests wait: libvirt is not up yet", NULL},
	{"accept", 0, NULL, "leave the host as it is, and close what was cut short", NULL},
};

static const struct answer recover_answer[] = {{"For interrupted changes", recovery_table, false},
	{"With `--rebuild` or `--clean`, and `--dry-run`", answer_change_dry, false},
	{"With `--rebuild` or `--clean`", answer_change_done, false}, {0}};

const struct command cmd_recover = {
	.name = "recover",
	.answer = recover_answer,
	.args = "",
	.summary = "take back what a vfctl that died left half done",
	.text = "Each change is in a journal from before its first effect until its last. The next\n"
		"change of the same PF does the same as this, and so do a guest's start and the boot.\n"
		"A guest's change is recovered by the next one of any guest, or here when libvirt\n"
		"answers; one that went too far to go back is carried on to its end. What a guest had\n"
		"is given back as well when libvirt says that it is off and never said that it stopped.\n"
		"What somebody changed since stays: of a domain's definition goes back what was done to\n"
		"its VFs, or all of it when nobody else wrote there. --rebuild leases with safe defaults;\n"
		"--trust-metadata grants all that the metadata asks for, and gives a lease whose domain\n"
		"is gone to the domain that was defined from it with another UUID.\n"
		"--clean is for VFs that nobody has, and that list calls to be cleaned: with trust on,\n"
		"a VLAN, rate limits or a guest's MAC that host.yaml does not declare for them. define\n"
		"and attach clean a VF before they hand it out.\n"
		"The status is 4 when something cannot be taken back, or waits for libvirt.",
	.changes = true,
	OPTIONS(options),
	.run = run_recover,
};
