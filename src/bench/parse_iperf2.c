// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * iperf 2: -y C (a line a stream) and text, with and without -e. The client tells what it sent;
 * of UDP the server's report, where it came, tells what was got. Of a stream the longest interval
 * from 0 counts: with -i there are others before it.
 */
#include <errno.h>
#include <stdio.h>

#include "bench/parser.h"

enum direction { SENT, RECEIVED, REVERSE, DIRECTIONS };

struct stream {
	char id[64];
	enum direction direction;
	double begin, end, rate, retransmits;
	bool sum, retransmits_seen;
};

struct streams {
	struct parser *p;
	struct stream *v;
	size_t count;
	bool udp;
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
	/* The server's report of UDP has its columns of loss filled, and the addresses swapped. */
	s->udp |= count == CSV_UDP;
	found.sum = span_is(f[5], "-1");
	found.direction = count == CSV_UDP && !span_is(f[11], "-1") ? RECEIVED : SENT;
	snprintf(found.id, sizeof(found.id), "%.*s/%.*s", (int)(f[5].end - f[5].p) & 31, f[5].p,
		found.sum ? 0 : (int)(f[2].end - f[2].p) & 15, f[2].p);
	r = take_interval(s->p, f[6], &found);
	if (r == 0)
		r = parser_number(s->p, f[8], "rate", &found.rate);
	return r < 0 ? r : keep_iperf2(s, &found);
}

/* ---- text ---- */

static void take_retransmits(struct span words, struct stream *io)
{
	struct span writes, again;
	uint64_t count;

	if (span_word(&words, &writes) && memchr(writes.p, '/', span_len(writes)) &&
		span_word(&words, &again) && number_whole(again, &count)) {
		io->retransmits = (double)count;
		io->retransmits_seen = true;
	}
}

/* "[  3] 0.0000-1.0076 sec  1.72 GBytes  14.7 Gbits/sec  14121/0          0 ..." */
static int take_text(struct streams *s, struct span line, bool server)
{
	struct stream found = {0};
	struct span rest, id, word, unit;
	const char *close = memchr(line.p, ']', span_len(line)), *sec;
	double factor;
	int r;

	rest = (struct span){close ? close + 1 : line.end, line.end};
	sec = span_find(rest, " sec");
	if (!close || !sec || span_find(rest, "connect"))
		return 0;
	id = span_trim((struct span){line.p + 1, close});
	if (span_starts(id, "FD"))
		return 0; /* both ways added up */
	span_copy(id, found.id, sizeof(found.id));
	found.sum = span_starts(id, "SUM");
	found.direction = *id.p == '*' ? REVERSE : server ? RECEIVED : SENT;
	r = take_interval(s->p, span_trim((struct span){rest.p, sec}), &found);
	rest.p = sec + 4;
	if (r < 0 || !span_word(&rest, &word) || !span_word(&rest, &unit) || !span_word(&rest, &word) ||
		!span_word(&rest, &unit) || !unit_bits(unit, 1024, &factor))
		return r < 0 ? r : ctx_fail(s->p->ctx, -EBADMSG, "iperf: no rate in its line '%.*s'",
			(int)(line.end - line.p > 80 ? 80 : line.end - line.p), line.p);
	r = parser_number(s->p, word, "rate", &found.rate);
	found.rate *= factor;
	take_retransmits(rest, &found);
	return r < 0 ? r : keep_iperf2(s, &found);
}

/* ---- both ---- */

static double total(const struct streams *s, enum direction direction)
{
	double sum = 0, streams = 0;

	for (size_t i = 0; i < s->count; i++)
		if (s->v[i].direction == direction)
			*(s->v[i].sum ? &sum : &streams) += s->v[i].rate;
	return sum > 0 ? sum : streams;
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

/* TCP gives the receiver all that was sent; of UDP that is only what was sent. */
static int put_totals(struct streams *s)
{
	double sent = total(s, SENT), received = total(s, RECEIVED), reverse = total(s, REVERSE);
	struct bench_row *row;
	int r = 0;

	if (sent <= 0 && received <= 0 && reverse <= 0)
		return parser_failed(s->p);
	row = parser_row(s->p, 0);
	if (!row)
		return -ENOMEM;
	if (received > 0 || (sent > 0 && !s->udp))
		r = parser_metric(s->p, row, "throughput", received > 0 ? received : sent);
	if (r == 0 && sent > 0)
		r = parser_metric(s->p, row, "throughput_sent", sent);
	if (r == 0 && reverse > 0)
		r = parser_metric(s->p, row, "throughput_reverse", reverse);
	return r < 0 ? r : put_retransmits(s, row);
}

int parse_iperf2(struct parser *p)
{
	struct streams s = {.p = p, .udp = span_find(p->text, "UDP port")};
	struct span rest = p->text, line;
	bool server = false;
	int r = 0;

	while (r == 0 && span_line(&rest, &line)) {
		line = span_trim(line);
		server |= span_find(line, "Server Report") != NULL;
		if (span_starts(line, "["))
			r = take_text(&s, line, server);
		else
			r = take_csv(&s, line);
	}
	if (r == 0)
		r = put_totals(&s);
	free(s.v);
	return r;
}
