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

/*
 * Store @object[@key] in @row as @name; if it is absent, nothing. If nothing was received, nothing
 * was measured.
 */
static int take_number(struct parser *p, struct bench_row *row, const struct json *object,
	const char *key, const char *name, bool positive)
{
	const struct json *value = json_member(object, key);
	double number;

	if (!value)
		return 0;
	if (json_double(value, &number) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its %s is not a number; nothing was measured", key);
	if (positive && number <= 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its %s is %g; nothing was measured", key, number);
	return parser_metric(p, row, name, number);
}

static const struct json *first_of(const struct json *end, const char *a, const char *b)
{
	const struct json *found = json_member(end, a);

	return found ? found : json_member(end, b);
}

/* UDP throughput at the server, if only the client's sum is available: minus the lost packets. */
static int take_udp(struct parser *p, struct bench_row *row, const struct json *sum)
{
	double sent, lost = 0;

	if (json_double(json_member(sum, "bits_per_second"), &sent) < 0 || sent <= 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its bits_per_second is not a number above 0");
	if (json_member(sum, "lost_percent") && json_double(json_member(sum, "lost_percent"), &lost) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its lost_percent is not a number");
	if (lost < 0 || lost >= 100)
		return ctx_fail(p->ctx, -EIO, "iperf3: %g %% of what was sent is lost", lost);
	return parser_metric(p, row, "throughput", sent * (1 - lost / 100));
}

/* What the receiver says of UDP; with TCP these members are absent. @sum: of all streams in a direction. */
static int take_loss(struct parser *p, struct bench_row *row, const struct json *sum,
	const struct json *streams, bool both)
{
	double jitter_ms, disorder = 0;
	bool counted = false;
	int r;

	if (json_double(json_member(sum, "jitter_ms"), &jitter_ms) < 0)
		return 0;
	r = parser_metric(p, row, "jitter", 1000 * jitter_ms);
	if (r == 0)
		r = take_number(p, row, sum, "lost_percent", "loss", false);
	for (size_t i = 0; i < json_count(streams); i++) {
		const struct json *udp = json_member(json_item(streams, i), "udp");
		double count;

		if ((both && !json_flag(json_member(udp, "sender"))) ||
			json_double(json_member(udp, "out_of_order"), &count) < 0)
			continue;
		disorder += count;
		counted = true;
	}
	return r == 0 && counted ? parser_metric(p, row, "out_of_order", disorder) : r;
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
	if (r == 0)
		r = take_loss(p, row, received ? received : sent, json_member(end, "streams"),
			reverse != NULL);
	return r;
}

static int take_end(struct parser *p, const struct json *end)
{
	const struct json *cpu = json_member(end, "cpu_utilization_percent");
	struct bench_row *row;
	int r;

	if (!json_member(end, "sum_received") && !json_member(end, "sum"))
		return ctx_fail(p->ctx, -EIO, "iperf3: its result has no sums: it was stopped early");
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

static int failed(struct parser *p, const struct json *message)
{
	return ctx_fail(p->ctx, -EIO, "iperf3: %.200s", json_text(message) ? json_text(message) : "failed");
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
	double jitter_ms, lost, packets; /* of UDP, of all receiving streams */
	unsigned lines, udp_lines;
	bool retransmits_seen;
};

/* "0/39" */
static int take_lost(struct parser *p, struct span jitter, struct span packets, struct totals *t)
{
	struct span lost;
	double of, jitter_ms, count;
	int r;

	span_field(&packets, '/', &lost);
	r = parser_number(p, jitter, "jitter", &jitter_ms);
	if (r == 0)
		r = parser_number(p, lost, "count of lost packets", &count);
	if (r == 0)
		r = parser_number(p, packets, "count of packets", &of);
	if (r < 0)
		return r;
	t->jitter_ms += jitter_ms;
	t->lost += count;
	t->packets += of;
	t->udp_lines++;
	return 0;
}

/*
 * "[SUM]   0.00-1.00   sec  2.09 GBytes  18.0 Gbits/sec    4             sender"
 * "[  5]   0.00-1.00   sec  1.22 MBytes  10.2 Mbits/sec  0.015 ms  0/39 (0%)  receiver" with -u
 * "[  7][RX-C] ..." with --bidir.
 */
static int take_total(struct parser *p, struct span line, struct totals *t)
{
	bool received = span_is((struct span){line.end - 8, line.end}, "receiver");
	bool sum = span_starts(line, "[SUM]"), reverse = span_find(line, "[RX-C]");
	struct span rest = span_after(line, " sec "), message[9] = {0};
	size_t count = 0;
	bool udp;
	double rate, factor, retransmits;
	int r;

	while (count < ARRAY_SIZE(message) && span_word(&rest, &message[count]))
		count++;
	if (count < 5 || !unit_bits(message[3], 1000, &factor))
		return ctx_fail(p->ctx, -EBADMSG, "iperf3: no rate in its line '%.*s'",
			span_len(line) > 80 ? 80 : (int)span_len(line), line.p);
	r = parser_number(p, message[2], "rate", &rate);
	if (r < 0)
		return r;
	rate *= factor;
	t->lines++;
	if (reverse)
		*(sum ? &t->reverse_sum : &t->reverse_streams) += received ? rate : 0;
	else
		(sum ? t->sums : t->streams)[received] += rate;
	udp = count > 6 && span_is(message[5], "ms");
	if (udp && received && !sum && !reverse)
		return take_lost(p, message[4], message[6], t);
	if (!udp && !received && !sum && number_read(message[4], &retransmits) == 0) {
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
	if (r == 0 && t->udp_lines)
		r = parser_metric(p, row, "jitter", 1000 * t->jitter_ms / t->udp_lines);
	if (r == 0 && t->packets > 0)
		r = parser_metric(p, row, "loss", 100 * t->lost / t->packets);
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

/* Warnings may precede it. */
int parse_iperf3(struct parser *p)
{
	struct span rest = p->text, line;

	while (span_line(&rest, &line))
		if (span_starts(span_trim(line), "{"))
			return parse_json(p, (struct span){line.p, p->text.end});
	return parse_text(p);
}
