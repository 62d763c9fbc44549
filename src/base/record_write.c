// SPDX-License-Identifier: GPL-2.0-or-later
/* Write records as JSON, and free them. */
#include "base/record_json.h"

#include <inttypes.h>

#include "base/cpuset.h"

void *record_member(const struct record_row *row, const void *object)
{
	const char *in = object;

	if (row->via)
		in = *(char *const *)(in + row->via - 1);
	return (char *)in + row->offset;
}

static uint64_t load_number(const struct record_row *row, const void *at)
{
	if (row->size == sizeof(uint64_t))
		return *(const uint64_t *)at;
	if (row->size == sizeof(uint32_t))
		return *(const uint32_t *)at;
	return row->size == sizeof(uint16_t) ? *(const uint16_t *)at : *(const uint8_t *)at;
}

static size_t *count_of(const struct record_row *row, const void *at)
{
	return (size_t *)((char *)at - row->offset + row->count);
}

static void *entry_of(const struct record_row *row, const void *at, size_t i)
{
	char *first = row->kind == RECORD_LIST ? *(char *const *)at : (char *)at;

	return first + i * row->inner->size;
}

/* ---- lines ---- */

static void new_line(struct record_writing *w)
{
	buf_puts(w->out, "\n");
	for (unsigned i = 0; i < w->depth; i++)
		buf_puts(w->out, "\t");
}

void record_open_list(struct record_writing *w)
{
	buf_puts(w->out, "[");
	w->depth++;
}

void record_next_entry(struct record_writing *w, size_t index)
{
	buf_puts(w->out, index ? "," : "");
	if (w->lines == RECORD_TALL || (w->lines == RECORD_HANGING && index))
		new_line(w);
	else if (w->lines == RECORD_FLAT && index)
		buf_puts(w->out, " ");
}

void record_close_list(struct record_writing *w, size_t count)
{
	w->depth--;
	if (w->lines == RECORD_TALL && count)
		new_line(w);
	buf_puts(w->out, "]");
}

static void open_member(struct record_writing *w, const char *name, bool first)
{
	buf_puts(w->out, first ? "" : ",");
	if (w->lines == RECORD_TALL || w->lines == RECORD_HANGING)
		new_line(w);
	else if (w->lines == RECORD_FLAT && !first)
		buf_puts(w->out, " ");
	buf_printf(w->out, "\"%s\":%s", name, w->lines == RECORD_COMPACT ? "" : " ");
}

/* ---- values ---- */

static void put_text(struct record_writing *w, const char *text)
{
	if (text)
		json_put(w->out, text);
	else
		buf_puts(w->out, "null");
}

static void put_number(struct record_writing *w, const struct record_row *row, const void *at)
{
	uint64_t n = load_number(row, at), unknown = UINT64_MAX >> (64 - 8 * row->size);

	if (row->flags & RECORD_NULLABLE && n == unknown)
		buf_puts(w->out, "null");
	else
		buf_printf(w->out, "%" PRIu64, n);
}

static void put_cpus(struct record_writing *w, const struct vfctl_cpuset *set)
{
	size_t len = vfctl_cpuset_format(set, (char[1]){0}, 1);
	_free_ char *text = malloc(len + 1);

	if (text)
		vfctl_cpuset_format(set, text, len + 1);
	else
		w->out->failed = true;
	put_text(w, text);
}

static void put_texts(struct record_writing *w, char *const *texts)
{
	size_t i = 0;

	record_open_list(w);
	for (; texts && texts[i]; i++) {
		record_next_entry(w, i);
		json_put(w->out, texts[i]);
	}
	record_close_list(w, i);
}

static void put_record(struct record_writing *w, const struct record *record, const void *object);

static void put_entries(struct record_writing *w, const struct record_row *row, const void *at)
{
	size_t count = *count_of(row, at);

	record_open_list(w);
	for (size_t i = 0; i < count; i++) {
		record_next_entry(w, i);
		put_record(w, row->inner, entry_of(row, at, i));
	}
	record_close_list(w, count);
}

static void put_value(struct record_writing *w, const struct record_row *row, const void *at)
{
	char text[VFCTL_BDF_TEXT];

	switch (row->kind) {
	case RECORD_VERSION:
		buf_printf(w->out, "%" PRIu64, row->max);
		break;
	case RECORD_NUMBER:
		put_number(w, row, at);
		break;
	case RECORD_FLAG:
		buf_puts(w->out, *(const bool *)at ? "true" : "false");
		break;
	case RECORD_WORD:
		put_text(w, row->word((int)load_number(row, at)));
		break;
	case RECORD_TEXT:
		put_text(w, *(char *const *)at);
		break;
	case RECORD_CHARS:
	case RECORD_UUID:
		put_text(w, at);
		break;
	case RECORD_TEXTS:
		put_texts(w, *(char *const *const *)at);
		break;
	case RECORD_CPUS:
		put_cpus(w, at);
		break;
	case RECORD_ADDRESS:
		put_text(w, vfctl_bdf_format(at, text));
		break;
	case RECORD_LIST:
	case RECORD_ARRAY:
		put_entries(w, row, at);
		break;
	case RECORD_OWN:
		row->own->write(w, at);
	}
}

/* ---- objects ---- */

/* For RECORD_OPTIONAL; members of other kinds are never left out. */
static bool is_empty(const struct record_row *row, const void *at)
{
	switch (row->kind) {
	case RECORD_NUMBER:
		return load_number(row, at) == 0;
	case RECORD_FLAG:
		return !*(const bool *)at;
	case RECORD_TEXT:
		return !*(char *const *)at;
	case RECORD_CHARS:
	case RECORD_UUID:
		return !*(const char *)at;
	case RECORD_CPUS:
		return vfctl_cpuset_empty(at);
	case RECORD_LIST:
	case RECORD_ARRAY:
		return *count_of(row, at) == 0;
	default:
		return false;
	}
}

static void put_record(struct record_writing *w, const struct record *record, const void *object)
{
	enum record_lines lines = w->lines;
	bool first = true;

	buf_puts(w->out, "{");
	w->depth++;
	for (size_t i = 0; i < record->row_count; i++) {
		const struct record_row *row = &record->rows[i];
		const void *at = record_member(row, object);

		if (row->flags & RECORD_OPTIONAL && is_empty(row, at))
			continue;
		w->lines = row->lines ? row->lines : record->lines;
		open_member(w, row->name, first);
		put_value(w, row, at);
		first = false;
	}
	w->depth--;
	if (record->lines == RECORD_TALL)
		new_line(w);
	buf_puts(w->out, "}");
	w->lines = lines;
}

void record_write(struct buf *out, const struct record *record, const void *object)
{
	put_record(&(struct record_writing){.out = out}, record, object);
}

/* ---- freeing ---- */

static void clear_entries(const struct record_row *row, void *at)
{
	for (size_t i = 0; i < *count_of(row, at); i++)
		record_clear(row->inner, entry_of(row, at, i));
	if (row->kind == RECORD_LIST)
		free(*(void **)at);
}

void record_clear(const struct record *record, void *object)
{
	for (size_t i = 0; i < record->row_count; i++) {
		const struct record_row *row = &record->rows[i];
		void *at = (char *)object + row->offset;

		if (row->via)
			continue;
		if (row->kind == RECORD_TEXT)
			free(*(char **)at);
		else if (row->kind == RECORD_TEXTS)
			strv_free(*(char ***)at);
		else if (row->kind == RECORD_LIST || row->kind == RECORD_ARRAY)
			clear_entries(row, at);
	}
}
