// SPDX-License-Identifier: GPL-2.0-or-later
/* A plan of measurements as text, out of the options of bench and of tune search. */
#include <stdarg.h>
#include <stdio.h>
#include <string.h>

#include "text.h"

void plan_put(struct plan_text *t, const char *fmt, ...)
{
	va_list args;
	int n;

	va_start(args, fmt);
	n = vsnprintf(t->data + t->len, sizeof(t->data) - t->len, fmt, args);
	va_end(args);
	if (n < 0 || (size_t)n >= sizeof(t->data) - t->len)
		t->full = true;
	else
		t->len += (size_t)n;
}

void plan_put_quoted(struct plan_text *t, const char *value)
{
	plan_put(t, "'");
	for (; *value; value++)
		plan_put(t, *value == '\'' ? "''" : "%c", *value);
	plan_put(t, "'");
}

void plan_put_scalar(struct plan_text *t, const char *key, const char *value)
{
	plan_put(t, "%s: ", key);
	plan_put_quoted(t, value);
}

/* "netns:wire-b", "ssh:root@node2", "guest:web"; without: by ssh at the address. */
int plan_put_peer(struct invocation *in, struct plan_text *t, const char *to)
{
	static const char *const places[] = {"netns", "ssh", "guest", NULL};
	const char *on = option_of(in, "on"), *colon = on ? strchr(on, ':') : NULL;
	size_t i = 0;

	if (!on) {
		plan_put_scalar(t, "ssh", to);
		return EXIT_DONE;
	}
	if (strcmp(on, "here") == 0)
		return EXIT_DONE;
	while (colon && places[i] && strncmp(places[i], on, (size_t)(colon - on)) != 0)
		i++;
	if (!colon || !places[i] || !colon[1] || strlen(places[i]) != (size_t)(colon - on))
		return usage(in, "--on says where the server runs: here, netns:NAME, ssh:[USER@]HOST or "
			"guest:DOMAIN, not '%s'", on);
	plan_put_scalar(t, places[i], colon + 1);
	return EXIT_DONE;
}

/* "rx-usecs=0 adaptive-rx=off" */
static int put_settings(struct invocation *in, struct plan_text *t, const char *option,
	const char *text)
{
	char copy[512], *rest = copy, *word;

	snprintf(copy, sizeof(copy), "%s", text);
	/* An end whose interface is not named has none that could be set. */
	plan_put(t, "{%s: {", option_of(in, "peer-device") ? "settings" : "client-settings");
	while ((word = strsep(&rest, " ,"))) {
		char *equals = strchr(word, '=');

		if (!*word)
			continue;
		if (!equals)
			return usage(in, "--%s takes settings such as 'rx-usecs=0 adaptive-rx=off', "
				"not '%s'", option, text);
		*equals = '\0';
		plan_put_scalar(t, word, equals + 1);
		plan_put(t, ", ");
	}
	plan_put(t, "}}");
	return EXIT_DONE;
}

static void put_name(struct plan_text *t, const char *settings)
{
	for (const char *c = settings; *c && c - settings < 48; c++)
		plan_put(t, "%c", strchr(" ,=", *c) ? '-' : *c);
}

int plan_put_configuration(struct invocation *in, struct plan_text *t, const char *option,
	const char *settings)
{
	int status;

	plan_put(t, "  ");
	put_name(t, settings);
	plan_put(t, ": ");
	status = put_settings(in, t, option, settings);
	plan_put(t, "\n");
	return status;
}

int plan_put_configurations(struct invocation *in, struct plan_text *t, const char *option,
	unsigned *ret_count)
{
	int status = EXIT_DONE;

	*ret_count = 0;
	for (size_t i = 0; i < in->option_count && !status; i++) {
		if (strcmp(in->options[i].name, option) != 0)
			continue;
		(*ret_count)++;
		status = plan_put_configuration(in, t, option, in->options[i].value);
	}
	return status;
}

bool plan_is_list(const char *text)
{
	return *text && text[strspn(text, "0123456789,KMi B")] == '\0';
}

bool plan_is_time(const char *text)
{
	return *text && strlen(text) <= 8 && !text[strspn(text, "0123456789smh")];
}
