// SPDX-License-Identifier: GPL-2.0-or-later
#include "domain/said.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "domain/domain.h"

#define REFUSED_MAX 4
#define TEMPLATE_TEXT "template text"

char *guest_said(const struct vfctl_guest *guest, const char *template_text)
{
	uint64_t hash = UINT64_C(0xcbf29ce484222325);

	for (const char *p = template_text; p && *p; p++)
		hash = (hash ^ (uint8_t)*p) * UINT64_C(0x100000001b3); /* FNV-1a */
	return guest->said && template_text
		? str_format("%s" TEMPLATE_TEXT "=%016" PRIx64 "\n", guest->said, hash)
		: guest->said ? strdup(guest->said) : NULL;
}

const char *said_find(const char *lines, const char *key, size_t key_len)
{
	while (*lines) {
		lines += strspn(lines, " \t\n");
		if (!strncmp(lines, key, key_len) && lines[key_len] == '=')
			return lines + key_len + 1;
		lines += strcspn(lines, "\n");
	}
	return NULL;
}

bool said_has(const char *lines, const char *prefix, size_t len)
{
	while (*lines) {
		lines += strspn(lines, " \t\n");
		if (!strncmp(lines, prefix, len))
			return true;
		lines += strcspn(lines, "\n");
	}
	return false;
}

int said_is_defined(struct vfctl_ctx *ctx, const char *xml, const char *name, bool *ret)
{
	_free_ char *said = NULL;
	const char *named;
	int r = metadata_said(ctx, xml, &said);

	if (r < 0)
		return r;
	named = said ? said_find(said, "name", strlen("name")) : NULL;
	*ret = named && strlen(name) == strcspn(named, "\n") && !strncmp(named, name, strlen(name));
	return 0;
}

int said_check_lost(struct vfctl_ctx *ctx, const char *xml, const char *name)
{
	bool ours = false;
	int r = said_is_defined(ctx, xml, name, &ours);

	return r < 0 || !ours ? r : ctx_fail(ctx, -EPERM, "vfctl defined domain %s, but its lease is lost; "
		"lease to it again what it has: vfctl recover --rebuild", name);
}

void said_change_clear(struct said_change *change)
{
	buf_free(&change->refused);
}

/* ---- what can be changed in a domain that is there ---- */

enum change_kind {
	KIND_REFUSED,
	KIND_PLACE, /* the planner is asked again */
	KIND_VCPUS,
	KIND_MEMORY,
	KIND_CELLS,
	KIND_VF,   /* of one VF, or which there are */
	KIND_TUNING, /* a matter of the metadata alone */
	KIND_TEXT, /* a text in the definition, which can be replaced, not taken away */
	KIND_NAME, /* told apart elsewhere */
};

/* A key is such a name, or goes on with '[' or '.'. */
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
/* Of a VF: where it is, and what it has from pools and partitions for as long as it is there. */
static const char *const vf_places[] = {"affinity", "cell", "port", "apart", "fabric"};
static const char *const vf_fixed[] = {"pkey", "guid_pool", "mac_pool"};

/* "vfs[2].vlan" is of the entry "vfs[2]." */
static size_t entry_len(const char *key, size_t len)
{
	const char *dot = memchr(key, '.', len);

	return dot ? (size_t)(dot - key) + 1 : len;
}

static enum change_kind kind_of(const char *key, size_t len, const char *others)
{
	size_t entry = entry_len(key, len);
	bool is_new = entry < len && !said_has(others, key, entry);

	/* One more disk is added; one that is there stays as it is. */
	if (!strncmp(key, "disks[", 6))
		return is_new ? KIND_TEXT : KIND_REFUSED;
	if (!strncmp(key, "vfs[", 4) && str_is_one_of(vf_fixed, ARRAY_SIZE(vf_fixed), key + entry,
		len - entry))
		return is_new ? KIND_VF : KIND_REFUSED;
	if (!strncmp(key, "vfs[", 4) && str_is_one_of(vf_places, ARRAY_SIZE(vf_places), key + entry,
		len - entry))
		return KIND_PLACE;
	for (size_t i = 0; i < ARRAY_SIZE(kinds); i++) {
		size_t n = strlen(kinds[i].name);

		if (n <= len && !strncmp(key, kinds[i].name, n) &&
			(n == len || key[n] == '[' || key[n] == '.'))
			return kinds[i].kind;
	}
	return KIND_REFUSED;
}

/* ---- comparing ---- */

static int shown(int len)
{
	return len < 60 ? len : 60;
}

static void _printf_(2, 3) refuse(struct said_change *c, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	c->refused.failed |= !text;
	if (text && c->refused_count++ < REFUSED_MAX)
		buf_printf(&c->refused, "%s%s", c->refused.len ? "; " : "", text);
}

/* One line, which the other side has with the value @other, or (NULL) has not. */
static void compare_line(struct said_change *c, const char *key, int key_len, const char *value,
	int len, const char *other, bool is_now)
{
	int other_len = other ? (int)strcspn(other, "\n") : 0;

	if (str_is_one_of((const char *const[]){TEMPLATE_TEXT}, 1, key, (size_t)key_len))
		refuse(c, "the text of its template is another");
	else if (!other)
		refuse(c, is_now ? "%.*s is %.*s, and was not given" : "%.*s is not given, and was "
			"%.*s", key_len, key, shown(len), value);
	else
		refuse(c, "%.*s is %.*s, and was %.*s", key_len, key, shown(len), value,
			shown(other_len), other);
}

static void note(struct said_change *c, enum change_kind kind)
{
	c->any = true;
	c->vcpus |= kind == KIND_VCPUS;
	c->memory |= kind == KIND_MEMORY;
	c->cells |= kind == KIND_CELLS;
	c->place |= kind != KIND_VF && kind != KIND_TUNING && kind != KIND_TEXT &&
		kind != KIND_REFUSED;
}

/* @is_now false: only what @lines has alone. */
static void compare_lines(struct said_change *c, const char *lines, const char *others,
	bool is_now)
{
	for (int len; *(lines += strspn(lines, " \t\n")); lines += len) {
		size_t key = strcspn(lines, "=\n");
		const char *value = lines + key + 1, *other = said_find(others, lines, key);
		enum change_kind kind = kind_of(lines, key, others);
		int value_len, other_len = other ? (int)strcspn(other, "\n") : 0;

		len = (int)strcspn(lines, "\n");
		value_len = len - (int)key - 1;
		if (!key || (int)key == len || kind == KIND_NAME || (other && (!is_now ||
			(value_len == other_len && !memcmp(value, other, (size_t)other_len)))))
			continue;
		if (kind == KIND_REFUSED || (kind == KIND_TEXT && !is_now))
			compare_line(c, lines, (int)key, value, value_len, other, is_now);
		note(c, kind);
	}
}

void said_compare(const char *now, const char *was, struct said_change *ret)
{
	compare_lines(ret, now, was, true);
	compare_lines(ret, was, now, false);
	if (ret->refused_count > REFUSED_MAX)
		buf_printf(&ret->refused, "; and %zu more", ret->refused_count - REFUSED_MAX);
}
