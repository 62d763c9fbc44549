/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_OUT_H
#define VFCTL_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

/*
 * The one printer: tables with aligned columns, and JSON written as it comes. Text from
 * the host never reaches the terminal raw: control characters are shown as '?'.
 */
struct out;

struct out *out_new(FILE *file);
/* Have @start called once, before the first byte is written. */
void out_set_start(struct out *out, void (*start)(void));
/* Flushes and frees, NULL too; false when the output could not be written (a full disk, a closed pipe). */
bool out_close(struct out *out);

/* Text for a terminal: what is no character, or a control character, becomes '?'. */
void put_clean(FILE *file, const char *text);
/* The same of a text of several lines. */
void put_clean_lines(FILE *file, const char *text);
/* Would it print it as it is? */
bool is_clean(const char *text);

/* ---- text ---- */
/* For what others made and is printed as it is. */
FILE *out_file(struct out *out);
void out_line(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * The same, and what is wider than out_width() goes on in lines that begin in column @indent: it is
 * broken at blanks, and a list without blanks behind a comma.
 */
void out_fold(struct out *out, unsigned indent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Columns that a line may take: of the terminal; 0 (default): no limit. */
void out_set_width(struct out *out, unsigned width);
unsigned out_width(const struct out *out);
/*
 * A table is collected until out_table_end(). A NULL or "" cell prints as "-". @headings NULL:
 * it has none.
 */
void out_table(struct out *out, unsigned indent, const char *const *headings, size_t columns);
/*
 * How each column of a table gives way when it would be wider than out_width(). Those in which
 * nothing is said go first, but for OUT_STAYS; then those of orders 1 and up, each before the
 * next. Cells are broken at blanks: of OUT_WRAPS_SOON before a column of order OUT_LATE goes,
 * of OUT_WRAPS when nothing else is left.
 */
enum { OUT_WRAPS_SOON = -2, OUT_WRAPS = -1, OUT_STAYS = 0, OUT_LATE = 3 };
void out_table_fit(struct out *out, const signed char *give);
/*
 * A table that is printed as it comes, for lists without end: its columns are at least
 * @widths wide (0 for the last). A "" cell prints as "-" here too. Ends as the other does.
 */
void out_stream(struct out *out, const char *const *headings, const unsigned *widths,
	size_t columns);
void out_cell(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_table_end(struct out *out);

/* ---- JSON; @key is NULL inside an array ---- */
/* A document is one line from now on, and there may be several. */
void out_set_lines(struct out *out);
/* What was written is given to whoever reads it; false when that failed. */
bool out_flush(struct out *out);
/* What was written since the last out_flush() is forgotten: nobody takes it. */
void out_discard(struct out *out);
void out_open(struct out *out, const char *key, char bracket);
void out_shut(struct out *out);
void out_str(struct out *out, const char *key, const char *value); /* NULL: null */
void out_int(struct out *out, const char *key, int64_t value);
void out_real(struct out *out, const char *key, double value); /* not finite: null */
void out_bool(struct out *out, const char *key, bool value);
void out_null(struct out *out, const char *key);
/*
 * {"error": {...}} as the whole answer, or as the last member of one that was begun, which ends
 * with it. Nothing when an answer was given already.
 */
void out_error(struct out *out, const char *message, const char *code, int status);

#endif
