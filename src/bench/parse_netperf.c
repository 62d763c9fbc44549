// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * netperf's omni tests: -o (a line of names, a line of values) and -k (NAME=value). Its times are
 * round trips, percentiles are of its histogram.
 */
#include <errno.h>

#include "bench/parser.h"

static const struct {
	const char *title, *key, *metric;
} figures[] = {{"Throughput", "THROUGHPUT", "throughput"},
	{"Throughput Units", "THROUGHPUT_UNITS", "unit"},
	{"Minimum Latency Microseconds", "MIN_LATENCY", "min"},
	{"Maximum Latency Microseconds", "MAX_LATENCY", "max"},
	{"50th Percentile Latency Microseconds", "P50_LATENCY", "p50"},
	{"90th Percentile Latency Microseconds", "P90_LATENCY", "p90"},
	{"99th Percentile Latency Microseconds", "P99_LATENCY", "p99"},
	{"Mean Latency Microseconds", "MEAN_LATENCY", "mean"},
	{"Local CPU Util %", "LOCAL_CPU_UTIL", "cpu_local"},
	{"Remote CPU Util %", "REMOTE_CPU_UTIL", "cpu_remote"},
	{"Transaction Rate Tran/s", "TRANSACTION_RATE", "rate"}};

static const struct {
	const char *unit, *metric;
	double factor;
} units[] = {{"Trans/s", "operations", 1}, {"10^0bits/s", "throughput", 1},
	{"10^3bits/s", "throughput", 1e3}, {"10^6bits/s", "throughput", 1e6},
	{"10^9bits/s", "throughput", 1e9}, {"Bytes/s", "throughput", 8},
	{"KBytes/s", "throughput", 8192.0}, {"MBytes/s", "throughput", 8192.0 * 1024},
	{"GBytes/s", "throughput", 8192.0 * 1024 * 1024}};

struct netperf {
	struct parser *p;
	struct span throughput, unit;
};

static int take_value(struct netperf *n, const char *metric, struct span value)
{
	struct bench_row *row;
	double number;
	int r;

	if (str_eq(metric, "throughput"))
		n->throughput = value;
	else if (str_eq(metric, "unit"))
		n->unit = value;
	if (str_eq(metric, "throughput") || str_eq(metric, "unit") || str_eq(metric, "rate"))
		return 0;
	r = parser_number(n->p, value, metric, &number);
	if (r < 0)
		return r;
	if (number < 0) /* -1: not measured */
		return 0;
	row = parser_row(n->p, 0);
	return row ? parser_metric(n->p, row, metric, number) : -ENOMEM;
}

static int take_throughput(struct netperf *n)
{
	struct bench_row *row;
	double number;
	int r;

	if (!n->throughput.p)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!n->unit.p || !span_is(n->unit, units[i].unit))
			continue;
		r = parser_number(n->p, n->throughput, "throughput", &number);
		if (r < 0)
			return r;
		if (number <= 0)
			return ctx_fail(n->p->ctx, -EIO, "netperf: its throughput is %g; nothing "
				"was measured",
				number);
		row = parser_row(n->p, 0);
		return row ? parser_metric(n->p, row, units[i].metric, number * units[i].factor) : -ENOMEM;
	}
	return ctx_fail(n->p->ctx, -EBADMSG, "netperf: its throughput is in no unit known; ask for "
		"THROUGHPUT_UNITS too");
}

static int take_table(struct netperf *n, struct span names, struct span values)
{
	struct span name, value;
	int r = 0;

	while (r == 0 && span_field(&names, ',', &name)) {
		if (!span_field(&values, ',', &value))
			return ctx_fail(n->p->ctx, -EBADMSG, "netperf: fewer values than names: cut off?");
		for (size_t i = 0; r == 0 && i < ARRAY_SIZE(figures); i++)
			if (span_is(name, figures[i].title))
				r = take_value(n, figures[i].metric, value);
	}
	return r;
}

static int take_pair(struct netperf *n, struct span line)
{
	struct span key;

	span_field(&line, '=', &key);
	for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
		if (span_is(key, figures[i].key))
			return take_value(n, figures[i].metric, span_trim(line));
	return 0;
}

/* The line of names is the one that has nothing but known ones, or knows the first. */
static bool is_header(struct span line)
{
	struct span name;

	while (span_field(&line, ',', &name))
		for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
			if (span_is(name, figures[i].title))
				return true;
	return false;
}

int parse_netperf(struct parser *p)
{
	struct netperf n = {.p = p};
	struct span rest = p->text, line, header = {0};
	int r = 0;

	while (r == 0 && span_line(&rest, &line)) {
		line = span_trim(line);
		if (header.p && span_len(line)) {
			r = take_table(&n, header, line);
			header.p = NULL;
		} else if (is_header(line)) {
			header = line;
		} else if (memchr(line.p, '=', span_len(line))) {
			r = take_pair(&n, line);
		}
	}
	return r < 0 ? r : take_throughput(&n);
}
