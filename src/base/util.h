/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_UTIL_H
#define VFCTL_BASE_UTIL_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/address.h"
#include "base/cleanup.h"

#define ARRAY_SIZE(a) (sizeof(a) / sizeof((a)[0]))
#define _printf_(fmt, args) __attribute__((format(printf, fmt, args)))

static inline void close_fd(int *fd)
{
	if (*fd >= 0)
		close(*fd);
}
#define _close_ _cleanup_(close_fd)

/* A NULL-terminated array of strings, freed as a whole. */
void strv_free(char **v);
size_t strv_len(char *const *v);
/* The parts of @text between any of the @separators, without empty ones; NULL: no memory. */
char **strv_split(const char *text, const char *separators);
static inline void strv_freep(char ***v)
{
	strv_free(*v);
}
#define _strv_ _cleanup_(strv_freep)

static inline bool str_eq(const char *a, const char *b)
{
	return strcmp(a, b) == 0;
}
static inline bool str_starts(const char *s, const char *prefix)
{
	return strncmp(s, prefix, strlen(prefix)) == 0;
}

/* Copy into a fixed field; false if the string does not fit, and the field is then empty. */
bool str_copy(char *dst, size_t size, const char *src);
/* Remove white space at the end, in place. */
char *str_rstrip(char *s);
/* Whether @word, of @len bytes, is one of these names. */
bool str_is_one_of(const char *const *names, size_t count, const char *word, size_t len);
/* printf into malloc'ed memory; NULL if memory is exhausted. */
char *str_format(const char *fmt, ...) _printf_(1, 2);
char *str_vformat(const char *fmt, va_list args) _printf_(1, 0);

/*
 * FNV-1a over @len more bytes: well mixed, and the same on every machine and in every version.
 * Derived MACs and what is stored of it depend on that. @hash: FNV1A_START, or the hash of the
 * bytes before.
 */
#define FNV1A_START UINT64_C(0xcbf29ce484222325)
uint64_t fnv1a(uint64_t hash, const void *data, size_t len);

/*
 * Grow @array (a pointer variable) so that index @count is usable. New elements are zeroed. False
 * if memory is exhausted; the array is then unchanged.
 */
#define array_grow(array, count)                                                         \
	array_grow_((void **)&(array), (count), sizeof(*(array)))
bool array_grow_(void **array, size_t count, size_t item_size);

/* qsort() for arrays that are usually sorted already. */
void sort_unless_sorted(void *array, size_t count, size_t item_size,
	int (*compare)(const void *, const void *));

/* The sort key of an item and the item's position, so that comparing and moving are cheap. */
struct sort_key {
	uint64_t major, minor;
	size_t at;
};
/* Equal keys stay in the order of @at. */
void sort_keys(struct sort_key *keys, size_t count);

/* The text of a PCI address, valid until the end of the block; needs base/address.h. */
#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

#endif
