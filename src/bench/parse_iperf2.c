// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iperf 2: -y C (a line a stream) and text, with and without -e. The client reports what it sent;
 * for UDP the server's report, if it arrived, has what was received. For each stream the longest
 * interval from 0 counts: with -i there are shorter ones before it.
 *
 * With -d and -r the client is a server as well: streams that it accepts run in the other
 * direction, and the sum contains both.
 */
#include <errno.h>
#include <limits.h>
#include <stdio.h>

#include "bench/parser.h"

/* DISORDER: a count of packets instead of a rate, of those RECEIVED or of the REVERSE direction. */
enum direction { SENT, RECEIVED, REVERSE, DISORDER, DISORDER_REVERSE };

struct stream {
	char id[64];
	enum direction direction;
	double begin, end, rate, error, retransmits; /* error: of the rate, by rounding */
	double jitter_ms, lost, packets; /* of UDP */
	bool sum, retransmits_seen;
	unsigned from_zero; /* lines whose interval begins at 0 */
	bool split, whole;  /* there are lines of later intervals; then one of the whole time */
	struct span from, from_port, to, to_port; /* CSV */
};

/* A connection, in text: its id, and whether the client accepted it. */
struct connection {
	struct span id;
	bool accepted, reverse, both;
};

struct streams {
	struct parser *p;
	struct stream *v;
	size_t count;
	struct connection *connections;
	size_t connection_count;
	struct span client_port, server_port; /* to which the client connects, at which it listens; text */
	bool udp, csv, dual, named; /* dual: a sum contains both directions; named: CSV with names */
	unsigned sent_lines, reports; /* "Sent 893 datagrams", "Server Report:" */
};

static bool is_count(const struct stream *stream)
{
	return stream->direction == DISORDER || stream->direction == DISORDER_REVERSE;
}

/*
 * With -i a stream has a line for each interval and then one from 0 to the end. If the time is one
 * interval, both begin at 0; a text without the lines that begin a run is not known to have -i.
 */
static bool is_next_line(const struct streams *s, struct stream *had, const struct stream *found)
{
	bool begun = s->csv || s->client_port.p || s->server_port.p;

	if (had->whole)
		return false;
	if (found->begin > 0)
		had->split = true;
	else if (had->split)
		had->whole = true;
	else
		had->from_zero++;
	return had->from_zero <= (begun ? 2 : 1);
}

/* The line with the longest time of a stream counts. */
static int merge_iperf2(struct streams *s, struct stream *had, const struct stream *found)
{
	struct stream old;

	if (!is_count(found) && !is_next_line(s, had, found))
		return parser_second_run(s->p, s->p->at);
	if (found->end - found->begin < had->end - had->begin)
		return 0;
	old = *had;
	*had = *found;
	had->from_zero = old.from_zero;
	had->split = old.split;
	had->whole = old.whole;
	return 0;
}

static int keep_iperf2(struct streams *s, const struct stream *found)
{
	size_t i = 0;

	while (i < s->count && (!str_eq(s->v[i].id, found->id) || s->v[i].direction != found->direction))
		i++;
	if (i < s->count)
		return merge_iperf2(s, &s->v[i], found);
	if (!array_grow(s->v, i))
		return ctx_oom(s->p->ctx);
	s->v[s->count] = *found;
	s->v[s->count].from_zero = found->begin <= 0;
	s->v[s->count++].split = found->begin > 0;
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

static bool same_text(struct span a, struct span b)
{
	return span_len(a) == span_len(b) && memcmp(a.p, b.p, span_len(a)) == 0;
}

/* An id of CSV is "NUMBER/PORT". */
static bool same_number(const char *a, const char *b)
{
	size_t len = strcspn(a, "/");

	return len == strcspn(b, "/") && strncmp(a, b, len) == 0;
}

/*
 * A number is given to one stream in a run: with another port of the same end it is of a second
 * run.
 */
static bool is_reconnected(const struct streams *s, const struct stream *found)
{
	for (size_t i = 0; i < s->count && !found->sum; i++) {
		const struct stream *v = &s->v[i];

		if (!v->sum && v->direction == found->direction && same_number(v->id, found->id) &&
			same_text(v->from, found->from) && same_text(v->to, found->to) &&
			same_text(v->to_port, found->to_port) && !same_text(v->from_port, found->from_port))
			return true;
	}
	return false;
}

static int take_csv(struct streams *s, struct span line)
{
	struct stream found = {0};
	struct span f[CSV_UDP];
	size_t count;
	int r;

	s->named |= span_starts(line, "time,srcaddress,");
	if (!is_csv(line, f, &count))
		return 0;
	if (s->named && span_is(f[5], "-1"))
		return 0; /* 2.2, --full-duplex: a sum of both directions in other columns */
	r = parser_check_line(s->p, line);
	if (r < 0)
		return r;
	s->csv = true;
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
	if (r == 0 && is_reconnected(s, &found))
		r = parser_second_run(s->p, s->p->at);
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
 * Version 2.1 writes the sender first and, with --full-duplex, a target without a port; version 2.0
 * writes the client first. The server's report for UDP comes from the client's target.
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
static int take_ports(struct streams *s)
{
	struct span rest = s->p->text, line, word;

	while (parser_line(s->p, &rest, &line)) {
		struct span port = span_after(line, " port ");
		struct span *to = span_starts(line, "Client connecting to") ? &s->client_port
			: span_starts(line, "Server listening on") ? &s->server_port : NULL;

		if (!to || !span_word(&port, &word))
			continue;
		if (to->p)
			return parser_second_run(s->p, s->p->at);
		*to = word;
	}
	return 0;
}

/* "[  2] local 10.0.0.1 port 5001 connected with 10.0.0.2 port 59410" */
static int take_connection(struct streams *s, struct span id, struct span rest)
{
	struct span near = span_after(rest, " port "), far = span_after(near, " port "), word;
	struct connection *c;

	/*
	 * A server accepts all connections of a run before it reports; a client's -r is not a
	 * second run.
	 */
	if (!s->client_port.p && s->count)
		return parser_second_run(s->p, s->p->at);
	if (!array_grow(s->connections, s->connection_count))
		return ctx_oom(s->p->ctx);
	c = &s->connections[s->connection_count++];
	*c = (struct connection){.id = id, .reverse = span_find(rest, "(reverse)"),
		.both = span_find(rest, "(full-duplex)")};
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

	if (!span_word(&rest, &word) || number_read(word, &io->jitter_ms) < 0 ||
		!span_word(&rest, &word) ||
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
	struct figure rate;
	double factor;
	int r;

	if (!close)
		return 0;
	rest = (struct span){close + 1, line.end};
	id = span_trim((struct span){line.p + 1, close});
	s->sent_lines += span_starts(rest, " Sent ") && !span_starts(id, "SUM");
	if (span_find(rest, " connected "))
		return take_connection(s, id, rest);
	sec = span_find(rest, " sec");
	if (!sec || span_find(rest, "connect") || span_starts(id, "FD")) /* FD: sum of both directions */
		return 0;
	span_copy(id, found.id, sizeof(found.id));
	found.sum = span_starts(id, "SUM");
	s->dual |= *id.p == '*';
	found.direction = *id.p == '*' || was_accepted(s, id) ? REVERSE : server ? RECEIVED : SENT;
	r = take_interval(s->p, span_trim((struct span){rest.p, sec}), &found);
	rest.p = sec + 4;
	if (r == 0 && span_find(rest, "out-of-order"))
		return take_disorder(s, &found, rest);
	if (r < 0 || !span_word(&rest, &word) || !span_word(&rest, &unit) || !span_word(&rest, &word) ||
		!span_word(&rest, &unit) || !unit_bits(unit, 1024, &factor))
		return r < 0 ? r : ctx_fail(s->p->ctx, -EBADMSG, "iperf: no rate in its line '%.*s'",
			(int)(line.end - line.p > 80 ? 80 : line.end - line.p), line.p);
	r = parser_figure(s->p, word, "rate", factor, &rate);
	if (r == 0)
		r = parser_check_line(s->p, line);
	if (r < 0)
		return r;
	found.rate = rate.value;
	found.error = rate.error;
	if (s->udp)
		take_loss(rest, &found);
	else
		take_retransmits(rest, &found);
	return keep_iperf2(s, &found);
}

/* ---- CSV and text ---- */

static struct figure total(const struct streams *s, enum direction direction)
{
	struct figure sum = {0}, streams = {0};

	for (size_t i = 0; i < s->count; i++)
		if (s->v[i].direction == direction) {
			struct figure *to = s->v[i].sum ? &sum : &streams;

			to->value += s->v[i].rate;
			to->error += s->v[i].error;
		}
	return sum.value > 0 && !s->dual ? sum : streams;
}

/* The UDP results of the receiver, for all streams together: jitter is their mean, as in iperf3. */
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

#define WITH_CSV "-y C, whose figures are exact"

static int put_rate(struct streams *s, struct bench_row *row, const char *name,
	struct figure figure)
{
	return figure.error > 0 ? parser_put_figure(s->p, row, name, &figure, WITH_CSV)
		: parser_metric(s->p, row, name, figure.value);
}

static bool has_direction(const struct streams *s, enum direction direction)
{
	for (size_t i = 0; i < s->count; i++)
		if (s->v[i].direction == direction && !(s->v[i].sum && s->dual))
			return true;
	return false;
}

/* With TCP the receiver gets everything that was sent; with UDP not necessarily. */
static int put_totals(struct streams *s)
{
	struct figure sent = total(s, SENT), received = total(s, RECEIVED), reverse = total(s, REVERSE);
	bool got = has_direction(s, RECEIVED), only_reverse = !got && !has_direction(s, SENT);
	struct bench_row *row;
	int r = 0;

	if (!s->count)
		return parser_failed(s->p);
	row = parser_row(s->p, 0);
	if (!row)
		return -ENOMEM;
	if (only_reverse) /* -R */
		r = put_rate(s, row, "throughput", reverse);
	else if (got || !s->udp)
		r = put_rate(s, row, "throughput", got ? received : sent);
	if (r == 0 && has_direction(s, SENT))
		r = put_rate(s, row, "throughput_sent", sent);
	if (r == 0 && !only_reverse && has_direction(s, REVERSE))
		r = put_rate(s, row, "throughput_reverse", reverse);
	if (r == 0 && s->udp)
		r = put_loss(s, only_reverse ? REVERSE : RECEIVED, row);
	return r < 0 ? r : put_retransmits(s, row);
}

/* ---- the end of an output ---- */

static bool has_stream(const struct streams *s, struct span id, bool reverse)
{
	for (size_t i = 0; i < s->count; i++) {
		struct span at = span_of(s->v[i].id);

		if (s->v[i].begin > 0 || (*at.p == '*') != reverse)
			continue;
		at.p += reverse;
		if (same_text(at, id))
			return true;
	}
	return false;
}

/*
 * Each connection has a total, and several have a sum; a sender over UDP counts its datagrams last.
 */
static int check_connections(struct streams *s)
{
	unsigned own = 0, senders = 0, sums = 0;

	for (size_t i = 0; i < s->count; i++)
		sums += s->v[i].sum;
	for (size_t i = 0; i < s->connection_count; i++) {
		const struct connection *c = &s->connections[i];

		own += !c->accepted;
		senders += !c->accepted && !c->reverse;
		if ((!c->reverse && !has_stream(s, c->id, false)) ||
			((c->reverse || c->both) && !has_stream(s, c->id, true)))
			return parser_cut(s->p, "total of some of its connections");
	}
	if (own > 1 && !sums)
		return parser_cut(s->p, "line '[SUM]'");
	return s->udp && s->client_port.p && s->sent_lines < senders
		? parser_cut(s->p, "line 'Sent ... datagrams'") : 0;
}

/* The streams of a run are numbered without gaps, from 1 or, by version 2.0, from 3 on. */
static int check_numbers(struct streams *s)
{
	unsigned long least = ULONG_MAX, most = 0, count = 0;

	for (size_t i = 0; i < s->count; i++) {
		unsigned long number = strtoul(s->v[i].id, NULL, 10);
		bool seen = s->v[i].sum || is_count(&s->v[i]);

		for (size_t k = 0; k < i; k++)
			seen |= same_number(s->v[k].id, s->v[i].id);
		least = !s->v[i].sum && number < least ? number : least;
		most = !s->v[i].sum && number > most ? number : most;
		count += !seen;
	}
	if (count && (least == 2 || most - least >= count))
		return parser_cut(s->p, "line of some of its streams");
	return 0;
}

/*
 * The server reports each stream of UDP: without the report of one, the others are not the whole.
 */
static int check_end(struct streams *s)
{
	unsigned sent = 0, received = 0;

	for (size_t i = 0; i < s->count; i++) {
		const struct stream *v = &s->v[i];

		sent += v->direction == SENT && !v->sum;
		received += v->direction == RECEIVED && !v->sum;
		if (!is_count(v) && v->split && !v->whole)
			return parser_cut(s->p, "total below its intervals");
	}
	if (s->reports > received || (received && received < sent))
		return parser_cut(s->p, "report of the server on some of its streams");
	return s->csv ? check_numbers(s) : check_connections(s);
}

static int parse_iperf2(struct parser *p)
{
	struct streams s = {.p = p, .udp = span_find(p->text, "UDP port")};
	struct span rest = p->text, line;
	int r = take_ports(&s);

	while (r == 0 && parser_line(p, &rest, &line)) {
		s.reports += span_find(line, "Server Report") != NULL;
		if (span_starts(line, "["))
			r = take_text(&s, line, s.reports || (s.server_port.p && !s.client_port.p));
		else
			r = take_csv(&s, line);
	}
	if (r == 0)
		r = check_end(&s);
	find_reverse(&s);
	if (r == 0)
		r = put_totals(&s);
	free(s.v);
	free(s.connections);
	return r;
}

static const struct parser_mark iperf2_marks[] = {
	{"^Client connecting to ", NULL},
	{"^Server listening on TCP port ", NULL},
	{"^Server listening on UDP port ", NULL},
	{NULL, NULL},
};

static const struct parser_error iperf2_errors[] = {
	{"^ERROR: ", false}, /* "expected reverse connect did not occur" */
	{"connect failed: ", false},
	{"write failed: ", false},
	{"read failed: ", false},
	{"bind failed: ", false},
	{NULL, false},
};

const struct parser_kind iperf2_output = {.name = "iperf", .parse = parse_iperf2,
	.programs = {"iperf2"}, .marks = iperf2_marks, .errors = iperf2_errors};
