// SPDX-License-Identifier: GPL-2.0-or-later
#include "draft.h"

#include <stdio.h>
#include <string.h>

int draft_server(struct invocation *in, struct plan_draft *d, const char *to)
{
	static const char *const kinds[] = {"netns", "ssh", "guest"};
	const char *on = option_of(in, "on");

	plan_draft_put(d, to, "endpoints", "server", "address", NULL);
	if (!on) {
		plan_draft_put(d, to, "endpoints", "server", "ssh", NULL);
		return EXIT_DONE;
	}
	if (strcmp(on, "here") == 0)
		return EXIT_DONE;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t len = strlen(kinds[i]);

		if (strncmp(on, kinds[i], len) != 0 || on[len] != ':' || !on[len + 1])
			continue;
		plan_draft_put(d, on + len + 1, "endpoints", "server", kinds[i], NULL);
		return EXIT_DONE;
	}
	return usage(in, "--on must be here, netns:NAME, ssh:[USER@]HOST or guest:DOMAIN, not '%s'", on);
}

/* "rx-usecs=0 adaptive-rx=off" as "rx-usecs-0-adaptive-rx-off". */
static void name_configuration(const char *settings, char *buf, size_t size)
{
	snprintf(buf, size, "%s", settings);
	for (char *c = buf; *c; c++)
		if (strchr(" ,=", *c))
			*c = '-';
}

int draft_configuration(struct invocation *in, struct plan_draft *d, const char *option,
	const char *settings)
{
	/* An end whose interface is not named has no settings. */
	const char *key = option_of(in, "peer-device") ? "settings" : "client-settings";
	char name[49], copy[512], *rest = copy, *word;

	if (snprintf(copy, sizeof(copy), "%s", settings) >= (int)sizeof(copy))
		return usage(in, "--%s is longer than %zu characters", option, sizeof(copy) - 1);
	name_configuration(settings, name, sizeof(name));
	plan_draft_put(d, NULL, "configurations", name, NULL);
	while ((word = strsep(&rest, " ,"))) {
		char *equals = strchr(word, '=');

		if (!*word)
			continue;
		if (!equals)
			return usage(in, "--%s takes settings such as 'rx-usecs=0 adaptive-rx=off', "
				"not '%s'", option, settings);
		*equals = '\0';
		plan_draft_put(d, equals + 1, "configurations", name, key, word, NULL);
	}
	return EXIT_DONE;
}

int draft_configurations(struct invocation *in, struct plan_draft *d, const char *option,
	unsigned *ret_count)
{
	int status = EXIT_DONE;

	*ret_count = 0;
	for (size_t i = 0; i < in->option_count && !status; i++) {
		if (strcmp(in->options[i].name, option) != 0)
			continue;
		(*ret_count)++;
		status = draft_configuration(in, d, option, in->options[i].value);
	}
	return status;
}

void draft_test(struct plan_draft *d, const char *key, const char *value)
{
	plan_draft_put(d, value, "tests", "-", key, NULL);
}

void draft_test_list(struct plan_draft *d, const char *key, const char *values)
{
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", values);
	while ((word = strsep(&rest, ", ")))
		if (*word)
			plan_draft_put(d, word, "tests", "-", key, "+", NULL);
}
