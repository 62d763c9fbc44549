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
/* Flushes; false when the output could not be written (a full disk, a closed pipe). */
bool out_close(struct out *out);

/* Text for a terminal: what is no character, or a control character, becomes '?'. */
void put_clean(FILE *file, const char *text);

/* ---- text ---- */
void out_line(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
/* A table is collected until out_table_end(). A NULL or "" cell prints as "-". */
void out_table(struct out *out, unsigned indent, const char *const *headings, size_t columns);
/*
 * A table that is printed as it comes, for lists without end: its columns are at least
 * @widths wide (0 for the last). A "" cell prints as "-" here too. Ends as the other does.
 */
void out_stream(struct out *out, const char *const *headings, const unsigned *widths,
	size_t columns);
void out_cell(struct out *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));
void out_table_end(struct out *out);

/* ---- JSON; @key is NULL inside an array ---- */
void out_open(struct out *out, const char *key, char bracket);
void out_shut(struct out *out);
void out_str(struct out *out, const char *key, const char *value); /* NULL: null */
void out_int(struct out *out, const char *key, int64_t value);
void out_bool(struct out *out, const char *key, bool value);
void out_null(struct out *out, const char *key);

#endif
