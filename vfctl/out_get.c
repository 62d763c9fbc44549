// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * --get: print only the values of some members of a JSON answer, one line for each object that has
 * them.
 */
#include <stdlib.h>
#include <string.h>

#include "out_state.h"

static size_t parent_len(const char *path)
{
	const char *dot = strrchr(path, '.');

	return dot ? (size_t)(dot - path) : 0;
}

void out_set_get(struct out *out, const char *const *paths, size_t count)
{
	out->get_count = count;
	for (size_t i = 0; i < count; i++) {
		out->get[i].path = paths[i];
		if (parent_len(paths[i]) >= parent_len(out->get[out->get_deepest].path))
			out->get_deepest = i;
	}
}

/* Whether the open object has the path @path of @len bytes; @key: whether its member has. */
static bool is_at(const struct out *out, const char *path, size_t len, const char *key)
{
	size_t at = 0;

	for (size_t i = 0; i <= out->depth; i++) {
		const char *name = i < out->depth ? out->keys[i] : key;
		size_t n = name ? strlen(name) : 0;

		if (!name)
			continue;
		if (at) {
			if (at >= len || path[at] != '.')
				return false;
			at++;
		}
		if (n > len - at || strncmp(path + at, name, n) != 0)
			return false;
		at += n;
	}
	return at == len;
}

/* An element of a list of scalars is appended to the previous ones. */
static void take_value(struct got *got, const char *value)
{
	char *text = NULL;

	if (!got->value)
		text = strdup(value);
	else if (asprintf(&text, "%s,%s", got->value, value) < 0)
		text = NULL;
	free(got->value);
	got->value = text;
}

void get_value(struct out *out, const char *key, const char *value)
{
	for (size_t i = 0; i < out->get_count; i++)
		if (value && is_at(out, out->get[i].path, strlen(out->get[i].path), key))
			take_value(&out->get[i], value);
}

static void print_got(struct out *out)
{
	out_begin(out);
	for (size_t i = 0; i < out->get_count; i++) {
		fputs(i ? "\t" : "", out->file);
		put_clean(out->file, out->get[i].value ? out->get[i].value : "");
	}
	putc('\n', out->file);
}

void get_close(struct out *out)
{
	const char *deepest = out->get[out->get_deepest].path;

	if (out->closing[out->depth - 1] == '}') {
		if (is_at(out, deepest, parent_len(deepest), NULL))
			print_got(out);
		for (size_t i = 0; i < out->get_count; i++)
			if (is_at(out, out->get[i].path, parent_len(out->get[i].path), NULL)) {
				free(out->get[i].value);
				out->get[i].value = NULL;
			}
	}
	out->depth--;
}
