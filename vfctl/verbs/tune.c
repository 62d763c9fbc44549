// SPDX-License-Identifier: GPL-2.0-or-later
/* tune: interrupt moderation and what else makes a card fast, set, shown and found by measurement. */
#include "verbs/tune.h"

static const struct verb verbs[] = {
	{"profiles", "", 0, 0, tune_run_profiles, ""},
	{"show", "[DOMAIN | PF [PROFILE] [SETTING=VALUE...]]", 0, ARGS_MAX - 1, tune_run_show, ""},
	{"set", "PF [PROFILE] [SETTING=VALUE...]", 2, ARGS_MAX - 1, tune_run_set, ""},
	{"guest", "DOMAIN|GUEST.yaml --profile NAME", 1, 1, tune_run_guest,
		" profile cloud-init apply output "},
};

static int run_tune(struct invocation *in)
{
	return run_verb(in, verbs, ARRAY_SIZE(verbs));
}

static const struct option_row options[] = {
	{"output", 0, "DIR", "of guest: write the files below it", NULL},
	{"profile", 0, "NAME", "of guest: what it is tuned for (default: what it asks for itself)", NULL},
	{"cloud-init", 0, "FILE", "of guest: write user-data for cloud-init (-: standard output)", NULL},
	{"apply", 0, NULL, "of guest: by its agent write the files into the running guest, and set it now",
		NULL},
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
		"tune search DEVICE --to ADDRESS measures which setting is best for a workload; see\n"
		"vfctl tune search --help (package vfctl-bench).",
	.min_args = 1,
	.max_args = ARGS_MAX,
	.words = "profiles show set guest search",
	.reads = true,
	.changes = true,
	OPTIONS(options),
	.run = run_tune,
};
