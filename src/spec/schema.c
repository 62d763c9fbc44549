// SPDX-License-Identifier: GPL-2.0-or-later
/* The JSON schemas of guest.yaml and host.yaml, written from the tables that read the files. */
#include <ctype.h>
#include <errno.h>
#include <inttypes.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/json.h"
#include "spec/guest.h"
#include "spec/host.h"
#include "spec/host_yaml.h"
#include "spec/schema.h"

#define LENGTH_MAX 65536

struct writer {
	struct buf *out;
	const char *unknown; /* a key whose reader has no shape: a bug in vfctl */
	int depth;
};

/* The alternatives for a value, one JSON object each, separated by commas. */
struct alternatives {
	struct buf text;
	unsigned count;
};

static void clear_alternatives(struct alternatives *a)
{
	buf_free(&a->text);
}

static void may_be(struct alternatives *a, const char *fmt, ...) _printf_(2, 3);
static void may_be(struct alternatives *a, const char *fmt, ...)
{
	_free_ char *one = NULL;
	va_list args;

	va_start(args, fmt);
	one = str_vformat(fmt, args);
	va_end(args);
	a->text.failed |= !one;
	buf_printf(&a->text, "%s%s", a->count++ ? "," : "", one ? one : "");
}

static void may_be_buf(struct alternatives *a, const struct buf *one)
{
	a->text.failed |= one->failed;
	may_be(a, "%s", one->data ? one->data : "");
}

/* ---- values ---- */

static void may_be_number(struct alternatives *a, uint64_t min, uint64_t max)
{
	may_be(a, "{\"type\":\"integer\",\"minimum\":%" PRIu64 ",\"maximum\":%" PRIu64 "}", min,
		max);
	may_be(a, "{\"type\":\"string\",\"pattern\":\"^[0-9]+$\"}");
}

/* In YAML 1.2 on and off are text. */
static void may_be_switch(struct alternatives *a)
{
	may_be(a, "{\"type\":\"boolean\"}");
	may_be(a, "{\"enum\":[\"on\",\"off\"]}");
	may_be(a, "{\"type\":\"string\",\"pattern\":\"^(yes|no|true|false|0|1)$\"}");
	may_be(a, "{\"type\":\"integer\",\"minimum\":0,\"maximum\":1}");
}

static void may_be_message(struct alternatives *a, const char *const *choices)
{
	_buf_ struct buf one = {0};

	buf_puts(&one, "{\"enum\":[");
	for (size_t i = 0; choices[i]; i++) {
		buf_puts(&one, i ? "," : "");
		json_put(&one, choices[i]);
	}
	buf_puts(&one, "]}");
	may_be_buf(a, &one);
}

static void may_be_text(struct alternatives *a, const char *types, const char *pattern,
	uint64_t min, uint64_t max)
{
	_buf_ struct buf one = {0};

	buf_printf(&one, "{\"type\":%s", types);
	if (pattern) {
		buf_puts(&one, ",\"pattern\":");
		json_put(&one, pattern);
	}
	/* vfctl counts bytes, JSON schemas count characters, which are never more. */
	if (min)
		buf_puts(&one, ",\"minLength\":1");
	if (max && max < LENGTH_MAX)
		buf_printf(&one, ",\"maxLength\":%" PRIu64, max);
	buf_puts(&one, "}");
	may_be_buf(a, &one);
}

#define STRING "\"string\""
#define ANY_SCALAR "[\"string\",\"number\",\"boolean\"]"

static void may_be_rate(struct alternatives *a, uint32_t max)
{
	may_be(a, "{\"type\":\"integer\",\"minimum\":0,\"maximum\":%" PRIu32 "}", max);
	may_be_text(a, STRING, "^[0-9]+ *([MmGg][Bb]([Ii][Tt](/[Ss])?|[Pp][Ss]))?$", 0, 0);
}

/* Words of both spellings, in upper or lower case. */
static void may_be_attr_text(struct alternatives *a, const struct vfctl_vf_attr_info *info)
{
	_buf_ struct buf choices = {0}, any_case = {0};
	const char *pair[2];

	buf_puts(&choices, "{\"enum\":[");
	buf_puts(&any_case, "^(");
	for (size_t i = 0; vfctl_vf_attr_word(info, i, &pair[0], &pair[1]); i++) {
		buf_puts(&choices, i ? "," : "");
		json_put(&choices, pair[0]);
		for (size_t k = 0; k < 2 && pair[k]; k++) {
			buf_puts(&any_case, i || k ? "|" : "");
			for (const char *c = pair[k]; *c; c++)
				buf_printf(&any_case, isalpha((unsigned char)*c) ? "[%c%c]" : "[%c]",
					toupper((unsigned char)*c), tolower((unsigned char)*c));
		}
	}
	buf_puts(&choices, "]}");
	buf_puts(&any_case, ")$");
	may_be_buf(a, &choices);
	a->text.failed |= any_case.failed;
	may_be_text(a, STRING, any_case.failed ? "" : any_case.data, 0, 0);
}

/* Attributes of VFs have a table of their own (base/vfattr.c). */
static bool may_be_attr(struct alternatives *a, const char *name)
{
	const struct vfctl_vf_attr_info *info;
	size_t i = 0;

	/* Both GUIDs. */
	if (str_eq(name, "guid"))
		name = "port-guid";
	while ((info = vfctl_vf_attr_info(i++)) && !str_eq(info->key, name))
		;
	if (!info)
		return false;
	if (info->type == VFCTL_ATTR_TYPE_SWITCH)
		may_be_switch(a);
	else if (info->type == VFCTL_ATTR_TYPE_WORD)
		may_be_attr_text(a, info);
	else if (info->type == VFCTL_ATTR_TYPE_NUMBER)
		may_be_number(a, 0, info->max);
	else if (info->type == VFCTL_ATTR_TYPE_RATE)
		may_be_rate(a, info->max);
	else if (info->type == VFCTL_ATTR_TYPE_MAC)
		may_be_text(a, STRING, "^[0-9A-Fa-f]{2}([:-][0-9A-Fa-f]{2}){5}$", 0, 0);
	else
		may_be_text(a, ANY_SCALAR, NULL, 0, 0);
	return true;
}

/* ---- the readers of reader.h ---- */

static const struct shape line_shape = {.kinds = SHAPE_TEXT};

static const struct shape common[] = {
	{.read = read_u32, .kinds = SHAPE_NUMBER},
	{.read = read_switch, .kinds = SHAPE_SWITCH},
	{.read = read_word, .kinds = SHAPE_WORDS},
	{.read = read_word_text, .kinds = SHAPE_WORDS},
	{.read = read_line, .kinds = SHAPE_TEXT},
	{.read = read_string, .kinds = SHAPE_TEXT},
	{.read = read_path, .kinds = SHAPE_STRING, .pattern = "^/"},
	{.read = read_seconds, .kinds = SHAPE_STRING, .pattern = "^[0-9]+[smhd]$"},
	{.read = read_milliseconds, .kinds = SHAPE_STRING, .pattern = "^[0-9]+(ms|s|m)$"},
	{.read = read_table_attr, .kinds = SHAPE_ATTR},
	{.read = read_lines, .kinds = SHAPE_FILLED, .each = &line_shape},
};

static const struct shape *find_shape(const struct shape *shapes, size_t count,
	const struct key *key)
{
	for (size_t i = 0; i < count; i++)
		if (shapes[i].read == key->read)
			return &shapes[i];
	return NULL;
}

/* ---- mappings and lists ---- */

static void put_map(struct writer *w, const struct table *table, bool filled);
static void put_value(struct writer *w, const struct key *key, const struct shape *shape);

static void put_line(struct writer *w)
{
	buf_printf(w->out, "\n%*s", w->depth * 2, "");
}

static void put_list(struct writer *w, const struct key *key, const struct shape *shape)
{
	static const struct key entry = {.name = "an entry"};

	buf_printf(w->out, "{\"type\":\"array\",\"maxItems\":%" PRIu64 "%s,\"items\":",
		shape->most ? shape->most : key->max,
		shape->kinds & SHAPE_FILLED ? ",\"minItems\":1" : "");
	put_value(w, &entry, shape->each);
	buf_puts(w->out, "}");
}

static void put_named(struct writer *w, const struct shape *shape)
{
	buf_puts(w->out, "{\"type\":\"object\",\"additionalProperties\":false,\"patternProperties\":{");
	json_put(w->out, shape->named);
	buf_puts(w->out, ":");
	put_map(w, shape->map, false);
	buf_puts(w->out, "}}");
}

/* Values that are neither mappings nor lists. */
static void take_scalars(struct writer *w, const struct key *key, const struct shape *shape,
	struct alternatives *a)
{
	uint64_t min = shape->max ? shape->min : key->min, max = shape->max ? shape->max : key->max;

	if (shape->choices)
		may_be_message(a, shape->choices);
	if (shape->kinds & SHAPE_WORDS)
		may_be_message(a, key->choices);
	if (shape->kinds & SHAPE_NUMBER)
		may_be_number(a, min, max);
	if (shape->kinds & SHAPE_SWITCH)
		may_be_switch(a);
	if (shape->kinds & (SHAPE_TEXT | SHAPE_STRING))
		may_be_text(a, shape->kinds & SHAPE_TEXT ? ANY_SCALAR : STRING, shape->pattern, min,
			max);
	if (shape->kinds & SHAPE_ATTR && !may_be_attr(a, key->choices ? key->choices[0] : key->name))
		w->unknown = key->name;
}

static void put_value(struct writer *w, const struct key *key, const struct shape *shape)
{
	_cleanup_(clear_alternatives) struct alternatives a = {0};
	bool single;

	take_scalars(w, key, shape, &a);
	single = a.count + (shape->map != NULL) + (shape->each != NULL) == 1;
	buf_puts(w->out, single ? "" : "{\"anyOf\":[");
	w->out->failed |= a.text.failed;
	buf_puts(w->out, a.count && !a.text.failed ? a.text.data : "");
	if (shape->map) {
		buf_puts(w->out, a.count ? "," : "");
		if (shape->named)
			put_named(w, shape);
		else
			put_map(w, shape->map, shape->kinds & SHAPE_FILLED);
	}
	if (shape->each) {
		buf_puts(w->out, a.count || shape->map ? "," : "");
		put_list(w, key, shape);
	}
	buf_puts(w->out, single ? "" : "]}");
}

static void put_property(struct writer *w, const struct table *table, const struct key *key)
{
	const struct shape *shape = find_shape(table->shapes, table->shape_count, key);

	if (!shape)
		shape = find_shape(common, ARRAY_SIZE(common), key);
	if (shape)
		put_value(w, key, shape);
	else
		w->unknown = key->name;
}

/*
 * A key may be written with '-' or '_' (reader.c). Editors offer one spelling; @ret has the others
 * as a pattern, or is empty.
 */
static void other_spellings(const char *name, struct buf *ret)
{
	unsigned places = 0;

	for (const char *c = name; *c; c++)
		places += *c == '-' || *c == '_';
	for (unsigned other = 1; other < 1u << places; other++) {
		unsigned place = 0;

		buf_puts(ret, other == 1 ? "^(" : "|");
		for (const char *c = name; *c; c++) {
			bool turned = (*c == '-' || *c == '_') && other >> place++ & 1;

			buf_printf(ret, "%c", !turned ? *c : *c == '-' ? '_' : '-');
		}
	}
	buf_puts(ret, places ? ")$" : "");
}

static void put_other_spellings(struct writer *w, const struct table *table)
{
	bool some = false;
	struct key key;

	for (size_t i = 0; table_key(table, i, &key); i++) {
		_buf_ struct buf names = {0};

		other_spellings(key.name, &names);
		w->out->failed |= names.failed;
		if (!names.len)
			continue;
		buf_puts(w->out, some ? "," : ",\"patternProperties\":{");
		put_line(w);
		json_put(w->out, names.data);
		buf_puts(w->out, ":");
		put_property(w, table, &key);
		some = true;
	}
	buf_puts(w->out, some ? "}" : "");
}

/* "a|b": one of the two. */
static void put_required(struct writer *w, const struct table *table)
{
	const char *const *required = table->required;

	for (size_t i = 0; required && required[i]; i++) {
		const char *bar = strchr(required[i], '|');
		int len = bar ? (int)(bar - required[i]) : (int)strlen(required[i]);

		buf_puts(w->out, i ? "," : ",\"allOf\":[");
		if (bar)
			buf_printf(w->out, "{\"anyOf\":[{\"required\":[\"%.*s\"]},{\"required\":[\"%s\"]}]}",
				len, required[i], bar + 1);
		else
			buf_printf(w->out, "{\"required\":[\"%s\"]}", required[i]);
	}
	buf_puts(w->out, required ? "]" : "");
}

static void put_members(struct writer *w, const struct table *table, bool filled)
{
	struct key key;

	w->depth++;
	buf_printf(w->out, "\"type\":\"object\",\"additionalProperties\":false%s",
		filled ? ",\"minProperties\":1" : "");
	put_required(w, table);
	buf_puts(w->out, ",\"properties\":{");
	for (size_t i = 0; table_key(table, i, &key); i++) {
		buf_puts(w->out, i ? "," : "");
		put_line(w);
		json_put(w->out, key.name);
		buf_puts(w->out, ":");
		put_property(w, table, &key);
	}
	buf_puts(w->out, "}");
	put_other_spellings(w, table);
	w->depth--;
}

static void put_map(struct writer *w, const struct table *table, bool filled)
{
	buf_puts(w->out, "{");
	put_members(w, table, filled);
	buf_puts(w->out, "}");
}

int schema_write(struct vfctl_ctx *ctx, const char *title, const struct table *table,
	char **ret)
{
	_buf_ struct buf out = {0};
	struct writer w = {.out = &out};

	/* The draft that editors support best. */
	buf_printf(&out, "{\"$schema\":\"http://json-schema.org/draft-07/schema#\",\"title\":\"%s\",",
		title);
	put_members(&w, table, false);
	buf_puts(&out, "}\n");
	if (w.unknown)
		return ctx_fail(ctx, -ENOTSUP, "the schema has no rule for %s", w.unknown);
	*ret = out.failed ? NULL : buf_steal(&out);
	return *ret ? 0 : ctx_oom(ctx);
}

int vfctl_guest_schema(struct vfctl_ctx *ctx, char **ret)
{
	return schema_write(ctx, "guest.yaml of vfctl", &guest_table, ret);
}

int vfctl_host_spec_schema(struct vfctl_ctx *ctx, char **ret)
{
	return schema_write(ctx, "host.yaml of vfctl", &host_table, ret);
}
