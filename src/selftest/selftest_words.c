// SPDX-License-Identifier: GPL-2.0-or-later
/* A report is meant for other people: remove what identifies the host or the card. */
#include <ctype.h>

#include "base/buf.h"
#include "selftest/trials.h"

/* Whether the character can be part of an address or a name. */
static bool is_part(char c)
{
	return isalnum((unsigned char)c) || c == ':' || c == '.' || c == '_' || c == '-';
}

/*
 * In a pattern, "h" is a hex digit and anything else itself. Returns the length of the match at
 * @text; 0: none.
 */
static size_t match(const char *text, const char *pattern)
{
	size_t n = 0;

	for (; pattern[n]; n++)
		if (pattern[n] == 'h' ? !isxdigit((unsigned char)text[n]) : text[n] != pattern[n])
			return 0;
	return isxdigit((unsigned char)text[n]) ? 0 : n;
}

static const struct {
	const char *pattern, *word;
} patterns[] = { /* longer ones first */
	{"hhhhhhhh-hhhh-hhhh-hhhh-hhhhhhhhhhhh", "UUID"},
	{"hh:hh:hh:hh:hh:hh:hh:hh", "GUID"},
	{"hhhh:hhhh:hhhh:hhhh", "GUID"},
	{"0xhhhhhhhhhhhhhhhh", "GUID"},
	{"hhhhhhhhhhhhhhhh", "GUID"},
	{"hh:hh:hh:hh:hh:hh", "MAC"},
	{"hhhhh:hh:hh.h", "ADDRESS"}, /* VMD */
	{"hhhh:hh:hh.h", "ADDRESS"},
	{"hh:hh.h", "ADDRESS"},
};

/*
 * Match a name, alone or with the suffix that a driver or udev adds for a VF's device ("ens1" in
 * "ens1v0").
 */
static size_t match_name(const char *text, const char *name)
{
	size_t len = strlen(name), n = len;

	if (len < 2 || strncmp(text, name, len) != 0)
		return 0;
	while (isalnum((unsigned char)text[n]) || text[n] == '_')
		n++;
	return n;
}

static size_t find_text(const char *text, char *const *names, const char **ret_word)
{
	for (size_t i = 0; i < ARRAY_SIZE(patterns); i++) {
		size_t n = match(text, patterns[i].pattern);

		*ret_word = patterns[i].word;
		if (n)
			return n;
	}
	*ret_word = "PF";
	for (size_t i = 0; names && names[i]; i++) {
		size_t n = match_name(text, names[i]);

		if (n)
			return n;
	}
	return 0;
}

char *selftest_scrub(const char *text, char *const *names)
{
	_buf_ struct buf clean = {0};
	char before = '\0';

	for (size_t n; *text; text += n) {
		const char *word;

		n = is_part(before) && before != ':' ? 0 : find_text(text, names, &word);
		if (n)
			buf_puts(&clean, word);
		else
			buf_add(&clean, text, n = 1);
		before = text[n - 1];
	}
	buf_puts(&clean, "");
	return buf_steal(&clean);
}
