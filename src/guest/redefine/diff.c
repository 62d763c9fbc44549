// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare a guest's file with its former version: the documents themselves, without defaults. */
#include "guest/redefine/diff.h"

#include <stdarg.h>
#include <stdio.h>

#include "spec/reader.h"

#define REFUSED_MAX 4

void file_diff_clear(struct file_diff *diff)
{
	buf_free(&diff->refused);
}

/* ---- what can be changed in an existing domain ---- */

enum change_kind {
	KIND_REFUSED,
	KIND_PLACE, /* the planner runs again */
	KIND_VCPUS,
	KIND_MEMORY,
	KIND_CELLS,
	KIND_VF,   /* of one VF, or the set of VFs */
	KIND_TUNING, /* only in the metadata */
	KIND_TEXT, /* a text in the definition, which can be replaced, but not removed */
	KIND_NAME, /* compared elsewhere */
};

/* A row matches a path that begins with its name, followed by the end, '[' or '.'. */
static const struct {
	const char *name;
	enum change_kind kind;
} kinds[] = {
	{"name", KIND_NAME}, {"uuid", KIND_NAME}, {"vcpus", KIND_VCPUS}, {"memory", KIND_MEMORY},
	{"cells", KIND_CELLS}, {"hugepages", KIND_PLACE}, {"threads", KIND_PLACE},
	{"shared_vcpus", KIND_PLACE}, {"node", KIND_PLACE}, {"memory_affinity", KIND_PLACE},
	{"whole_node", KIND_PLACE}, {"whole_l3", KIND_PLACE}, {"max_distance", KIND_PLACE},
	{"emulator_cores", KIND_PLACE}, {"iothreads", KIND_PLACE}, {"iothread_cores", KIND_PLACE},
	{"vfs", KIND_VF}, {"tuning", KIND_TUNING}, {"title", KIND_TEXT}, {"description", KIND_TEXT},
};
/* Keys of a VF: its locality, and its values from pools and partitions. */
static const char *const vf_places[] = {"affinity", "cell", "port", "apart", "bond", "fabric"};
static const char *const vf_fixed[] = {"pkey", "guid_pool", "mac_pool"};

/* @path: "vfs[2].vlan". @is_new: the other file has no such entry. */
static enum change_kind kind_of(const char *path, bool is_new)
{
	const char *dot = strchr(path, '.'), *key = dot ? dot + 1 : path;
	bool of_vf = str_starts(path, "vfs[");

	/* A disk may be added; an existing one is not changed. */
	if (str_starts(path, "disks["))
		return is_new ? KIND_TEXT : KIND_REFUSED;
	if (of_vf && str_is_one_of(vf_fixed, ARRAY_SIZE(vf_fixed), key, strlen(key)))
		return is_new ? KIND_VF : KIND_REFUSED;
	if (of_vf && str_is_one_of(vf_places, ARRAY_SIZE(vf_places), key, strlen(key)))
		return KIND_PLACE;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].name);

		if (str_starts(path, kinds[i].name) && strchr(".[", path[n]))
			return kinds[i].kind;
	}
	return KIND_REFUSED;
}

/* ---- comparing ---- */

/* The beginning of the first line. */
static int shown(const char *text)
{
	int len = (int)strcspn(text, "\n");

	return len < 60 ? len : 60;
}

static void _printf_(2, 3) refuse(struct file_diff *d, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	d->refused.failed |= !text;
	if (text && d->refused_count++ < REFUSED_MAX)
		buf_printf(&d->refused, "%s%s", d->refused.len ? "; " : "", text);
}

static void note(struct file_diff *d, enum change_kind kind)
{
	d->any = true;
	d->vcpus |= kind == KIND_VCPUS;
	d->memory |= kind == KIND_MEMORY;
	d->cells |= kind == KIND_CELLS;
	d->place |= kind != KIND_VF && kind != KIND_TUNING && kind != KIND_TEXT &&
		kind != KIND_REFUSED;
}

/* Compare one file with the other; @is_now false: only keys that the other does not have. */
struct comparison {
	struct file_diff *diff;
	bool is_now;
};

/* @other: its value in the other file, or NULL. */
static void compare_value(const struct comparison *c, const char *path, const char *value,
	const char *other, bool is_new)
{
	enum change_kind kind = kind_of(path, is_new);

	if (kind == KIND_NAME || (other && (!c->is_now || str_eq(value, other))))
		return;
	note(c->diff, kind);
	if (kind != KIND_REFUSED && (kind != KIND_TEXT || c->is_now))
		return;
	if (other)
		refuse(c->diff, "%s is %.*s, and was %.*s", path, shown(value), value, shown(other),
			other);
	else
		refuse(c->diff, c->is_now ? "%s is %.*s, but was not stated before"
					  : "%s is not stated, but was %.*s", path, shown(value), value);
}

static const struct doc_node *find_other(const struct doc_node *other, const struct doc_node *node,
	size_t i)
{
	if (!other || other->kind != node->kind)
		return NULL;
	if (node->kind == DOC_LIST)
		return i < other->count ? other->items[i] : NULL;
	for (size_t k = 0; k < other->count; k++)
		if (reader_same_key(other->keys[k]->text, node->keys[i]->text))
			return other->items[k];
	return NULL;
}

static char *inner_path(const char *path, const struct doc_node *node, size_t i)
{
	char *inner = node->kind == DOC_LIST
		? str_format("%s[%zu]", path, i)
		: str_format("%s%s%s", path, *path ? "." : "", node->keys[i]->text);

	for (char *p = inner; p && *p; p++)
		if (*p == '-')
			*p = '_';
	return inner;
}

static void compare_node(const struct comparison *c, const char *path, const struct doc_node *node,
	const struct doc_node *other, bool is_new)
{
	if (node->kind == DOC_SCALAR)
		compare_value(c, path, node->text,
			other && other->kind == DOC_SCALAR ? other->text : NULL, is_new);
	for (size_t i = 0; i < node->count; i++) {
		const struct doc_node *there = find_other(other, node, i);
		_free_ char *inner = inner_path(path, node, i);

		if (inner)
			compare_node(c, inner, node->items[i], there,
				is_new || (node->kind == DOC_LIST && !there));
		else
			c->diff->refused.failed = true;
	}
}

void file_diff_make(const struct vfctl_guest *now, const struct vfctl_guest *was,
	struct file_diff *ret)
{
	compare_node(&(struct comparison){ret, true}, "", now->doc, was->doc, false);
	if (now->template_hash != was->template_hash) {
		note(ret, KIND_REFUSED);
		refuse(ret, "its template has changed");
	}
	compare_node(&(struct comparison){ret, false}, "", was->doc, now->doc, false);
	if (ret->refused_count > REFUSED_MAX)
		buf_printf(&ret->refused, "; and %zu more", ret->refused_count - REFUSED_MAX);
}
