// SPDX-License-Identifier: GPL-2.0-or-later
/* As much of JSON Schema as our two schemas use, over YAML as our own reader reads it. */
#include "check.h"

#include <math.h>
#include <regex.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"
#include "bench/measure.h"
#include "spec/doc.h"
#include "spec/host_yaml.h"

/* Patterns are ours or a schema's, which both stay: each is compiled once. */
static bool matches(const char *pattern, const char *text)
{
	static struct {
		const char *pattern;
		regex_t regex;
	} known[256];
	size_t i = 0;

	while (i < ARRAY_SIZE(known) && known[i].pattern && known[i].pattern != pattern)
		i++;
	if (i == ARRAY_SIZE(known) || (!known[i].pattern &&
		regcomp(&known[i].regex, pattern, REG_EXTENDED | REG_NOSUB) != 0)) {
		fprintf(stderr, "%s: no regular expression, or one too many\n", pattern);
		abort();
	}
	known[i].pattern = pattern;
	return regexec(&known[i].regex, text, 0, NULL, 0) == 0;
}

/* YAML 1.2, 10.3.2: what a plain scalar is. */
static const char *type_of(const struct doc_node *node)
{
	static const char *const types[][2] = {
		{"^(null|Null|NULL|~|)$", "null"},
		{"^(true|True|TRUE|false|False|FALSE)$", "boolean"},
		{"^([-+]?[0-9]+|0o[0-7]+|0x[0-9a-fA-F]+)$", "integer"},
		{"^([-+]?([.][0-9]+|[0-9]+([.][0-9]*)?)([eE][-+]?[0-9]+)?|[-+]?[.](inf|Inf|INF)|"
		 "[.](nan|NaN|NAN))$", "number"},
	};

	if (node->kind != DOC_SCALAR)
		return node->kind == DOC_LIST ? "array" : "object";
	for (size_t i = 0; i < ARRAY_SIZE(types) && !node->quoted; i++)
		if (matches(types[i][0], node->text))
			return types[i][1];
	return "string";
}

static bool is_type(const struct doc_node *node, const char *type)
{
	const char *own = type_of(node);

	return str_eq(own, type) || (str_eq(type, "number") && str_eq(own, "integer"));
}

static double number_of(const struct doc_node *node)
{
	bool octal = str_starts(node->text, "0o");

	return octal ? (double)strtoull(node->text + 2, NULL, 8) : strtod(node->text, NULL);
}

static size_t characters(const char *text)
{
	size_t n = 0;

	for (; *text; text++)
		n += (*text & 0xc0) != 0x80;
	return n;
}

static int64_t whole(const struct json *value)
{
	int64_t number;

	if (json_number(value, &number) < 0)
		abort();
	return number;
}

static const struct doc_node *value_of(const struct doc_node *map, const char *key)
{
	for (size_t i = 0; i < map->count; i++)
		if (str_eq(map->keys[i]->text, key))
			return map->items[i];
	return NULL;
}

static bool takes(const struct json *schema, const struct doc_node *node, const char **ret_why);

/* ---- the keywords ---- */

static bool take_type(const struct json *type, const struct doc_node *node)
{
	if (json_text(type))
		return is_type(node, json_text(type));
	for (size_t i = 0; i < json_count(type); i++)
		if (is_type(node, json_text(json_item(type, i))))
			return true;
	return false;
}

static bool take_enum(const struct json *message, const struct doc_node *node)
{
	for (size_t i = 0; i < json_count(message); i++)
		if (is_type(node, "string") && str_eq(json_text(json_item(message, i)), node->text))
			return true;
	return false;
}

static bool take_some(const struct json *schemas, const struct doc_node *node, bool all)
{
	const char *why;

	for (size_t i = 0; i < json_count(schemas); i++)
		if (takes(json_item(schemas, i), node, &why) != all)
			return !all;
	return all;
}

static bool take_members(const struct json *schema, const struct doc_node *map,
	const char **ret_why)
{
	const struct json *patterns = json_member(schema, "patternProperties");

	for (size_t i = 0; i < map->count; i++) {
		const char *key = map->keys[i]->text, *pattern;
		const struct json *known = json_member(json_member(schema, "properties"), key);
		bool named = known;
		void *iter = NULL;

		if (known && !takes(known, map->items[i], ret_why))
			return false;
		while ((pattern = json_next(patterns, &iter)))
			if (matches(pattern, key)) {
				named = true;
				if (!takes(json_member(patterns, pattern), map->items[i], ret_why))
					return false;
			}
		*ret_why = key;
		if (!named && !json_flag(json_member(schema, "additionalProperties")))
			return false;
	}
	return true;
}

static bool take_required(const struct json *keys, const struct doc_node *map)
{
	for (size_t i = 0; i < json_count(keys); i++)
		if (!value_of(map, json_text(json_item(keys, i))))
			return false;
	return true;
}

static bool take_items(const struct json *item, const struct doc_node *list, const char **ret_why)
{
	for (size_t i = 0; i < list->count; i++)
		if (!takes(item, list->items[i], ret_why))
			return false;
	return true;
}

/* Keywords speak of values of their own type only. */
static bool take_keyword(const struct json *schema, const char *word, const struct doc_node *node,
	const char **ret_why)
{
	const struct json *value = json_member(schema, word);
	bool number = is_type(node, "number"), text = is_type(node, "string"),
	     list = node->kind == DOC_LIST, map = node->kind == DOC_MAP;

	if (str_eq(word, "type"))
		return take_type(value, node);
	if (str_eq(word, "enum"))
		return take_enum(value, node);
	if (str_eq(word, "anyOf") || str_eq(word, "allOf"))
		return take_some(value, node, word[1] == 'l');
	if (str_eq(word, "minimum"))
		return !number || number_of(node) >= (double)whole(value);
	if (str_eq(word, "maximum"))
		return !number || number_of(node) <= (double)whole(value);
	if (str_eq(word, "pattern"))
		return !text || matches(json_text(value), node->text);
	if (str_eq(word, "minLength"))
		return !text || characters(node->text) >= (size_t)whole(value);
	if (str_eq(word, "maxLength"))
		return !text || characters(node->text) <= (size_t)whole(value);
	if (str_eq(word, "minItems"))
		return !list || node->count >= (size_t)whole(value);
	if (str_eq(word, "maxItems"))
		return !list || node->count <= (size_t)whole(value);
	if (str_eq(word, "items"))
		return !list || take_items(value, node, ret_why);
	if (str_eq(word, "minProperties"))
		return !map || node->count >= (size_t)whole(value);
	if (str_eq(word, "required"))
		return !map || take_required(value, node);
	if (str_eq(word, "additionalProperties"))
		return !map || take_members(schema, node, ret_why);
	if (str_eq(word, "properties") || str_eq(word, "patternProperties")) /* by the last one */
		return json_member(schema, "additionalProperties");
	if (str_eq(word, "$schema") || str_eq(word, "title"))
		return true;
	fprintf(stderr, "no test knows the keyword %s of the schema\n", word);
	abort();
}

static bool takes(const struct json *schema, const struct doc_node *node, const char **ret_why)
{
	const char *word;
	void *iter = NULL;

	while ((word = json_next(schema, &iter))) {
		*ret_why = word;
		if (!take_keyword(schema, word, node, ret_why))
			return false;
	}
	return true;
}

/* ---- */

static const struct json *schema_of(struct vfctl_ctx *ctx, enum schema_kind kind)
{
	static int (*const make[])(struct vfctl_ctx *ctx, char **ret_text) = {
		[SCHEMA_GUEST] = vfctl_guest_schema, [SCHEMA_HOST] = vfctl_host_spec_schema,
		[SCHEMA_BENCH] = vfctl_bench_schema};
	static struct json *schemas[ARRAY_SIZE(make)];
	_free_ char *text = NULL;

	if (!schemas[kind] && (make[kind](ctx, &text) < 0 ||
		json_read(ctx, "schema", text, strlen(text), &schemas[kind]) < 0)) {
		fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
		abort();
	}
	return schemas[kind];
}

bool schema_takes(enum schema_kind kind, const char *text, size_t len, char why[256])
{
	_cleanup_(doc_freep) struct doc_node *root = NULL;
	const char *place = "it is no YAML";
	struct vfctl_ctx *ctx;
	bool taken;

	if (vfctl_ctx_new(&ctx) < 0)
		abort();
	taken = doc_parse(ctx, "yaml", text, len, VFCTL_HOST_FILE_MAX, &root) == 0 &&
		takes(schema_of(ctx, kind), root, &place);
	snprintf(why, 256, "%s", place);
	vfctl_ctx_free(ctx);
	return taken;
}

void schema_holds(enum schema_kind kind, const char *text, size_t len, bool accepted)
{
	char why[256];

	if (!accepted || schema_takes(kind, text, len, why))
		return;
	fprintf(stderr, "vfctl takes this, and its schema does not, for %s:\n%.*s\n", why, (int)len,
		text);
	abort();
}
