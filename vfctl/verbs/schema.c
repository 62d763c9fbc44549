// SPDX-License-Identifier: GPL-2.0-or-later
/* schema: the JSON schemas with which editors check and complete vfctl's YAML files. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "spec/host_yaml.h"

static const struct {
	const char *name;
	int (*make)(struct vfctl_ctx *ctx, char **ret_text);
} schemas[] = {
	{"guest", vfctl_guest_schema},
	{"host", vfctl_host_spec_schema},
};

static int run_schema(struct invocation *in)
{
	_free_ char *text = NULL;
	size_t i = 0;
	int r;

	while (i < ARRAY_SIZE(schemas) && strcmp(schemas[i].name, in->args[0]) != 0)
		i++;
	if (i == ARRAY_SIZE(schemas) || in->arg_count > 1)
		return answer_run_schema(in, in->args, in->arg_count);
	r = schemas[i].make(in->ctx, &text);
	if (r < 0)
		return fail(in, r);
	fputs(text, stdout);
	return EXIT_DONE;
}

const struct command cmd_schema = {
	.name = "schema",
	.group = GROUP_OTHER,
	.args = "guest|host|bench|VERB",
	.summary = "Print the JSON schema of a file or an answer",
	.text = "guest, host and bench are the schemas of the YAML files, for editors (also in "
		"/usr/share/vfctl/schema). They accept every file that vfctl accepts; vfctl also checks "
		"sums and keys that exclude each other. VERB is the schema of what VERB prints with "
		"--json. reference prints the reference of all these answers.",
	.examples = {{"vfctl schema host", "of host.yaml"},
		{"vfctl schema guid pools", "of an answer"}},
	.min_args = 1,
	.max_args = 2,
	.choices = "guest host bench",
	.run = run_schema,
};
