// SPDX-License-Identifier: GPL-2.0-or-later
/* Makes the JSON schemas of answers from the tables that print them. */
#include <string.h>

#include "answer.h"

#define REF "#/definitions/"

/* ---- the types of rows ---- */

static const char *kind_type(enum member_kind kind)
{
	switch (kind) {
	case MEMBER_AT_TEXT:
	case MEMBER_AT_CHARS:
	case MEMBER_AT_BDF:
	case MEMBER_AT_CPUS:
	case MEMBER_TEXT:
		return "string";
	case MEMBER_AT_BOOL:
	case MEMBER_FLAG:
	case MEMBER_CONSTANT:
		return "boolean";
	case MEMBER_AT_U8:
	case MEMBER_AT_U16:
	case MEMBER_AT_U32:
	case MEMBER_AT_U64:
	case MEMBER_AT_INT:
	case MEMBER_AT_I64:
	case MEMBER_NUMBER:
		return "integer";
	case MEMBER_AT_REAL:
		return "number";
	case MEMBER_LIST:
	case MEMBER_ARRAY:
	case MEMBER_TEXTS:
	case MEMBER_FILL:
		return "array";
	case MEMBER_OBJECT:
	case MEMBER_OBJECT_AT:
	case MEMBER_OBJECT_GET:
		return "object";
	default:
		return NULL;
	}
}

const char *member_type(const struct member *m)
{
	return kind_type(m->kind == MEMBER_PUT ? m->each : m->kind);
}

const char *member_each_type(const struct member *m)
{
	return m->table ? "object" : kind_type(m->each);
}

bool member_is_nullable(const struct member *m)
{
	if (m->optional || m->filled)
		return m->nullable;
	return m->nullable || m->nonzero || m->known_kind || m->kind == MEMBER_AT_TEXT ||
		m->kind == MEMBER_OBJECT_AT || m->kind == MEMBER_AT_CHARS ||
		m->kind == MEMBER_AT_REAL || (m->kind == MEMBER_AT_INT && !m->below_0);
}

static bool is_part(const struct member *m)
{
	return m->kind == MEMBER_PART || m->kind == MEMBER_PART_AT || m->kind == MEMBER_PART_GET;
}

void tables_collect(struct tables *tables, const struct member *table)
{
	struct member m;

	for (size_t i = 0; i < tables->count; i++)
		if (tables->v[i] == table)
			return;
	if (table_name(table) && tables->count < TABLES_MAX)
		tables->v[tables->count++] = table;
	for (size_t i = 0; table_member(table, i, &m); i++)
		if (m.table)
			tables_collect(tables, m.table);
}

/* ---- printing ---- */

static void put_object(struct out *out, const char *key, const struct member *table);

/* An object of @table: a reference to its definition if it has a name, else the object itself. */
static void put_reference(struct out *out, const char *key, const struct member *table)
{
	char text[64];

	if (!table_name(table)) {
		put_object(out, key, table);
		return;
	}
	snprintf(text, sizeof(text), REF "%s", table_name(table));
	out_open(out, key, '{');
	out_str(out, "$ref", text);
	json_close(out);
}

static void put_type(struct out *out, const char *type, bool nullable)
{
	if (!type)
		return;
	if (!nullable) {
		out_str(out, "type", type);
		return;
	}
	out_open(out, "type", '[');
	out_str(out, NULL, type);
	out_str(out, NULL, "null");
	json_close(out);
}

static void put_items(struct out *out, const struct member *m)
{
	put_type(out, "array", m->known_kind && !m->optional);
	if (m->table) {
		put_reference(out, "items", m->table);
		return;
	}
	out_open(out, "items", '{');
	put_type(out, member_each_type(m), m->nullable || m->each == MEMBER_AT_REAL);
	json_close(out);
}

static void put_property(struct out *out, const struct member *m)
{
	const char *type = member_type(m);

	out_open(out, m->name, '{');
	out_str(out, "description", m->help);
	if (type && strcmp(type, "array") == 0) {
		put_items(out, m);
	} else if (m->table) {
		out_open(out, "anyOf", '[');
		put_reference(out, NULL, m->table);
		if (member_is_nullable(m)) {
			out_open(out, NULL, '{');
			out_str(out, "type", "null");
			json_close(out);
		}
		json_close(out);
	} else {
		put_type(out, type, member_is_nullable(m));
	}
	json_close(out);
}

/* The rows of @table and of its parts. */
static void put_properties(struct out *out, const struct member *table)
{
	struct member m;

	for (size_t i = 0; table_member(table, i, &m); i++)
		if (is_part(&m))
			put_properties(out, m.table);
		else
			put_property(out, &m);
}

static void put_required(struct out *out, const struct member *table)
{
	struct member m;

	for (size_t i = 0; table_member(table, i, &m); i++) {
		if (m.optional)
			continue;
		if (is_part(&m))
			put_required(out, m.table);
		else
			out_str(out, NULL, m.name);
	}
}

static void put_object(struct out *out, const char *key, const struct member *table)
{
	out_open(out, key, '{');
	out_str(out, "type", "object");
	out_bool(out, "additionalProperties", false);
	out_open(out, "required", '[');
	put_required(out, table);
	json_close(out);
	out_open(out, "properties", '{');
	put_properties(out, table);
	json_close(out);
	json_close(out);
}

/* The answer of a command that fails: the members that were already printed, and the error. */
static const struct member error_table[] = {
	PUT("message", NULL, MEMBER_TEXT, "error message, as on standard error"),
	PUT("code", NULL, MEMBER_TEXT, "name of the errno, such as EBUSY or ENOSPC; EINVAL for wrong "
		"usage"),
	PUT("status", NULL, MEMBER_NUMBER, "exit status"), END};
const struct member answer_failed[] = {
	OBJECT_GET("error", NULL, error_table, "why the command failed"), END};

static void put_names(struct out *out, const struct member *table)
{
	struct member m;

	for (size_t i = 0; table_member(table, i, &m); i++)
		if (is_part(&m))
			put_names(out, m.table);
		else
			out_str(out, NULL, m.name);
}

static void put_enum(struct out *out, const struct member *table)
{
	out_open(out, NULL, '{');
	out_open(out, "enum", '[');
	put_names(out, table);
	json_close(out);
	json_close(out);
}

/* An answer that was begun may lack members, but has only members of the command's answers. */
static void put_failed(struct out *out, const struct answer *answer)
{
	out_open(out, "failed", '{');
	out_str(out, "type", "object");
	out_open(out, "required", '[');
	put_required(out, answer_failed);
	json_close(out);
	out_open(out, "properties", '{');
	put_properties(out, answer_failed);
	json_close(out);
	out_open(out, "propertyNames", '{');
	out_open(out, "anyOf", '[');
	put_enum(out, answer_failed);
	for (const struct answer *a = answer; a->table; a++)
		put_enum(out, a->table);
	json_close(out);
	json_close(out);
	json_close(out);
}

static void put_failed_reference(struct out *out)
{
	out_open(out, NULL, '{');
	out_str(out, "$ref", REF "failed");
	json_close(out);
}

static void put_alternative(struct out *out, const struct answer *a)
{
	if (!a->list) {
		put_reference(out, NULL, a->table);
		return;
	}
	out_open(out, NULL, '{');
	out_str(out, "type", "array");
	out_open(out, "items", '{');
	out_open(out, "anyOf", '[');
	put_reference(out, NULL, a->table);
	put_failed_reference(out);
	json_close(out);
	json_close(out);
	json_close(out);
}

void answer_schema(struct out *out, const char *typed, const struct answer *answer)
{
	struct tables tables = {.count = 0};
	char title[96];

	for (const struct answer *a = answer; a->table; a++)
		tables_collect(&tables, a->table);
	snprintf(title, sizeof(title), "vfctl %s --json", typed);
	out_open(out, NULL, '{');
	out_str(out, "$schema", "http://json-schema.org/draft-07/schema#");
	out_str(out, "title", title);
	out_open(out, "anyOf", '[');
	for (const struct answer *a = answer; a->table; a++)
		put_alternative(out, a);
	put_failed_reference(out);
	json_close(out);
	out_open(out, "definitions", '{');
	for (size_t i = 0; i < tables.count; i++)
		put_object(out, table_name(tables.v[i]), tables.v[i]);
	put_failed(out, answer);
	json_close(out);
	json_close(out);
}
