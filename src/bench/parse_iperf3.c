// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iperf3: -J of 3.0 on, --json-stream of 3.17 on (an event a line), and its text. With -P 2 its JSON
 * has keys twice.
 */
#include <errno.h>
#include <stdio.h>

#include "base/json.h"
#include "bench/parser.h"

/* ---- JSON ---- */

/* @object[@key] in @row as @name; absent: nothing. Nothing received is nothing measured. */
static int take_number(struct parser *p, struct bench_row *row, const struct json *object,
	const char *key, const char *name, bool positive)
{
	const struct json *value = json_member(object, key);
	double number;

	if (!value)
		return 0;
	if (json_double(value, &number) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its %s is no number; nothing was measured", key);
	if (positive && number <= 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its %s is %g; nothing was measured", key, number);
	return parser_metric(p, row, name, number);
}

static const struct json *first_of(const struct json *end, const char *a, const char *b)
{
	const struct json *found = json_member(end, a);

	return found ? found : json_member(end, b);
}

/* What the server got of UDP, where only the client's sum is there: less what was lost. */
static int take_udp(struct parser *p, struct bench_row *row, const struct json *sum)
{
	double sent, lost = 0;

	if (json_double(json_member(sum, "bits_per_second"), &sent) < 0 || sent <= 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its bits_per_second is no number above 0");
	if (json_member(sum, "lost_percent") && json_double(json_member(sum, "lost_percent"), &lost) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its lost_percent is no number");
	if (lost < 0 || lost >= 100)
		return ctx_fail(p->ctx, -EIO, "iperf3: %g %% of what was sent is lost", lost);
	return parser_metric(p, row, "throughput", sent * (1 - lost / 100));
}

static int take_sums(struct parser *p, struct bench_row *row, const struct json *end)
{
	const struct json *received = json_member(end, "sum_received");
	const struct json *sent = first_of(end, "sum_sent", "sum");
	const struct json *reverse = json_member(end, "sum_received_bidir_reverse");
	int r = received ? take_number(p, row, received, "bits_per_second", "throughput", true)
		: take_udp(p, row, json_member(end, "sum"));

	if (r == 0 && sent)
		r = take_number(p, row, sent, "bits_per_second", "throughput_sent", false);
	if (r == 0 && sent)
		r = take_number(p, row, sent, "retransmits", "retransmits", false);
	if (r == 0 && reverse)
		r = take_number(p, row, reverse, "bits_per_second", "throughput_reverse", true);
	return r;
}

static int take_end(struct parser *p, const struct json *end)
{
	const struct json *cpu = json_member(end, "cpu_utilization_percent");
	struct bench_row *row;
	int r;

	if (!json_member(end, "sum_received") && !json_member(end, "sum"))
		return ctx_fail(p->ctx, -EIO, "iperf3: its result has no sums: it was ended before its end");
	row = parser_row(p, 0);
	if (!row)
		return -ENOMEM;
	r = take_sums(p, row, end);
	if (r == 0)
		r = take_number(p, row, cpu, "host_total", "cpu_local", false);
	if (r == 0)
		r = take_number(p, row, cpu, "remote_total", "cpu_remote", false);
	return r;
}

static void take_version(struct parser *p, const struct json *start)
{
	const char *version = json_text(json_member(start, "version"));

	if (version)
		snprintf(p->reading->version, sizeof(p->reading->version), "%.*s",
			(int)sizeof(p->reading->version) - 1,
			str_starts(version, "iperf ") ? version + 6 : version);
}

static int failed(struct parser *p, const struct json *words)
{
	return ctx_fail(p->ctx, -EIO, "iperf3: %.200s", json_text(words) ? json_text(words) : "failed");
}

static int take_document(struct parser *p, const struct json *root)
{
	const struct json *error = json_member(root, "error");

	take_version(p, json_member(root, "start"));
	return error ? failed(p, error) : take_end(p, json_member(root, "end"));
}

/* An object a line: {"event":"end","data":{...}} */
static int take_stream(struct parser *p)
{
	struct span rest = p->text, line;
	int r = 1;

	while (r == 1 && span_line(&rest, &line)) {
		_json_doc_ struct json *root = NULL;
		const char *event;

		if (!span_len(span_trim(line)))
			continue;
		r = json_read_loose(p->ctx, "iperf3", line.p, span_len(line), &root);
		if (r < 0)
			return r;
		event = json_text(json_member(root, "event"));
		r = 1;
		if (event && str_eq(event, "start"))
			take_version(p, json_member(root, "data"));
		else if (event && str_eq(event, "error"))
			r = failed(p, json_member(root, "data"));
		else if (event && str_eq(event, "end"))
			r = take_end(p, json_member(root, "data"));
	}
	return r == 1 ? ctx_fail(p->ctx, -EIO, "iperf3: its events end before its result") : r;
}

static int parse_json(struct parser *p, struct span text)
{
	_json_doc_ struct json *root = NULL;
	struct span rest = text, line;
	int r;

	if (span_line(&rest, &line) && span_find(line, "\"event\"")) {
		p->text = text;
		return take_stream(p);
	}
	r = json_read_loose(p->ctx, "iperf3", text.p, span_len(text), &root);
	return r < 0 ? r : take_document(p, root);
}

/* ---- text ---- */

struct totals {
	double streams[2], sums[2]; /* sent, received; bit/s */
	double reverse_streams, reverse_sum, retransmits;
	unsigned lines;
	bool retransmits_seen;
};

/*
 * "[SUM]   0.00-1.00   sec  2.09 GBytes  18.0 Gbits/sec    4             sender"
 * "[  7][RX-C] ..." with --bidir.
 */
static int take_total(struct parser *p, struct span line, struct totals *t)
{
	bool received = span_is((struct span){line.end - 8, line.end}, "receiver");
	bool sum = span_starts(line, "[SUM]"), reverse = span_find(line, "[RX-C]");
	struct span rest = span_after(line, " sec "), words[6] = {0};
	size_t count = 0;
	double rate, factor, retransmits;
	int r;

	while (count < ARRAY_SIZE(words) && span_word(&rest, &words[count]))
		count++;
	if (count < 5 || !unit_bits(words[3], 1000, &factor))
		return ctx_fail(p->ctx, -EBADMSG, "iperf3: no rate in its line '%.*s'",
			span_len(line) > 80 ? 80 : (int)span_len(line), line.p);
	r = parser_number(p, words[2], "rate", &rate);
	if (r < 0)
		return r;
	rate *= factor;
	t->lines++;
	if (reverse)
		*(sum ? &t->reverse_sum : &t->reverse_streams) += received ? rate : 0;
	else
		(sum ? t->sums : t->streams)[received] += rate;
	if (!received && !sum && number_read(words[4], &retransmits) == 0) {
		t->retransmits += retransmits;
		t->retransmits_seen = true;
	}
	return 0;
}

static int put_totals(struct parser *p, const struct totals *t)
{
	double sent = t->sums[0] ? t->sums[0] : t->streams[0];
	double received = t->sums[1] ? t->sums[1] : t->streams[1];
	double reverse = t->reverse_sum ? t->reverse_sum : t->reverse_streams;
	struct bench_row *row;
	int r;

	if (!t->lines || received <= 0)
		return parser_failed(p);
	row = parser_row(p, 0);
	if (!row)
		return -ENOMEM;
	r = parser_metric(p, row, "throughput", received);
	if (r == 0 && sent > 0)
		r = parser_metric(p, row, "throughput_sent", sent);
	if (r == 0 && reverse > 0)
		r = parser_metric(p, row, "throughput_reverse", reverse);
	if (r == 0 && t->retransmits_seen)
		r = parser_metric(p, row, "retransmits", t->retransmits);
	return r;
}

static int parse_text(struct parser *p)
{
	struct span rest = p->text, line;
	struct totals totals = {0};
	int r = 0;

	while (r == 0 && span_line(&rest, &line)) {
		line = span_trim(line);
		if (span_starts(line, "[") && span_len(line) > 10 &&
			(span_is((struct span){line.end - 6, line.end}, "sender") ||
				span_is((struct span){line.end - 8, line.end}, "receiver")))
			r = take_total(p, line, &totals);
	}
	return r < 0 ? r : put_totals(p, &totals);
}

/* Warnings may stand before it. */
int parse_iperf3(struct parser *p)
{
	struct span rest = p->text, line;

	while (span_line(&rest, &line))
		if (span_starts(span_trim(line), "{"))
			return parse_json(p, (struct span){line.p, p->text.end});
	return parse_text(p);
}
