// SPDX-License-Identifier: GPL-2.0-or-later
/* OSU micro-benchmarks, 5 to 7: point to point, bandwidth, collectives, with -f and -z too. */
#include <errno.h>

#include "bench/parser.h"

/* MB is a million bytes there. */
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
	{"P50 Tail Lat(us)", "p50", 0}, {"P90 Tail Lat(us)", "p90", 0}, {"P95 Tail Lat(us)", "p95", 0},
	{"P99 Tail Lat(us)", "p99", 0}, {"P50 Tail BW(MB/s)", NULL, 0},
	{"P90 Tail BW(MB/s)", NULL, 0}, {"P95 Tail BW(MB/s)", NULL, 0},
	{"P99 Tail BW(MB/s)", NULL, 0}, {"Validation", "text", 0}};

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
	int r = 0;

	while (r == 0 && span_line(&rest, &line)) {
		line = span_trim(line);
		if (span_starts(line, "#")) {
			struct columns found;

			take_version(p, line);
			columns_find(line, known, ARRAY_SIZE(known), &found);
			/* A title says "Latency Test", and no unit. */
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
