// SPDX-License-Identifier: GPL-2.0-or-later
/* OSU micro-benchmarks, 5 to 7: point to point, bandwidth, collectives, with -f and -z too. */
#include <errno.h>
#include <stdio.h>

#include "bench/parser.h"

/* MB means a million bytes here. */
static const struct column_name known[] = {{"Size", "size", 0},
	{"Avg Latency(us)", "mean", 0}, {"Avg Latency (us)", "mean", 0},
	{"Min Latency(us)", "min", 0}, {"Min Latency (us)", "min", 0},
	{"Max Latency(us)", "max", 0}, {"Max Latency (us)", "max", 0},
	{"Avg Lat(us)", "mean", 0}, {"Min Lat(us)", "min", 0}, {"Max Lat(us)", "max", 0},
	{"Latency (us)", "mean", 0}, {"Latency(us)", "mean", 0},
	{"Overall(us)", "mean", 0}, {"Compute(us)", NULL, 0}, {"Coll. Init(us)", NULL, 0},
	{"MPI_Test(us)", NULL, 0}, {"MPI_Wait(us)", NULL, 0}, {"Pure Comm.(us)", NULL, 0},
	{"Min Comm.(us)", NULL, 0}, {"Max Comm.(us)", NULL, 0}, {"Overlap(%)", NULL, 0},
	{"Iterations", "samples", 0},
	{"Bandwidth (MB/s)", "throughput", 8e6}, {"Bandwidth(MB/s)", "throughput", 8e6},
	{"Messages/s", "message_rate", 0}, {"MB/s", "throughput", 8e6},
	{"Validation", "text", 0}};

/*
 * Columns of -z, with any percentile: "P75 Tail Lat(us)" is p75, "P75 Tail BW(MB/s)"
 * throughput_p75.
 */
struct tails {
	struct column_name all[ARRAY_SIZE(known) + 2 * PARSER_COLUMNS];
	char texts[2 * PARSER_COLUMNS][24], metrics[2 * PARSER_COLUMNS][20];
	size_t count;
};

static void add_tail(struct tails *t, unsigned percentile, bool time)
{
	char *text = t->texts[t->count], *metric = t->metrics[t->count];

	snprintf(text, sizeof(t->texts[0]), "P%u Tail %s", percentile, time ? "Lat(us)" : "BW(MB/s)");
	snprintf(metric, sizeof(t->metrics[0]), "%sp%u", time ? "" : "throughput_", percentile);
	t->all[ARRAY_SIZE(known) + t->count++] = (struct column_name){text, metric, time ? 0 : 8e6};
}

static void find_tails(struct span header, struct tails *io)
{
	memcpy(io->all, known, sizeof(known));
	for (; header.p < header.end && io->count < ARRAY_SIZE(io->texts); header.p++) {
		unsigned percentile = 0;
		const char *p = header.p + 1;

		while (*header.p == 'P' && p < header.end && *p >= '0' && *p <= '9' && percentile < 100)
			percentile = percentile * 10 + (unsigned)(*p++ - '0');
		if (percentile && percentile < 100)
			add_tail(io, percentile, span_starts((struct span){p, header.end}, " Tail Lat(us)"));
	}
}

static bool begins_with_digit(struct span line)
{
	return line.p < line.end && *line.p >= '0' && *line.p <= '9';
}

static void take_version(struct parser *p, struct span line)
{
	struct span rest = span_after(line, " v"), word;

	if (begins_with_digit(rest) && span_word(&rest, &word))
		span_copy(word, p->reading->version, sizeof(p->reading->version));
}

/* ---- the range of sizes ---- */

struct osu {
	struct parser *p;
	struct columns columns;
	struct tails tails;
	bool titled;
	uint64_t first, last, end; /* the sizes of the rows, and that with which they end without -m */
	size_t rows;
};

#define PAIR_END (4 << 20)
#define COLLECTIVE_END (1 << 20)

/*
 * "# OSU MPI Latency Test v5.8", "# OSU MPI-CUDA Bandwidth Test v7.4", "# OSU MPI Broadcast Latency
 * Test"
 */
static uint64_t end_of(struct span title)
{
	static const char *const pairs[] = {"Latency", "Bandwidth", "Bi-Directional", "Multi"};
	struct span rest = span_after(title, "# OSU "), word;

	if (!span_word(&rest, &word) || !span_starts(word, "MPI") || !span_word(&rest, &word))
		return COLLECTIVE_END;
	for (size_t i = 0; i < ARRAY_SIZE(pairs); i++)
		if (span_starts(word, pairs[i]))
			return PAIR_END;
	return COLLECTIVE_END;
}

/*
 * The last size of a command line that stands in the text: "osu_latency -m 1:1024", "osu_bcast -m
 * 64".
 */
static void take_command_line(struct osu *o, struct span line)
{
	struct span rest = span_after(span_after(line, "osu_"), " -m"), range, last;
	uint64_t size;

	if (!span_word(&rest, &range))
		return;
	last = memchr(range.p, ':', span_len(range)) ? span_after(range, ":") : range;
	if (number_whole(last, &size))
		o->end = size;
}

static bool has_sizes(const struct osu *o)
{
	for (size_t i = 0; i < o->columns.count; i++)
		if (o->columns.v[i]->metric && str_eq(o->columns.v[i]->metric, "size"))
			return true;
	return false;
}

/*
 * A program prints a line for each size, and nothing behind the last one. Without -m the first size
 * is at most 8 bytes (a datatype), the last one a constant of the program. Of sizes that begin
 * higher, which -m chose, the end is not known.
 */
static int check_range(struct osu *o)
{
	if (!o->rows || !has_sizes(o) || o->first > 8 || o->last >= o->end)
		return 0;
	return o->p->extract && o->p->extract->ended_well ? 0
		: ctx_fail(o->p->ctx, -EBADMSG, "osu: its sizes end with %llu, not with %llu: it was cut, "
			"or it ran with -m; in that case add its command to the text, as "
			"'# osu_latency -m %llu:%llu'",
			(unsigned long long)o->last, (unsigned long long)o->end,
			(unsigned long long)o->first, (unsigned long long)o->last);
}

/* ---- lines ---- */

static int take_row(struct osu *o, struct span line)
{
	struct bench_row *row;
	uint64_t size;
	int r;

	if (span_find(line, " Fail"))
		return ctx_fail(o->p->ctx, -EIO, "osu: its validation failed: '%.*s'",
			span_len(line) > 80 ? 80 : (int)span_len(line), line.p);
	r = columns_row(o->p, &o->columns, line, &row);
	if (r < 0)
		return r;
	size = row->size;
	if (o->rows && size <= o->last)
		return parser_second_run(o->p, o->p->at);
	if (!o->rows++)
		o->first = size;
	o->last = size;
	return 0;
}

static int take_comment(struct osu *o, struct span line)
{
	struct columns found;

	if (span_starts(line, "# OSU ")) {
		if (o->titled)
			return parser_second_run(o->p, o->p->at);
		o->titled = true;
		o->end = o->end ? o->end : end_of(line);
	}
	take_version(o->p, line);
	find_tails(line, &o->tails);
	columns_find(line, o->tails.all, ARRAY_SIZE(known) + o->tails.count, &found);
	/* A title contains "Latency Test", but no unit. */
	if (!found.count || (!span_find(line, "s)") && !span_find(line, "MB/s")))
		return 0;
	if (o->columns.count)
		return parser_second_run(o->p, o->p->at);
	o->columns = found;
	o->columns.decimals = 2;
	return 0;
}

static int parse_osu(struct parser *p)
{
	struct span rest = p->text, line;
	struct osu o = {.p = p};
	int r = 0;

	while (r == 0 && parser_line(p, &rest, &line)) {
		if (span_find(line, "osu_"))
			take_command_line(&o, line);
		/* osu_ibarrier before 7 has no # before its header. */
		if (span_starts(line, "#") || span_starts(line, "Overall(us)"))
			r = take_comment(&o, line);
		else if (o.columns.count && begins_with_digit(line))
			r = take_row(&o, line);
	}
	return r < 0 ? r : check_range(&o);
}

static const struct parser_mark osu_marks[] = {
	{"# OSU MPI Latency Test", "osu_latency"},
	{"# OSU MPI Bandwidth Test", "osu_bw"},
	{"# OSU MPI Bi-Directional Bandwidth Test", "osu_bibw"},
	{"# OSU MPI Barrier Latency Test", "osu_barrier"},
	{"# OSU MPI Non-blocking Barrier Latency Test", "osu_ibarrier"},
	{"# OSU MPI Broadcast Latency Test", "osu_bcast"},
	{"# OSU MPI Allreduce Latency Test", "osu_allreduce"},
	{"# OSU MPI Allgather Latency Test", "osu_allgather"},
	{"# OSU MPI All-to-All Personalized Exchange", "osu_alltoall"},
	{"^# OSU ", NULL},
	{NULL, NULL},
};

static const struct parser_error osu_errors[] = {
	{"mpirun noticed that", false},
	{"prterun noticed that", false},
	{"MPI_ABORT was invoked", false},
	{"BAD TERMINATION", false},
	{"DATA VALIDATION ERROR", false},
	{NULL, false},
};

const struct parser_kind osu_output = {.name = "osu", .parse = parse_osu,
	.programs = {"osu_"}, .marks = osu_marks, .errors = osu_errors};
