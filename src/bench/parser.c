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

bool parser_line_has(struct span line, const char *text)
{
	return *text == '^' ? span_starts(line, text + 1) : span_find(line, text) != NULL;
}

static bool is_own_error(const struct parser_kind *kind, struct span line)
{
	for (const struct parser_error *e = kind->errors; e && e->text; e++)
		if (parser_line_has(line, e->text))
			return !e->harmless;
	return false;
}

int parser_own_error(struct parser *p)
{
	struct span rest = p->text, line;

	while (parser_line(p, &rest, &line)) {
		size_t len = span_len(line) > 300 ? 300 : span_len(line);
		bool named = span_starts(line, p->tool);

		if (is_own_error(p->kind, line))
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
