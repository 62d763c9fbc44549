// SPDX-License-Identifier: GPL-2.0-or-later
#include "out_state.h"

#include <stdarg.h>
#include <stdlib.h>
#include <string.h>

#include "base/cleanup.h"
#include "spec/yaml.h"

#define COLUMNS_MAX 40 /* largest number of columns of a table */
#define GAP 2 /* spaces between columns */

struct out *out_new(FILE *file)
{
	struct out *out = calloc(1, sizeof(*out));

	if (out)
		out->file = file;
	return out;
}

void out_set_start(struct out *out, void (*start)(void))
{
	out->start = start;
}

void out_begin(struct out *out)
{
	if (out->start)
		out->start();
	out->start = NULL;
}

FILE *out_file(struct out *out)
{
	out_begin(out);
	return out->file;
}

bool out_close(struct out *out)
{
	bool good;

	if (!out)
		return false;
	good = vfctl_yaml_free(out->yaml) && fflush(out->file) == 0 && !ferror(out->file) && !out->failed;
	free(out->cells);
	for (size_t i = 0; i < out->get_count; i++)
		free(out->get[i].value);
	free(out);
	return good;
}

/* By the first byte; 0: no character begins with it. */
static size_t character_len(unsigned char first)
{
	if (first < 0x80)
		return 1;
	if (first < 0xc2 || first >= 0xf5)
		return 0;
	return first < 0xe0 ? 2 : first < 0xf0 ? 3 : 4;
}

size_t text_character(const char *text)
{
	const unsigned char *p = (const unsigned char *)text;
	size_t len = character_len(p[0]);

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
		size_t len = text_character(text);

		if (len)
			fwrite(text, 1, len, file);
		else
			putc('?', file);
		text += len ? len : 1;
	}
}

void put_clean_lines(FILE *file, const char *text)
{
	while (*text) {
		size_t len = *text == '\n' || *text == '\t' ? 1 : text_character(text);

		if (len)
			fwrite(text, 1, len, file);
		else
			putc('?', file);
		text += len ? len : 1;
	}
}

bool is_clean(const char *text)
{
	for (size_t len; *text; text += len) {
		len = text_character(text);
		if (!len)
			return false;
	}
	return true;
}

void out_paint(struct out *out, enum color color, size_t len)
{
	out->color = color;
	out->color_len = len;
}

/* Print a line whose first bytes may have a colour. */
static void put_painted(struct out *out, char *text)
{
	size_t len = strnlen(text, out->color_len);
	char after = text[len];

	if (out->color) {
		text[len] = '\0';
		fputs(color_begin(out->file, out->color), out->file);
		put_clean(out->file, text);
		fputs(color_end(out->file, out->color), out->file);
		text[len] = after;
		text += len;
	}
	out_paint(out, COLOR_NONE, 0);
	put_clean(out->file, text);
}

void out_line(struct out *out, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	out_begin(out);
	if (text)
		put_painted(out, text);
	putc('\n', out->file);
}

/* Number of columns of the output of put_clean(). */
static size_t width_of(const char *text)
{
	size_t n = 0;

	for (; *text; n++) {
		size_t len = text_character(text);

		text += len ? len : 1;
	}
	return n;
}

/*
 * Number of bytes of @text that fit on a line of @room columns; the first @label bytes are not
 * broken. A single word may be longer.
 */
static size_t fold_at(const char *text, size_t label, size_t room)
{
	size_t columns = 0, blank = 0, comma = 0, at = 0;

	while (text[at] && (columns <= room || !(blank || comma))) {
		size_t len = text_character(text + at);

		/* A space may be beyond the last column, a comma must not. */
		if (columns <= label)
			;
		else if (text[at] == ' ')
			blank = at;
		else if (text[at] == ',' && text[at + 1] && text[at + 1] != ' ' && columns < room)
			comma = at + 1;
		at += len ? len : 1;
		columns++;
	}
	if (columns <= room)
		return at;
	return blank ? blank : comma ? comma : at;
}

void out_fold(struct out *out, unsigned indent, const char *fmt, ...)
{
	_free_ char *text = NULL;
	char *rest;
	size_t at = 0;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	out->failed |= !text;
	for (rest = text; rest; rest += at + strspn(rest + at, " ")) {
		unsigned left = rest == text ? 0 : indent;

		at = out->width > indent ? fold_at(rest, indent - left, out->width - left)
					 : strlen(rest);
		out_line(out, "%*s%.*s", (int)left, "", (int)at, rest);
		if (!rest[at])
			break;
	}
}

static void add_cell(struct out *out, char *text)
{
	if (out->cell_count == out->cell_room) {
		size_t room = out->cell_room ? out->cell_room * 2 : 256;
		struct cell *bigger = reallocarray(out->cells, room, sizeof(*bigger));

		if (!bigger) {
			free(text);
			out->failed = true;
			return;
		}
		out->cells = bigger;
		out->cell_room = room;
	}
	out->cells[out->cell_count++] = (struct cell){text, out->color};
}

void out_table(struct out *out, unsigned indent, const char *const *headings, size_t columns)
{
	out->indent = indent;
	out->columns = columns;
	out->cell_count = 0;
	out->give = NULL;
	out->headed = headings;
	for (size_t i = 0; headings && i < columns; i++)
		out_cell(out, "%s", headings[i]);
}

void out_table_fit(struct out *out, const signed char *give)
{
	out->give = give;
}

void out_set_width(struct out *out, unsigned width)
{
	out->width = width;
}

unsigned out_width(const struct out *out)
{
	return out->width;
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

	out_begin(out);
	fputs(color_begin(out->file, out->color), out->file);
	put_clean(out->file, text);
	fputs(color_end(out->file, out->color), out->file);
	if (column == out->columns - 1)
		putc('\n', out->file);
	else
		fprintf(out->file, "%*s", (int)(width < least ? least - width : 0) + GAP, "");
}

void out_cell(struct out *out, const char *fmt, ...)
{
	_free_ char *text = NULL;
	va_list args;

	va_start(args, fmt);
	if (vasprintf(&text, fmt, args) < 0)
		text = NULL;
	va_end(args);
	if (text && !*text) {
		free(text);
		text = strdup("-");
	}
	if (!text)
		out->failed = true;
	else if (out->widths)
		print_cell(out, text);
	else
		add_cell(out, steal(text));
	out_paint(out, COLOR_NONE, 0);
}

/* ---- tables that fit ---- */

static struct cell *row_at(const struct out *out, size_t row)
{
	return out->cells + row * out->columns;
}

static size_t row_count(const struct out *out)
{
	return out->cell_count / out->columns;
}

/* A column whose width is 0 is not shown. */
static void measure_out(const struct out *out, size_t *width)
{
	for (size_t i = 0; i < out->cell_count; i++) {
		size_t w = width_of(out->cells[i].text);

		if (w > width[i % out->columns])
			width[i % out->columns] = w;
	}
}

static size_t excess(const struct out *out, const size_t *width)
{
	size_t sum = out->indent;

	for (size_t i = 0; i < out->columns; i++)
		sum += width[i] ? width[i] + GAP : 0;
	return sum > out->width + GAP ? sum - GAP - out->width : 0;
}

static bool is_empty(const struct out *out, size_t column)
{
	for (size_t row = out->headed; row < row_count(out); row++)
		if (strcmp(row_at(out, row)[column].text, "-") != 0)
			return false;
	return true;
}

static size_t longest_word(const struct out *out, size_t column)
{
	size_t most = 0;

	for (size_t row = 0; row < row_count(out); row++)
		for (const char *c = row_at(out, row)[column].text; *c; c += strspn(c, " ")) {
			size_t len = strcspn(c, " ");

			most = len > most ? len : most;
			c += len;
		}
	return most;
}

static bool wraps(const struct out *out, size_t column)
{
	return out->give[column] == OUT_WRAPS || out->give[column] == OUT_WRAPS_SOON;
}

/* The widest column that wraps and was not narrowed yet; -1 if there is none. */
static int widest_out(const struct out *out, const size_t *width, const bool *done)
{
	int best = -1;

	for (size_t i = 0; i < out->columns; i++)
		if (wraps(out, i) && !done[i] && (best < 0 || width[i] > width[best]))
			best = (int)i;
	return best;
}

static void narrow_out(const struct out *out, size_t *width)
{
	bool done[COLUMNS_MAX] = {false};
	int i;

	while (excess(out, width) && (i = widest_out(out, width, done)) >= 0) {
		size_t least = longest_word(out, (size_t)i), over = excess(out, width);

		done[i] = true;
		if (width[i])
			width[i] = width[i] > least + over ? width[i] - over : least;
	}
}

/* Omit columns of orders @from to @to until the rest fits with the widths @tight. */
static void leave_out(const struct out *out, int from, int to, size_t *tight, size_t *width)
{
	for (int order = from; order <= to; order++)
		for (size_t i = 0; i < out->columns && excess(out, tight); i++)
			if (out->give[i] == order)
				tight[i] = width[i] = 0;
}

static void fit(const struct out *out, size_t *width)
{
	size_t tight[COLUMNS_MAX];

	if (!out->give || !out->width || !excess(out, width))
		return;
	for (size_t i = 0; i < out->columns; i++)
		if (out->give[i] != OUT_STAYS && is_empty(out, i))
			width[i] = 0;
	leave_out(out, 1, OUT_LATE - 1, width, width);
	memcpy(tight, width, sizeof(tight));
	for (size_t i = 0; i < out->columns; i++)
		if (width[i] && out->give[i] == OUT_WRAPS_SOON)
			tight[i] = longest_word(out, i);
	leave_out(out, OUT_LATE, COLUMNS_MAX, tight, width);
	narrow_out(out, width);
}

/* Truncate @text at @width, at a space if possible; returns the rest. */
static char *cut(char *text, size_t width)
{
	char *at = NULL;

	if (width_of(text) <= width)
		return text + strlen(text);
	for (char *c = strchr(text, ' '); c; c = strchr(c + 1, ' ')) {
		*c = '\0';
		if (at && width_of(text) > width) {
			*c = ' ';
			break;
		}
		*c = ' ';
		at = c;
	}
	if (!at)
		return text + strlen(text);
	*at = '\0';
	return at + 1;
}

/* Print as many lines as the longest cell needs. */
static void print_row(const struct out *out, const struct cell *cells, const size_t *width)
{
	char *rest[COLUMNS_MAX];
	bool more = true;

	for (size_t i = 0; i < out->columns; i++)
		rest[i] = cells[i].text;
	while (more) {
		size_t blanks = out->indent;

		more = false;
		for (size_t i = 0; i < out->columns; i++) {
			char *text = rest[i];

			if (!width[i])
				continue;
			rest[i] = cut(text, width[i]);
			more |= *rest[i] != '\0';
			if (*text)
				fprintf(out->file, "%*s", (int)blanks, "");
			fputs(color_begin(out->file, *text ? cells[i].color : COLOR_NONE), out->file);
			put_clean(out->file, text);
			fputs(color_end(out->file, *text ? cells[i].color : COLOR_NONE), out->file);
			blanks = (*text ? 0 : blanks) + width[i] + GAP;
			blanks -= width_of(text) < blanks ? width_of(text) : blanks;
		}
		putc('\n', out->file);
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
	out_begin(out);
	measure_out(out, width);
	fit(out, width);
	for (size_t row = 0; row < row_count(out); row++)
		print_row(out, row_at(out, row), width);
	for (size_t i = 0; i < out->cell_count; i++)
		free(out->cells[i].text);
	out->cell_count = 0;
}
