// SPDX-License-Identifier: GPL-2.0-or-later
/* schema: what editors check and complete our YAML files by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "vfctl/guest.h"
#include "vfctl/hostspec.h"

static const struct {
	const char *name;
	int (*make)(struct vfctl_ctx *ctx, char **ret_text);
} schemas[] = {
	{"guest", vfctl_guest_schema},
	{"host", vfctl_host_spec_schema},
};

static int run_schema(struct invocation *in)
{
	char *text;
	size_t i = 0;
	int r;

	while (i < ARRAY_SIZE(schemas) && strcmp(schemas[i].name, in->args[0]) != 0)
		i++;
	if (i == ARRAY_SIZE(schemas))
		return usage(in, "there is a schema of guest.yaml, of host.yaml and of a plan for "
			"bench, none of '%s'; write guest, host or bench", in->args[0]);
	r = schemas[i].make(in->ctx, &text);
	if (r < 0)
		return fail(in, r);
	fputs(text, stdout);
	free(text);
	return EXIT_DONE;
}

const struct command cmd_schema = {
	.name = "schema",
	.args = "guest|host|bench",
	.summary = "print the JSON schema of guest.yaml, host.yaml or a plan of bench",
	.text = "For editors, which check and complete by it. It is made of what vfctl reads the "
		"files by, so it takes every file that vfctl takes; what a schema cannot say, such as "
		"sums and values that exclude each other, only vfctl tells. All are installed in "
		"/usr/share/vfctl/schema.",
	.min_args = 1,
	.max_args = 1,
	.words = "guest host bench",
	.run = run_schema,
};
