/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_TEXT_H
#define VFCTL_BENCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a text that another object owns; not NUL-terminated. */
struct span {
	const char *p, *end;
};

struct span span_of(const char *text);
static inline size_t span_len(struct span s)
{
	return (size_t)(s.end - s.p);
}
/* Each function removes the next piece from *io_rest; false at its end. */
bool span_line(struct span *io_rest, struct span *ret);	 /* without its end, LF or CR LF */
bool span_word(struct span *io_rest, struct span *ret);	 /* between spaces */
bool span_field(struct span *io_rest, char separator, struct span *ret); /* may be empty */
struct span span_trim(struct span s);
bool span_is(struct span s, const char *text);
bool span_starts(struct span s, const char *prefix);
/* The position of @text in it, or NULL; the second function ignores case. */
const char *span_find(struct span s, const char *text);
const char *span_find_word(struct span s, const char *text);
/* What follows the first @text in it; empty if there is none. */
struct span span_after(struct span s, const char *text);
/* Copy it into a field of a struct, truncated if necessary. */
void span_copy(struct span s, char *dst, size_t size);

/*
 * Read a number: digits with a point or, as some locales write it, a comma; groups of thousands; an
 * exponent. 0; -ERANGE it is nan or inf; -EBADMSG it is not a number; -ENOTUNIQ "1,250" may be both
 * one and a bit and more than a thousand.
 */
int number_read(struct span s, double *ret);
/* Only digits. */
bool number_whole(struct span s, uint64_t *ret);

#endif
