// SPDX-License-Identifier: GPL-2.0-or-later
/* qperf 0.4: one block for each test, in units that it chooses or, with -uu, in plain ones. */
#include <errno.h>

#include "bench/parser.h"

static const struct {
	const char *key, *metric;
} keys[] = {{"latency", "mean"}, {"bw", "throughput"}, {"recv_bw", "throughput"},
	{"send_bw", "throughput_sent"}, {"msg_rate", "message_rate"},
	{"loc_cpus_used", "cpu_local"}, {"rem_cpus_used", "cpu_remote"},
	{"send_cpus_used", "cpu_local"}, {"recv_cpus_used", "cpu_remote"}};

static const struct {
	const char *unit;
	double us;
} times[] = {{"ns", 1e-3}, {"us", 1}, {"ms", 1e3}, {"sec", 1e6}, {"secs", 1e6}};

static const struct {
	const char *unit;
	double factor;
} rates[] = {{"/sec", 1}, {"K/sec", 1e3}, {"M/sec", 1e6}, {"G/sec", 1e9}};

static bool factor_of(const char *metric, struct span unit, double *ret)
{
	if (str_starts(metric, "throughput"))
		return unit_bits(unit, 1000, ret);
	for (size_t i = 0; str_eq(metric, "mean") && i < ARRAY_SIZE(times); i++)
		if (span_is(unit, times[i].unit)) {
			*ret = times[i].us;
			return true;
		}
	for (size_t i = 0; str_eq(metric, "message_rate") && i < ARRAY_SIZE(rates); i++)
		if (span_is(unit, rates[i].unit)) {
			*ret = rates[i].factor;
			return true;
		}
	*ret = 1;
	return str_starts(metric, "cpu") && span_starts(unit, "%");
}

struct test {
	struct bench_metric metrics[ARRAY_SIZE(keys)];
	size_t count;
	uint64_t size;
	const char *title; /* NULL: before the first one */
	size_t longest, width; /* of the names of its figures, and to which they are padded */
};

static int take_value(struct parser *p, struct test *t, const char *metric, struct span value)
{
	struct span number = {0};
	double figure, factor;
	int r;

	span_word(&value, &number);
	value = span_trim(value);
	r = parser_number(p, number, metric, &figure);
	if (r < 0)
		return r;
	if (!factor_of(metric, value, &factor))
		return ctx_fail(p->ctx, -EBADMSG, "qperf: its %s is in '%.*s', which is not a known unit",
			metric,
			span_len(value) > 20 ? 20 : (int)span_len(value), value.p);
	if (t->count == ARRAY_SIZE(t->metrics))
		return ctx_fail(p->ctx, -EBADMSG, "qperf: one test has more figures than qperf knows");
	str_copy(t->metrics[t->count].name, sizeof(t->metrics[0].name), metric);
	t->metrics[t->count++].value = figure * factor;
	return 0;
}

/* "4 KiB (4,096)", "256 bytes" */
static void take_size(struct span value, uint64_t *ret)
{
	struct span exact = span_after(value, "("), word;
	uint64_t size = 0;

	if (!span_len(exact)) {
		if (span_word(&value, &word) && number_whole(word, &size))
			*ret = size;
		return;
	}
	for (const char *c = exact.p; c < exact.end && *c != ')' && size < UINT64_MAX / 100; c++)
		if (*c >= '0' && *c <= '9')
			size = size * 10 + (uint64_t)(*c - '0');
	*ret = size;
}

/*
 * qperf pads the names of all figures of a test to the longest one. It omits figures that are 0,
 * but never one end of a bandwidth. The test "quit" has no figures.
 */
static int check_test(struct parser *p, const struct test *t)
{
	if (t->title && !t->width && !str_starts(t->title, "quit:"))
		return parser_cut(p, "figures of its last test");
	if (t->longest < t->width || (bench_metric_find(t->metrics, t->count, "throughput_sent") &&
			!bench_metric_find(t->metrics, t->count, "throughput")))
		return parser_cut(p, "last lines of a test");
	return 0;
}

/* The size follows the values: the values of a test are kept until it ends. */
static int end_test(struct parser *p, struct test *t)
{
	int r = check_test(p, t);
	struct bench_row *row = r == 0 && t->count ? parser_row(p, t->size) : NULL;

	if (r == 0 && t->count && !row)
		return -ENOMEM;
	for (size_t i = 0; i < t->count && r == 0; i++) {
		const char *name = t->metrics[i].name;

		if (!bench_metric_find(row->metrics, row->metric_count, name))
			r = parser_metric(p, row, name, t->metrics[i].value);
		else if (str_eq(name, "mean") || str_eq(name, "throughput"))
			r = ctx_fail(p->ctx, -EBADMSG, "qperf: the test in line %zu gives a second %s; run "
				"one at a time, with its output in a file of its own",
				parser_line_number(p, t->title), str_eq(name, "mean") ? "latency" : name);
	}
	*t = (struct test){0};
	return r;
}

static int take_line(struct parser *p, struct test *t, struct span line)
{
	struct span key, whole = line;
	const char *equals = span_len(line) ? memchr(line.p, '=', span_len(line)) : NULL;
	int r;

	if (!equals && span_len(line) && line.end[-1] == ':') {
		r = end_test(p, t);
		t->title = line.p;
		return r;
	}
	if (!equals)
		return 0;
	r = parser_check_line(p, whole);
	if (r < 0)
		return r;
	span_field(&line, '=', &key);
	line = span_trim(line);
	t->longest = span_len(key) > t->longest ? span_len(key) : t->longest;
	t->width = (size_t)(equals - whole.p) - 2; /* two spaces stand before the sign */
	if (span_is(key, "msg_size"))
		take_size(line, &t->size);
	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (span_is(key, keys[i].key))
			return take_value(p, t, keys[i].metric, line);
	return 0;
}

static int parse_qperf(struct parser *p)
{
	struct span rest = p->text, line;
	struct test test = {0};
	bool failed = false;
	int r = 0;

	while (r == 0 && parser_line(p, &rest, &line)) {
		failed |= span_find(line, "failed to") || span_find(line, "server: ");
		r = take_line(p, &test, line);
	}
	if (r == 0 && failed)
		return parser_failed(p);
	return r < 0 ? r : end_test(p, &test);
}

static const struct parser_mark qperf_marks[] = {
	{"^tcp_lat:", NULL},
	{"^tcp_bw:", NULL},
	{"^udp_lat:", NULL},
	{"^udp_bw:", NULL},
	{"^rc_lat:", NULL},
	{"^rc_bw:", NULL},
	{"^rc_rdma_write_lat:", NULL},
	{"^rc_rdma_write_bw:", NULL},
	{"^rc_rdma_read_lat:", NULL},
	{"^rc_rdma_read_bw:", NULL},
	{NULL, NULL},
};

const struct parser_kind qperf_output = {.name = "qperf", .parse = parse_qperf,
	.marks = qperf_marks};
