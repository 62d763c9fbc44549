// SPDX-License-Identifier: GPL-2.0-or-later
#include "remote/argv.h"

#include <stdarg.h>

void argv_add(struct argv *a, const char *fmt, ...)
{
	va_list args;
	char *word;

	va_start(args, fmt);
	word = str_vformat(fmt, args);
	va_end(args);
	if (!word || !array_grow(a->v, a->count + 1)) {
		free(word);
		a->failed = true;
		return;
	}
	a->v[a->count++] = word;
	a->v[a->count] = NULL;
}

void argv_clear(struct argv *a)
{
	strv_free(a->v);
	*a = (struct argv){0};
}

void argv_quote(struct buf *b, const char *word)
{
	if (*word && strspn(word, "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
				  "@%+=:,./_-") == strlen(word)) {
		buf_puts(b, word);
		return;
	}
	buf_puts(b, "'");
	for (; *word; word++)
		if (*word == '\'')
			buf_puts(b, "'\\''");
		else
			buf_add(b, word, 1);
	buf_puts(b, "'");
}

char *argv_text(char *const argv[])
{
	_buf_ struct buf b = {0};

	for (size_t i = 0; argv[i]; i++) {
		buf_puts(&b, i ? " " : "");
		argv_quote(&b, argv[i]);
	}
	return b.failed ? NULL : buf_steal(&b);
}
