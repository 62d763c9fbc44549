// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * netperf's omni tests: -o (a line of names, a line of values) and -k (NAME=value), and the tables
 * of its classic tests. Its times are round trips, percentiles are of its histogram.
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

enum classic { NO_TABLE, STREAM, UDP_STREAM, UDP_STREAM_RECEIVED, REQUESTS };

struct netperf {
	struct parser *p;
	struct span throughput, unit;
	bool titled, listed, paired; /* there is a title, a line of names, a NAME=value */
	bool second_line; /* of the table of requests: the sizes of the other end's sockets follow */
	enum classic expected; /* what the next line of numbers is */
	double factor;	       /* of the classic table's unit to bit/s; 0: not seen */
};

static int take_value(struct netperf *n, const char *metric, struct span value)
{
	struct bench_row *row;
	double number;
	int r;

	if (str_eq(metric, "throughput") && n->throughput.p)
		return parser_second_run(n->p, n->p->at);
	if (str_eq(metric, "throughput"))
		n->throughput = value;
	else if (str_eq(metric, "unit"))
		n->unit = value;
	if (str_eq(metric, "throughput") || str_eq(metric, "unit") || str_eq(metric, "rate"))
		return 0;
	r = parser_number(n->p, value, metric, &number);
	if (r < 0)
		return r;
	if (number == -1) /* not measured */
		return 0;
	row = parser_row(n->p, 0);
	return row ? parser_metric(n->p, row, metric, number) : -ENOMEM;
}

#define SMALL_UNIT "-f k, a smaller unit"

static int take_throughput(struct netperf *n)
{
	struct bench_row *row;
	struct figure figure;
	int r;

	if (!n->throughput.p)
		return 0;
	for (size_t i = 0; i < ARRAY_SIZE(units); i++) {
		if (!n->unit.p || !span_is(n->unit, units[i].unit))
			continue;
		r = parser_figure(n->p, n->throughput, "throughput", units[i].factor, &figure);
		if (r < 0)
			return r;
		row = parser_row(n->p, 0);
		return row ? parser_put_figure(n->p, row, units[i].metric, &figure, SMALL_UNIT) : -ENOMEM;
	}
	return ctx_fail(n->p->ctx, -EBADMSG, "netperf: the unit of its throughput is unknown; request "
		"THROUGHPUT_UNITS too");
}

static int take_table(struct netperf *n, struct span names, struct span values)
{
	struct span name, value;
	int r = parser_check_line(n->p, values);

	while (r == 0 && span_field(&names, ',', &name)) {
		if (!span_field(&values, ',', &value))
			return ctx_fail(n->p->ctx, -EBADMSG, "netperf: fewer values than names; the "
				"output may be truncated");
		for (size_t i = 0; r == 0 && i < ARRAY_SIZE(figures); i++)
			if (span_is(name, figures[i].title))
				r = take_value(n, figures[i].metric, value);
	}
	return r;
}

static int take_pair(struct netperf *n, struct span line)
{
	struct span key;
	int r = parser_check_line(n->p, line);

	span_field(&line, '=', &key);
	for (size_t i = 0; i < ARRAY_SIZE(figures) && r == 0; i++)
		if (span_is(key, figures[i].key)) {
			n->paired = true;
			return take_value(n, figures[i].metric, span_trim(line));
		}
	return r;
}

/* Values below a line of names, which has one line of them: "26784.91,Trans/s,24". */
static bool is_values(struct span line)
{
	return span_len(line) && *line.p >= '0' && *line.p <= '9' && memchr(line.p, ',', span_len(line));
}

/* The line of names contains only known names, or begins with one. */
static bool is_header(struct span line)
{
	struct span name;

	while (span_field(&line, ',', &name))
		for (size_t i = 0; i < ARRAY_SIZE(figures); i++)
			if (span_is(name, figures[i].title))
				return true;
	return false;
}

/* ---- classic tables ---- */

/* "MIGRATED UDP STREAM TEST from 0.0.0.0 port 0 AF_INET to ..." */
static enum classic classic_of(struct span title)
{
	if (!span_find(title, " TEST "))
		return NO_TABLE;
	if (span_find_word(title, "request/response"))
		return REQUESTS;
	if (span_find(title, "UDP") && span_find(title, "STREAM"))
		return UDP_STREAM;
	return span_find(title, "STREAM") || span_find(title, "MAERTS") || span_find(title, "SENDFILE")
		? STREAM : NO_TABLE;
}

/* "bytes  bytes   bytes    secs.    10^6bits/sec" */
static void take_unit(struct netperf *n, struct span line)
{
	struct span word;

	while (span_word(&line, &word))
		for (size_t i = 0; i < ARRAY_SIZE(units); i++)
			if (str_eq(units[i].metric, "throughput") && span_starts(word, units[i].unit))
				n->factor = units[i].factor;
}

#define CLASSIC_COLUMNS 10

static size_t numbers_of(struct parser *p, struct span line, struct figure ret[CLASSIC_COLUMNS])
{
	struct span word;
	size_t count = 0;
	double number;

	while (span_word(&line, &word)) {
		if (count == CLASSIC_COLUMNS || number_read(word, &number) < 0 ||
			parser_figure(p, word, "figure", 1, &ret[count]) < 0)
			return 0;
		count++;
	}
	return count;
}

/*
 * Lines as nettest_bsd.c of netperf 2.4 to 2.7 prints them; with -c and -C the utilization follows:
 *	STREAM		sizes of both sockets and of a message, seconds, throughput
 *	UDP STREAM	size of the socket and of a message, seconds, messages, errors, throughput sent;
 *			below it size of the other socket, seconds, messages, throughput that arrived
 *	REQUEST/RESPONSE sizes of both sockets, of request and response, seconds, transactions/s
 */
static int take_classic(struct netperf *n, struct span line)
{
	static const struct {
		size_t least, at; /* columns, and the place of the figure */
		const char *metric;
		enum classic next;
		bool with_cpu;
	} rows[] = {[STREAM] = {5, 4, "throughput", NO_TABLE, true},
		[UDP_STREAM] = {6, 5, "throughput_sent", UDP_STREAM_RECEIVED, false},
		[UDP_STREAM_RECEIVED] = {4, 3, "throughput", NO_TABLE, false},
		[REQUESTS] = {6, 5, "operations", NO_TABLE, true}};
	struct figure v[CLASSIC_COLUMNS] = {0}, rate;
	double factor = n->expected == REQUESTS ? 1 : n->factor;
	size_t count = numbers_of(n->p, line, v), at = rows[n->expected].at;
	struct bench_row *row;
	int r;

	if (count < rows[n->expected].least)
		return 0;
	if (factor <= 0)
		return ctx_fail(n->p->ctx, -EBADMSG, "netperf: its table has no unit of throughput");
	row = parser_row(n->p, 0);
	if (!row)
		return -ENOMEM;
	rate = (struct figure){v[at].value * factor, v[at].error * factor};
	r = parser_check_line(n->p, line);
	if (r == 0)
		r = parser_put_figure(n->p, row, rows[n->expected].metric, &rate, SMALL_UNIT);
	if (r == 0 && rows[n->expected].with_cpu && count >= at + 3 && v[at + 1].value >= 0)
		r = parser_metric(n->p, row, "cpu_local", v[at + 1].value);
	if (r == 0 && rows[n->expected].with_cpu && count >= at + 3 && v[at + 2].value >= 0)
		r = parser_metric(n->p, row, "cpu_remote", v[at + 2].value);
	n->second_line = n->expected == REQUESTS;
	n->expected = rows[n->expected].next;
	return r;
}

static int take_line(struct netperf *n, struct span line)
{
	enum classic table = classic_of(line);

	if (table && n->titled)
		return parser_second_run(n->p, n->p->at);
	if (table) {
		n->titled = true;
		n->expected = table;
		n->factor = 0;
		return 0;
	}
	if (memchr(line.p, '=', span_len(line)))
		return take_pair(n, line);
	if (n->second_line && span_len(line))
		n->second_line = false;
	if (!n->expected)
		return 0;
	take_unit(n, line);
	return take_classic(n, line);
}

/*
 * An output of -k has a throughput, whatever else is requested; the table of requests has two
 * lines.
 */
static int check_end(struct netperf *n)
{
	if (n->p->reading->row_count && n->titled && n->expected && !n->listed && !n->paired)
		return parser_cut(n->p, "line of the received throughput");
	if (n->second_line)
		return parser_cut(n->p, "line of the other end's socket sizes");
	return n->paired && !n->throughput.p ? parser_cut(n->p, "line THROUGHPUT=; request "
		"THROUGHPUT,THROUGHPUT_UNITS last") : 0;
}

static int parse_netperf(struct parser *p)
{
	struct netperf n = {.p = p};
	struct span rest = p->text, line, header = {0};
	int r = 0;

	while (r == 0 && parser_line(p, &rest, &line)) {
		if (header.p && span_len(line)) {
			r = take_table(&n, header, line);
			header.p = NULL;
		} else if (n.listed && (is_header(line) || is_values(line))) {
			r = parser_second_run(p, line.p);
		} else if (is_header(line)) {
			n.listed = true;
			header = line;
		} else {
			r = take_line(&n, line);
		}
	}
	if (r == 0 && header.p)
		r = parser_cut(p, "line of values");
	if (r == 0)
		r = take_throughput(&n);
	return r < 0 ? r : check_end(&n);
}

static const struct parser_mark netperf_marks[] = {
	{"MIGRATED TCP ", NULL},
	{"MIGRATED UDP ", NULL},
	{NULL, NULL},
};

static const struct parser_error netperf_errors[] = {
	{"^netperf: ", false},
	{"^send_data: ", false},
	{"^send_omni: ", false},
	{"^recv_response: ", false},
	{"data recv error", false},
	{NULL, false},
};

const struct parser_kind netperf_output = {.name = "netperf", .parse = parse_netperf,
	.marks = netperf_marks, .errors = netperf_errors};
