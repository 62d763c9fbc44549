// SPDX-License-Identifier: GPL-2.0-or-later
/* tune: interrupt moderation and what else makes a card fast, set, shown and found by measurement. */
#include <string.h>

#include "tune.h"

static const struct tune_verb verbs[] = {
	{"profiles", "", 0, 0, tune_run_profiles},
	{"show", "[DOMAIN | PF [PROFILE] [SETTING=VALUE...]]", 0, ARGS_MAX - 1, tune_run_show},
	{"set", "PF [PROFILE] [SETTING=VALUE...]", 2, ARGS_MAX - 1, tune_run_set},
};

static int run(struct invocation *in)
{
	for (size_t i = 0; i < ARRAY_SIZE(verbs); i++) {
		const struct tune_verb *verb = &verbs[i];
		size_t count = in->arg_count - 1;

		if (strcmp(verb->name, in->args[0]) != 0)
			continue;
		if (count < verb->min_args)
			return usage(in, "needs: vfctl tune %s %s", verb->name, verb->args);
		if (count > verb->max_args)
			return usage(in, "'%s' is one argument too many: vfctl tune %s %s",
				in->args[verb->max_args + 1], verb->name, verb->args);
		return verb->run(in);
	}
	return usage(in, "'%s' is not one of: profiles, show, set", in->args[0]);
}

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
		"the one that was asked for, and reads it back.",
	.min_args = 1,
	.max_args = ARGS_MAX,
	.words = "profiles show set",
	.reads = true,
	.changes = true,
	.run = run,
};
