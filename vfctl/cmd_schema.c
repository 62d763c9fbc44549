// SPDX-License-Identifier: GPL-2.0-or-later
/* schema: what editors check and complete guest.yaml and host.yaml by. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "command.h"
#include "vfctl/guest.h"
#include "vfctl/hostspec.h"

static int run_schema(struct invocation *in)
{
	bool guest = strcmp(in->args[0], "guest") == 0;
	char *text;
	int r;

	if (!guest && strcmp(in->args[0], "host") != 0)
		return usage(in, "there is a schema of guest.yaml and one of host.yaml, none of '%s'; "
			"write guest or host", in->args[0]);
	r = guest ? vfctl_guest_schema(in->ctx, &text) : vfctl_host_spec_schema(in->ctx, &text);
	if (r < 0)
		return fail(in, r);
	fputs(text, stdout);
	free(text);
	return EXIT_DONE;
}

const struct command cmd_schema = {
	.name = "schema",
	.args = "guest|host",
	.summary = "print the JSON schema of guest.yaml or host.yaml",
	.text = "For editors, which check and complete by it. It is made of what vfctl reads the "
		"files by, so it takes every file that vfctl takes; what a schema cannot say, such as "
		"sums and values that exclude each other, only vfctl tells. Both are installed in "
		"/usr/share/vfctl/schema.",
	.min_args = 1,
	.max_args = 1,
	.words = "guest host",
	.run = run_schema,
};
