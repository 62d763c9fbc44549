/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_REMOTE_ARGV_H
#define VFCTL_REMOTE_ARGV_H

#include "base/buf.h"
#include "base/ctx.h"

/* An argument list that grows. */
struct argv {
	char **v; /* NULL-terminated unless it is empty */
	size_t count;
	bool failed; /* memory was exhausted */
};
void argv_add(struct argv *a, const char *fmt, ...) _printf_(2, 3);
void argv_clear(struct argv *a);

/* The arguments in the form in which they are typed in a shell. */
char *argv_text(char *const argv[]);
/* Append one argument in that form to @b. */
void argv_quote(struct buf *b, const char *word);

#endif
