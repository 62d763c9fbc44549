// SPDX-License-Identifier: GPL-2.0-or-later
/* Read YAML with libyaml, which yaml.c writes it with. */
#include "spec/doc.h"

#include <errno.h>
#include <stdarg.h>
#include <stdio.h>
#include <yaml.h>

#include "base/json.h"
#include "base/parse.h"

/* Far above any useful file; they limit memory and recursion for hostile ones. */
#define DEPTH_MAX 16
#define NODES_MAX 20000

struct parser {
	struct vfctl_ctx *ctx;
	const char *file;
	yaml_parser_t yaml;
	unsigned nodes;
};

void doc_free(struct doc_node *node)
{
	if (!node)
		return;
	for (size_t i = 0; i < node->count; i++) {
		if (node->keys)
			doc_free(node->keys[i]);
		doc_free(node->items[i]);
	}
	free(node->keys);
	free(node->items);
	free(node->text);
	free(node);
}

int doc_fail(struct vfctl_ctx *ctx, const struct doc_node *at, int error, const char *fmt, ...)
{
	_free_ char *choices = NULL;
	va_list args;

	va_start(args, fmt);
	choices = str_vformat(fmt, args);
	va_end(args);
	if (!choices)
		return ctx_oom(ctx);
	if (!at->line)
		return ctx_usage_error(ctx, error, "%s: %s", at->file, choices);
	return ctx_usage_error(ctx, error, "%s:%u:%u: %s", at->file, at->line, at->column, choices);
}

static int fail_at(struct parser *p, const yaml_mark_t *mark, const char *choices)
{
	return ctx_usage_error(p->ctx, -EINVAL, "%s:%zu:%zu: %s", p->file, mark->line + 1,
		mark->column + 1, choices);
}

static int fail_syntax(struct parser *p)
{
	const char *problem = p->yaml.problem ? p->yaml.problem : "it is not YAML";
	const char *hint = "";

	if (p->yaml.error == YAML_MEMORY_ERROR)
		return ctx_oom(p->ctx);
	/* libyaml's messages for a tab in the indentation, a wrong indentation, an open bracket. */
	if (strstr(problem, "cannot start any token") || strstr(problem, "tab"))
		hint = "; indent with spaces, not tabs";
	else if (strstr(problem, "mapping values") || strstr(problem, "block sequence") ||
		strstr(problem, "expected key") || strstr(problem, "'-' indicator"))
		hint = "; check the indentation of this line and of the line before";
	else if (strstr(problem, "expected ',' or"))
		hint = "; check that each bracket is closed";
	return ctx_usage_error(p->ctx, -EINVAL, "%s:%zu:%zu: %s%s", p->file,
		p->yaml.problem_mark.line + 1, p->yaml.problem_mark.column + 1, problem,
		hint);
}

static void event_clear(yaml_event_t *event)
{
	yaml_event_delete(event);
}

static int next_event(struct parser *p, yaml_event_t *ret)
{
	return yaml_parser_parse(&p->yaml, ret) ? 0 : fail_syntax(p);
}

static int new_node(struct parser *p, const yaml_event_t *event, enum doc_kind kind,
	struct doc_node **ret)
{
	struct doc_node *node;

	if (++p->nodes > NODES_MAX)
		return fail_at(p, &event->start_mark, "too many values; split the file");
	node = calloc(1, sizeof(*node));
	if (!node)
		return ctx_oom(p->ctx);
	node->kind = kind;
	node->file = p->file;
	node->line = (unsigned)event->start_mark.line + 1;
	node->column = (unsigned)event->start_mark.column + 1;
	*ret = node;
	return 0;
}

static bool text_clean(const char *text, size_t len)
{
	for (size_t i = 0; i < len; i++) {
		unsigned char c = (unsigned char)text[i];

		if ((c < 0x20 && c != '\t' && c != '\n') || c == 0x7f)
			return false;
	}
	return utf8_valid(text, len);
}

static int read_scalar(struct parser *p, const yaml_event_t *event, struct doc_node **ret)
{
	const char *value = (const char *)event->data.scalar.value;
	size_t len = event->data.scalar.length;
	_cleanup_(doc_freep) struct doc_node *node = NULL;
	int r;

	/* "\0" in quotes would truncate the text for all later readers. */
	if (!text_clean(value, len))
		return fail_at(p, &event->start_mark,
			"the text holds a control character; remove it");
	r = new_node(p, event, DOC_SCALAR, &node);
	if (r < 0)
		return r;
	node->quoted = event->data.scalar.style != YAML_PLAIN_SCALAR_STYLE;
	node->text = strndup(value, len);
	if (!node->text)
		return ctx_oom(p->ctx);
	*ret = steal(node);
	return 0;
}

static int read_node(struct parser *p, const yaml_event_t *event, unsigned depth,
	struct doc_node **ret);

static int read_list(struct parser *p, const yaml_event_t *start, unsigned depth,
	struct doc_node **ret)
{
	_cleanup_(doc_freep) struct doc_node *list = NULL;
	int r = new_node(p, start, DOC_LIST, &list);

	while (r == 0) {
		_cleanup_(event_clear) yaml_event_t event = {0};

		r = next_event(p, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_SEQUENCE_END_EVENT)
			break;
		if (!array_grow(list->items, list->count))
			return ctx_oom(p->ctx);
		r = read_node(p, &event, depth, &list->items[list->count]);
		if (r == 0)
			list->count++;
	}
	if (r == 0)
		*ret = steal(list);
	return r;
}

static int read_key(struct parser *p, const yaml_event_t *event,
	const struct doc_node *map, struct doc_node **ret)
{
	_cleanup_(doc_freep) struct doc_node *key = NULL;
	int r;

	if (event->type != YAML_SCALAR_EVENT)
		return fail_at(p, &event->start_mark, "a key must be a word");
	r = read_node(p, event, 0, &key);
	if (r < 0)
		return r;
	for (size_t i = 0; i < map->count; i++)
		if (str_eq(map->keys[i]->text, key->text))
			return doc_fail(p->ctx, key, -EINVAL,
				"%s: given twice, first in line %u; keep one of them",
				key->text, map->keys[i]->line);
	*ret = steal(key);
	return 0;
}

static int read_pair(struct parser *p, const yaml_event_t *key_event, unsigned depth,
	struct doc_node *map)
{
	_cleanup_(event_clear) yaml_event_t event = {0};
	_cleanup_(doc_freep) struct doc_node *key = NULL;
	int r;

	if (!array_grow(map->keys, map->count) || !array_grow(map->items, map->count))
		return ctx_oom(p->ctx);
	r = read_key(p, key_event, map, &key);
	if (r == 0)
		r = next_event(p, &event);
	if (r == 0)
		r = read_node(p, &event, depth, &map->items[map->count]);
	if (r == 0)
		map->keys[map->count++] = steal(key);
	return r;
}

static int read_map(struct parser *p, const yaml_event_t *start, unsigned depth,
	struct doc_node **ret)
{
	_cleanup_(doc_freep) struct doc_node *map = NULL;
	int r = new_node(p, start, DOC_MAP, &map);

	while (r == 0) {
		_cleanup_(event_clear) yaml_event_t event = {0};

		r = next_event(p, &event);
		if (r < 0)
			return r;
		if (event.type == YAML_MAPPING_END_EVENT)
			break;
		r = read_pair(p, &event, depth, map);
	}
	if (r == 0)
		*ret = steal(map);
	return r;
}

static bool decorated(const yaml_event_t *e)
{
	switch (e->type) {
	case YAML_ALIAS_EVENT:
		return true;
	case YAML_SCALAR_EVENT:
		return e->data.scalar.anchor || e->data.scalar.tag;
	case YAML_SEQUENCE_START_EVENT:
		return e->data.sequence_start.anchor || e->data.sequence_start.tag;
	case YAML_MAPPING_START_EVENT:
		return e->data.mapping_start.anchor || e->data.mapping_start.tag;
	default:
		return false;
	}
}

static int read_node(struct parser *p, const yaml_event_t *event, unsigned depth,
	struct doc_node **ret)
{
	if (decorated(event))
		return fail_at(p, &event->start_mark,
			"anchors (&), aliases (*) and tags (!) are not allowed; write "
			"the value out");
	if (depth > DEPTH_MAX)
		return fail_at(p, &event->start_mark, "nested too deeply");
	if (event->type == YAML_SCALAR_EVENT)
		return read_scalar(p, event, ret);
	if (event->type == YAML_SEQUENCE_START_EVENT)
		return read_list(p, event, depth + 1, ret);
	if (event->type == YAML_MAPPING_START_EVENT)
		return read_map(p, event, depth + 1, ret);
	return fail_at(p, &event->start_mark, "a value is missing");
}

/* Skip an event without content; false if another event comes. */
static int skip_event(struct parser *p, yaml_event_type_t type, const char *otherwise)
{
	_cleanup_(event_clear) yaml_event_t event = {0};
	int r = next_event(p, &event);

	if (r < 0)
		return r;
	return event.type == type ? 0 : fail_at(p, &event.start_mark, otherwise);
}

static int read_stream(struct parser *p, struct doc_node **ret)
{
	_cleanup_(event_clear) yaml_event_t event = {0};
	_cleanup_(doc_freep) struct doc_node *node = NULL;
	int r;

	r = skip_event(p, YAML_STREAM_START_EVENT, "it is not YAML");
	if (r == 0)
		r = skip_event(p, YAML_DOCUMENT_START_EVENT, "the file is empty");
	if (r == 0)
		r = next_event(p, &event);
	if (r == 0)
		r = read_node(p, &event, 0, &node);
	if (r == 0)
		r = skip_event(p, YAML_DOCUMENT_END_EVENT, "the document does not end");
	if (r == 0)
		r = skip_event(p, YAML_STREAM_END_EVENT,
			"a second document begins; one file holds one document");
	if (r == 0)
		*ret = steal(node);
	return r;
}

int doc_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	size_t max, struct doc_node **ret)
{
	struct parser p = {.ctx = ctx, .file = file};
	int r;

	if (len > max)
		return ctx_usage_error(ctx, -E2BIG,
			"%s: it has %zu bytes, more than %zu; is it the "
			"right file?",
			file, len, max);
	if (!utf8_valid(text, len))
		return ctx_usage_error(
			ctx, -EILSEQ, "%s: it is not UTF-8; save it as UTF-8", file);
	/* Some editors write a byte order mark, which libyaml counts as a column of the text. */
	if (len >= 3 && memcmp(text, "\xef\xbb\xbf", 3) == 0) {
		text += 3;
		len -= 3;
	}
	if (!yaml_parser_initialize(&p.yaml))
		return ctx_oom(ctx);
	yaml_parser_set_encoding(&p.yaml, YAML_UTF8_ENCODING);
	yaml_parser_set_input_string(&p.yaml, (const unsigned char *)text, len);
	r = read_stream(&p, ret);
	yaml_parser_delete(&p.yaml);
	return r;
}

/* ---- several documents ---- */

static bool append(struct doc_node ***list, size_t count, struct doc_node *node)
{
	if (!array_grow(*list, count))
		return false;
	(*list)[count] = node;
	return true;
}

/* Append the entries of @from to @into. */
static int join_lists(struct vfctl_ctx *ctx, struct doc_node *into, struct doc_node *from)
{
	for (size_t i = 0; i < from->count; i++) {
		if (!append(&into->items, into->count, from->items[i]))
			return ctx_oom(ctx);
		into->count++;
		from->items[i] = NULL;
	}
	return 0;
}

static int move_pair(struct vfctl_ctx *ctx, struct doc_node *into, struct doc_node *from, size_t i)
{
	if (!append(&into->items, into->count, from->items[i]) ||
		!append(&into->keys, into->count, from->keys[i]))
		return ctx_oom(ctx);
	into->count++;
	from->items[i] = from->keys[i] = NULL;
	return 0;
}

int doc_merge(struct vfctl_ctx *ctx, struct doc_node *into, struct doc_node *from,
	bool (*same)(const char *a, const char *b))
{
	size_t before = into->count;
	int r = 0;

	if (into->kind != DOC_MAP || from->kind != DOC_MAP)
		return doc_fail(ctx, into->kind != DOC_MAP ? into : from, -EINVAL,
			"the file must be keys with values");
	for (size_t i = 0; i < from->count && r == 0; i++) {
		struct doc_node *key = from->keys[i];
		size_t at = 0;

		while (at < before && !same(into->keys[at]->text, key->text))
			at++;
		if (at == before)
			r = move_pair(ctx, into, from, i);
		else if (into->items[at]->kind == DOC_LIST && from->items[i]->kind == DOC_LIST)
			r = join_lists(ctx, into->items[at], from->items[i]);
		else
			r = doc_fail(ctx, key, -EINVAL, "%s: given twice, first in %s:%u; keep one "
				"of them", key->text, into->keys[at]->file, into->keys[at]->line);
	}
	return r;
}

/* ---- as JSON ---- */

/*
 * YAML treats some characters of JSON strings as line breaks or rejects them. They are written as
 * escapes, which both can read (YAML 1.2, 5.1 and 5.4).
 */
static bool needs_escape(unsigned c)
{
	return c < 0xa0 || c == 0x2028 || c == 0x2029 || c == 0xfeff || c >= 0xfffe;
}

static void put_string(struct buf *out, const char *text)
{
	_buf_ struct buf quoted = {0};

	json_put(&quoted, text);
	out->failed |= quoted.failed;
	for (const char *p = quoted.failed ? "" : quoted.data; *p;) {
		unsigned char lead = (unsigned char)*p;
		size_t len = lead < 0xc0 ? 1 : lead < 0xe0 ? 2 : lead < 0xf0 ? 3 : 4;
		unsigned c = len == 2 ? (lead & 0x1fu) << 6 | (p[1] & 0x3f)
			: len == 3    ? (lead & 0xfu) << 12 | (p[1] & 0x3fu) << 6 | (p[2] & 0x3f)
				      : 0;

		if (c && needs_escape(c))
			buf_printf(out, "\\u%04x", c);
		else
			buf_add(out, p, len);
		p += len;
	}
}

static void put_json(struct buf *out, const struct doc_node *node)
{
	if (node->kind == DOC_SCALAR) {
		put_string(out, node->text);
		return;
	}
	buf_puts(out, node->kind == DOC_MAP ? "{" : "[");
	for (size_t i = 0; i < node->count; i++) {
		buf_puts(out, i ? ", " : "");
		if (node->kind == DOC_MAP) {
			put_string(out, node->keys[i]->text);
			buf_puts(out, ": ");
		}
		put_json(out, node->items[i]);
	}
	buf_puts(out, node->kind == DOC_MAP ? "}" : "]");
}

char *doc_json(const struct doc_node *root)
{
	_buf_ struct buf out = {0};

	put_json(&out, root);
	return out.failed ? NULL : buf_steal(&out);
}

char *doc_at(const struct doc_node *node)
{
	return str_format("%s:%u:%u", node->file, node->line, node->column);
}
