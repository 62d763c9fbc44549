// SPDX-License-Identifier: GPL-2.0-or-later
/* tune: interrupt moderation and what else makes a card fast, set, shown and found by measurement. */
#include "verbs/tune.h"
#include "vfctl/bench.h"

static const struct verb verbs[] = {
	{"profiles", "", 0, 0, tune_run_profiles, ""},
	{"show", "[DOMAIN | PF [PROFILE] [SETTING=VALUE...]]", 0, ARGS_MAX - 1, tune_run_show, ""},
	{"set", "PF [PROFILE] [SETTING=VALUE...]", 2, ARGS_MAX - 1, tune_run_set, ""},
	{"guest", "DOMAIN|GUEST.yaml --profile NAME", 1, 1, tune_run_guest,
		" profile cloud-init apply output "},
	{"search", "DEVICE --to ADDRESS", 0, 1, tune_run_search, " to on peer-device goal try size "
		"duration command regex json-path higher trials noise max-time seed output resume keep "
		"profile-file "},
};

static int run_tune(struct invocation *in)
{
	return run_verb(in, verbs, ARRAY_SIZE(verbs));
}

static const struct option_row options[] = {
	{"to", 0, "ADDRESS", "of search: the other end", NULL},
	{"on", 0, "PLACE", "where its server runs: here, netns:NAME, guest:DOMAIN, ssh:[USER@]HOST "
		"(default: ssh to ADDRESS)", NULL},
	{"peer-device", 0, "DEVICE", "the other end's interface: it is set alike", NULL},
	{"goal", 0, "METRIC", "what is to be best: p50 (default), p99, mean, throughput, ...", NULL},
	{"try", 0, "SETTINGS", "measure these, such as 'rx-usecs=0 adaptive-rx=off'; may be given several "
		"times (default: those worth it with the driver)", NULL},
	{"size", 0, "BYTES", "of a message (default: 64)", NULL},
	{"duration", 0, "TIME", "of one run (default: 2s)", NULL},
	{"command", 0, "COMMAND", "the workload is this, with a number in what it prints", NULL},
	{"regex", 0, "REGEX", "of --command: where the number stands, as its first group", NULL},
	{"json-path", 0, "PATH", "of --command: the same in JSON, such as a.b[0].c", NULL},
	{"higher", 0, NULL, "of --command: a higher number is better", NULL},
	{"trials", 0, "N", "of each setting at most, 6 to 49 (default: 15)", NULL},
	{"noise", 0, "SHARE", "smaller differences are none (default: 1%)", NULL},
	{"max-time", 0, "TIME", "measure no longer than that, such as 30m", NULL},
	{"seed", 0, "N", "of the order of runs (default: by the clock; it is in the result)", NULL},
	{"output", 0, "DIR", "of search: where the result goes (default: a new directory in "
		VFCTL_BENCH_DIR "); of guest: write the files below it", NULL},
	{"resume", 0, "DIR", "go on with that search", NULL},
	{"profile", 0, "NAME", "of guest: what it is tuned for (default: what it asks for itself)", NULL},
	{"cloud-init", 0, "FILE", "of guest: write user-data for cloud-init (-: standard output)", NULL},
	{"apply", 0, NULL, "of guest: by its agent write the files into the running guest, and set it now",
		NULL},
	{"keep", 0, "NAME", "print what was found as a profile for host.yaml", NULL},
	{"profile-file", 0, "FILE", "of --keep: write it there", NULL},
};

const struct command cmd_tune = {
	.name = "tune",
	.args = "VERB ...",
	.summary = "interrupt moderation and profiles of tuning",
	.text = "tune profiles lists the profiles that host.yaml and guest.yaml can name.\n"
		"tune show [PF] prints the interrupt moderation of PFs beside what host.yaml wants\n"
		"(tuning: in a PF's entry), and what the driver makes of it; tune show PF latency asks\n"
		"what a profile, or settings in the words of ethtool -C, would come to; tune show DOMAIN\n"
		"what a running guest has: governors, C-states, where its interrupts go. tune set PF\n"
		"latency rx-usecs=10 sets it now, the nearest legal value where the driver does not take\n"
		"the one that was asked for, and reads it back.\n"
		"tune guest DOMAIN --profile latency writes the guest's half: interrupt moderation of a\n"
		"passed-through VF belongs to the guest's driver, so the guest gets files for it.\n"
		"tune search DEVICE --to ADDRESS measures which setting is best for a workload: latency,\n"
		"throughput, a --command of yours, or the test of a plan (tune search PLAN.yaml).\n"
		"Settings that are clearly worse are left out early; the best one is measured again beside\n"
		"what is there now, and only these figures decide. What was set is put back.",
	.min_args = 1,
	.max_args = ARGS_MAX,
	.words = "profiles show set guest search",
	.reads = true,
	.changes = true,
	OPTIONS(options),
	.repeats = "try",
	.run = run_tune,
};
