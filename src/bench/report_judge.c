// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare columns with their baselines, and draw the conclusions. */
#include "bench/report_build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/search.h"
#include "bench/stats.h"
#include "bench/stats_gsl.h"

/* The entries of a column, which are adjacent and in the order of their trials. */
static struct entry *entries_of(const struct builder *b, size_t cell, size_t column,
	size_t *ret_count)
{
	size_t low = 0, high = b->entry_count, end;

	while (low < high) {
		size_t middle = (low + high) / 2;
		const struct entry *e = &b->entries[middle];

		if (e->cell < cell || (e->cell == cell && e->column < column))
			low = middle + 1;
		else
			high = middle;
	}
	for (end = low; end < b->entry_count && b->entries[end].cell == cell &&
		b->entries[end].column == column; end++)
		;
	*ret_count = end - low;
	return b->entries + low;
}

static bool value_of(const struct vfctl_bench_cell *cell, const struct bench_trial *t, double *ret)
{
	const struct bench_metric *m = t->error ? NULL
		: bench_metric_find(t->metrics, t->metric_count, cell->goal);

	*ret = m ? m->value : NAN;
	return m;
}

/* Measured in turns: neither column was measured completely before the other. */
static bool in_turns(const struct entry *a, size_t count_a, const struct entry *b, size_t count_b)
{
	unsigned first_a = UINT32_MAX, last_a = 0, first_b = UINT32_MAX, last_b = 0;

	for (size_t i = 0; i < count_a; i++) {
		first_a = a[i].trial->run < first_a ? a[i].trial->run : first_a;
		last_a = a[i].trial->run > last_a ? a[i].trial->run : last_a;
	}
	for (size_t i = 0; i < count_b; i++) {
		first_b = b[i].trial->run < first_b ? b[i].trial->run : first_b;
		last_b = b[i].trial->run > last_b ? b[i].trial->run : last_b;
	}
	return first_b < last_a && first_a < last_b;
}

/* A column and its baseline, with the values that were compared. */
struct judged {
	struct vfctl_bench_difference *to;
	const struct vfctl_bench_cell *cell;
	size_t configuration;
	double *pairs;	  /* first values, then second ones; NULL: not paired */
	unsigned *trials; /* for each pair */
	struct joint values;
};

static int match_pairs(struct builder *b, size_t cell, size_t first, size_t second,
	struct judged *io)
{
	size_t count_a, count_b, k = 0, count = 0;
	const struct entry *a = entries_of(b, cell, first, &count_a);
	const struct entry *c = entries_of(b, cell, second, &count_b);
	const struct vfctl_bench_cell *of = &b->r->shown.cells[cell];

	if (b->r->shown.comparison || !in_turns(a, count_a, c, count_b))
		return 0;
	io->pairs = reallocarray(NULL, count_a ? 2 * count_a : 1, sizeof(double));
	io->trials = reallocarray(NULL, count_a ? count_a : 1, sizeof(unsigned));
	if (!io->pairs || !io->trials)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < count_a; i++) {
		while (k < count_b && c[k].trial->trial < a[i].trial->trial)
			k++;
		if (k < count_b && c[k].trial->trial == a[i].trial->trial &&
			value_of(of, a[i].trial, &io->pairs[count]) &&
			value_of(of, c[k].trial, &io->pairs[count_a + count]))
			io->trials[count++] = a[i].trial->trial;
	}
	if (count)
		io->values = (struct joint){io->pairs, io->pairs + count_a, io->trials, count, count, true};
	return 0;
}

static int differ(struct builder *b, size_t cell_at, size_t first, size_t second, struct judged *io,
	struct difference *ret)
{
	const struct vfctl_bench_cell *cell = &b->r->shown.cells[cell_at];
	const struct vfctl_bench_column *x = &cell->columns[first], *y = &cell->columns[second];
	double confidence = 1 - b->r->shown.alpha;
	int r = match_pairs(b, cell_at, first, second, io);

	if (r == 0 && io->values.paired)
		return compare_paired(b->ctx, io->values.first, io->values.second, io->values.n,
			confidence, ret);
	io->values = (struct joint){x->values, y->values, NULL, x->goal.trials, y->goal.trials, false};
	return r < 0 ? r : compare_unpaired(b->ctx, x->values, x->goal.trials, y->values, y->goal.trials,
		confidence, ret);
}

/* A cell that the search chose by its race: the race's trials must not be used to confirm it. */
static bool chose(const struct builder *b, size_t cell)
{
	const struct bench_trial *t = b->firsts[cell];

	for (size_t i = 0; b->r->results[0]->search && i < t->parameter_count; i++)
		if (str_eq(t->parameters[i].name, SEARCH_PHASE))
			return str_eq(t->parameters[i].value, SEARCH_RACE);
	return false;
}

static bool comparable(const struct builder *b, size_t cell_at, size_t first, size_t second)
{
	const struct vfctl_bench_cell *cell = &b->r->shown.cells[cell_at];

	return first != second && cell->columns[first].goal.trials &&
		cell->columns[second].goal.trials && !chose(b, cell_at);
}

/* @at: the number of the baseline. */
static int compare_column(struct builder *b, size_t cell_at, size_t at, size_t column,
	struct judged *ret)
{
	struct vfctl_bench_cell *cell = &b->r->shown.cells[cell_at];
	struct vfctl_bench_difference *to = &cell->columns[column].differences[at];
	size_t baseline = b->r->shown.baselines[at];
	double base = cell->columns[baseline].goal.median;
	struct difference d;
	int r;

	ret->to = to;
	ret->cell = cell;
	ret->configuration = column;
	r = differ(b, cell_at, baseline, column, ret, &d);
	if (r < 0)
		return r;
	*to = (struct vfctl_bench_difference){.verdict = VFCTL_BENCH_NO_DIFFERENCE, .shift = d.shift,
		.shift_low = d.shift_interval.low, .shift_high = d.shift_interval.high,
		.relative = base != 0 ? d.shift / fabs(base) : NAN, .p = d.p, .p_adjusted = d.p,
		.p_t = d.p_t, .effect = d.effect, .d_z = d.d_z, .p_sessions = NAN,
		.detectable = NAN, .detectable_d = NAN,
		.paired = d.paired, .exact = d.exact, .pairs = d.n < d.m ? d.n : d.m};
	return 0;
}

static void judge_report(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell,
	struct vfctl_bench_difference *d)
{
	unsigned needed = trials_needed(d->paired, r->alpha);
	bool beyond_noise = !isfinite(d->relative) ? d->shift != 0 : fabs(d->relative) >= r->noise;

	if (d->p_adjusted < r->alpha && beyond_noise && d->shift != 0)
		d->verdict = (d->shift > 0) == cell->higher_is_better ? VFCTL_BENCH_BETTER
			: VFCTL_BENCH_WORSE;
	else if (d->pairs < needed)
		d->verdict = VFCTL_BENCH_TOO_FEW;
	if (d->verdict == VFCTL_BENCH_TOO_FEW)
		d->trials_needed = needed;
}

/*
 * The standard deviation of the logarithms of the ratios of pairs, or that of both columns'
 * logarithms.
 */
static double log_spread(const struct joint *v)
{
	double squares = 0, mean[2] = {0};
	size_t counts[2] = {v->n, v->m};
	const double *values[2] = {v->first, v->second};

	for (size_t side = 0; side < 2; side++)
		for (size_t i = 0; i < counts[side]; i++)
			mean[side] += log(values[side][i]) / (double)counts[side];
	for (size_t i = 0; v->paired && i < v->n; i++) {
		double d = log(v->second[i] / v->first[i]) - (mean[1] - mean[0]);

		squares += d * d;
	}
	for (size_t side = 0; side < 2 && !v->paired; side++)
		for (size_t i = 0; i < counts[side]; i++)
			squares += (log(values[side][i]) - mean[side]) * (log(values[side][i]) - mean[side]);
	return sqrt(squares / (double)(v->paired ? v->n - 1 : v->n + v->m - 2));
}

/*
 * As in bench/detect.c: each comparison has its part of alpha, which is a little too strict for
 * maxT.
 */
static void take_detectable(const struct joint *v, double alpha, struct vfctl_bench_difference *d)
{
	double share;

	d->detectable = d->detectable_d = NAN;
	if (v->n < 3 || v->m < 3)
		return;
	d->detectable_d = detectable_d(v->paired, v->n, v->m, alpha);
	share = expm1(d->detectable_d * log_spread(v));
	d->detectable = isfinite(share) ? share : NAN;
}

static int by_share(const void *a, const void *b)
{
	double x = *(const double *)a, y = *(const double *)b;

	return (x > y) - (x < y);
}

/*
 * How small a difference these trials can show: in each comparison, in the median and in the worst
 * one.
 */
static int take_all_detectable(struct builder *b, const struct judged *all, size_t count)
{
	struct vfctl_bench_report *to = &b->r->shown;
	_free_ double *shares = reallocarray(NULL, count ? count : 1, sizeof(*shares));
	size_t known = 0;

	to->detectable_median = to->detectable_worst = NAN;
	if (!shares)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < count; i++) {
		take_detectable(&all[i].values, to->alpha / (double)count, all[i].to);
		if (!isfinite(all[i].to->detectable))
			continue;
		shares[known++] = all[i].to->detectable;
		if (known > 1 && all[i].to->detectable <= to->detectable_worst)
			continue;
		to->detectable_worst = all[i].to->detectable;
		to->detectable_cell = (size_t)(all[i].cell - to->cells);
		to->detectable_configuration = all[i].configuration;
	}
	qsort(shares, known, sizeof(*shares), by_share);
	if (known)
		to->detectable_median = shares[(known - 1) / 2];
	return 0;
}

/* The adjusted p is never below that of the rank test, which uses another statistic. */
static int judge_all(struct builder *b, const struct judged *all, size_t count)
{
	struct vfctl_bench_report *to = &b->r->shown;
	_free_ struct joint *values = reallocarray(NULL, count ? count : 1, sizeof(*values));
	_free_ double *p = reallocarray(NULL, count ? count : 1, sizeof(*p));
	int r;

	if (!values || !p)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < count; i++)
		values[i] = all[i].values;
	r = count ? joint_p(b->ctx, values, count, to->alpha, to->seed, p) : 0;
	to->comparisons = count;
	for (size_t i = 0; i < count && r == 0; i++) {
		struct vfctl_bench_difference *d = all[i].to;

		d->p_adjusted = fmax(d->p, p[i]);
		judge_report(to, all[i].cell, d);
		to->better += d->verdict == VFCTL_BENCH_BETTER;
		to->worse += d->verdict == VFCTL_BENCH_WORSE;
	}
	return r < 0 ? r : take_all_detectable(b, all, count);
}

static void mark_best(struct vfctl_bench_report *to, struct vfctl_bench_cell *cell)
{
	struct vfctl_bench_column *best = NULL;
	size_t measured = 0;

	for (size_t k = 0; k < to->configuration_count; k++) {
		struct vfctl_bench_column *c = &cell->columns[k];

		if (!c->goal.trials)
			continue;
		measured++;
		if (!best || (cell->higher_is_better ? c->goal.median > best->goal.median
				: c->goal.median < best->goal.median))
			best = c;
	}
	if (measured > 1)
		best->best = true;
}

static int compare_all(struct builder *b, struct judged *all, size_t *io_count)
{
	struct vfctl_bench_report *to = &b->r->shown;
	int r = 0;

	for (size_t i = 0; i < to->cell_count && r == 0; i++) {
		mark_best(to, &to->cells[i]);
		for (size_t n = 0; n < to->baseline_count * to->configuration_count && r == 0; n++) {
			size_t at = n / to->configuration_count, k = n % to->configuration_count;

			if (comparable(b, i, to->baselines[at], k) && !bench_is_mirror(to, at, k))
				r = compare_column(b, i, at, k, &all[(*io_count)++]);
		}
	}
	return r < 0 ? r : judge_all(b, all, *io_count);
}

/*
 * Two baselines are compared once: the table of the later one repeats that comparison with the
 * other sign, and neither the correction nor the counts see it again.
 */
static void mirror(const struct vfctl_bench_report *r, struct vfctl_bench_cell *cell, size_t at,
	size_t early)
{
	const struct vfctl_bench_column *base = &cell->columns[r->baselines[at]];
	const struct vfctl_bench_difference *from = &base->differences[early];
	struct vfctl_bench_difference *to = &cell->columns[r->baselines[early]].differences[at];

	if (from->verdict == VFCTL_BENCH_NOT_COMPARED)
		return;
	*to = *from;
	to->verdict = from->verdict == VFCTL_BENCH_BETTER ? VFCTL_BENCH_WORSE
		: from->verdict == VFCTL_BENCH_WORSE ? VFCTL_BENCH_BETTER : from->verdict;
	to->shift = -from->shift;
	to->shift_low = -from->shift_high;
	to->shift_high = -from->shift_low;
	to->effect = -from->effect;
	to->d_z = -from->d_z;
	to->relative = base->goal.median != 0 ? to->shift / fabs(base->goal.median) : NAN;
}

static void mirror_all(struct vfctl_bench_report *r)
{
	for (size_t i = 0; i < r->cell_count; i++)
		for (size_t at = 1; at < r->baseline_count; at++)
			for (size_t early = 0; early < at; early++)
				mirror(r, &r->cells[i], at, early);
}

int report_compare_all(struct builder *b)
{
	size_t each = b->r->shown.configuration_count * b->r->shown.baseline_count;
	size_t most = b->r->shown.cell_count * each, count = 0;
	struct judged *all = calloc(most ? most : 1, sizeof(*all));
	int r = all ? compare_all(b, all, &count) : ctx_oom(b->ctx);

	for (size_t i = 0; i < count; i++) {
		free(all[i].pairs);
		free(all[i].trials);
	}
	free(all);
	if (r == 0)
		mirror_all(&b->r->shown);
	return r;
}
