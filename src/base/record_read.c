// SPDX-License-Identifier: GPL-2.0-or-later
/* Read records from JSON strictly. */
#include "base/record_json.h"

#include <errno.h>
#include <inttypes.h>

#include "base/cpuset.h"
#include "base/parse.h"

#define ENTRIES_MAX 65536 /* of a list without a limit of its own; no host has more */

/* ---- messages ---- */

static void put_path(struct buf *b, const struct record_place *at)
{
	if (!at)
		return;
	put_path(b, at->up);
	if (at->row)
		buf_printf(b, "%s%s", b->len ? "." : "", at->row->name);
	else
		buf_printf(b, "[%zu]", at->index);
}

int record_bad(struct record_reading *r, const char *fmt, ...)
{
	_buf_ struct buf path = {0};
	_free_ char *message = NULL;
	va_list args;

	va_start(args, fmt);
	message = str_vformat(fmt, args);
	va_end(args);
	put_path(&path, r->at);
	if (!message || path.failed)
		return ctx_oom(r->ctx);
	return ctx_usage_error(r->ctx, -EINVAL, "%s%s%s", path.data ? path.data : "",
		path.len ? ": " : "", message);
}

int record_expect(struct record_reading *r, const struct json *value, enum json_kind kind)
{
	enum json_kind is = json_kind(value);

	return is == kind ? 0 : record_bad(r, "it is %s; it must be %s", json_kind_name(is),
		json_kind_name(kind));
}

static int expect_text(struct record_reading *r, const struct json *value, const char **ret)
{
	*ret = json_text(value);
	return record_expect(r, value, JSON_KIND_TEXT);
}

/* ---- numbers and words ---- */

int record_read_number(struct record_reading *r, const struct json *value, uint64_t max,
	uint64_t *ret)
{
	int64_t n;
	int error = record_expect(r, value, JSON_KIND_INTEGER);

	if (error < 0)
		return error;
	if (json_number(value, &n) < 0 || n < 0 || (uint64_t)n > max)
		return record_bad(r, "%" PRId64 " is not 0 to %" PRIu64, n, max);
	*ret = (uint64_t)n;
	return 0;
}

static void store_number(const struct record_row *row, uint64_t n, void *at)
{
	if (row->size == sizeof(uint64_t))
		*(uint64_t *)at = n;
	else if (row->size == sizeof(uint32_t))
		*(uint32_t *)at = (uint32_t)n;
	else if (row->size == sizeof(uint16_t))
		*(uint16_t *)at = (uint16_t)n;
	else
		*(uint8_t *)at = (uint8_t)n;
}

static int read_number(struct record_reading *r, const struct json *value, void *at)
{
	const struct record_row *row = r->at->row;
	uint64_t n;
	int error = record_read_number(r, value, row->max, &n);

	if (error == 0)
		store_number(row, n, at);
	return error;
}

static int read_version(struct record_reading *r, const struct json *value, void *at)
{
	uint64_t reads = r->at->row->max;
	int64_t version;
	int error = record_expect(r, value, JSON_KIND_INTEGER);

	if (error == 0 && (json_number(value, &version) < 0 || (uint64_t)version != reads))
		return record_bad(r, "this vfctl reads version %" PRIu64 ", not %" PRId64, reads,
			version);
	return error;
}

static int read_flag(struct record_reading *r, const struct json *value, void *at)
{
	int error = record_expect(r, value, JSON_KIND_BOOL);

	if (error == 0)
		*(bool *)at = json_flag(value);
	return error;
}

static int fail_word(struct record_reading *r, const struct json *value)
{
	const struct record_row *row = r->at->row;
	const char *text = json_text(value);
	_buf_ struct buf words = {0};

	for (int i = 0; i <= (int)row->max; i++)
		if (row->word(i))
			buf_printf(&words, "%s%s", words.len ? ", " : "", row->word(i));
	if (row->flags & RECORD_NULLABLE)
		buf_puts(&words, ", or null");
	if (words.failed)
		return ctx_oom(r->ctx);
	if (!text)
		return record_bad(r, "it is %s; it must be one of %s",
			json_kind_name(json_kind(value)), words.data);
	return record_bad(r, "'%.64s' is not one of %s", text, words.data);
}

static int read_word(struct record_reading *r, const struct json *value, void *at)
{
	const struct record_row *row = r->at->row;
	const char *text = json_text(value);

	for (int i = 0; text && i <= (int)row->max; i++)
		if (row->word(i) && str_eq(row->word(i), text)) {
			store_number(row, (uint64_t)i, at);
			return 0;
		}
	return fail_word(r, value);
}

/* ---- texts ---- */

static int read_text(struct record_reading *r, const struct json *value, void *at)
{
	char **ret = at;
	const char *text;
	int error = expect_text(r, value, &text);

	if (error < 0)
		return error;
	if (strlen(text) > RECORD_TEXT_MAX)
		return record_bad(r, "it has %zu bytes, more than %d", strlen(text),
			RECORD_TEXT_MAX);
	*ret = strdup(text);
	return *ret ? 0 : ctx_oom(r->ctx);
}

static int read_chars(struct record_reading *r, const struct json *value, void *at)
{
	size_t size = r->at->row->size;
	const char *text;
	int error = expect_text(r, value, &text);

	if (error == 0 && !str_copy(at, size, text))
		return record_bad(r, "it has %zu bytes, more than %zu", strlen(text), size - 1);
	return error;
}

static int read_uuid(struct record_reading *r, const struct json *value, void *at)
{
	const char *text;
	int error = expect_text(r, value, &text);

	if (error == 0 && *text && !uuid_valid(text))
		return record_bad(r, "'%.64s' is not a UUID", text);
	if (error == 0)
		str_copy(at, r->at->row->size, text);
	return error;
}

static int read_text_entry(struct record_reading *r, const struct json *value, void *at)
{
	char ***texts = at;
	size_t count = strv_len(*texts);

	/* Allocate one more than needed: the last entry stays NULL. */
	if (!array_grow(*texts, count + 1))
		return ctx_oom(r->ctx);
	(*texts)[count] = (*texts)[count + 1] = NULL;
	return read_text(r, value, &(*texts)[count]);
}

static int read_texts(struct record_reading *r, const struct json *value, void *at)
{
	return record_read_each(r, value, r->at->row->max, at, read_text_entry);
}

static int read_cpus(struct record_reading *r, const struct json *value, void *at)
{
	const char *text;
	int error = expect_text(r, value, &text);

	if (error < 0)
		return error;
	error = vfctl_cpuset_parse(text, at);
	if (error == -ERANGE)
		return record_bad(r, "'%.64s' has CPUs of %d or more", text, VFCTL_CPU_MAX);
	if (error < 0)
		return record_bad(r, "'%.64s' is not a list of CPUs such as 0-3,8", text);
	return 0;
}

static int read_address(struct record_reading *r, const struct json *value, void *at)
{
	const char *text;
	int error = expect_text(r, value, &text);

	if (error == 0 && vfctl_bdf_parse(text, at) < 0)
		return record_bad(r, "'%.64s' is not a PCI address", text);
	return error;
}

/* ---- lists ---- */

int record_read_each(struct record_reading *r, const struct json *list, uint64_t max, void *object,
	record_reader *one)
{
	struct record_place at = {.up = r->at};
	int error = record_expect(r, list, JSON_KIND_LIST);

	max = max ? max : ENTRIES_MAX;
	if (error == 0 && json_count(list) > max)
		return record_bad(r, "it has %zu entries, more than %" PRIu64, json_count(list),
			max);
	for (size_t i = 0; i < json_count(list) && error == 0; i++) {
		at.index = i;
		r->at = &at;
		error = one(r, json_item(list, i), object);
		r->at = at.up;
	}
	return error;
}

/* The list or array of a row. */
struct entries {
	const struct record_row *row;
	void *at;
	size_t *count;
};

static int read_entry(struct record_reading *r, const struct json *value, void *at)
{
	const struct entries *list = at;
	const struct record *inner = list->row->inner;
	char *first = list->at;

	if (list->row->kind == RECORD_LIST) {
		if (!array_grow_(list->at, *list->count, inner->size))
			return ctx_oom(r->ctx);
		first = *(char **)list->at;
	}
	first += *list->count * inner->size;
	memset(first, 0, inner->size);
	++*list->count;
	return record_read(r, inner, value, first);
}

static int read_entries(struct record_reading *r, const struct json *value, void *at)
{
	const struct record_row *row = r->at->row;
	struct entries list = {row, at, (size_t *)((char *)at - row->offset + row->count)};

	return record_read_each(r, value, row->max, &list, read_entry);
}

/* ---- members ---- */

static record_reader *const readers[] = {
	[RECORD_VERSION] = read_version,
	[RECORD_NUMBER] = read_number,
	[RECORD_FLAG] = read_flag,
	[RECORD_WORD] = read_word,
	[RECORD_TEXT] = read_text,
	[RECORD_CHARS] = read_chars,
	[RECORD_UUID] = read_uuid,
	[RECORD_TEXTS] = read_texts,
	[RECORD_CPUS] = read_cpus,
	[RECORD_ADDRESS] = read_address,
	[RECORD_LIST] = read_entries,
	[RECORD_ARRAY] = read_entries,
};

static int read_member(struct record_reading *r, const struct record_row *row,
	const struct json *value, void *object)
{
	record_reader *reader = row->own ? row->own->read : readers[row->kind];
	struct record_place at = {.up = r->at, .row = row};
	void *member = record_member(row, object);
	bool null = json_kind(value) == JSON_KIND_NULL && row->flags & RECORD_NULLABLE;
	int error = 0;

	r->at = &at;
	if (!value && row->flags & RECORD_REQUIRED)
		error = record_bad(r, "the member is missing");
	else if (null && row->kind == RECORD_NUMBER)
		memset(member, 0xff, row->size);
	else if (null ? row->kind == RECORD_OWN : value != NULL)
		error = reader(r, value, member);
	r->at = at.up;
	return error;
}

static const struct record_row *find_row(const struct record *record, const char *name)
{
	for (size_t i = 0; i < record->row_count; i++)
		if (str_eq(record->rows[i].name, name))
			return &record->rows[i];
	return NULL;
}

static int fail_unknown(struct record_reading *r, const struct record *record, const char *name)
{
	_buf_ struct buf known = {0};

	for (size_t i = 0; i < record->row_count; i++)
		buf_printf(&known, "%s%s", i ? ", " : "", record->rows[i].name);
	return record_bad(r, "member '%.64s' does not exist; the members are %s", name,
		known.failed ? "others" : known.data);
}

int record_read(struct record_reading *r, const struct record *record, const struct json *value,
	void *object)
{
	const char *name;
	void *iter = NULL;
	int error = record_expect(r, value, JSON_KIND_OBJECT);

	while (error == 0 && !record->loose && (name = json_next(value, &iter)))
		if (!find_row(record, name))
			error = fail_unknown(r, record, name);
	for (size_t i = 0; i < record->row_count && error == 0; i++)
		error = read_member(r, &record->rows[i],
			json_member(value, record->rows[i].name), object);
	return error;
}

int record_parse(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	const struct record *record, void *object)
{
	_json_doc_ struct json *root = NULL;
	struct record_reading r = {.ctx = ctx};
	int error = json_read(ctx, what, text, len, &root);

	return error < 0 ? error : record_read(&r, record, root, object);
}
