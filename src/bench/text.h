/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_TEXT_H
#define VFCTL_BENCH_TEXT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* A piece of a text that somebody else holds; not NUL-terminated. */
struct span {
	const char *p, *end;
};

struct span span_of(const char *text);
static inline size_t span_len(struct span s)
{
	return (size_t)(s.end - s.p);
}
/* Each takes the next piece off *io_rest; false at its end. */
bool span_line(struct span *io_rest, struct span *ret);	 /* without its end, LF or CR LF */
bool span_word(struct span *io_rest, struct span *ret);	 /* between blanks */
bool span_field(struct span *io_rest, char separator, struct span *ret); /* may be empty */
struct span span_trim(struct span s);
bool span_is(struct span s, const char *text);
bool span_starts(struct span s, const char *prefix);
/* Where @text begins in it, or NULL; the second does not look at case. */
const char *span_find(struct span s, const char *text);
const char *span_find_word(struct span s, const char *text);
/* What follows the first @text in it; empty when that is not there. */
struct span span_after(struct span s, const char *text);
/* Into a field of a struct, cut where it does not fit. */
void span_copy(struct span s, char *dst, size_t size);

/*
 * A figure: digits with a point or, as some locales write it, a comma; groups of thousands;
 * an exponent. 0; -ERANGE it is nan or inf; -EBADMSG it is none; -ENOTUNIQ "1,250" may be both
 * one and a bit and more than a thousand.
 */
int number_read(struct span s, double *ret);
/* Digits alone. */
bool number_whole(struct span s, uint64_t *ret);

#endif
