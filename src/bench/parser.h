/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_PARSER_H
#define VFCTL_BENCH_PARSER_H

#include "bench/reading.h"
#include "bench/text.h"

/* Functions that the parsers of the tools share. */
struct parser {
	struct vfctl_ctx *ctx;
	const char *tool; /* its name, for messages */
	const struct parser_kind *kind;
	const struct bench_extract *extract;
	struct span text;
	struct bench_reading *reading;
	const char *at;	   /* the line that is read, for messages; NULL: not read line by line */
	bool vague;	   /* a figure was left out because it has too few digits */
};

/* The row for @size, created if necessary; NULL if memory is exhausted. */
struct bench_row *parser_row(struct parser *p, uint64_t size);
/*
 * Add a value that the tool computed. -EIO: it is below 0, or it is 0 and cannot be; -EBADMSG: the
 * row has a value of that name already, so the text has several runs.
 */
int parser_metric(struct parser *p, struct bench_row *row, const char *name, double value);
int parser_sample(struct parser *p, double **samples, size_t *count, double value);
/* Read a figure; @what names it in the message if it is not valid. -EIO, -EBADMSG. */
int parser_number(struct parser *p, struct span text, const char *what, double *ret);
/* -EIO with the tool's message: its first line with an error, else its last line. */
int parser_failed(struct parser *p);

/* parser.c: the parts of a text, and whether it is the whole output of one run. */

/* The next line, without blanks around it; false at the end. */
bool parser_line(struct parser *p, struct span *io_rest, struct span *ret);
size_t parser_line_number(const struct parser *p, const char *at);
/* "line 24: " of the line that is read, for messages; "" if none is. It counts all lines before. */
#define PARSER_WHERE 32
const char *parser_where(const struct parser *p, char buf[PARSER_WHERE]);
/* -EBADMSG: the line at @at belongs to a second run. NULL: its line is unknown. */
int parser_second_run(struct parser *p, const char *at);
/*
 * -EBADMSG: the text was cut, as it has no @missing. 0 if the run is known to have ended well: its
 * text needs no mark of its end.
 */
int parser_cut(struct parser *p, const char *missing);
/* -EBADMSG if the text ends within @line, whose last number may then be incomplete. */
int parser_check_line(struct parser *p, struct span line);
/* -EIO with the line in which the tool itself reports an error; 0: the text has no such line. */
int parser_own_error(struct parser *p);

/* A figure in our unit, and how far its rounding can move it. */
struct figure {
	double value, error;
};
/* Read "18.0", which is multiplied by @factor. */
int parser_figure(struct parser *p, struct span text, const char *what, double factor,
	struct figure *ret);
/* Whether rounding can change the figure by more than 5 %. A zero is exact if its unit is small. */
bool figure_is_vague(const struct figure *figure);
/*
 * Add the figure. If it has too few digits, -EBADMSG with @remedy; without a remedy it is left out
 * with a warning.
 */
int parser_put_figure(struct parser *p, struct bench_row *row, const char *name,
	const struct figure *figure, const char *remedy);

/*
 * Columns by the words of a header. @metric NULL: ignored; "size": that of the row; "text": not a
 * number. A longer text must precede those with which it begins.
 */
struct column_name {
	const char *text, *metric;
	double factor; /* factor to vfctl's unit; 0: 1 */
};
#define PARSER_COLUMNS 24
struct columns {
	const struct column_name *v[PARSER_COLUMNS];
	size_t count;
	/* The tool prints its figures with so many digits after the point: a last figure that has
	 * them is whole, even if the file has no newline behind it. 0: not known. */
	unsigned decimals;
};
void columns_find(struct span header, const struct column_name *known, size_t known_count,
	struct columns *ret);
/* Read a line of values below the header into a row of the reading. @ret_row may be NULL. */
int columns_row(struct parser *p, const struct columns *columns, struct span line,
	struct bench_row **ret_row);

/* The unit of "10.5 GBytes/sec" in bit/s; 1 byte is 8 bit. False: there is no such unit. */
bool unit_bits(struct span unit, double kilo_of_bytes, double *ret_factor);


/* Replace the tool's values by those computed from samples. */
int row_from_samples(struct bench_row *row);
int row_put(struct bench_row *row, const char *name, const char *unit, double value,
	bool from_samples);

/* Text that only one tool prints. "^": at the beginning of a line. */
struct parser_mark {
	const char *text;
	const char *program; /* that prints it; NULL: the tool has one */
};

/*
 * What a tool prints when its run failed. Some print figures before or after that line: iperf3
 * those of the time before the failure, iperf2 those of data that no server received.
 */
struct parser_error {
	const char *text; /* as of a mark */
	bool harmless;	  /* begins like an error, but is not one */
};

/* What the outputs of a tool are, and how they are read: a row at the end of its parse_TOOL.c. */
struct parser_kind {
	const char *name;
	int (*parse)(struct parser *p);
	const char *programs[3]; /* prefixes of the names of its programs */
	const struct parser_mark *marks;   /* until text is NULL; may be NULL, as errors */
	const struct parser_error *errors;
};
extern const struct parser_kind perftest_output, iperf3_output, iperf2_output, sockperf_output,
	qperf_output, netperf_output, osu_output, command_output;
const struct parser_kind *parser_kind_of(enum bench_tool tool);
/* Whether a mark or an error is in the line. */
bool parser_line_has(struct span line, const char *text);

#endif
