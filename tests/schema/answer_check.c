// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * answer-check SCHEMA DOCUMENT...: check the JSON that a verb printed against the schema that `vfctl
 * schema VERB` printed. This supports only the keywords of JSON Schema that those schemas use. It
 * aborts at any other keyword, because no test would check that one.
 */
#include <stdio.h>
#include <stdlib.h>

#include "base/json.h"

struct check {
	const struct json *definitions;
	char path[512]; /* of the value that is checked */
	char why[768];  /* the first of the deepest faults */
	size_t depth;
};

static bool takes(struct check *c, const struct json *schema, const struct json *value);

/* Report the alternative that matched deepest; that of an error is the last one. */
static bool refuse(struct check *c, const char *what, const char *name)
{
	size_t depth = strlen(c->path);

	if (!*c->why || depth > c->depth) {
		snprintf(c->why, sizeof(c->why), "%s: %s%s", c->path, what, name);
		c->depth = depth;
	}
	return false;
}

static bool is_type(const struct json *value, const char *type)
{
	enum json_kind kind = json_kind(value);

	if (str_eq(type, "number"))
		return kind == JSON_KIND_INTEGER || kind == JSON_KIND_REAL;
	return str_eq(type, kind == JSON_KIND_NULL ? "null" : kind == JSON_KIND_BOOL ? "boolean"
		: kind == JSON_KIND_INTEGER ? "integer" : kind == JSON_KIND_REAL ? "number"
		: kind == JSON_KIND_TEXT ? "string" : kind == JSON_KIND_LIST ? "array" : "object");
}

static bool take_type(struct check *c, const struct json *type, const struct json *value)
{
	if (json_text(type) && is_type(value, json_text(type)))
		return true;
	for (size_t i = 0; i < json_count(type); i++)
		if (is_type(value, json_text(json_item(type, i))))
			return true;
	return refuse(c, "it is ", json_kind_name(json_kind(value)));
}

static bool take_any(struct check *c, const struct json *schemas, const struct json *value)
{
	for (size_t i = 0; i < json_count(schemas); i++)
		if (takes(c, json_item(schemas, i), value))
			return true;
	return false;
}

static bool take_below(struct check *c, const struct json *schema, const struct json *value, const char *key)
{
	size_t len = strlen(c->path);
	bool taken;

	snprintf(c->path + len, sizeof(c->path) - len, "%s%s", key ? "." : "[]", key ? key : "");
	taken = takes(c, schema, value);
	c->path[len] = '\0';
	return taken;
}

static bool take_items(struct check *c, const struct json *schema, const struct json *list)
{
	for (size_t i = 0; i < json_count(list); i++)
		if (!take_below(c, schema, json_item(list, i), NULL))
			return false;
	return true;
}

static bool take_members(struct check *c, const struct json *schema, const struct json *object)
{
	const struct json *properties = json_member(schema, "properties");
	bool closed = json_member(schema, "additionalProperties");
	const char *key;
	void *iter = NULL;

	while ((key = json_next(object, &iter))) {
		const struct json *known = json_member(properties, key);

		if (!known && closed)
			return refuse(c, "the schema lacks the member ", key);
		if (known && !take_below(c, known, json_member(object, key), key))
			return false;
	}
	return true;
}

static bool take_required(struct check *c, const struct json *keys, const struct json *object)
{
	for (size_t i = 0; i < json_count(keys); i++)
		if (!json_member(object, json_text(json_item(keys, i))))
			return refuse(c, "it lacks the member ", json_text(json_item(keys, i)));
	return true;
}

/* For anyOf: each name must be in one of the lists. */
static bool take_names(struct check *c, const struct json *lists, const struct json *object)
{
	const char *key;
	void *iter = NULL;

	while ((key = json_next(object, &iter))) {
		bool known = false;

		for (size_t i = 0; i < json_count(lists); i++) {
			const struct json *names = json_member(json_item(lists, i), "enum");

			for (size_t k = 0; k < json_count(names); k++)
				known |= str_eq(json_text(json_item(names, k)), key);
		}
		if (!known)
			return refuse(c, "no answer has the member ", key);
	}
	return true;
}

static bool take_keyword(struct check *c, const struct json *schema, const char *word, const struct json *value)
{
	static const char prefix[] = "#/definitions/";
	const struct json *of = json_member(schema, word);
	enum json_kind kind = json_kind(value);

	if (str_eq(word, "type"))
		return take_type(c, of, value);
	if (str_eq(word, "anyOf"))
		return take_any(c, of, value);
	if (str_eq(word, "$ref"))
		return takes(c, json_member(c->definitions, json_text(of) + strlen(prefix)), value);
	if (str_eq(word, "items"))
		return kind != JSON_KIND_LIST || take_items(c, of, value);
	if (str_eq(word, "properties"))
		return kind != JSON_KIND_OBJECT || take_members(c, schema, value);
	if (str_eq(word, "required"))
		return kind != JSON_KIND_OBJECT || take_required(c, of, value);
	if (str_eq(word, "propertyNames"))
		return kind != JSON_KIND_OBJECT || take_names(c, json_member(of, "anyOf"), value);
	if (str_eq(word, "additionalProperties") || str_eq(word, "description") || str_eq(word, "definitions") ||
		str_eq(word, "$schema") || str_eq(word, "title"))
		return true;
	fprintf(stderr, "answer-check does not know the keyword %s\n", word);
	abort();
}

static bool takes(struct check *c, const struct json *schema, const struct json *value)
{
	const char *word;
	void *iter = NULL;

	if (!schema) {
		fprintf(stderr, "the schema refers to a definition that it lacks\n");
		abort();
	}
	while ((word = json_next(schema, &iter)))
		if (!take_keyword(c, schema, word, value))
			return false;
	return true;
}

static char *read_file(const char *path)
{
	FILE *file = fopen(path, "r");
	char *text = NULL;
	size_t room = 0;
	ssize_t n = file ? getdelim(&text, &room, '\0', file) : -1;

	if (file)
		fclose(file);
	return n < 0 ? NULL : text;
}

static bool check_text(struct vfctl_ctx *ctx, const struct json *schema, const char *text, size_t len)
{
	struct check c = {.definitions = json_member(schema, "definitions")};
	_json_doc_ struct json *value = NULL;

	if (json_read(ctx, "document", text, len, &value) < 0) {
		puts(vfctl_ctx_error(ctx));
		return false;
	}
	if (takes(&c, schema, value))
		return true;
	puts(c.why);
	return false;
}

/* With JSON Lines each line is a document. */
static bool is_lines(const char *text)
{
	const char *end = strchr(text, '\n');

	return *text == '{' && end && end > text + 1 && end[1];
}

static bool check_document(struct vfctl_ctx *ctx, const struct json *schema, const char *path)
{
	_free_ char *text = read_file(path);
	bool good = true;

	if (!text) {
		printf("%s cannot be read\n", path);
		return false;
	}
	if (!is_lines(text))
		return check_text(ctx, schema, text, strlen(text));
	for (const char *line = text, *end; *line && good; line = end + (*end == '\n')) {
		end = strchrnul(line, '\n');
		good = check_text(ctx, schema, line, (size_t)(end - line));
	}
	return good;
}

int main(int argc, char **argv)
{
	_free_ char *schema_text = argc >= 3 ? read_file(argv[1]) : NULL;
	_json_doc_ struct json *schema = NULL;
	struct vfctl_ctx *ctx;
	bool good = true;

	if (!schema_text || vfctl_ctx_new(&ctx) < 0)
		return 2;
	if (json_read(ctx, argv[1], schema_text, strlen(schema_text), &schema) < 0) {
		puts(vfctl_ctx_error(ctx));
		good = false;
	}
	for (int i = 2; i < argc && good; i++)
		good = check_document(ctx, schema, argv[i]);
	vfctl_ctx_free(ctx);
	return !good;
}
