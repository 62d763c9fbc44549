/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_PARSER_H
#define VFCTL_BENCH_PARSER_H

#include "bench/reading.h"
#include "bench/text.h"

/* What the parsers of the tools share. */
struct parser {
	struct vfctl_ctx *ctx;
	const char *tool; /* its name, for words */
	const struct bench_extract *extract;
	struct span text;
	struct bench_reading *reading;
};

/* The row of @size, a new one if need be; NULL when out of memory. */
struct bench_row *parser_row(struct parser *p, uint64_t size);
/* A figure of the tool's own; a second of one name takes the place of the first. -ENOMEM. */
int parser_metric(struct parser *p, struct bench_row *row, const char *name, double value);
int parser_sample(struct parser *p, double **samples, size_t *count, double value);
/* Read a figure; @what is said where it is none. -EIO, -EBADMSG. */
int parser_number(struct parser *p, struct span text, const char *what, double *ret);
/* -EIO with what the tool said: its first line about an error, else its last line. */
int parser_failed(struct parser *p);

/*
 * Columns by the words of a header. @metric NULL: passed over; "size": the row's; "text": what is
 * no number. A longer text stands before those that it begins with.
 */
struct column_name {
	const char *text, *metric;
	double factor; /* to our unit; 0: 1 */
};
#define PARSER_COLUMNS 24
struct columns {
	const struct column_name *v[PARSER_COLUMNS];
	size_t count;
};
void columns_find(struct span header, const struct column_name *known, size_t known_count,
	struct columns *ret);
/* A line of figures below it, as a row of the reading. @ret_row: NULL is fine. */
int columns_row(struct parser *p, const struct columns *columns, struct span line,
	struct bench_row **ret_row);

/* "10.5 GBytes/sec": what a tool writes for bit/s; 1 byte is 8 bit. false: no such unit. */
bool unit_bits(struct span unit, double kilo_of_bytes, double *ret_factor);

int parse_perftest(struct parser *p);
int parse_iperf3(struct parser *p);
int parse_iperf2(struct parser *p);
int parse_sockperf(struct parser *p);
int parse_qperf(struct parser *p);
int parse_netperf(struct parser *p);
int parse_osu(struct parser *p);
int parse_command(struct parser *p);

/* Figures that follow from samples take the place of the tool's own. */
int row_from_samples(struct bench_row *row);
int row_put(struct bench_row *row, const char *name, const char *unit, double value,
	bool from_samples);

#endif
