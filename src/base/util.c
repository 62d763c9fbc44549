// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/util.h"

#include <stdarg.h>
#include <stdio.h>

void strv_free(char **v)
{
	for (size_t i = 0; v && v[i]; i++)
		free(v[i]);
	free(v);
}

size_t strv_len(char *const *v)
{
	size_t n = 0;

	while (v && v[n])
		n++;
	return n;
}

char **strv_split(const char *text, const char *separators)
{
	char **v = calloc(strlen(text) / 2 + 2, sizeof(*v));
	size_t n = 0;

	for (const char *p = text; v && *(p += strspn(p, separators)); p += strcspn(p, separators)) {
		v[n] = strndup(p, strcspn(p, separators));
		if (!v[n++]) {
			strv_free(v);
			return NULL;
		}
	}
	return v;
}

bool str_copy(char *dst, size_t size, const char *src)
{
	size_t len = strlen(src);

	if (len >= size) {
		dst[0] = '\0';
		return false;
	}
	memcpy(dst, src, len + 1);
	return true;
}

char *str_rstrip(char *s)
{
	size_t len = strlen(s);

	while (len && strchr(" \t\r\n", s[len - 1]))
		s[--len] = '\0';
	return s;
}

bool str_is_one_of(const char *const *names, size_t count, const char *word, size_t len)
{
	for (size_t i = 0; i < count; i++)
		if (len == strlen(names[i]) && !strncmp(word, names[i], len))
			return true;
	return false;
}

char *str_vformat(const char *fmt, va_list args)
{
	char *text;

	return vasprintf(&text, fmt, args) < 0 ? NULL : text;
}

char *str_format(const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	return text;
}

/* Capacities are powers of two, so the count alone tells when to grow. */
uint64_t fnv1a(uint64_t hash, const void *data, size_t len)
{
	const uint8_t *p = data;

	for (size_t i = 0; i < len; i++)
		hash = (hash ^ p[i]) * UINT64_C(0x100000001b3);
	return hash;
}

bool array_grow_(void **array, size_t count, size_t item_size)
{
	size_t room;
	void *bigger;

	if (*array && count & (count - 1))
		return true;
	if (*array && count == 0)
		return true;
	room = count ? count * 2 : 1;
	bigger = reallocarray(*array, room, item_size);
	if (!bigger)
		return false;
	memset((char *)bigger + count * item_size, 0, (room - count) * item_size);
	*array = bigger;
	return true;
}

void sort_unless_sorted(void *array, size_t count, size_t item_size,
	int (*compare)(const void *, const void *))
{
	const char *item = array;

	for (size_t i = 1; i < count; i++, item += item_size)
		if (compare(item, item + item_size) > 0) {
			qsort(array, count, item_size, compare);
			return;
		}
}

static int by_key(const void *a, const void *b)
{
	const struct sort_key *x = a, *y = b;

	if (x->major != y->major)
		return x->major < y->major ? -1 : 1;
	if (x->minor != y->minor)
		return x->minor < y->minor ? -1 : 1;
	return x->at < y->at ? -1 : x->at > y->at;
}

void sort_keys(struct sort_key *keys, size_t count)
{
	sort_unless_sorted(keys, count, sizeof(*keys), by_key);
}
