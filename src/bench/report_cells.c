// SPDX-License-Identifier: GPL-2.0-or-later
/* Assign trials to cells and columns. */
#include "bench/report_build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/stats.h"
#include "bench/trial_index.h"

/* ---- cells ---- */

bool report_same_cell(const struct bench_trial *a, const struct bench_trial *b)
{
	return str_eq(a->test, b->test) && bench_same_parameters(a, b);
}

const struct bench_test *report_test_of(const struct bench_result *result, const char *name)
{
	for (size_t i = 0; i < result->test_count; i++)
		if (str_eq(result->tests[i].name, name))
			return &result->tests[i];
	return NULL;
}

static uint64_t number_of(const struct bench_trial *t, const char *name)
{
	for (size_t i = 0; i < t->parameter_count; i++)
		if (str_eq(t->parameters[i].name, name))
			return strtoull(t->parameters[i].value, NULL, 10);
	return 0;
}

static char *format_parameters(const struct bench_trial *t, const char *configuration)
{
	_buf_ struct buf out = {0};

	buf_puts(&out, "");
	for (size_t i = 0; i < t->parameter_count; i++)
		buf_printf(&out, "%s%s=%s", i ? " " : "", t->parameters[i].name, t->parameters[i].value);
	if (configuration)
		buf_printf(&out, "%s%s", t->parameter_count ? " " : "", configuration);
	return buf_steal(&out);
}

static const char second_goal[] = "throughput_reverse";

/*
 * Goals of a trial: that of its test, and that of the other direction if both were measured at
 * once.
 */
static size_t goals_of(const struct bench_test *test, const struct bench_trial *t,
	const char *ret[2])
{
	bool both = str_eq(test->goal, "throughput") && t->tool &&
		(str_eq(t->tool, "iperf") || str_eq(t->tool, "iperf3"));

	ret[0] = test->goal;
	ret[1] = second_goal;
	for (size_t i = 0; both && i < t->parameter_count; i++)
		if (str_eq(t->parameters[i].name, "direction") && str_eq(t->parameters[i].value, "both"))
			return 2;
	return 1;
}

static bool is_second(const struct vfctl_bench_cell *cell)
{
	return cell->goal == second_goal;
}

static int add_cell(struct builder *b, const struct bench_test *test, const struct bench_trial *t,
	const char *configuration, const char *goal)
{
	struct vfctl_bench_report *to = &b->r->shown;
	struct vfctl_bench_cell *cell;

	if (!array_grow(to->cells, to->cell_count) || !array_grow(b->firsts, to->cell_count) ||
		!array_grow(b->by_configuration, to->cell_count))
		return ctx_oom(b->ctx);
	cell = &to->cells[to->cell_count];
	*cell = (struct vfctl_bench_cell){.test = t->test, .tool = t->tool,
		.size = number_of(t, "size"), .threads = number_of(t, "threads"),
		.goal = goal, .unit = "", .higher_is_better = test->higher_is_better};
	if (is_second(cell)) /* a table of its own */
		cell->test = report_keep(b->r, str_format("%s (reverse)", t->test));
	cell->parameters = report_keep(b->r, format_parameters(t, configuration));
	cell->columns = calloc(to->configuration_count, sizeof(*cell->columns));
	b->firsts[to->cell_count] = t;
	b->by_configuration[to->cell_count++] = configuration;
	return cell->test && cell->parameters && cell->columns ? 0 : ctx_oom(b->ctx);
}

static int add_entry(struct builder *b, const struct bench_trial *t, size_t cell, size_t column)
{
	if (!array_grow(b->entries, b->entry_count))
		return ctx_oom(b->ctx);
	b->entries[b->entry_count++] = (struct entry){t, cell, column};
	return 0;
}

int report_take_trial(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t,
	const char *configuration, bool may_add, size_t column)
{
	const struct bench_test *test = report_test_of(result, t->test);
	const char *goals[2];
	size_t count = goals_of(test, t, goals);
	int r = 0;

	for (size_t i = 0; i < count && r == 0; i++) {
		const struct trial_key key = {.configuration = configuration, .test = t->test,
			.goal = goals[i], .parameters = t->parameters,
			.parameter_count = t->parameter_count, .at = b->r->shown.cell_count};
		const struct trial_key *there = may_add ? trial_index_add(&b->index, &key)
			: trial_index_find(&b->index, &key);

		if (!there)
			return may_add ? ctx_oom(b->ctx) : -ENOENT;
		if (there->at == key.at)
			r = add_cell(b, test, t, configuration, goals[i]);
		if (r == 0)
			r = add_entry(b, t, there->at, column);
	}
	return r;
}

/* ---- order ---- */

static size_t test_place(const struct report *r, const char *name)
{
	size_t place = 0;

	for (size_t side = 0; side < ARRAY_SIZE(r->results) && r->results[side]; side++)
		for (size_t i = 0; i < r->results[side]->test_count; i++, place++)
			if (str_eq(r->results[side]->tests[i].name, name))
				return place;
	return place;
}

static size_t configuration_place(const struct report *r, const char *name)
{
	size_t i = 0;

	while (name && i < r->results[0]->configuration_count &&
		!str_eq(r->results[0]->configurations[i].name, name))
		i++;
	return i;
}

static int by_place(const void *a, const void *b, void *of)
{
	const struct builder *from = of;
	size_t x = *(const size_t *)a, y = *(const size_t *)b, first, second;
	const struct bench_trial *s = from->firsts[x], *t = from->firsts[y];
	int order;

	first = test_place(from->r, s->test);
	second = test_place(from->r, t->test);
	if (first != second)
		return first < second ? -1 : 1;
	order = is_second(&from->r->shown.cells[x]) - is_second(&from->r->shown.cells[y]);
	if (order == 0)
		order = report_compare_groups(s, t, from->r->shown.cells[x].axis);
	if (order)
		return order;
	first = configuration_place(from->r, from->by_configuration[x]);
	second = configuration_place(from->r, from->by_configuration[y]);
	if (first != second)
		return first < second ? -1 : 1;
	return parameters_compare(s->parameters, s->parameter_count, t->parameters, t->parameter_count);
}

static void move_cells(struct builder *b, const size_t *order, struct vfctl_bench_cell *cells,
	const struct bench_trial **firsts, const char **by_configuration, size_t *places)
{
	size_t count = b->r->shown.cell_count;

	for (size_t i = 0; i < count; i++) {
		cells[i] = b->r->shown.cells[order[i]];
		firsts[i] = b->firsts[order[i]];
		by_configuration[i] = b->by_configuration[order[i]];
		places[order[i]] = i;
	}
	memcpy(b->r->shown.cells, cells, count * sizeof(*cells));
	memcpy(b->firsts, firsts, count * sizeof(const struct bench_trial *));
	memcpy(b->by_configuration, by_configuration, count * sizeof(const char *));
	for (size_t i = 0; i < b->entry_count; i++)
		b->entries[i].cell = places[b->entries[i].cell];
}

int report_sort_cells(struct builder *b)
{
	size_t count = b->r->shown.cell_count;
	_free_ size_t *order = reallocarray(NULL, 2 * count + 1, sizeof(*order));
	_free_ struct vfctl_bench_cell *cells = reallocarray(NULL, count + 1, sizeof(*cells));
	_free_ const struct bench_trial **firsts = reallocarray(NULL, count + 1, sizeof(*firsts));
	_free_ const char **by_configuration = reallocarray(NULL, count + 1, sizeof(*by_configuration));

	if (!order || !cells || !firsts || !by_configuration)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < count; i++)
		order[i] = i;
	qsort_r(order, count, sizeof(*order), by_place, b);
	if (count)
		move_cells(b, order, cells, firsts, by_configuration, order + count);
	trial_index_free(&b->index); /* its places are the former ones */
	return 0;
}

/* ---- trials ---- */

int report_check_trial(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t)
{
	if (!report_test_of(result, t->test))
		return ctx_fail(b->ctx, -EBADMSG, "%s/" BENCH_TRIALS ": run %u has the test '%s', which "
			BENCH_DESCRIPTION " does not define", result->dir, t->run, t->test);
	return 0;
}

/* ---- columns ---- */

static int by_trial(const void *a, const void *b)
{
	const struct entry *x = a, *y = b;

	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	if (x->column != y->column)
		return x->column < y->column ? -1 : 1;
	if (x->trial->trial != y->trial->trial)
		return x->trial->trial < y->trial->trial ? -1 : 1;
	return x->trial->run < y->trial->run ? -1 : x->trial->run > y->trial->run;
}

/* A trial also fails if it has no value of the goal. */
static const char *fault_of(struct report *r, const struct vfctl_bench_cell *cell,
	const struct bench_trial *t)
{
	if (t->error)
		return t->error;
	if (bench_metric_find(t->metrics, t->metric_count, cell->goal))
		return NULL;
	return report_keep(r, str_format("its tool reported no %s", cell->goal));
}

static int summarize(const double *v, size_t count, struct vfctl_bench_summary *io)
{
	struct sample_summary s;
	int r = sample_summary(v, count, &s);

	io->low = io->high = NAN;
	if (r < 0)
		return r;
	io->trials = count;
	io->min = s.min;
	io->max = s.max;
	io->mean = s.mean;
	io->median = s.p50;
	io->p90 = s.p90;
	io->p95 = s.p95;
	io->p99 = s.p99;
	io->p99_9 = s.p99_9;
	io->stdev = s.stdev;
	return 0;
}

/* The successful trials of one column. */
struct worked {
	const struct bench_trial **v;
	size_t count;
};

static int take_metric(struct builder *b, const struct worked *w, const struct bench_metric *like,
	struct vfctl_bench_column *io)
{
	_free_ double *v = reallocarray(NULL, w->count, sizeof(*v));
	struct vfctl_bench_summary *s;
	size_t count = 0;

	if (!v || !array_grow(io->metrics, io->metric_count))
		return ctx_oom(b->ctx);
	s = &io->metrics[io->metric_count++];
	*s = (struct vfctl_bench_summary){.metric = like->name, .unit = like->unit, .from_samples = true};
	for (size_t i = 0; i < w->count; i++) {
		const struct bench_metric *m = bench_metric_find(w->v[i]->metrics, w->v[i]->metric_count,
			like->name);

		if (!m)
			continue;
		if (!str_eq(m->unit, like->unit))
			return ctx_fail(b->ctx, -EBADMSG, "the %s of run %u is in '%s', that of run "
				"%u in '%s'",
				like->name, w->v[0]->run, like->unit, w->v[i]->run, m->unit);
		s->from_samples &= m->from_samples;
		v[count++] = m->value;
	}
	return summarize(v, count, s) == -ENOMEM ? ctx_oom(b->ctx) : 0;
}

static bool has_metric(const struct vfctl_bench_column *c, const char *name)
{
	for (size_t i = 0; i < c->metric_count; i++)
		if (str_eq(c->metrics[i].metric, name))
			return true;
	return false;
}

static int take_metrics(struct builder *b, const struct worked *w, struct vfctl_bench_column *io)
{
	int r = 0;

	for (size_t i = 0; i < w->count; i++)
		for (size_t k = 0; k < w->v[i]->metric_count && r == 0; k++)
			if (!has_metric(io, w->v[i]->metrics[k].name))
				r = take_metric(b, w, &w->v[i]->metrics[k], io);
	return r;
}

static int take_histogram(struct builder *b, const struct worked *w, struct vfctl_bench_column *io)
{
	int first = 0, last = -1;
	uint64_t *counts;
	double *lows;

	for (size_t i = 0; i < w->count; i++) {
		const struct bench_histogram *h = &w->v[i]->histogram;

		if (!h->count)
			continue;
		first = last < first || h->first < first ? h->first : first;
		last = last < h->first + (int)h->count - 1 ? h->first + (int)h->count - 1 : last;
	}
	if (last < first)
		return 0;
	io->bucket_count = (size_t)(last - first + 1);
	io->bucket_counts = counts = calloc(io->bucket_count, sizeof(*counts));
	io->bucket_lows = lows = reallocarray(NULL, io->bucket_count + 1, sizeof(*lows));
	if (!counts || !lows)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i <= io->bucket_count; i++)
		lows[i] = bench_bucket_low(first + (int)i);
	for (size_t i = 0; i < w->count; i++)
		for (size_t k = 0; k < w->v[i]->histogram.count; k++)
			counts[w->v[i]->histogram.first - first + (int)k] += w->v[i]->histogram.counts[k];
	return 0;
}

static int take_goal(struct builder *b, const struct worked *w, size_t cell_at,
	struct vfctl_bench_column *io)
{
	struct vfctl_bench_cell *cell = &b->r->shown.cells[cell_at];
	double *values = reallocarray(NULL, w->count ? w->count : 1, sizeof(*values));
	struct interval interval;
	int r;

	io->values = values;
	if (!values)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < w->count; i++)
		values[i] = bench_metric_find(w->v[i]->metrics, w->v[i]->metric_count, cell->goal)->value;
	for (size_t i = 0; i < io->metric_count; i++)
		if (str_eq(io->metrics[i].metric, cell->goal))
			io->goal = io->metrics[i];
	if (!w->count)
		return 0;
	if (*cell->unit && !str_eq(cell->unit, io->goal.unit))
		return ctx_fail(b->ctx, -EBADMSG, "the %s of the test '%s' is in '%s' and in '%s'",
			cell->goal, cell->test, cell->unit, io->goal.unit);
	cell->unit = io->goal.unit;
	r = bootstrap_median(b->ctx, values, w->count, 1 - b->r->shown.alpha, &b->chances, &interval);
	io->goal.low = interval.low;
	io->goal.high = interval.high;
	return r;
}

static int build_column(struct builder *b, const struct entry *entries, size_t count)
{
	struct vfctl_bench_cell *cell = &b->r->shown.cells[entries[0].cell];
	struct vfctl_bench_column *column = &cell->columns[entries[0].column];
	_free_ const struct bench_trial **v = reallocarray(NULL, count, sizeof(*v));
	struct worked worked = {v, 0};
	int r;

	if (!v)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < count; i++) {
		const char *fault = fault_of(b->r, cell, entries[i].trial);

		if (!fault)
			v[worked.count++] = entries[i].trial;
		else if (!column->failed++)
			column->error = fault;
	}
	r = take_metrics(b, &worked, column);
	if (r == 0)
		r = take_histogram(b, &worked, column);
	if (r == 0)
		r = take_goal(b, &worked, entries[0].cell, column);
	return r;
}

/* One for each baseline, with nothing known yet. */
static int make_differences(struct builder *b, struct vfctl_bench_column *io)
{
	static const struct vfctl_bench_difference unknown = {.shift = NAN, .shift_low = NAN,
		.shift_high = NAN, .relative = NAN, .p = NAN, .p_t = NAN, .p_adjusted = NAN, .effect = NAN,
		.d_z = NAN, .p_sessions = NAN, .detectable = NAN, .detectable_d = NAN};
	size_t count = b->r->shown.baseline_count;

	io->differences = reallocarray(NULL, count, sizeof(*io->differences));
	if (!io->differences)
		return ctx_oom(b->ctx);
	for (size_t i = 0; i < count; i++)
		io->differences[i] = unknown;
	return 0;
}

int report_build_columns(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;
	int r = 0;

	for (size_t i = 0; i < to->cell_count; i++)
		for (size_t k = 0; k < to->configuration_count; k++) {
			to->cells[i].columns[k].configuration = k;
			r = r < 0 ? r : make_differences(b, &to->cells[i].columns[k]);
		}
	if (r < 0)
		return r;
	if (b->entry_count)
		qsort(b->entries, b->entry_count, sizeof(*b->entries), by_trial);
	for (size_t i = 0, end; i < b->entry_count && r == 0; i = end) {
		for (end = i + 1; end < b->entry_count && b->entries[end].cell == b->entries[i].cell &&
			b->entries[end].column == b->entries[i].column; end++)
			;
		r = build_column(b, b->entries + i, end - i);
	}
	return r;
}

