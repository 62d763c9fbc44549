// SPDX-License-Identifier: GPL-2.0-or-later
/* Columns beside their baselines: differences, and what may be said of them. */
#include "bench/report_build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/search.h"
#include "bench/stats.h"

/* The entries of a column, which stand together and in order of their trials. */
static struct entry *entries_of(const struct builder *b, size_t cell, size_t column, size_t *ret_count)
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

/* In turns: neither column was measured wholly before the other. */
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

struct pairs {
	double *first, *second;
	size_t count;
};

static int match_pairs(struct builder *b, size_t cell, size_t first, size_t second, struct pairs *ret)
{
	size_t count_a, count_b, k = 0;
	const struct entry *a = entries_of(b, cell, first, &count_a);
	const struct entry *c = entries_of(b, cell, second, &count_b);
	const struct vfctl_bench_cell *of = &b->r->shown.cells[cell];

	if (b->r->shown.comparison || !in_turns(a, count_a, c, count_b))
		return 0;
	ret->first = reallocarray(NULL, count_a ? 2 * count_a : 1, sizeof(double));
	if (!ret->first)
		return ctx_oom(b->ctx);
	ret->second = ret->first + count_a;
	for (size_t i = 0; i < count_a; i++) {
		while (k < count_b && c[k].trial->trial < a[i].trial->trial)
			k++;
		if (k < count_b && c[k].trial->trial == a[i].trial->trial &&
			value_of(of, a[i].trial, &ret->first[ret->count]) &&
			value_of(of, c[k].trial, &ret->second[ret->count]))
			ret->count++;
	}
	return 0;
}

static int differ(struct builder *b, size_t cell_at, size_t first, size_t second,
	struct difference *ret)
{
	const struct vfctl_bench_cell *cell = &b->r->shown.cells[cell_at];
	const struct vfctl_bench_column *x = &cell->columns[first], *y = &cell->columns[second];
	double confidence = 1 - b->r->shown.alpha;
	struct pairs pairs = {0};
	int r = match_pairs(b, cell_at, first, second, &pairs);

	if (r == 0 && pairs.count)
		r = compare_paired(b->ctx, pairs.first, pairs.second, pairs.count, confidence, ret);
	else if (r == 0)
		r = compare_unpaired(b->ctx, x->values, x->goal.trials, y->values, y->goal.trials,
			confidence, ret);
	free(pairs.first);
	return r;
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

static int compare_column(struct builder *b, size_t cell_at, size_t column)
{
	struct vfctl_bench_cell *cell = &b->r->shown.cells[cell_at];
	struct vfctl_bench_difference *to = &cell->columns[column].difference;
	double base = cell->columns[b->r->shown.baseline].goal.median;
	struct difference d;
	int r = differ(b, cell_at, b->r->shown.baseline, column, &d);

	if (r < 0)
		return r;
	*to = (struct vfctl_bench_difference){.verdict = VFCTL_BENCH_NO_DIFFERENCE, .shift = d.shift,
		.shift_low = d.shift_interval.low, .shift_high = d.shift_interval.high,
		.relative = base != 0 ? d.shift / fabs(base) : NAN, .p = d.p, .p_adjusted = d.p,
		.p_t = d.p_t, .effect = d.effect, .d_z = d.d_z, .paired = d.paired, .exact = d.exact,
		.pairs = d.n < d.m ? d.n : d.m};
	return 0;
}

static void judge_report(const struct vfctl_bench_report *r, const struct vfctl_bench_cell *cell,
	struct vfctl_bench_difference *d)
{
	unsigned needed = trials_needed(d->paired, r->alpha, r->comparisons);
	bool beyond_noise = !isfinite(d->relative) ? d->shift != 0 : fabs(d->relative) >= r->noise;

	if (d->p_adjusted < r->alpha && beyond_noise && d->shift != 0)
		d->verdict = (d->shift > 0) == cell->higher_is_better ? VFCTL_BENCH_BETTER
			: VFCTL_BENCH_WORSE;
	else if (d->pairs < needed)
		d->trials_needed = needed;
}

static int judge_all(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;
	size_t count = 0, most = to->cell_count * to->configuration_count;
	_free_ struct vfctl_bench_difference **all = reallocarray(NULL, most ? most : 1, sizeof(*all));
	_free_ double *p = reallocarray(NULL, most ? most : 1, sizeof(*p));

	if (!all || !p)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < to->cell_count; i++)
		for (size_t k = 0; k < to->configuration_count; k++)
			if (comparable(b, i, to->baseline, k)) {
				all[count] = &to->cells[i].columns[k].difference;
				p[count] = all[count]->p;
				count++;
			}
	if (holm(p, count) < 0)
		return ctx_oom(b->ctx);
	to->comparisons = count;
	for (size_t i = 0; i < count; i++)
		all[i]->p_adjusted = p[i];
	for (size_t i = 0; i < to->cell_count; i++)
		for (size_t k = 0; k < to->configuration_count; k++) {
			struct vfctl_bench_difference *d = &to->cells[i].columns[k].difference;

			if (comparable(b, i, to->baseline, k))
				judge_report(to, &to->cells[i], d);
			to->better += d->verdict == VFCTL_BENCH_BETTER;
			to->worse += d->verdict == VFCTL_BENCH_WORSE;
		}
	return 0;
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

int report_compare_all(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;
	int r = 0;

	for (size_t i = 0; i < to->cell_count && r == 0; i++) {
		mark_best(to, &to->cells[i]);
		for (size_t k = 0; k < to->configuration_count && r == 0; k++)
			if (comparable(b, i, to->baseline, k))
				r = compare_column(b, i, k);
	}
	return r < 0 ? r : judge_all(b);
}

