// SPDX-License-Identifier: GPL-2.0-or-later
/* Whether a text is the whole output of one run, and how exact its figures are. */
#include "bench/parser.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/reading.h"

/* ---- lines ---- */

bool parser_line(struct parser *p, struct span *io_rest, struct span *ret)
{
	if (!span_line(io_rest, ret)) {
		p->at = NULL; /* what follows is about the whole text */
		return false;
	}
	*ret = span_trim(*ret);
	p->at = ret->p;
	return true;
}

size_t parser_line_number(const struct parser *p, const char *at)
{
	size_t number = 1;

	for (const char *c = p->text.p; c < at; c++)
		number += *c == '\n';
	return number;
}

const char *parser_where(const struct parser *p, char buf[PARSER_WHERE])
{
	buf[0] = '\0';
	if (p->at)
		snprintf(buf, PARSER_WHERE, "line %zu: ", parser_line_number(p, p->at));
	return buf;
}

int parser_second_run(struct parser *p, const char *at)
{
	if (!at)
		return ctx_fail(p->ctx, -EBADMSG, "%s: its output has a second run, or that of the other "
			"end; keep the output of each in a file of its own", p->tool);
	return ctx_fail(p->ctx, -EBADMSG, "%s: line %zu belongs to a second run, or to the other end of "
		"this one; keep the output of each in a file of its own", p->tool, parser_line_number(p, at));
}

int parser_cut(struct parser *p, const char *missing)
{
	if (p->extract && p->extract->ended_well)
		return 0;
	return ctx_fail(p->ctx, -EBADMSG, "%s: its output was cut: it has no %s", p->tool, missing);
}

int parser_check_line(struct parser *p, struct span line)
{
	if (memchr(line.end, '\n', (size_t)(p->text.end - line.end)))
		return 0;
	return ctx_fail(p->ctx, -EBADMSG, "%s: its output ends within a line of figures", p->tool);
}

/* ---- errors beside figures ---- */

/*
 * What a tool prints when its run failed. Some print figures before or after that line: iperf3
 * those of the time before the failure, iperf2 those of data that no server received. "^": at the
 * beginning of a line.
 */
static const struct {
	enum bench_tool tool;
	const char *text;
	bool harmless; /* begins like an error, but is not one */
} own_errors[] = {
	{BENCH_IPERF3, "^iperf3: OUT OF ORDER", true},
	/* An administrator stops a server after its test. */
	{BENCH_IPERF3, "^iperf3: interrupt - the server has terminated", true},
	{BENCH_IPERF3, "^iperf3: ", false},
	{BENCH_IPERF2, "^ERROR: ", false}, /* "expected reverse connect did not occur" */
	{BENCH_IPERF2, "connect failed: ", false},
	{BENCH_IPERF2, "write failed: ", false},
	{BENCH_IPERF2, "read failed: ", false},
	{BENCH_IPERF2, "bind failed: ", false},
	{BENCH_SOCKPERF, "^sockperf: ERROR: ", false},
	{BENCH_NETPERF, "^netperf: ", false},
	{BENCH_NETPERF, "^send_data: ", false},
	{BENCH_NETPERF, "^send_omni: ", false},
	{BENCH_NETPERF, "^recv_response: ", false},
	{BENCH_NETPERF, "data recv error", false},
	{BENCH_PERFTEST, "Completion with error", false},
	{BENCH_PERFTEST, "Failed status ", false},
	{BENCH_PERFTEST, "Failed to complete run_iter", false},
	{BENCH_PERFTEST, "Test exited with Error", false},
	{BENCH_PERFTEST, "Failed to exchange data", false},
	{BENCH_OSU, "mpirun noticed that", false},
	{BENCH_OSU, "prterun noticed that", false},
	{BENCH_OSU, "MPI_ABORT was invoked", false},
	{BENCH_OSU, "BAD TERMINATION", false},
	{BENCH_OSU, "DATA VALIDATION ERROR", false},
};

static bool is_own_error(enum bench_tool tool, struct span line)
{
	for (size_t i = 0; i < ARRAY_SIZE(own_errors); i++) {
		const char *text = own_errors[i].text;

		if (own_errors[i].tool == tool &&
			(*text == '^' ? span_starts(line, text + 1) : span_find(line, text) != NULL))
			return !own_errors[i].harmless;
	}
	return false;
}

int parser_own_error(struct parser *p)
{
	struct span rest = p->text, line;
	enum bench_tool tool;

	if (bench_tool_parse(p->tool, &tool) < 0)
		return 0;
	while (parser_line(p, &rest, &line)) {
		size_t len = span_len(line) > 300 ? 300 : span_len(line);
		bool named = span_starts(line, p->tool);

		if (is_own_error(tool, line))
			return ctx_fail(p->ctx, -EIO, "%s%s%.*s", named ? "" : p->tool, named ? "" : ": ",
				(int)len, line.p);
	}
	return 0;
}

/* ---- figures ---- */

#define VAGUE 0.05

int parser_figure(struct parser *p, struct span text, const char *what, double factor,
	struct figure *ret)
{
	const char *point = span_len(text) ? memchr(text.p, '.', span_len(text)) : NULL;
	int r = parser_number(p, text, what, &ret->value);

	if (!point && span_len(text))
		point = memchr(text.p, ',', span_len(text)); /* of some locales */
	ret->error = factor * 0.5 * pow(10, point ? -(double)(text.end - point - 1) : 0);
	ret->value *= factor;
	return r;
}

bool figure_is_vague(const struct figure *figure)
{
	return figure->value == 0 ? figure->error > 10 : figure->error > VAGUE * fabs(figure->value);
}

int parser_put_figure(struct parser *p, struct bench_row *row, const char *name,
	const struct figure *figure, const char *remedy)
{
	if (!figure_is_vague(figure))
		return parser_metric(p, row, name, figure->value);
	if (remedy)
		return ctx_fail(p->ctx, -EBADMSG, "%s: its %s has so few digits that it can be wrong by more "
			"than 5 %%; use %s", p->tool, name, remedy);
	if (!p->vague)
		log_warn(p->ctx, "%s: a %s is left out, as it has so few digits that it can be wrong by more "
			"than 5 %%", p->tool, name);
	p->vague = true;
	return 0;
}
