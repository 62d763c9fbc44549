// SPDX-License-Identifier: GPL-2.0-or-later
/* schema: what editors check and complete our YAML files by. */
#include <stdio.h>
#include <string.h>

#include "command.h"
#include "core/guest.h"
#include "core/hostspec.h"

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
	.args = "guest|host|bench|VERB",
	.summary = "print the JSON schema of a file or of an answer",
	.text = "guest, host, bench: for editors, which check and complete by it. It is made of what vfctl "
		"reads the files by, so it takes every file that vfctl takes; what a schema cannot say, "
		"such as sums and values that exclude each other, only vfctl tells. All are installed in "
		"/usr/share/vfctl/schema. VERB: for programs that read what VERB prints with --json. "
		"reference: the reference of all these answers. Examples: vfctl schema host; vfctl schema "
		"list; vfctl schema guid pools.",
	.min_args = 1,
	.max_args = 2,
	.words = "guest host bench",
	.run = run_schema,
};
