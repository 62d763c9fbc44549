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

/* Columns of -z, with any percentile: "P75 Tail Lat(us)" is p75, "P75 Tail BW(MB/s)" throughput_p75. */
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

static int take_row(struct parser *p, const struct columns *columns, struct span line)
{
	struct bench_row *row;
	int r;

	if (span_find(line, " Fail"))
		return ctx_fail(p->ctx, -EIO, "osu: its validation failed: '%.*s'",
			span_len(line) > 80 ? 80 : (int)span_len(line), line.p);
	r = columns_row(p, columns, line, &row);
	return r;
}

int parse_osu(struct parser *p)
{
	struct span rest = p->text, line;
	struct columns columns = {0};
	struct tails tails = {0};
	int r = 0;

	while (r == 0 && span_line(&rest, &line)) {
		line = span_trim(line);
		if (span_starts(line, "#")) {
			struct columns found;

			take_version(p, line);
			find_tails(line, &tails);
			columns_find(line, tails.all, ARRAY_SIZE(known) + tails.count, &found);
			/* A title contains "Latency Test", but no unit. */
			if (found.count && span_find(line, "s)"))
				columns = found;
			else if (found.count && span_find(line, "MB/s"))
				columns = found;
		} else if (columns.count && begins_with_digit(line)) {
			r = take_row(p, &columns, line);
		}
	}
	return r;
}
