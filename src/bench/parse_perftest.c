// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * perftest, 3.0 to 26: text, and the JSON of --out_json, which is not valid before 24.01 (missing
 * quotes, an extra comma, remains of another run after its end) and is therefore read line by line.
 * Its standard deviation is wrong since 4.5-0.17 and is never used.
 */
#include <errno.h>

#include "bench/parser.h"

#define MIB_BITS (8.0 * 1024 * 1024) /* "MB/sec" means the same */

static const struct column_name known[] = {
	{"#bytes", "size", 0}, {"#iterations", "samples", 0}, {"#sl", NULL, 0},
	{"t_min[usec]", "min", 0}, {"t_max[usec]", "max", 0}, {"t_typical[usec]", "p50", 0},
	{"t_avg[usec]", "mean", 0}, {"t_stdev[usec]", NULL, 0},
	{"99% percentile[usec]", "p99", 0}, {"99.9% percentile[usec]", "p99_9", 0},
	{"tps average", "operations", 0}, {"CPU_Util[%]", "cpu_local", 0},
	{"BW peak[MB/sec]", NULL, 0}, {"BW peak[MiB/sec]", NULL, 0}, {"BW peak[Gb/sec]", NULL, 0},
	{"BW average[MB/sec]", "throughput", MIB_BITS}, {"BW average[MiB/sec]", "throughput", MIB_BITS},
	{"BW average[Gb/sec]", "throughput", 1e9}, {"MsgRate[Mpps]", "message_rate", 1e6},
	{"BW Port1[", NULL, 0}, {"BW Port2[", NULL, 0}, {"MsgRate Port1[", NULL, 0},
	{"MsgRate Port2[", NULL, 0}};

/* ---- text ---- */

struct perftest {
	struct parser *p;
	struct columns columns;
	double *samples; /* of the next row */
	size_t sample_count;
	bool in_samples, has_rows, ended;
};

/* The line below the table, which perftest prints when its run is over. */
static bool is_rule(struct span line)
{
	size_t dashes = 0;

	while (dashes < span_len(line) && line.p[dashes] == '-')
		dashes++;
	return dashes >= 20 && dashes == span_len(line);
}

static bool begins_with_digit(struct span line)
{
	return line.p < line.end && *line.p >= '0' && *line.p <= '9';
}

static int take_sample(struct perftest *t, struct span line)
{
	struct span number;
	double value;
	int r;

	span_field(&line, ',', &number);
	r = parser_number(t->p, span_trim(line), "sample", &value);
	return r < 0 ? r : parser_sample(t->p, &t->samples, &t->sample_count, value);
}

static int take_row(struct perftest *t, struct span line)
{
	struct bench_row *row;
	int r = columns_row(t->p, &t->columns, line, &row);

	if (r < 0)
		return r;
	t->has_rows = true;
	free(row->samples);
	row->sample_count = t->sample_count;
	row->samples = steal(t->samples);
	t->sample_count = 0;
	return 0;
}

static int take_line(struct perftest *t, struct span line)
{
	if (span_starts(line, "#, ")) {
		if (!span_is(line, "#, usec"))
			return ctx_fail(t->p->ctx, -EBADMSG, "perftest: samples in cycles are not "
				"times; run it without -C");
		t->in_samples = true;
		return 0;
	}
	if (t->in_samples && begins_with_digit(line) && memchr(line.p, ',', span_len(line)))
		return take_sample(t, line);
	t->in_samples = false;
	if (span_starts(line, "#bytes") && t->columns.count)
		return parser_second_run(t->p, t->p->at);
	t->ended |= t->has_rows && is_rule(line);
	if (t->ended)
		return 0;
	if (span_starts(line, "#bytes"))
		columns_find(line, known, ARRAY_SIZE(known), &t->columns);
	else if (t->columns.count && begins_with_digit(line))
		return take_row(t, line);
	return 0;
}

static int parse_text(struct parser *p)
{
	struct perftest t = {.p = p};
	struct span rest = p->text, line;
	int r = 0;

	while (r == 0 && parser_line(p, &rest, &line))
		r = take_line(&t, line);
	if (r == 0 && t.has_rows && !t.ended)
		r = parser_cut(p, "line of dashes below its figures");
	if (r == 0 && t.sample_count)
		r = ctx_fail(p->ctx, -EBADMSG, "perftest: its output ends after sample %zu",
			t.sample_count);
	free(t.samples);
	return r;
}

/* ---- JSON ---- */

static const struct column_name keys[] = {{"n_iterations", "samples", 0}, {"t_min", "min", 0},
	{"t_max", "max", 0}, {"t_typical", "p50", 0}, {"t_avg", "mean", 0},
	{"percentile_99", "p99", 0}, {"percentile_99.9", "p99_9", 0},
	{"tps_average", "operations", 0}, {"MsgRate", "message_rate", 1e6},
	{"CPU_util", "cpu_local", 0}, {"CPU_Util", "cpu_local", 0}};

static struct span unquoted(struct span s)
{
	s = span_trim(s);
	while (s.p < s.end && *s.p == '"')
		s.p++;
	while (s.end > s.p && (s.end[-1] == '"' || s.end[-1] == ','))
		s.end--;
	return span_trim(s);
}

static int take_member(struct parser *p, struct span key, struct span value, uint64_t *io_size)
{
	struct bench_row *row;
	double number;
	int r;

	if (span_is(key, "MsgSize"))
		return number_whole(value, io_size) ? 0
			: ctx_fail(p->ctx, -EBADMSG, "perftest: its MsgSize is not a whole number");
	if (span_is(key, "BW_average"))
		return ctx_fail(p->ctx, -EBADMSG, "perftest: its JSON does not state the unit of "
			"BW_average; use its text output");
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++) {
		if (!span_is(key, keys[i].text))
			continue;
		r = parser_number(p, value, keys[i].text, &number);
		row = r < 0 ? NULL : parser_row(p, *io_size);
		if (!row)
			return r < 0 ? r : -ENOMEM;
		return parser_metric(p, row, keys[i].metric,
			number * (keys[i].factor ? keys[i].factor : 1));
	}
	return 0;
}

static int parse_json(struct parser *p)
{
	struct span rest = p->text, line, key;
	bool results = false, ended = false;
	uint64_t size = 0;
	int r = 0;

	while (r == 0 && !ended && parser_line(p, &rest, &line)) {
		span_field(&line, ':', &key);
		key = unquoted(key);
		if (results && span_starts(key, "}"))
			ended = true;
		else if (results)
			r = take_member(p, key, unquoted(line), &size);
		else
			results = span_is(key, "results");
	}
	if (r == 0 && results && !ended)
		r = ctx_fail(p->ctx, -EBADMSG, "perftest: its JSON is cut off");
	return r;
}

static int parse_perftest(struct parser *p)
{
	struct span rest = p->text;

	while (rest.p < rest.end && (*rest.p == ' ' || *rest.p == '\t' || *rest.p == '\n' ||
		*rest.p == '\r'))
		rest.p++;
	return span_starts(rest, "{") ? parse_json(p) : parse_text(p);
}

static const struct parser_mark perftest_marks[] = {
	{"RDMA_Write Latency Test", "ib_write_lat"},
	{"RDMA_Read Latency Test", "ib_read_lat"},
	{"Send Latency Test", "ib_send_lat"},
	{"Atomic FETCH_AND_ADD Latency Test", "ib_atomic_lat"},
	{"Atomic CMP_AND_SWAP Latency Test", "ib_atomic_lat"},
	{"RDMA_Write BW Test", "ib_write_bw"},
	{"RDMA_Write Bidirectional BW Test", "ib_write_bw"},
	{"RDMA_Read BW Test", "ib_read_bw"},
	{"RDMA_Read Bidirectional BW Test", "ib_read_bw"},
	{"Send BW Test", "ib_send_bw"},
	{"Send Bidirectional BW Test", "ib_send_bw"},
	{"Atomic FETCH_AND_ADD BW Test", "ib_atomic_bw"},
	{"Atomic CMP_AND_SWAP BW Test", "ib_atomic_bw"},
	{NULL, NULL},
};

static const struct parser_error perftest_errors[] = {
	{"Completion with error", false},
	{"Failed status ", false},
	{"Failed to complete run_iter", false},
	{"Test exited with Error", false},
	{"Failed to exchange data", false},
	{NULL, false},
};

const struct parser_kind perftest_output = {.name = "perftest", .parse = parse_perftest,
	.programs = {"ib_", "raw_ethernet_"}, .marks = perftest_marks, .errors = perftest_errors};
