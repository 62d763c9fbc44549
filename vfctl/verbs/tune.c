// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * tune: interrupt moderation and other settings that affect speed: set, shown, and found by
 * measurement.
 */
#include "verbs/tune.h"

static const struct command cmd_tune_profiles = {
	.name = "profiles", .typed = "tune profiles", .sub = true,
	.answer = tune_profiles_answer,
	.args = "",
	.summary = "List the tuning profiles for host.yaml and guest.yaml",
	.examples = {{"vfctl tune profiles", "list them"},
		{"vfctl tune profiles --json", "with all values"}},
	.reads = true,
	.run = tune_run_profiles,
};

static const struct command cmd_tune_show = {
	.name = "show", .typed = "tune show", .sub = true,
	.answer = tune_show_answer,
	.args = "[DOMAIN | PF [PROFILE] [SETTING=VALUE...]]",
	.summary = "Show the tuning of PFs or of a running guest",
	.text = "For a PF it prints the present interrupt moderation, what host.yaml declares "
		"(the key tuning of the PF), and the values that the driver accepts for it. With "
		"a profile, or settings as ethtool -C names them, it prints how the driver would "
		"apply them. For a domain it prints CPU governors, C-states and where its "
		"interrupts go.",
	.examples = {{"vfctl tune show ens1 latency", "what the profile sets on ens1"},
		{"vfctl tune show web", "a running guest"}},
	.max_args = ARGS_MAX - 1,
	.operand = OPERAND_ANY,
	.reads = true,
	.run = tune_run_show,
};

static const struct option_row set_options[] = {
	{"force", 0, NULL, "also if the driver resets the PF while guests use its VFs", NULL},
};
static const struct command cmd_tune_set = {
	.name = "set", .typed = "tune set", .sub = true,
	.answer = change_answer,
	.args = "PF [PROFILE] [SETTING=VALUE...]",
	.summary = "Set the interrupt moderation of a PF now",
	.text = "If the driver does not accept a value, vfctl sets the nearest one that it "
		"accepts. Every value is read back. To keep a setting after a reboot, declare"
		" it in host.yaml. If the driver would reset the PF for the change, the links "
		"of all its VFs would go down: vfctl then refuses while guests use them.",
	.examples = {{"vfctl tune set ens1 latency", "a profile"},
		{"vfctl tune set ens1 rx-usecs=10 --dry-run", "one setting"}},
	.min_args = 2,
	.max_args = ARGS_MAX - 1,
	.operand = OPERAND_PF,
	.changes = true,
	OPTIONS(set_options),
	.run = tune_run_set,
};

static const struct option_row guest_options[] = {
	{"profile", 0, "NAME", "profile to use (default: the guest's own)", NULL},
	{"output", 0, "DIR", "write the files below this directory", NULL},
	{"cloud-init", 0, "FILE", "write user-data for cloud-init (-: standard output)", NULL},
	{"mtu", 0, "N", "MTU of the guest's interfaces (default: that of GUEST.yaml)", NULL},
	{"ipoib-mode", 0, "MODE", "mode of IPoIB in the guest: datagram or connected (default: that of"
		" GUEST.yaml)", "any datagram connected"},
	{"network", 0, "WORD", "what configures IPoIB in the guest: udev (default), networkd,"
		" NetworkManager or netplan", "udev networkd NetworkManager netplan"},
	{"apply", 0, NULL, "write the files into the running guest through its agent, and set the values"
		" now", NULL},
};
static const struct command cmd_tune_guest = {
	.name = "guest", .typed = "tune guest", .sub = true,
	.answer = tune_guest_answer,
	.args = "DOMAIN|GUEST.yaml",
	.summary = "Make the files that tune a guest from the inside",
	.text = "The driver inside the guest controls the interrupt moderation of a VF, so "
		"the guest needs files for it.",
	.examples = {{"vfctl tune guest web --profile latency --output files/", "write files"},
		{"vfctl tune guest web --apply", "write them into the running guest"}},
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
	.group = GROUP_TUNING,
	.common = true,
	.args = "VERB ...",
	.summary = "Set interrupt moderation and tuning profiles",
	.text = "tune search DEVICE --to ADDRESS measures which setting is best for a "
		"workload; it is part of the package vfctl-bench (vfctl tune search --help).",
	.examples = {{"vfctl tune show ens1", "the present moderation"},
		{"vfctl tune set ens1 latency", "apply a profile"}},
	.subs = subs,
};
