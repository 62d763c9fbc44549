// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iperf3: -J of 3.0 on, --json-stream of 3.17 on (an event a line), and its text. With -P 2 its
 * JSON has keys twice.
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
	const char *key, const char *name)
{
	const struct json *value = json_member(object, key);
	double number;

	if (!value)
		return 0;
	if (json_double(value, &number) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its %s is not a number; nothing was measured", key);
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

	if (json_double(json_member(sum, "bits_per_second"), &sent) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its bits_per_second is not a number");
	if (json_member(sum, "lost_percent") && json_double(json_member(sum, "lost_percent"), &lost) < 0)
		return ctx_fail(p->ctx, -EIO, "iperf3: its lost_percent is not a number");
	if (lost < 0 || lost >= 100)
		return ctx_fail(p->ctx, -EIO, "iperf3: %g %% of what was sent is lost", lost);
	return parser_metric(p, row, "throughput", sent * (1 - lost / 100));
}

/*
 * The UDP results of the receiver; with TCP these members are absent. @sum: of all streams in a
 * direction.
 */
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
		r = take_number(p, row, sum, "lost_percent", "loss");
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

/* A receiver that got no counts from the sender reports 0 for it. */
static bool is_unknown(const struct json *sent)
{
	double rate;

	return json_double(json_member(sent, "bits_per_second"), &rate) == 0 && rate == 0;
}

static int take_sums(struct parser *p, struct bench_row *row, const struct json *end)
{
	const struct json *received = json_member(end, "sum_received");
	const struct json *sent = first_of(end, "sum_sent", "sum");
	const struct json *reverse = json_member(end, "sum_received_bidir_reverse");
	int r = received ? take_number(p, row, received, "bits_per_second", "throughput")
		: take_udp(p, row, json_member(end, "sum"));

	if (r == 0 && sent && !is_unknown(sent))
		r = take_number(p, row, sent, "bits_per_second", "throughput_sent");
	if (r == 0 && sent)
		r = take_number(p, row, sent, "retransmits", "retransmits");
	if (r == 0 && reverse)
		r = take_number(p, row, reverse, "bits_per_second", "throughput_reverse");
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
		r = take_number(p, row, cpu, "host_total", "cpu_local");
	if (r == 0)
		r = take_number(p, row, cpu, "remote_total", "cpu_remote");
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
	return ctx_fail(p->ctx, -EIO, "iperf3: %.200s",
			json_text(message) ? json_text(message) : "failed");
}

static int take_document(struct parser *p, const struct json *root)
{
	const struct json *error = json_member(root, "error");

	take_version(p, json_member(root, "start"));
	return error ? failed(p, error) : take_end(p, json_member(root, "end"));
}

static int take_event(struct parser *p, const struct json *root, bool *io_started, bool *io_ended)
{
	const char *event = json_text(json_member(root, "event"));
	const struct json *data = json_member(root, "data");

	if (!event)
		return 0;
	if (str_eq(event, "error"))
		return failed(p, data);
	if (str_eq(event, "start") && *io_started)
		return parser_second_run(p, p->at);
	if (str_eq(event, "start")) {
		*io_started = true;
		take_version(p, data);
	}
	if (!str_eq(event, "end"))
		return 0;
	*io_ended = true;
	return take_end(p, data);
}

/* An object a line: {"event":"end","data":{...}} */
static int take_stream(struct parser *p, struct span text)
{
	bool started = false, ended = false;
	struct span rest = text, line;
	int r = 0;

	while (r == 0 && parser_line(p, &rest, &line)) {
		_json_doc_ struct json *root = NULL;

		if (!span_len(line))
			continue;
		r = json_read_loose(p->ctx, "iperf3", line.p, span_len(line), &root);
		if (r == 0)
			r = take_event(p, root, &started, &ended);
	}
	if (r == 0 && !ended)
		r = ctx_fail(p->ctx, -EIO, "iperf3: its events end before its result");
	return r;
}

/* The start of a second document, or NULL. iperf3 indents everything within a document. */
static const char *second_document(struct span text)
{
	struct span rest = text, line;

	span_line(&rest, &line);
	while (span_line(&rest, &line))
		if (span_starts(line, "{"))
			return line.p;
	return NULL;
}

static int parse_json(struct parser *p, struct span text)
{
	_json_doc_ struct json *root = NULL;
	struct span rest = text, line;
	int r;

	if (span_line(&rest, &line) && span_find(line, "\"event\""))
		return take_stream(p, text);
	r = json_read_loose(p->ctx, "iperf3", text.p, span_len(text), &root);
	if (r < 0 && second_document(text))
		return parser_second_run(p, second_document(text));
	return r < 0 ? r : take_document(p, root);
}

/* ---- text ---- */

/* The totals of one direction, in bit/s. */
struct way {
	struct figure streams, sum;
	unsigned stream_count, sum_count;
};

/*
 * The sender or receiver that a line of totals belongs to: "[ 5][TX-C]", of the sender or of the
 * receiver.
 */
struct total {
	struct span key;
	bool received;
};

struct totals {
	struct way sent, received, reverse;
	double retransmits;
	double jitter_ms, lost, packets; /* of UDP, of all receiving streams */
	unsigned connections, udp_streams, lossy_streams;
	bool retransmits_seen, udp; /* udp: the header of the columns has no retransmits */
	bool client, server, done; /* whose text it is, and whether the client's ended */
	bool remote;		   /* what follows is the server's text (--get-server-output) */
	struct total *lines;
	size_t line_count;
};

static bool same_key(struct span a, struct span b)
{
	return span_len(a) == span_len(b) && memcmp(a.p, b.p, span_len(a)) == 0;
}

/* A run has each line of totals once. */
static int note_total(struct parser *p, struct totals *t, struct span key, bool received)
{
	for (size_t i = 0; i < t->line_count; i++)
		if (t->lines[i].received == received && same_key(t->lines[i].key, key))
			return parser_second_run(p, p->at);
	if (t->done)
		return parser_second_run(p, p->at);
	if (!array_grow(t->lines, t->line_count))
		return ctx_oom(p->ctx);
	t->lines[t->line_count++] = (struct total){key, received};
	return 0;
}

/*
 * "0/39"; "Unknown/39" if the server did not count what it lost while the first seconds were left
 * out.
 */
static int take_lost(struct parser *p, struct span jitter, struct span packets, struct totals *t)
{
	struct span lost;
	double of, jitter_ms, count;
	int r;

	span_field(&packets, '/', &lost);
	r = parser_number(p, jitter, "jitter", &jitter_ms);
	if (r < 0)
		return r;
	t->jitter_ms += jitter_ms;
	t->udp_streams++;
	if (span_is(lost, "Unknown"))
		return 0;
	r = parser_number(p, lost, "count of lost packets", &count);
	if (r == 0)
		r = parser_number(p, packets, "count of packets", &of);
	if (r < 0)
		return r;
	t->lost += count;
	t->packets += of;
	t->lossy_streams++;
	return 0;
}

static struct way *way_of(struct totals *t, struct span key, bool received)
{
	if (span_find(key, "[RX-C]"))
		return received ? &t->reverse : NULL;
	if (span_find(key, "[TX-S]"))
		return NULL; /* of the reverse direction the server knows only what it sent */
	return received ? &t->received : &t->sent;
}

static void add_figure(struct way *way, const struct figure *figure, bool sum)
{
	struct figure *to = sum ? &way->sum : &way->streams;

	to->value += figure->value;
	to->error += figure->error;
	*(sum ? &way->sum_count : &way->stream_count) += 1;
}

/*
 * "[SUM]   0.00-1.00   sec  2.09 GBytes  18.0 Gbits/sec    4             sender"
 * "[  5]   0.00-1.00   sec  1.22 MBytes  10.2 Mbits/sec  0.015 ms  0/39 (0%)  receiver" with -u
 * "[  7][RX-C] ..." with --bidir. Bits are counted in thousands, bytes in 1024 (units.c of iperf3).
 */
static int take_total(struct parser *p, struct span line, struct totals *t, bool received)
{
	struct span rest = span_after(line, " sec "), words[9] = {0};
	const char *end = memrchr(line.p, ']', span_len(line));
	struct span key = {line.p, end ? end + 1 : line.p};
	bool sum = span_starts(line, "[SUM]"), udp;
	struct way *way = way_of(t, key, received);
	struct figure rate;
	uint64_t retransmits;
	size_t count = 0;
	double factor;
	int r;

	while (count < ARRAY_SIZE(words) && span_word(&rest, &words[count]))
		count++;
	if (count < 5 || !unit_bits(words[3], 1024, &factor))
		return ctx_fail(p->ctx, -EBADMSG, "iperf3: no rate in its line '%.*s'",
			span_len(line) > 80 ? 80 : (int)span_len(line), line.p);
	r = parser_figure(p, words[2], "rate", factor, &rate);
	if (r == 0)
		r = note_total(p, t, key, received);
	if (r < 0 || !way)
		return r;
	add_figure(way, &rate, sum);
	/* A sender has its retransmits where UDP has the jitter, which only the receiver knows. */
	udp = count > 6 && span_is(words[5], "ms");
	if (udp && received && !sum && way == &t->received)
		return take_lost(p, words[4], words[6], t);
	if (!udp && !t->udp && way == &t->sent && !sum && number_whole(words[4], &retransmits)) {
		t->retransmits += (double)retransmits;
		t->retransmits_seen = true;
	}
	return 0;
}

/* A line that is not of totals: where a run begins, and whose text it is. */
static int take_mark(struct parser *p, struct span line, struct totals *t)
{
	bool *begun = span_starts(line, "Connecting to host ") ? &t->client
		: span_starts(line, "Accepted connection from ") ? &t->server : NULL;

	if (begun && (*begun || t->done))
		return parser_second_run(p, p->at);
	if (begun)
		*begun = true;
	if (span_starts(line, "[ ID]"))
		t->udp = span_find(line, "Datagrams");
	if (span_is(line, "iperf Done."))
		t->done = true;
	if (span_is(line, "Server output:") || span_is(line, "Server JSON output:"))
		t->remote = true;
	if (span_starts(line, "[") && span_find(line, " connected to "))
		t->connections++;
	return 0;
}

static int take_line(struct parser *p, struct span line, struct totals *t)
{
	bool received = span_len(line) > 10 && span_is((struct span){line.end - 8, line.end}, "receiver");
	bool sent = span_len(line) > 10 && span_is((struct span){line.end - 6, line.end}, "sender");

	if (t->remote && !span_is(line, "iperf Done."))
		return 0;
	if (span_starts(line, "[") && span_find(line, " sec ") && (received || sent))
		return take_total(p, line, t, received);
	return take_mark(p, line, t);
}

static bool has_sum(const struct way *way)
{
	return way->stream_count < 2 || way->sum_count;
}

/*
 * A server's text has no mark of its end, but a line of totals for each connection, then their sum.
 */
static int check_end(struct parser *p, const struct totals *t)
{
	unsigned streams = t->sent.stream_count > t->received.stream_count ? t->sent.stream_count
		: t->received.stream_count;

	if (!t->server)
		return t->done ? 0 : parser_cut(p, "line 'iperf Done.'");
	for (size_t i = 0; i < t->line_count; i++)
		streams += span_find(t->lines[i].key, "[TX-S]") && !span_starts(t->lines[i].key, "[SUM]");
	if (streams < t->connections)
		return parser_cut(p, "totals of some of its connections");
	return has_sum(&t->sent) && has_sum(&t->received) ? 0 : parser_cut(p, "line of totals '[SUM]'");
}

#define WITH_JSON "-J, whose figures are exact"

static int put_way(struct parser *p, struct bench_row *row, const char *name, const struct way *way)
{
	return parser_put_figure(p, row, name, way->sum_count ? &way->sum : &way->streams, WITH_JSON);
}

static int put_udp(struct parser *p, const struct totals *t, struct bench_row *row)
{
	int r = 0;

	if (t->udp_streams)
		r = parser_metric(p, row, "jitter", 1000 * t->jitter_ms / t->udp_streams);
	if (r == 0 && t->packets > 0 && t->lossy_streams == t->udp_streams)
		r = parser_metric(p, row, "loss", 100 * t->lost / t->packets);
	return r;
}

static int put_totals(struct parser *p, const struct totals *t)
{
	struct bench_row *row;
	int r;

	if (!t->line_count)
		return parser_failed(p);
	if (!t->received.stream_count && !t->received.sum_count)
		return ctx_fail(p->ctx, -EIO, "iperf3: its text has no line of the receiver; use the text of "
			"the other end");
	row = parser_row(p, 0);
	if (!row)
		return -ENOMEM;
	r = put_way(p, row, "throughput", &t->received);
	if (r == 0 && t->sent.streams.value > 0)
		r = put_way(p, row, "throughput_sent", &t->sent);
	if (r == 0 && t->reverse.stream_count)
		r = put_way(p, row, "throughput_reverse", &t->reverse);
	if (r == 0 && t->retransmits_seen)
		r = parser_metric(p, row, "retransmits", t->retransmits);
	return r < 0 ? r : put_udp(p, t, row);
}

static int parse_text(struct parser *p)
{
	struct span rest = p->text, line;
	struct totals totals = {0};
	int r = 0;

	while (r == 0 && parser_line(p, &rest, &line))
		r = take_line(p, line, &totals);
	if (r == 0 && totals.line_count)
		r = check_end(p, &totals);
	if (r == 0)
		r = put_totals(p, &totals);
	free(totals.lines);
	return r;
}

/* Warnings may precede it. A server's JSON may stand within the text of its client. */
static int parse_iperf3(struct parser *p)
{
	struct span rest = p->text, line;

	while (span_line(&rest, &line))
		if (span_is(line, "Server JSON output:"))
			break;
		else if (span_starts(span_trim(line), "{"))
			return parse_json(p, (struct span){line.p, p->text.end});
	return parse_text(p);
}

static const struct parser_mark iperf3_marks[] = {
	{"^Connecting to host ", NULL},
	{"^iperf 3.", NULL},
	{"\"version\":\t\"iperf 3.", NULL},
	{"\"version\": \"iperf 3.", NULL},
	{"\"version\":\"iperf 3.", NULL},
	{NULL, NULL},
};

static const struct parser_error iperf3_errors[] = {
	{"^iperf3: OUT OF ORDER", true},
	/* An administrator stops a server after its test. */
	{"^iperf3: interrupt - the server has terminated", true},
	{"^iperf3: ", false},
	{NULL, false},
};

const struct parser_kind iperf3_output = {.name = "iperf3", .parse = parse_iperf3,
	.marks = iperf3_marks, .errors = iperf3_errors};
