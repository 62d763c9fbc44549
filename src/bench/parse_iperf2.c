// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iperf 2: -y C (a line a stream) and text, with and without -e. The client reports what it sent;
 * for UDP the server's report, if it arrived, has what was received. For each stream the longest
 * interval from 0 counts: with -i there are shorter ones before it.
 *
 * With -d and -r the client is a server as well: streams that it accepts run in the other direction, and the
 * sum contains both.
 */
#include <errno.h>
#include <stdio.h>

#include "bench/parser.h"

/* DISORDER: a count of packets instead of a rate, of those RECEIVED or of the REVERSE direction. */
enum direction { SENT, RECEIVED, REVERSE, DISORDER, DISORDER_REVERSE };

struct stream {
	char id[64];
	enum direction direction;
	double begin, end, rate, retransmits;
	double jitter_ms, lost, packets; /* of UDP */
	bool sum, retransmits_seen;
	struct span from, from_port, to, to_port; /* CSV */
};

/* A connection, in text: its id, and whether the client accepted it. */
struct connection {
	struct span id;
	bool accepted;
};

struct streams {
	struct parser *p;
	struct stream *v;
	size_t count;
	struct connection *connections;
	size_t connection_count;
	struct span client_port, server_port; /* to which the client connects, at which it listens; text */
	bool udp, dual; /* dual: a sum contains both directions */
};

static int keep_iperf2(struct streams *s, const struct stream *found)
{
	size_t i = 0;

	while (i < s->count && (!str_eq(s->v[i].id, found->id) || s->v[i].direction != found->direction))
		i++;
	if (i == s->count) {
		if (!array_grow(s->v, i))
			return ctx_oom(s->p->ctx);
		s->v[s->count++] = *found;
	} else if (found->end - found->begin >= s->v[i].end - s->v[i].begin) {
		s->v[i] = *found;
	}
	return 0;
}

/* "0.0000-1.0076", "0.0- 5.0" */
static int take_interval(struct parser *p, struct span text, struct stream *io)
{
	struct span begin;
	int r;

	span_field(&text, '-', &begin);
	r = parser_number(p, begin, "interval", &io->begin);
	return r < 0 ? r : parser_number(p, span_trim(text), "interval", &io->end);
}

/* ---- CSV: time, address, port, address, port, id, interval, bytes, bit/s[, of UDP ...] ---- */

#define CSV_TCP 9
#define CSV_UDP 14

static bool is_csv(struct span line, struct span fields[CSV_UDP], size_t *ret_count)
{
	uint64_t time;
	size_t count = 0;

	while (count < CSV_UDP && span_field(&line, ',', &fields[count]))
		count++;
	*ret_count = count;
	if (count < CSV_TCP || span_len(fields[0]) < 14)
		return false;
	fields[0].end = fields[0].p + 14;
	return number_whole(fields[0], &time);
}

static int take_csv(struct streams *s, struct span line)
{
	struct stream found = {0};
	struct span f[CSV_UDP];
	size_t count;
	int r;

	if (!is_csv(line, f, &count))
		return 0;
	/* The server's report for UDP has values in the columns of loss, and swapped addresses. */
	s->udp |= count == CSV_UDP;
	found.sum = span_is(f[5], "-1");
	found.from = f[1], found.from_port = f[2], found.to = f[3], found.to_port = f[4];
	found.direction = count == CSV_UDP && !span_is(f[11], "-1") ? RECEIVED : SENT;
	snprintf(found.id, sizeof(found.id), "%.*s/%.*s", (int)(f[5].end - f[5].p) & 31, f[5].p,
		found.sum ? 0 : (int)(f[2].end - f[2].p) & 15, f[2].p);
	r = take_interval(s->p, f[6], &found);
	if (r == 0)
		r = parser_number(s->p, f[8], "rate", &found.rate);
	if (r < 0)
		return r;
	if (found.direction == RECEIVED && (number_read(f[9], &found.jitter_ms) < 0 ||
			number_read(f[10], &found.lost) < 0 || number_read(f[11], &found.packets) < 0))
		found.packets = 0;
	r = keep_iperf2(s, &found);
	if (r == 0 && found.direction == RECEIVED && number_read(f[13], &found.rate) == 0) {
		found.direction = DISORDER;
		r = keep_iperf2(s, &found);
	}
	return r;
}

static bool same_text(struct span a, struct span b)
{
	return span_len(a) == span_len(b) && memcmp(a.p, b.p, span_len(a)) == 0;
}

/* The client's own first stream; NULL if the lines are not CSV. */
static const struct stream *first_stream(const struct streams *s)
{
	const struct stream *first = NULL;

	for (size_t i = 0; i < s->count; i++) {
		const struct stream *v = &s->v[i];

		if (v->direction == SENT && v->to.p && !v->sum && !span_is(v->to_port, "0") &&
			(!first || strtoul(v->id, NULL, 10) < strtoul(first->id, NULL, 10)))
			first = v;
	}
	return first;
}

/*
 * Version 2.1 writes the sender first and, with --full-duplex, a target without a port; version 2.0 writes
 * the client first. The server's report for UDP comes from the client's target.
 */
static void find_reverse(struct streams *s)
{
	const struct stream *first = first_stream(s);

	for (size_t i = 0; first && i < s->count; i++) {
		struct stream *v = &s->v[i];
		bool answers = same_text(v->from_port, first->to_port);
		bool report = v->direction != SENT && same_text(v->from, first->to) && answers;

		if (v != first && !v->sum && !report &&
			(span_is(v->to_port, "0") || !same_text(v->to, first->to) ||
				(answers && !same_text(v->to_port, first->to_port))))
			v->direction = v->direction == DISORDER ? DISORDER_REVERSE : REVERSE;
		s->dual |= v->direction == REVERSE;
	}
}

/* ---- text ---- */

/* "Client connecting to 10.0.0.2, TCP port 5001", "Server listening on UDP port 5001 with pid 7" */
static void take_ports(struct streams *s)
{
	struct span rest = s->p->text, line, word;

	while (span_line(&rest, &line)) {
		struct span port = span_after(line, " port ");

		if (!span_word(&port, &word))
			continue;
		if (span_starts(line, "Client connecting to"))
			s->client_port = word;
		else if (span_starts(line, "Server listening on"))
			s->server_port = word;
	}
}

/* "[  2] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 59410" */
static int take_connection(struct streams *s, struct span id, struct span rest)
{
	struct span near = span_after(rest, " port "), far = span_after(near, " port "), word;
	struct connection *c;

	if (!array_grow(s->connections, s->connection_count))
		return ctx_oom(s->p->ctx);
	c = &s->connections[s->connection_count++];
	*c = (struct connection){.id = id};
	if (s->client_port.p && s->server_port.p && span_word(&near, &word) &&
		same_text(word, s->server_port))
		c->accepted = span_word(&far, &word) && !same_text(word, s->client_port);
	s->dual |= c->accepted;
	return 0;
}

/* The latest connection of this id counts: ids are given again. */
static bool was_accepted(const struct streams *s, struct span id)
{
	size_t i = s->connection_count;

	while (i-- > 0)
		if (same_text(s->connections[i].id, id))
			return s->connections[i].accepted;
	return false;
}

/* "0.011 ms 1800/44582 (4%)", "0.011 ms    0/  893 (0%)" */
static void take_loss(struct span rest, struct stream *io)
{
	struct span word, lost, total;

	if (!span_word(&rest, &word) || number_read(word, &io->jitter_ms) < 0 || !span_word(&rest, &word) ||
		!span_is(word, "ms") || !span_field(&rest, '/', &lost) || !span_word(&rest, &total) ||
		number_read(span_trim(lost), &io->lost) < 0 || number_read(total, &io->packets) < 0)
		io->packets = 0;
}

static void take_retransmits(struct span message, struct stream *io)
{
	struct span writes, again;
	uint64_t count;

	if (span_word(&message, &writes) && memchr(writes.p, '/', span_len(writes)) &&
		span_word(&message, &again) && number_whole(again, &count)) {
		io->retransmits = (double)count;
		io->retransmits_seen = true;
	}
}

/* "1 datagrams received out-of-order", after the interval */
static int take_disorder(struct streams *s, struct stream *found, struct span rest)
{
	struct span word;

	if (found->direction == SENT || !span_word(&rest, &word) || number_read(word, &found->rate) < 0)
		return 0;
	found->direction = found->direction == REVERSE ? DISORDER_REVERSE : DISORDER;
	return keep_iperf2(s, found);
}

/* "[  3] 0.0000-1.0076 sec  1.72 GBytes  14.7 Gbits/sec  14121/0          0 ..." */
static int take_text(struct streams *s, struct span line, bool server)
{
	struct stream found = {0};
	struct span rest, id, word, unit;
	const char *close = memchr(line.p, ']', span_len(line)), *sec;
	double factor;
	int r;

	if (!close)
		return 0;
	rest = (struct span){close + 1, line.end};
	id = span_trim((struct span){line.p + 1, close});
	if (span_find(rest, " connected "))
		return take_connection(s, id, rest);
	sec = span_find(rest, " sec");
	if (!sec || span_find(rest, "connect") || span_starts(id, "FD")) /* FD: sum of both directions */
		return 0;
	span_copy(id, found.id, sizeof(found.id));
	found.sum = span_starts(id, "SUM");
	found.direction = *id.p == '*' || was_accepted(s, id) ? REVERSE : server ? RECEIVED : SENT;
	r = take_interval(s->p, span_trim((struct span){rest.p, sec}), &found);
	rest.p = sec + 4;
	if (r == 0 && span_find(rest, "out-of-order"))
		return take_disorder(s, &found, rest);
	if (r < 0 || !span_word(&rest, &word) || !span_word(&rest, &unit) || !span_word(&rest, &word) ||
		!span_word(&rest, &unit) || !unit_bits(unit, 1024, &factor))
		return r < 0 ? r : ctx_fail(s->p->ctx, -EBADMSG, "iperf: no rate in its line '%.*s'",
			(int)(line.end - line.p > 80 ? 80 : line.end - line.p), line.p);
	r = parser_number(s->p, word, "rate", &found.rate);
	found.rate *= factor;
	if (s->udp)
		take_loss(rest, &found);
	else
		take_retransmits(rest, &found);
	return r < 0 ? r : keep_iperf2(s, &found);
}

/* ---- CSV and text ---- */

static double total(const struct streams *s, enum direction direction)
{
	double sum = 0, streams = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->v[i].direction == direction)
			*(s->v[i].sum ? &sum : &streams) += s->v[i].rate;
	return sum > 0 && !s->dual ? sum : streams;
}

/* What the receiver says of UDP, of all streams: the mean of their jitter, as iperf3 does. */
static int put_loss(struct streams *s, enum direction direction, struct bench_row *row)
{
	const enum direction counted_as = direction == REVERSE ? DISORDER_REVERSE : DISORDER;
	double jitter_ms = 0, lost = 0, packets = 0, disorder = 0;
	unsigned streams = 0;
	bool counted = false;
	int r = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct stream *v = &s->v[i];

		counted |= v->direction == counted_as;
		disorder += v->direction == counted_as ? v->rate : 0;
		if (v->direction != direction || v->sum || v->packets <= 0)
			continue;
		jitter_ms += v->jitter_ms;
		lost += v->lost;
		packets += v->packets;
		streams++;
	}
	if (streams)
		r = parser_metric(s->p, row, "jitter", 1000 * jitter_ms / streams);
	if (r == 0 && streams)
		r = parser_metric(s->p, row, "loss", 100 * lost / packets);
	return r == 0 && counted ? parser_metric(s->p, row, "out_of_order", disorder) : r;
}

static int put_retransmits(struct streams *s, struct bench_row *row)
{
	bool seen = false;
	double count = 0;

	for (size_t i = 0; i < s->count; i++) {
		if (s->v[i].sum || s->v[i].direction != SENT)
			continue;
		seen |= s->v[i].retransmits_seen;
		count += s->v[i].retransmits;
	}
	return seen && !s->udp ? parser_metric(s->p, row, "retransmits", count) : 0;
}

/* With TCP the receiver gets everything that was sent; with UDP not necessarily. */
static int put_totals(struct streams *s)
{
	double sent = total(s, SENT), received = total(s, RECEIVED), reverse = total(s, REVERSE);
	bool only_reverse = sent <= 0 && received <= 0;
	struct bench_row *row;
	int r = 0;

	if (only_reverse && reverse <= 0)
		return parser_failed(s->p);
	row = parser_row(s->p, 0);
	if (!row)
		return -ENOMEM;
	if (only_reverse) /* -R */
		r = parser_metric(s->p, row, "throughput", reverse);
	else if (received > 0 || !s->udp)
		r = parser_metric(s->p, row, "throughput", received > 0 ? received : sent);
	if (r == 0 && sent > 0)
		r = parser_metric(s->p, row, "throughput_sent", sent);
	if (r == 0 && !only_reverse && reverse > 0)
		r = parser_metric(s->p, row, "throughput_reverse", reverse);
	if (r == 0 && s->udp)
		r = put_loss(s, only_reverse ? REVERSE : RECEIVED, row);
	return r < 0 ? r : put_retransmits(s, row);
}

int parse_iperf2(struct parser *p)
{
	struct streams s = {.p = p, .udp = span_find(p->text, "UDP port")};
	struct span rest = p->text, line;
	bool server = false;
	int r = 0;

	take_ports(&s);
	while (r == 0 && span_line(&rest, &line)) {
		line = span_trim(line);
		server |= span_find(line, "Server Report") != NULL;
		if (span_starts(line, "["))
			r = take_text(&s, line, server);
		else
			r = take_csv(&s, line);
	}
	find_reverse(&s);
	if (r == 0)
		r = put_totals(&s);
	free(s.v);
	free(s.connections);
	return r;
}
