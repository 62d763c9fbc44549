// SPDX-License-Identifier: GPL-2.0-or-later
/* tune: interrupt moderation and what else makes a card fast, set, shown and found by measurement. */
#include <string.h>

#include "tune.h"

static const struct tune_verb verbs[] = {
	{"profiles", "", 0, 0, tune_run_profiles},
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
	return usage(in, "'%s' is not one of: profiles", in->args[0]);
}

const struct command cmd_tune = {
	.name = "tune",
	.args = "VERB ...",
	.summary = "interrupt moderation and profiles of tuning",
	.text = "tune profiles lists the profiles that host.yaml and guest.yaml can name.",
	.min_args = 1,
	.max_args = ARGS_MAX,
	.words = "profiles",
	.reads = true,
	.run = run,
};
