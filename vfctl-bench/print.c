// SPDX-License-Identifier: GPL-2.0-or-later
/* A report on the terminal and as JSON. */
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define CONFIGURATIONS_MAX 32 /* columns of a matrix; the printer takes 40 */

/* "SIZE THREADS": what the first column tells. */
static void heading_of(const struct vfctl_bench_report *r, size_t first, char *text, size_t size)
{
	const struct vfctl_bench_cell *cell = &r->cells[first];
	bool sizes = true, threads = true;

	for (size_t i = first; i < r->cell_count; i++) {
		char number[24];

		if (strcmp(r->cells[i].test, cell->test) != 0)
			continue;
		snprintf(number, sizeof(number), "%llu", (unsigned long long)r->cells[i].size);
		sizes &= strcmp(number, r->cells[i].varies) == 0;
		snprintf(number, sizeof(number), "%llu", (unsigned long long)r->cells[i].threads);
		threads &= strcmp(number, r->cells[i].varies) == 0;
	}
	snprintf(text, size, "%s", sizes ? "BYTES" : threads ? "THREADS" : "CELL");
}

static void print_heading(struct out *out, const struct vfctl_bench_cell *cell)
{
	out_line(out, "%s", "");
	out_line(out, "%s%s%s%s: %s, %s is better", cell->test, cell->tool ? " (" : "",
		cell->tool ? cell->tool : "", cell->tool ? ")" : "", cell->goal,
		cell->higher_is_better ? "higher" : "lower");
}

static const char *interval_text(const struct vfctl_bench_cell *cell,
	const struct vfctl_bench_summary *s, char text[3 * VFCTL_BENCH_TEXT])
{
	char low[VFCTL_BENCH_TEXT], high[VFCTL_BENCH_TEXT], *unit;

	if (s->trials < 2)
		return "-";
	vfctl_bench_value(s->low, cell->unit, s->median, low);
	vfctl_bench_value(s->high, cell->unit, s->median, high);
	unit = strchr(low, ' ');
	if (unit)
		*unit = '\0';
	unit = strchr(high, ' ');
	if (unit)
		*unit = '\0';
	snprintf(text, 3 * VFCTL_BENCH_TEXT, "%s to %s", low, high);
	return text;
}

static const char *verdict_text(const struct vfctl_bench_report *r,
	const struct vfctl_bench_column *c)
{
	const struct vfctl_bench_difference *d = &c->difference;

	if (c->configuration == r->baseline)
		return "baseline";
	if (!c->goal.trials)
		return "failed";
	if (d->trials_needed)
		return "too few trials";
	return vfctl_bench_verdict_name(d->verdict);
}

static void summary_row(struct out *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	char a[VFCTL_BENCH_TEXT], b[3 * VFCTL_BENCH_TEXT];

	if (!c->goal.trials && !c->failed)
		return; /* not measured yet */
	out_cell(out, "%s", cell->varies);
	out_cell(out, "%s", r->configurations[c->configuration].name);
	out_cell(out, "%zu", c->goal.trials);
	if (c->goal.trials)
		out_cell(out, "%s%s", vfctl_bench_value(c->goal.median, cell->unit, c->goal.median, a),
			c->best ? " *" : "");
	else
		out_cell(out, "%s", "");
	out_cell(out, "%s", interval_text(cell, &c->goal, b));
	out_cell(out, "%s", vfctl_bench_relative(c->difference.relative, a));
	out_cell(out, "%s", vfctl_bench_p(c->difference.p_adjusted, a));
	out_cell(out, "%s", verdict_text(r, c));
}

static void print_summary(struct out *out, const struct vfctl_bench_report *r, size_t first)
{
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS, OUT_STAYS, OUT_STAYS, 1, OUT_STAYS,
		OUT_STAYS, OUT_WRAPS_SOON};
	char heading[16], percent[16];
	const char *headings[] = {heading, "CONFIGURATION", "TRIALS", "MEDIAN", percent, "CHANGE", "P",
		"VERDICT"};

	heading_of(r, first, heading, sizeof(heading));
	snprintf(percent, sizeof(percent), "%g %%", 100 * (1 - r->alpha));
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = first; i < r->cell_count; i++)
		for (size_t k = 0; strcmp(r->cells[i].test, r->cells[first].test) == 0 &&
			k < r->configuration_count; k++)
			summary_row(out, r, &r->cells[i], &r->cells[i].columns[k]);
	out_table_end(out);
}

static void print_matrix(struct out *out, const struct vfctl_bench_report *r, size_t first)
{
	size_t columns = r->configuration_count < CONFIGURATIONS_MAX ? r->configuration_count
		: CONFIGURATIONS_MAX;
	const char *headings[CONFIGURATIONS_MAX + 1];
	char heading[16], text[VFCTL_BENCH_TEXT];

	heading_of(r, first, heading, sizeof(heading));
	headings[0] = heading;
	for (size_t k = 0; k < columns; k++)
		headings[k + 1] = r->configurations[k].name;
	out_table(out, 0, headings, columns + 1);
	for (size_t i = first; i < r->cell_count; i++) {
		const struct vfctl_bench_cell *cell = &r->cells[i];

		if (strcmp(cell->test, r->cells[first].test) != 0)
			continue;
		out_cell(out, "%s", cell->varies);
		for (size_t k = 0; k < columns; k++) {
			const struct vfctl_bench_column *c = &cell->columns[k];

			out_cell(out, "%s%s", c->goal.trials ? vfctl_bench_value(c->goal.median, cell->unit,
				c->goal.median, text) : "", c->best ? " *" : "");
		}
	}
	out_table_end(out);
}

static void tail_row(struct out *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	static const char *const names[] = {"p50", "p99", "p99_9", "max"};
	const struct vfctl_bench_summary *max = bench_summary_of(c, "max");
	char text[VFCTL_BENCH_TEXT];

	out_cell(out, "%s", cell->varies);
	out_cell(out, "%s", r->configurations[c->configuration].name);
	out_cell(out, "%zu", c->goal.trials);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct vfctl_bench_summary *s = bench_summary_of(c, names[i]);

		out_cell(out, "%s", s ? vfctl_bench_value(s->median, s->unit, s->median, text) : "");
	}
	out_cell(out, "%s", max ? vfctl_bench_value(max->max, "us", 1, text) : "");
}

static void print_tail(struct out *out, const struct vfctl_bench_report *r, size_t first)
{
	char heading[16];
	const char *headings[] = {heading, "CONFIGURATION", "TRIALS", "P50", "P99", "P99.9", "MAX",
		"WORST MAX"};

	heading_of(r, first, heading, sizeof(heading));
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = first; i < r->cell_count; i++)
		for (size_t k = 0; strcmp(r->cells[i].test, r->cells[first].test) == 0 &&
			k < r->configuration_count; k++)
			tail_row(out, r, &r->cells[i], &r->cells[i].columns[k]);
	out_table_end(out);
}

static void print_test(struct out *out, const struct vfctl_bench_report *r, size_t first,
	const char *shape)
{
	print_heading(out, &r->cells[first]);
	if (shape && strcmp(shape, "matrix") == 0)
		print_matrix(out, r, first);
	else if (shape && strcmp(shape, "tail") == 0)
		print_tail(out, r, first);
	else
		print_summary(out, r, first);
}

void bench_print(struct out *out, const struct vfctl_bench_report *r, const char *shape)
{
	for (size_t i = 0; i < r->advice_count; i++)
		out_fold(out, 2, "%s", r->advice[i]);
	if (r->emulated)
		out_fold(out, 2, "Measured on emulated hardware: which is better counts, how fast does not.");
	for (size_t i = 0; i < r->cell_count; i++)
		if (bench_first_of_test(r, i))
			print_test(out, r, i, shape);
	if (r->note_count)
		out_line(out, "%s", "");
	for (size_t i = 0; i < r->note_count; i++)
		out_fold(out, 2, "%s", r->notes[i]);
}

/* ---- JSON ---- */

static void put_summary(struct out *out, const char *key, const struct vfctl_bench_summary *s)
{
	if (!s->trials) {
		out_null(out, key);
		return;
	}
	out_open(out, key, '{');
	out_str(out, "metric", s->metric);
	out_str(out, "unit", s->unit);
	out_bool(out, "from_samples", s->from_samples);
	out_int(out, "trials", (int64_t)s->trials);
	out_real(out, "median", s->median);
	out_real(out, "low", s->low);
	out_real(out, "high", s->high);
	out_real(out, "mean", s->mean);
	out_real(out, "stdev", s->stdev);
	out_real(out, "min", s->min);
	out_real(out, "p90", s->p90);
	out_real(out, "p95", s->p95);
	out_real(out, "p99", s->p99);
	out_real(out, "p99_9", s->p99_9);
	out_real(out, "max", s->max);
	out_shut(out);
}

static void put_difference(struct out *out, const struct vfctl_bench_difference *d)
{
	if (d->verdict == VFCTL_BENCH_NOT_COMPARED) {
		out_null(out, "difference");
		return;
	}
	out_open(out, "difference", '{');
	out_str(out, "verdict", vfctl_bench_verdict_name(d->verdict));
	out_real(out, "shift", d->shift);
	out_real(out, "shift_low", d->shift_low);
	out_real(out, "shift_high", d->shift_high);
	out_real(out, "relative", d->relative);
	out_str(out, "test", d->paired ? "wilcoxon" : "mann-whitney");
	out_bool(out, "exact", d->exact);
	out_int(out, "pairs", (int64_t)d->pairs);
	out_real(out, "p", d->p);
	out_real(out, "p_adjusted", d->p_adjusted);
	out_real(out, "p_t", d->p_t);
	out_real(out, "effect", d->effect);
	out_real(out, "d_z", d->d_z);
	if (d->trials_needed)
		out_int(out, "trials_needed", d->trials_needed);
	else
		out_null(out, "trials_needed");
	out_shut(out);
}

static void put_samples(struct out *out, const struct vfctl_bench_column *c)
{
	if (!c->bucket_count) {
		out_null(out, "samples");
		return;
	}
	out_open(out, "samples", '{');
	out_open(out, "lows", '[');
	for (size_t i = 0; i <= c->bucket_count; i++)
		out_real(out, NULL, c->bucket_lows[i]);
	out_shut(out);
	out_open(out, "counts", '[');
	for (size_t i = 0; i < c->bucket_count; i++)
		out_int(out, NULL, (int64_t)c->bucket_counts[i]);
	out_shut(out);
	out_shut(out);
}

static void put_column(struct out *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_column *c, bool page)
{
	out_open(out, NULL, '{');
	out_str(out, "configuration", r->configurations[c->configuration].name);
	out_bool(out, "baseline", c->configuration == r->baseline);
	out_bool(out, "best", c->best);
	out_int(out, "failed", (int64_t)c->failed);
	out_str(out, "error", c->error);
	put_summary(out, "goal", &c->goal);
	out_open(out, "values", '[');
	for (size_t i = 0; i < c->goal.trials; i++)
		out_real(out, NULL, c->values[i]);
	out_shut(out);
	out_open(out, "metrics", '[');
	for (size_t i = 0; i < c->metric_count; i++)
		put_summary(out, NULL, &c->metrics[i]);
	out_shut(out);
	put_difference(out, &c->difference);
	if (page)
		put_samples(out, c);
	out_shut(out);
}

static void put_cell(struct out *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, bool page)
{
	out_open(out, NULL, '{');
	out_str(out, "test", cell->test);
	out_str(out, "tool", cell->tool);
	out_str(out, "parameters", cell->parameters);
	out_str(out, "goal", cell->goal);
	out_str(out, "unit", cell->unit);
	out_str(out, "better", cell->higher_is_better ? "higher" : "lower");
	if (page) {
		out_str(out, "varies", cell->varies);
		out_int(out, "size", (int64_t)cell->size);
		out_int(out, "threads", (int64_t)cell->threads);
	}
	out_open(out, "columns", '[');
	for (size_t k = 0; k < r->configuration_count; k++)
		put_column(out, r, &cell->columns[k], page);
	out_shut(out);
	out_shut(out);
}

static void put_texts(struct out *out, const char *key, const char *const *texts, size_t count)
{
	out_open(out, key, '[');
	for (size_t i = 0; i < count; i++)
		out_str(out, NULL, texts[i]);
	out_shut(out);
}

void bench_put_settings(struct out *out, const char *key, const struct bench_setting *v, size_t count)
{
	out_open(out, key, '[');
	for (size_t i = 0; i < count; i++) {
		out_open(out, NULL, '{');
		out_str(out, "name", v[i].name);
		out_str(out, "value", v[i].value);
		out_shut(out);
	}
	out_shut(out);
}

static void put_tools(struct out *out, const struct vfctl_bench_report *r)
{
	out_open(out, "tools", '[');
	for (size_t i = 0; i < r->tool_count; i++) {
		out_open(out, NULL, '{');
		out_str(out, "name", r->tools[i].name);
		out_str(out, "version", r->tools[i].version);
		out_str(out, "endpoint", r->tools[i].endpoint);
		out_shut(out);
	}
	out_shut(out);
}

/* Of what, and under which conditions. */
static void put_conditions(struct out *out, const struct vfctl_bench_report *r)
{
	char seed[24];

	/* Numbers of JavaScript have 53 bits. */
	snprintf(seed, sizeof(seed), "%llu", (unsigned long long)r->seed);
	out_str(out, "seed_text", seed);
	out_str(out, "vfctl", r->vfctl);
	out_bool(out, "comparison", r->comparison);
	out_open(out, "configurations", '[');
	for (size_t i = 0; i < r->configuration_count; i++) {
		const struct vfctl_bench_configuration *c = &r->configurations[i];

		out_open(out, NULL, '{');
		out_str(out, "name", c->name);
		out_bool(out, "baseline", i == r->baseline);
		bench_put_settings(out, "settings", c->settings, c->setting_count);
		out_shut(out);
	}
	out_shut(out);
	bench_put_settings(out, "host", r->host, r->host_count);
	put_tools(out, r);
	bench_put_checks(out, r->checks, r->check_count);
	put_texts(out, "commands", r->commands, r->command_count);
}

void bench_put_report(struct out *out, const struct vfctl_bench_report *r, bool page)
{
	out_open(out, NULL, '{');
	out_str(out, "name", r->name);
	out_str(out, "created", r->created);
	out_str(out, "directory", r->directory);
	out_int(out, "seed", (int64_t)r->seed);
	out_real(out, "alpha", r->alpha);
	out_real(out, "noise", r->noise);
	out_bool(out, "emulated", r->emulated);
	out_int(out, "planned", r->planned);
	out_int(out, "made", r->made);
	out_int(out, "failed", r->failed);
	out_int(out, "comparisons", (int64_t)r->comparisons);
	out_int(out, "better", (int64_t)r->better);
	out_int(out, "worse", (int64_t)r->worse);
	put_texts(out, "advice", r->advice, r->advice_count);
	put_texts(out, "notes", r->notes, r->note_count);
	if (page)
		put_conditions(out, r);
	out_open(out, "cells", '[');
	for (size_t i = 0; i < r->cell_count; i++)
		put_cell(out, r, &r->cells[i], page);
	out_shut(out);
	out_shut(out);
}
