// SPDX-License-Identifier: GPL-2.0-or-later
#include "spec/reader.h"

#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/nearest.h"
#include "base/parse.h"

#define AT(type) ((type *)((char *)object + key->offset))
#define STRING_MAX 65536

int reader_fail(struct reader *r, const struct doc_node *at, const char *key, int error,
	const char *fmt, ...)
{
	_free_ char *choices = NULL;
	va_list args;

	va_start(args, fmt);
	choices = str_vformat(fmt, args);
	va_end(args);
	/* The entry of a list has no key of its own: "modules[0].". */
	return choices ? doc_fail(r->ctx, at, error, "%.*s%s: %s",
		(int)strlen(r->path) - (!*key && *r->path),
		r->path, key, choices) : ctx_oom(r->ctx);
}

int read_table_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_attr(r, key, value, (void *)((char *)object + key->offset));
}

bool table_key(const struct table *table, size_t index, struct key *ret)
{
	const struct vfctl_vf_attr_info *info;
	size_t skip = index - table->count;

	if (index < table->count) {
		*ret = table->keys[index];
		return true;
	}
	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (info->bit & table->attr_bits && !skip--) {
			*ret = (struct key){.name = info->file[table->attr_file], .read = read_table_attr,
				.offset = table->attrs, .choices = &info->key};
			return true;
		}
	return false;
}

/* The valid key that is nearest to a mistyped one; NULL if none is near. */
static const char *nearest(const char *name, const struct table *table)
{
	struct nearest search = nearest_to(name);
	struct key key;

	for (size_t i = 0; table_key(table, i, &key); i++)
		nearest_offer(&search, key.name);
	return search.best;
}

/* A VF attribute under the name of ip link or sysfs; vfctl's key may end with a unit. */
static const char *called_otherwise(const char *name, const struct table *table)
{
	const char *ours = vfctl_vf_attr_name(name);
	struct key key;

	for (size_t i = 0; ours && table_key(table, i, &key); i++) {
		const char *k = key.name, *p = ours;

		for (; *p && (*p == *k || (*p == '-' && *k == '_')); p++)
			k++;
		if (!*p)
			return key.name;
	}
	return nearest(name, table);
}

static int fail_unknown(struct reader *r, const struct doc_node *at, const struct table *table)
{
	const char *like = called_otherwise(at->text, table);
	_buf_ struct buf known = {0};
	struct key key;

	if (like)
		return reader_fail(
			r, at, at->text, -EINVAL, "no such key; did you mean %s?", like);
	for (size_t i = 0; table_key(table, i, &key); i++)
		buf_printf(&known, "%s%s", i ? ", " : "", key.name);
	return reader_fail(r, at, at->text, -EINVAL, "no such key; known are %s",
		known.failed ? "" : known.data);
}

bool reader_same_key(const char *a, const char *b)
{
	while (*a && (*a == *b || (*a == '-' && *b == '_') || (*a == '_' && *b == '-'))) {
		a++;
		b++;
	}
	return *a == *b;
}

static bool find_key(const struct table *table, const char *name, struct key *ret,
	size_t *ret_index)
{
	for (size_t i = 0; table_key(table, i, ret); i++)
		if (reader_same_key(ret->name, name)) {
			*ret_index = i;
			return true;
		}
	return false;
}

/* Paths of keys end with a point, as in "lag[0]."; it is left out here. */
static int fail_no_map(const struct reader *r, const struct doc_node *node, const char *first)
{
	size_t len = strlen(r->path);

	if (!len)
		return doc_fail(r->ctx, node, -EINVAL, "the file must be keys with values, such as %s: ...",
			first);
	return doc_fail(r->ctx, node, -EINVAL, "%.*s: must be keys with values, such as %s: ...",
		(int)(len - 1), r->path, first);
}

static bool has_key(const struct doc_node *node, const char *name)
{
	for (size_t i = 0; i < node->count; i++)
		if (reader_same_key(node->keys[i]->text, name))
			return true;
	return false;
}

static int check_required(struct reader *r, const struct doc_node *node, const struct table *table)
{
	for (size_t i = 0; table->remedy && table->required[i]; i++) {
		_free_ char *name = strdup(table->required[i]);
		char *other = name ? strchr(name, '|') : NULL;

		if (!name)
			return ctx_oom(r->ctx);
		if (other)
			*other++ = '\0';
		if (!has_key(node, name) && !(other && has_key(node, other)))
			return reader_fail(r, node, name, -EINVAL, "the key is missing; %s",
				table->remedy);
	}
	return 0;
}

int reader_table(struct reader *r, const struct doc_node *node, const struct table *table,
	void *object, const struct doc_node **ret_seen)
{
	struct key key = {0};
	size_t index = 0;

	table_key(table, 0, &key);
	if (node->kind != DOC_MAP)
		return fail_no_map(r, node, key.name);
	for (size_t i = 0; i < node->count; i++) {
		int error;

		if (!find_key(table, node->keys[i]->text, &key, &index))
			return fail_unknown(r, node->keys[i], table);
		for (size_t k = 0; k < i; k++)
			if (reader_same_key(node->keys[k]->text, node->keys[i]->text))
				return reader_fail(r, node->keys[i], key.name, -EINVAL,
					"the key is given twice, once as %s", node->keys[k]->text);
		error = key.read(r, &key, node->items[i], object);
		if (error < 0)
			return error;
		if (ret_seen && index < table->count)
			ret_seen[index] = node->items[i];
	}
	return check_required(r, node, table);
}

int reader_map(struct reader *r, const struct doc_node *node, const struct key *keys,
	size_t count, void *object, const struct doc_node **ret_seen)
{
	const struct table table = {.keys = keys, .count = count};

	return reader_table(r, node, &table, object, ret_seen);
}

int reader_inner(struct reader *r, const struct key *key, const struct doc_node *value,
	const struct table *table, void *object)
{
	_free_ char *path = str_format("%s%s.", r->path, key->name);
	struct reader inner = {.ctx = r->ctx, .path = path};

	return path ? reader_table(&inner, value, table, object, NULL) : ctx_oom(r->ctx);
}

int reader_short(struct reader *r, const struct key *key, const struct doc_node *value,
	const struct table *table, void *object, const char *hint)
{
	struct key first = table->keys[0];

	first.name = key->name;
	if (value->kind == DOC_SCALAR)
		return first.read(r, &first, value, object);
	if (value->kind == DOC_MAP && !value->count)
		return reader_fail(r, value, key->name, -EINVAL, "it is empty; %s", hint);
	return reader_inner(r, key, value, table, object);
}

int reader_attr(struct reader *r, const struct key *key, const struct doc_node *value,
	struct vfctl_vf_attrs *io)
{
	const char *text = "";
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	error = vfctl_vf_attrs_parse(r->ctx, key->choices ? key->choices[0] : key->name, text, io);
	return error < 0 ? ctx_prefix(r->ctx, error == -ERANGE ? -EINVAL : error, "%s:%u:%u: %s%s",
		value->file, value->line, value->column, r->path, key->name) : 0;
}

int reader_each(struct reader *r, const struct key *key, const struct doc_node *list,
	size_t max, void *object,
	int (*one)(struct reader *r, const struct doc_node *node, void *object))
{
	if (list->kind != DOC_LIST)
		return reader_fail(r, list, key->name, -EINVAL,
			"must be a list; begin each entry with '- '");
	if (list->count > max)
		return reader_fail(r, list, key->name, -EINVAL,
			"it has %zu entries; at most %zu are allowed", list->count, max);
	for (size_t i = 0; i < list->count; i++) {
		_free_ char *path = str_format("%s%s[%zu].", r->path, key->name, i);
		struct reader inner = {.ctx = r->ctx, .path = path};
		int error = path ? one(&inner, list->items[i], object) : ctx_oom(r->ctx);

		if (error < 0)
			return error;
	}
	return 0;
}

static bool is_null(const struct doc_node *value)
{
	static const char *const nulls[] = {"", "~", "null", "Null", "NULL"};

	for (size_t i = 0; i < ARRAY_SIZE(nulls); i++)
		if (!value->quoted && str_eq(value->text, nulls[i]))
			return true;
	return false;
}

int reader_text(struct reader *r, const struct key *key, const struct doc_node *value,
	const char **ret)
{
	if (value->kind != DOC_SCALAR)
		return reader_fail(r, value, key->name, -EINVAL,
			"must be one value, not a %s",
			value->kind == DOC_LIST ? "list" : "mapping");
	if (is_null(value))
		return reader_fail(r, value, key->name, -EINVAL,
			"has no value; add one, or remove the key");
	*ret = value->text;
	return 0;
}

int read_u32(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text = "";
	uint64_t number;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	error = parse_u64(text, key->min, key->max, &number);
	if (error < 0)
		return reader_fail(r, value, key->name,
			error == -ERANGE ? -EINVAL : error,
			"'%s' is not allowed; it must be a number from %" PRIu64
			" to %" PRIu64,
			text, key->min, key->max);
	*AT(uint32_t) = (uint32_t)number;
	return 0;
}

int read_switch(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text = "";
	int error = reader_text(r, key, value, &text);

	if (error == 0 && parse_bool(text, AT(bool)) < 0)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%s' is not allowed; it must be true or false", text);
	return error;
}

static int find_word(struct reader *r, const struct key *key,
	const struct doc_node *value, unsigned *ret)
{
	_buf_ struct buf known = {0};
	const char *text = "";
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	for (unsigned i = 0; key->choices[i]; i++) {
		if (str_eq(key->choices[i], text)) {
			*ret = i;
			return 0;
		}
		buf_printf(&known, "%s%s",
			i == 0              ? ""
			: key->choices[i + 1] ? ", "
					    : " or ",
			key->choices[i]);
	}
	return reader_fail(r, value, key->name, -EINVAL,
		"'%s' is not allowed; it must be %s", text,
		known.failed ? "" : known.data);
}

int read_word(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return find_word(r, key, value, AT(unsigned));
}

static int keep_key(struct reader *r, const char *text, char **member)
{
	char *copy = strdup(text);

	if (!copy)
		return ctx_oom(r->ctx);
	free(*member);
	*member = copy;
	return 0;
}

int read_word_text(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	unsigned index = 0;
	int error = find_word(r, key, value, &index);

	return error < 0 ? error : keep_key(r, key->choices[index], AT(char *));
}

int read_string(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text = "";
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (strlen(text) > STRING_MAX)
		return reader_fail(r, value, key->name, -EINVAL,
			"it has %zu bytes, more than %d; shorten it", strlen(text),
			STRING_MAX);
	return keep_key(r, text, AT(char *));
}

int read_line(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text = "";
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (strpbrk(text, "\n\t"))
		return reader_fail(
			r, value, key->name, -EINVAL, "it must be one line without tabs");
	if (strlen(text) < key->min || strlen(text) > key->max)
		return reader_fail(r, value, key->name, -EINVAL,
			"it has %zu bytes; it must have %" PRIu64 " to %" PRIu64,
			strlen(text), key->min, key->max);
	return keep_key(r, text, AT(char *));
}

int read_path(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text = "";
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (text[0] != '/' || strpbrk(text, "\n\t") || strlen(text) >= 4096)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.200s' is not allowed; it must be an absolute path of one "
			"line",
			text);
	return keep_key(r, text, AT(char *));
}

struct unit {
	const char *name;
	uint64_t ms;
};

static int read_duration(struct reader *r, const struct key *key,
	const struct doc_node *value, const struct unit *units, uint64_t *ret_ms)
{
	const char *text = "", *unit;
	char number[12] = "";
	uint64_t n;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	unit = text + strspn(text, "0123456789");
	if ((size_t)(unit - text) < sizeof(number))
		memcpy(number, text, (size_t)(unit - text));
	for (; units->name; units++)
		if (str_eq(units->name, unit) &&
			parse_u64(number, 0, UINT32_MAX, &n) == 0) {
			*ret_ms = n * units->ms;
			return 0;
		}
	return reader_fail(r, value, key->name, -EINVAL,
		"'%.64s' is not allowed; it must be a number and its unit, such as 90s, "
		"30m, 1h or 7d", text);
}

/* In the largest unit that gives a whole number. */
static const char *duration_text(const struct unit *units, uint64_t ms, char room[32])
{
	const struct unit *best = units;

	for (const struct unit *u = units; u->name; u++)
		if (ms && u->ms > best->ms && ms % u->ms == 0)
			best = u;
	snprintf(room, 32, "%" PRIu64 "%s", ms / best->ms, best->name);
	return room;
}

int read_seconds(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	static const struct unit units[] = {{"s", 1000}, {"m", 60000}, {"h", 3600000},
		{"d", 86400000}, {NULL, 0}};
	char least[32], most[32];
	uint64_t ms = 0;
	int error = read_duration(r, key, value, units, &ms);

	if (error < 0)
		return error;
	if (ms / 1000 < key->min || ms / 1000 > key->max)
		return reader_fail(r, value, key->name, -EINVAL, "'%s' is not allowed; it must be %s to %s",
			value->text, duration_text(units, key->min * 1000, least),
			duration_text(units, key->max * 1000, most));
	*AT(uint32_t) = (uint32_t)(ms / 1000);
	return 0;
}

int read_milliseconds(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	static const struct unit units[] = {{"ms", 1}, {"s", 1000}, {"m", 60000}, {NULL, 0}};
	char least[32], most[32];
	uint64_t ms = 0;
	int error = read_duration(r, key, value, units, &ms);

	if (error < 0)
		return error;
	if (ms < key->min || ms > key->max)
		return reader_fail(r, value, key->name, -EINVAL, "'%s' is not allowed; it must be %s to %s",
			value->text, duration_text(units, key->min, least),
			duration_text(units, key->max, most));
	*AT(uint32_t) = (uint32_t)ms;
	return 0;
}

struct lines {
	const struct key *key;
	char **v;
	size_t count;
};

static int read_one_line(struct reader *r, const struct doc_node *node, void *object)
{
	struct lines *lines = object;
	const struct key each = {.name = "", .min = 1, .max = 4096};

	/* Allocate one more than needed: the last entry stays NULL. */
	if (!array_grow(lines->v, lines->count) || !array_grow(lines->v, lines->count + 1))
		return ctx_oom(r->ctx);
	return read_line(r, &each, node, &lines->v[lines->count++]);
}

int read_lines(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct lines lines = {.key = key};
	int error = reader_each(r, key, value, key->max, &lines, read_one_line);

	if (error == 0 && !lines.count)
		error = reader_fail(r, value, key->name, -EINVAL,
			"is empty; write an entry or remove the key");
	if (error < 0) {
		strv_free(lines.v);
		return error;
	}
	*AT(char **) = lines.v;
	return 0;
}
