// SPDX-License-Identifier: GPL-2.0-or-later
/* tune: interrupt moderation and what else makes a card fast, set, shown and found by measurement. */
#include "verbs/tune.h"

static const struct command cmd_tune_profiles = {
	.name = "profiles", .typed = "tune profiles", .sub = true,
	.answer = tune_profiles_answer,
	.args = "",
	.summary = "List the tuning profiles that host.yaml and guest.yaml can name",
	.reads = true,
	.run = tune_run_profiles,
};

static const struct command cmd_tune_show = {
	.name = "show", .typed = "tune show", .sub = true,
	.answer = tune_show_answer,
	.args = "[DOMAIN | PF [PROFILE] [SETTING=VALUE...]]",
	.summary = "Show the interrupt moderation of PFs, or the tuning of a running guest",
	.text = "For PFs it prints the moderation now, what host.yaml declares (tuning: in a PF's\n"
		"entry), and what the driver makes of that. A profile or settings in the words of\n"
		"ethtool -C show what the driver would make of these. For a domain it prints governors,\n"
		"C-states and where its interrupts go.\n"
		"Examples: vfctl tune show ens1; vfctl tune show ens1 latency; vfctl tune show web.",
	.max_args = ARGS_MAX - 1,
	.operand = OPERAND_ANY,
	.reads = true,
	.run = tune_run_show,
};

static const struct command cmd_tune_set = {
	.name = "set", .typed = "tune set", .sub = true,
	.answer = change_answer,
	.args = "PF [PROFILE] [SETTING=VALUE...]",
	.summary = "Set the interrupt moderation of a PF now",
	.text = "Where the driver does not take a value it gets the nearest legal one. Every value is\n"
		"read back. host.yaml declares what holds after a reboot.\n"
		"Examples: vfctl tune set ens1 latency; vfctl tune set ens1 rx-usecs=10 --dry-run.",
	.min_args = 2,
	.max_args = ARGS_MAX - 1,
	.operand = OPERAND_PF,
	.changes = true,
	.run = tune_run_set,
};

static const struct option_row guest_options[] = {
	{"profile", 0, "NAME", "what to tune for (default: the guest's own profile)", NULL},
	{"output", 0, "DIR", "write the files below this directory", NULL},
	{"cloud-init", 0, "FILE", "write user-data for cloud-init (-: standard output)", NULL},
	{"apply", 0, NULL, "write the files into the running guest through its agent, and set the "
		"values now", NULL},
};
static const struct command cmd_tune_guest = {
	.name = "guest", .typed = "tune guest", .sub = true,
	.answer = tune_guest_answer,
	.args = "DOMAIN|GUEST.yaml",
	.summary = "Make the files that tune a guest from the inside",
	.text = "The interrupt moderation of a passed-through VF belongs to the guest's driver, so the\n"
		"guest gets files for it.\n"
		"Examples: vfctl tune guest web --profile latency; vfctl tune guest web --apply.",
	.min_args = 1,
	.max_args = 1,
	.operand = OPERAND_DOMAIN,
	.changes = true,
	OPTIONS(guest_options),
	.run = tune_run_guest,
};

static const struct command *const subs[] = {&cmd_tune_profiles, &cmd_tune_show, &cmd_tune_set,
	&cmd_tune_guest, NULL};

const struct command cmd_tune = {
	.name = "tune",
	.args = "VERB ...",
	.summary = "interrupt moderation and profiles of tuning",
	.text = "tune search DEVICE --to ADDRESS measures which setting is best for a workload; see\n"
		"vfctl tune search --help (package vfctl-bench).",
	.subs = subs,
};
