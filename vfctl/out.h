/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_OUT_H
#define VFCTL_OUT_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "terminal.h"

/*
 * The printer: tables with aligned columns, and JSON, which is written at once. Text from the host
 * never reaches the terminal unfiltered: control characters are shown as '?'.
 */
struct out;

struct out *out_new(FILE *file);
/* Have @start called once, before the first byte is written. */
void out_set_start(struct out *out, void (*start)(void));
/*
 * Flush and free it (NULL is allowed); false if the output could not be written (a full disk, a
 * closed pipe).
 */
bool out_close(struct out *out);

/* Text for a terminal: invalid and control characters become '?'. */
void put_clean(FILE *file, const char *text);
/* Do this for a text of several lines. */
void put_clean_lines(FILE *file, const char *text);
/* Whether put_clean() would print it unchanged. */
bool is_clean(const char *text);

/* ---- text ---- */
/* For text that is printed unchanged. */
FILE *out_file(struct out *out);
/* Print the next cell of a table, or the first @len bytes of the next line, in @color. */
void out_paint(struct out *out, enum color color, size_t len);
void out_line(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/*
 * Print a line, and continue what exceeds out_width() in lines that begin in column @indent. It is
 * broken at spaces, and a list without spaces after a comma.
 */
void out_fold(struct out *out, unsigned indent, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));
/* Columns of the terminal; 0 (default): no limit. */
void out_set_width(struct out *out, unsigned width);
unsigned out_width(const struct out *out);
/*
 * A table is collected until out_table_end(). A NULL or "" cell prints as "-". @headings may be
 * NULL.
 */
void out_table(struct out *out, unsigned indent, const char *const *headings, size_t columns);
/*
 * How the columns of a table are reduced if it would be wider than out_width(). Empty columns are
 * omitted first, except OUT_STAYS; then those of orders 1 and up, in this order; OUT_IF_SAID is
 * kept if it is not empty. Cells are wrapped at spaces: those of OUT_WRAPS_SOON before a column of
 * order OUT_LATE is omitted, those of OUT_WRAPS last.
 */
enum { OUT_IF_SAID = -3, OUT_WRAPS_SOON = -2, OUT_WRAPS = -1, OUT_STAYS = 0, OUT_LATE = 3 };
void out_table_fit(struct out *out, const signed char *give);
/*
 * A table whose rows are printed at once, for endless lists: its columns have at least the @widths
 * (0 for the last one). A "" cell prints as "-" here too. It ends like the other.
 */
void out_stream(struct out *out, const char *const *headings, const unsigned *widths,
	size_t columns);
void out_cell(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_table_end(struct out *out);

/*
 * Print only the members of an answer with these paths ("pfs.vfs.address"), as text: one line for
 * each object with the deepest of them, with tabs between the values. @paths are not copied.
 */
#define GET_MAX 16
void out_set_get(struct out *out, const char *const *paths, size_t count);

/* ---- JSON, or YAML after out_set_yaml(); @key is NULL inside an array ---- */
/* Print answers as YAML from now on; false if memory is exhausted. */
bool out_set_yaml(struct out *out);
/* Print each document as one line from now on; there may be several. */
void out_set_lines(struct out *out);
/* Pass the output since the last call on to the reader; false if that failed. */
bool out_flush(struct out *out);
/* Drop the output since the last out_flush(): it is not needed. */
void out_discard(struct out *out);
void out_open(struct out *out, const char *key, char bracket);
void json_close(struct out *out);
void out_str(struct out *out, const char *key, const char *value); /* NULL: null */
void out_int(struct out *out, const char *key, int64_t value);
void out_real(struct out *out, const char *key, double value); /* not finite: null */
void out_bool(struct out *out, const char *key, bool value);
void out_null(struct out *out, const char *key);
/*
 * Print {"error": {...}} as the whole answer, or as the last member of an answer that was begun,
 * which ends with it. Nothing if an answer is already complete.
 */
void out_error(struct out *out, const char *message, const char *code, int status);

#endif
