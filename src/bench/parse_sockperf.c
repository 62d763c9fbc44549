// SPDX-License-Identifier: GPL-2.0-or-later
/* sockperf 2 and 3: its text (in colours even in a file), and the CSV of --full-log. */
#include <errno.h>

#include "bench/parser.h"

#define MIB_BITS (8.0 * 1024 * 1024)

static const struct {
	const char *text, *metric;
} percentiles[] = {{"50.0", "p50"}, {"90.0", "p90"}, {"95.0", "p95"}, {"99.000", "p99"},
	{"99.00 ", "p99"}, {"99.900", "p99_9"}, {"99.90 ", "p99_9"}};

struct sockperf {
	struct parser *p;
	uint64_t size;
	bool full_rtt, lost_server;
	unsigned starts, logs; /* how often a run begins, in the text and in the log */
	bool latency_begun, latency_ended, rate_begun, rate_ended, log_begun, log_ended;
	int latency, sent, received; /* columns of the log; -1: absent */
	bool in_log;
	double *samples;
	size_t sample_count;
	double observations;
};

static int put_sockperf(struct sockperf *s, const char *name, struct span value, double factor)
{
	struct bench_row *row;
	struct span word;
	double number;
	int r;

	if (!span_word(&value, &word))
		return 0;
	while (word.end > word.p && (word.end[-1] == ';' || word.end[-1] == ')'))
		word.end--;
	r = parser_number(s->p, word, name, &number);
	row = r < 0 ? NULL : parser_row(s->p, s->size);
	if (!row)
		return r < 0 ? r : -ENOMEM;
	return parser_metric(s->p, row, name, number * factor);
}

static int unknown_unit(struct sockperf *s, struct span unit)
{
	char where[PARSER_WHERE];

	return ctx_fail(s->p->ctx, -EBADMSG, "sockperf: %s'%.*s' is not a known unit",
		parser_where(s->p, where), span_len(unit) > 20 ? 20 : (int)span_len(unit), unit.p);
}

/* "Summary: Latency is 36.063 usec": all its times have that unit. */
static int check_unit(struct sockperf *s, struct span text)
{
	struct span number, unit;

	if (!span_word(&text, &number) || !span_word(&text, &unit) || span_is(unit, "usec"))
		return 0;
	return unknown_unit(s, unit);
}

/* "BandWidth is 9.902 MBps (79.219 Mbps)"; "1.002 GBps", of 1000 such, with --giga-size */
static int put_bandwidth(struct sockperf *s, struct span text)
{
	struct span number, unit;
	struct bench_row *row;
	struct figure figure;
	int r;

	if (!span_word(&text, &number) || !span_word(&text, &unit))
		return 0;
	s->rate_ended = true;
	if (!span_starts(unit, "GBps") && !span_starts(unit, "MBps"))
		return unknown_unit(s, unit);
	r = parser_figure(s->p, number, "bandwidth", span_starts(unit, "GB") ? 1000 * MIB_BITS : MIB_BITS,
		&figure);
	row = r < 0 ? NULL : parser_row(s->p, s->size);
	if (!row)
		return r < 0 ? r : -ENOMEM;
	return parser_put_figure(s->p, row, "throughput_sent", &figure, NULL);
}

/* "---> percentile 99.900 =   77.902", "---> <MAX> observation = 1377.472" */
static int take_observation(struct sockperf *s, struct span line)
{
	struct span value = span_after(line, "="), name = span_after(line, "percentile ");

	if (span_find(line, "<MAX>"))
		return put_sockperf(s, "max", value, 1);
	s->latency_ended |= span_find(line, "<MIN>") != NULL;
	if (span_find(line, "<MIN>"))
		return put_sockperf(s, "min", value, 1);
	for (size_t i = 0; i < ARRAY_SIZE(percentiles); i++)
		if (span_starts(name, percentiles[i].text))
			return put_sockperf(s, percentiles[i].metric, value, 1);
	return 0;
}

static size_t leading_digits(struct span s)
{
	size_t count = 0;

	while (count < span_len(s) && s.p[count] >= '0' && s.p[count] <= '9')
		count++;
	return count;
}

static int take_text(struct sockperf *s, struct span line)
{
	struct span size = span_after(line, "msg-size=");

	if (!s->size) {
		size.end = size.p + leading_digits(size);
		number_whole(size, &s->size);
	}
	s->full_rtt |= span_find(line, "--full-rtt") != NULL;
	s->lost_server |= span_find(line, "No messages were received") != NULL;
	s->latency_begun |= span_find(line, "====> avg-") != NULL;
	s->rate_begun |= span_find(line, "Message Rate is ") != NULL;
	s->log_begun |= span_find(line, "test was performed using the following parameters") != NULL;
	if (span_find(line, "---> "))
		return take_observation(s, line);
	if (span_find(line, "avg-latency="))
		return put_sockperf(s, "mean", span_after(line, "avg-latency="), 1);
	if (span_find(line, "avg-rtt="))
		return put_sockperf(s, "mean", span_after(line, "avg-rtt="), 1);
	if (span_find(line, " observations") && span_find(line, "Total "))
		return put_sockperf(s, "samples", span_after(line, "Total "), 1);
	if (span_find(line, "Summary: Latency is ") || span_find(line, "Summary: Round trip is "))
		return check_unit(s, span_after(line, " is "));
	if (span_find(line, "Message Rate is "))
		return put_sockperf(s, "message_rate", span_after(line, "Message Rate is "), 1);
	if (span_find(line, "BandWidth is "))
		return put_bandwidth(s, span_after(line, "BandWidth is "));
	return 0;
}

/* ---- the log ---- */

static void take_header(struct sockperf *s, struct span line)
{
	struct span field;

	s->latency = s->sent = s->received = -1;
	for (int i = 0; span_field(&line, ',', &field); i++) {
		if (span_starts(field, "latency") || span_starts(field, "rtt"))
			s->latency = i;
		else if (span_starts(field, "txTime"))
			s->sent = i;
		else if (span_starts(field, "rxTime"))
			s->received = i;
	}
	s->in_log = true;
}

/* Without a column for it, the round-trip time is halved, as sockperf does. */
static int take_packet(struct sockperf *s, struct span line)
{
	double latency = -1, sent = 0, received = 0;
	struct span field;
	int r = 0, count = 0;

	for (; r == 0 && span_field(&line, ',', &field); count++) {
		if (count == s->latency)
			r = parser_number(s->p, field, "latency", &latency);
		else if (s->latency < 0 && count == s->sent)
			r = parser_number(s->p, field, "txTime", &sent);
		else if (s->latency < 0 && count == s->received)
			r = parser_number(s->p, field, "rxTime", &received);
	}
	if (r < 0)
		return r;
	if (count <= s->latency || count <= s->sent || count <= s->received)
		return ctx_fail(s->p->ctx, -EBADMSG, "sockperf: line of packet %zu is cut off",
			s->sample_count + 1);
	if (s->latency < 0)
		latency = (received - sent) * 1e6 / (s->full_rtt ? 1 : 2);
	return parser_sample(s->p, &s->samples, &s->sample_count, latency);
}

static int put_samples(struct sockperf *s)
{
	struct bench_row *row = parser_row(s->p, s->size);

	if (!row)
		return -ENOMEM;
	free(row->samples);
	row->samples = steal(s->samples);
	row->sample_count = s->sample_count;
	return 0;
}

/* ---- text and log ---- */

/* "\e[2;35m" and the program's name before each line. */
static struct span plain(struct span line)
{
	static const char name[] = "sockperf: ";

	if (span_starts(line, name))
		line.p += sizeof(name) - 1;
	return line;
}

static struct span version_of(struct span text)
{
	struct span found = span_after(text, "== version #"), word;

	return span_word(&found, &word) ? word : found;
}

/*
 * Each run begins with the version, each log with its columns. The figures of several servers are
 * not one.
 */
static bool is_second_run(struct sockperf *s, struct span line)
{
	struct span server = span_after(line, "Printing statistics for Server No: ");

	s->starts += span_find(line, "== version #") != NULL;
	s->logs += span_starts(line, "packet,");
	return s->starts > 1 || s->logs > 1 || (span_len(server) && !span_is(server, "0"));
}

static int take_line(struct sockperf *s, struct span line)
{
	line = plain(line);
	if (is_second_run(s, line))
		return parser_second_run(s->p, s->p->at);
	if (span_starts(line, "packet,")) {
		take_header(s, line);
		return s->latency >= 0 || (s->sent >= 0 && s->received >= 0) ? 0
			: ctx_fail(s->p->ctx, -EBADMSG, "sockperf: its log has no column of times");
	}
	if (s->in_log && line.p < line.end && *line.p >= '0' && *line.p <= '9')
		return take_packet(s, line);
	s->log_ended |= s->in_log && span_starts(line, "-----");
	return take_text(s, line);
}

static int check_end(struct sockperf *s)
{
	if (s->latency_begun && !s->latency_ended)
		return parser_cut(s->p, "line '<MIN> observation'");
	if (s->rate_begun && !s->rate_ended)
		return parser_cut(s->p, "line 'BandWidth is'");
	if ((s->in_log || s->log_begun) && !s->log_ended)
		return parser_cut(s->p, "line of dashes below its packets");
	return 0;
}

static int parse_sockperf(struct parser *p)
{
	struct sockperf s = {.p = p};
	struct span rest = p->text, line;
	int r = 0;

	span_copy(version_of(p->text), p->reading->version, sizeof(p->reading->version));
	while (r == 0 && parser_line(p, &rest, &line))
		r = take_line(&s, line);
	if (r == 0 && s.lost_server)
		r = parser_failed(p);
	if (r == 0)
		r = check_end(&s);
	if (r == 0 && s.sample_count)
		r = put_samples(&s);
	free(s.samples);
	return r;
}

static const struct parser_mark sockperf_marks[] = {
	{"^sockperf: ", NULL},
	{NULL, NULL},
};

static const struct parser_error sockperf_errors[] = {
	{"^sockperf: ERROR: ", false},
	{NULL, false},
};

const struct parser_kind sockperf_output = {.name = "sockperf", .parse = parse_sockperf,
	.marks = sockperf_marks, .errors = sockperf_errors};
