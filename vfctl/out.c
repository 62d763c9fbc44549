// SPDX-License-Identifier: GPL-2.0-or-later
#include "out.h"

#include <inttypes.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#define COLUMNS_MAX 16
#define DEPTH_MAX 16

struct out {
	FILE *file;
	/* table */
	unsigned indent;
	size_t columns;
	char **cells;
	size_t cell_count, cell_room;
	const unsigned *widths; /* of a table that is printed as it comes */
	/* JSON */
	char closing[DEPTH_MAX];
	bool filled[DEPTH_MAX];
	size_t depth;
	bool failed;
};

struct out *out_new(FILE *file)
{
	struct out *out = calloc(1, sizeof(*out));

	if (out)
		out->file = file;
	return out;
}

bool out_close(struct out *out)
{
	bool good;

	if (!out)
		return false;
	good = fflush(out->file) == 0 && !ferror(out->file) && !out->failed;
	free(out->cells);
	free(out);
	return good;
}

/*
 * Length of the UTF-8 character at @text: 0 when the bytes are none, or a control
 * character. Names come from devices, files and other programs, and a terminal obeys
 * what it is sent (U+0080 to U+009F included).
 */
static size_t character(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = p[0] < 0x80 ? 1 : p[0] < 0xc2 ? 0 : p[0] < 0xe0 ? 2 : p[0] < 0xf0 ? 3
		: p[0] < 0xf5 ? 4 : 0;

	if (len == 1)
		return p[0] >= ' ' && p[0] != 0x7f;
	for (size_t i = 1; i < len; i++)
		if ((p[i] & 0xc0) != 0x80)
			return 0;
	/* overlong forms, surrogates, beyond Unicode, C1 controls */
	if ((p[0] == 0xe0 && p[1] < 0xa0) || (p[0] == 0xed && p[1] > 0x9f) ||
		(p[0] == 0xf0 && p[1] < 0x90) || (p[0] == 0xf4 && p[1] > 0x8f) ||
		(p[0] == 0xc2 && p[1] < 0xa0))
		return 0;
	return len;
}

void put_clean(FILE *file, const char *text)
{
	while (*text) {
		size_t len = character(text);

		if (len)
			fwrite(text, 1, len, file);
		else
			putc('?', file);
		text += len ? len : 1;
	}
}

void out_line(struct out *out, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (text)
		put_clean(out->file, text);
	putc('\n', out->file);
	free(text);
}

static void add_cell(struct out *out, char *text)
{
	if (out->cell_count == out->cell_room) {
		size_t room = out->cell_room ? out->cell_room * 2 : 256;
		char **bigger = reallocarray(out->cells, room, sizeof(*bigger));

		if (!bigger) {
			free(text);
			out->failed = true;
			return;
		}
		out->cells = bigger;
		out->cell_room = room;
	}
	out->cells[out->cell_count++] = text;
}

void out_table(struct out *out, unsigned indent, const char *const *headings, size_t columns)
{
	out->indent = indent;
	out->columns = columns;
	out->cell_count = 0;
	for (size_t i = 0; i < columns; i++)
		out_cell(out, "%s", headings[i]);
}

/* Columns that put_clean() fills. */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; n++) {
		size_t len = character(text);

		text += len ? len : 1;
	}
	return n;
}

void out_stream(struct out *out, const char *const *headings, const unsigned *widths,
	size_t columns)
{
	out->widths = widths;
	out_table(out, 0, headings, columns);
}

static void print_cell(struct out *out, const char *text)
{
	size_t column = out->cell_count++ % out->columns;
	size_t width = width_of(text), least = out->widths[column];

	put_clean(out->file, text);
	if (column == out->columns - 1)
		putc('\n', out->file);
	else
		fprintf(out->file, "%*s", (int)(width < least ? least - width : 0) + 2, "");
}

void out_cell(struct out *out, const char *fmt, ...)
{
	char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (text && !*text) {
		free(text);
		text = strdup("-");
	}
	if (!text) {
		out->failed = true;
	} else if (out->widths) {
		print_cell(out, text);
		free(text);
	} else {
		add_cell(out, text);
	}
}

void out_table_end(struct out *out)
{
	size_t width[COLUMNS_MAX] = {0};

	if (out->widths) {
		out->widths = NULL;
		out->cell_count = 0;
		return;
	}
	for (size_t i = 0; i < out->cell_count; i++) {
		size_t w = width_of(out->cells[i]);

		if (w > width[i % out->columns])
			width[i % out->columns] = w;
	}
	for (size_t i = 0; i < out->cell_count; i++) {
		size_t column = i % out->columns;
		bool last = column == out->columns - 1;

		if (column == 0)
			fprintf(out->file, "%*s", (int)out->indent, "");
		put_clean(out->file, out->cells[i]);
		if (!last)
			fprintf(out->file, "%*s",
				(int)(width[column] - width_of(out->cells[i]) + 2), "");
		else
			putc('\n', out->file);
		free(out->cells[i]);
	}
	out->cell_count = 0;
}

/* ---- JSON ---- */

static void put_string(FILE *file, const char *text)
{
	putc('"', file);
	while (*text) {
		unsigned char c = (unsigned char)*text;
		size_t len = character(text);

		if (c == '"' || c == '\\')
			fprintf(file, "\\%c", c);
		else if (len)
			fwrite(text, 1, len, file);
		else if (c < 0x80)
			fprintf(file, "\\u%04x", c);
		else
			fputs("\\ufffd", file); /* JSON is UTF-8 or it is not JSON */
		text += len ? len : 1;
	}
	putc('"', file);
}

static void begin_value(struct out *out, const char *key)
{
	if (out->depth) {
		fputs(out->filled[out->depth - 1] ? ",\n" : "\n", out->file);
		out->filled[out->depth - 1] = true;
		fprintf(out->file, "%*s", (int)out->depth * 2, "");
	}
	if (key) {
		put_string(out->file, key);
		fputs(": ", out->file);
	}
}

void out_open(struct out *out, const char *key, char bracket)
{
	begin_value(out, key);
	putc(bracket, out->file);
	if (out->depth == DEPTH_MAX)
		abort(); /* a programming error: nothing nests that deep */
	out->closing[out->depth] = bracket == '{' ? '}' : ']';
	out->filled[out->depth++] = false;
}

void out_shut(struct out *out)
{
	bool filled = out->filled[--out->depth];

	if (filled)
		fprintf(out->file, "\n%*s", (int)out->depth * 2, "");
	putc(out->closing[out->depth], out->file);
	if (!out->depth)
		putc('\n', out->file);
}

void out_str(struct out *out, const char *key, const char *value)
{
	begin_value(out, key);
	if (value)
		put_string(out->file, value);
	else
		fputs("null", out->file);
}

void out_int(struct out *out, const char *key, int64_t value)
{
	begin_value(out, key);
	fprintf(out->file, "%" PRId64, value);
}

void out_bool(struct out *out, const char *key, bool value)
{
	begin_value(out, key);
	fputs(value ? "true" : "false", out->file);
}

void out_null(struct out *out, const char *key)
{
	out_str(out, key, NULL);
}
