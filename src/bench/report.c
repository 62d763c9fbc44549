// SPDX-License-Identifier: GPL-2.0-or-later
/* From trials to cells, columns, verdicts. */
#include "bench/report.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/search.h"
#include "bench/stats.h"

/* ---- texts ---- */

const char *report_keep(struct report *r, char *text)
{
	if (!text)
		return NULL;
	if (!array_grow(r->texts, r->text_count)) {
		free(text);
		return NULL;
	}
	r->texts[r->text_count++] = text;
	return text;
}

static int add_text(struct vfctl_ctx *ctx, struct report *r, const char ***io, size_t *io_count,
	char *text)
{
	const char *kept = report_keep(r, text);

	if (!kept || !array_grow(*io, *io_count))
		return ctx_oom(ctx);
	(*io)[(*io_count)++] = kept;
	return 0;
}

int report_note(struct vfctl_ctx *ctx, struct report *r, char *text)
{
	return add_text(ctx, r, &r->shown.notes, &r->shown.note_count, text);
}

int report_advice(struct vfctl_ctx *ctx, struct report *r, char *text)
{
	return add_text(ctx, r, &r->shown.advice, &r->shown.advice_count, text);
}

static void free_column(struct vfctl_bench_column *c)
{
	free(c->metrics);
	free((double *)c->values);
	free((uint64_t *)c->bucket_counts);
	free((double *)c->bucket_lows);
}

void vfctl_bench_report_free(struct vfctl_bench_report *shown)
{
	struct report *r = (struct report *)shown;

	if (!r)
		return;
	for (size_t i = 0; i < shown->cell_count; i++) {
		for (size_t k = 0; shown->cells[i].columns && k < shown->configuration_count; k++)
			free_column(&shown->cells[i].columns[k]);
		free(shown->cells[i].columns);
	}
	for (size_t i = 0; i < shown->configuration_count; i++)
		free(shown->configurations[i].settings);
	free(shown->cells);
	free(shown->configurations);
	free(shown->host);
	free(shown->tools);
	free(shown->checks);
	free(shown->commands);
	free(shown->advice);
	free(shown->notes);
	for (size_t i = 0; i < r->text_count; i++)
		free(r->texts[i]);
	free(r->texts);
	for (size_t i = 0; i < ARRAY_SIZE(r->results); i++)
		bench_result_free(r->results[i]);
	free(r);
}

static void free_report(struct report **r)
{
	vfctl_bench_report_free(*r ? &(*r)->shown : NULL);
}
#define _report_ _cleanup_(free_report)

/* ---- what is taken over from bench.json ---- */

static int take_pairs(struct vfctl_ctx *ctx, const struct bench_setting *from, size_t count,
	struct vfctl_bench_pair **ret, size_t *ret_count)
{
	*ret = calloc(count ? count : 1, sizeof(**ret));
	if (!*ret)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		(*ret)[i] = (struct vfctl_bench_pair){from[i].name, from[i].value};
	*ret_count = count;
	return 0;
}

static int take_conditions(struct vfctl_ctx *ctx, struct report *r, const struct bench_result *from)
{
	static const char *const states[] = {"ok", "warn", "fail"};
	struct vfctl_bench_report *to = &r->shown;

	to->tools = calloc(from->tool_count + 1, sizeof(*to->tools));
	to->checks = calloc(from->check_count + 1, sizeof(*to->checks));
	if (!to->tools || !to->checks)
		return ctx_oom(ctx);
	for (size_t i = 0; i < from->tool_count; i++)
		to->tools[to->tool_count++] = (struct vfctl_bench_tool){from->tools[i].name,
			from->tools[i].version, from->tools[i].endpoint};
	for (size_t i = 0; i < from->check_count; i++)
		to->checks[to->check_count++] = (struct vfctl_bench_check){from->checks[i].name,
			states[from->checks[i].state], from->checks[i].text};
	return take_pairs(ctx, from->host, from->host_count, &to->host, &to->host_count);
}

static int add_configuration(struct vfctl_ctx *ctx, struct report *r, const char *name,
	const struct bench_configuration *from)
{
	struct vfctl_bench_report *to = &r->shown;
	struct vfctl_bench_configuration *c;

	if (!array_grow(to->configurations, to->configuration_count))
		return ctx_oom(ctx);
	c = &to->configurations[to->configuration_count++];
	c->name = name;
	return from ? take_pairs(ctx, from->settings, from->setting_count, &c->settings,
			      &c->setting_count) : 0;
}

static void take_figures(struct vfctl_bench_report *to, const struct bench_result *from,
	const struct vfctl_bench_options *options)
{
	to->created = from->created;
	to->vfctl = from->vfctl;
	to->seed = from->seed;
	to->alpha = options && isfinite(options->alpha) ? options->alpha : from->alpha;
	to->noise = options && isfinite(options->noise) ? options->noise : from->noise;
	to->emulated |= from->emulated;
	to->planned += from->runs;
}

/* ---- cells ---- */

static bool same_cell(const struct bench_trial *a, const struct bench_trial *b)
{
	return str_eq(a->test, b->test) && bench_same_parameters(a, b);
}

static const struct bench_test *test_of(const struct bench_result *result, const char *name)
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

struct builder {
	struct vfctl_ctx *ctx;
	struct report *r;
	struct entry *entries;
	const struct bench_trial **firsts; /* of each cell */
	const char **by_configuration;	   /* of each cell of a comparison; else NULL */
	size_t entry_count, first_count;
	size_t entry_room;
};

static int add_cell(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t, const char *configuration)
{
	struct vfctl_bench_report *to = &b->r->shown;
	const struct bench_test *test = test_of(result, t->test);
	struct vfctl_bench_cell *cell;

	if (!array_grow(to->cells, to->cell_count) || !array_grow(b->firsts, to->cell_count) ||
		!array_grow(b->by_configuration, to->cell_count))
		return ctx_oom(b->ctx);
	cell = &to->cells[to->cell_count];
	*cell = (struct vfctl_bench_cell){.test = t->test, .tool = t->tool,
		.size = number_of(t, "size"), .threads = number_of(t, "threads"),
		.goal = test->goal, .unit = "", .higher_is_better = test->higher_is_better};
	cell->parameters = report_keep(b->r, format_parameters(t, configuration));
	cell->columns = calloc(to->configuration_count, sizeof(*cell->columns));
	b->firsts[to->cell_count] = t;
	b->by_configuration[to->cell_count++] = configuration;
	return cell->parameters && cell->columns ? 0 : ctx_oom(b->ctx);
}

static bool same_text(const char *a, const char *b)
{
	return a == b || (a && b && str_eq(a, b));
}

/* The cell of a trial, a new one if need be; -ENOENT only when none may be added. */
static int find_cell(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t, const char *configuration, bool may_add, size_t *ret)
{
	struct vfctl_bench_report *to = &b->r->shown;

	/* Trials are in turns: the cell is likely one of the last. */
	for (size_t i = to->cell_count; i-- > 0;)
		if (same_cell(b->firsts[i], t) && same_text(b->by_configuration[i], configuration)) {
			*ret = i;
			return 0;
		}
	if (!may_add)
		return -ENOENT;
	*ret = to->cell_count;
	return add_cell(b, result, t, configuration);
}

static int add_entry(struct builder *b, const struct bench_trial *t, size_t cell, size_t column)
{
	if (!array_grow(b->entries, b->entry_count))
		return ctx_oom(b->ctx);
	b->entries[b->entry_count++] = (struct entry){t, cell, column};
	return 0;
}

static int check_trial(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t)
{
	if (!test_of(result, t->test))
		return ctx_fail(b->ctx, -EBADMSG, "%s/" BENCH_TRIALS ": run %u is of the test '%s', which "
			BENCH_DESCRIPTION " does not name", result->dir, t->run, t->test);
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

/* Fails too when it has no such figure. */
static const char *fault_of(struct report *r, const struct vfctl_bench_cell *cell,
	const struct bench_trial *t)
{
	if (t->error)
		return t->error;
	if (bench_metric_find(t->metrics, t->metric_count, cell->goal))
		return NULL;
	return report_keep(r, str_format("its tool gave no %s", cell->goal));
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

/* The trials of one column that worked. */
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

static uint64_t mixed(uint64_t seed, size_t cell, size_t column)
{
	uint64_t x = seed * 0x9e3779b97f4a7c15u + cell * 0xbf58476d1ce4e5b9u + column + 1;

	x ^= x >> 31;
	return x * 0x94d049bb133111ebu;
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
	r = bootstrap_median(b->ctx, values, w->count, 1 - b->r->shown.alpha,
		mixed(b->r->shown.seed, cell_at, io->configuration), &interval);
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

static int build_columns(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;
	int r = 0;

	for (size_t i = 0; i < to->cell_count; i++)
		for (size_t k = 0; k < to->configuration_count; k++) {
			to->cells[i].columns[k].configuration = k;
			to->cells[i].columns[k].difference = (struct vfctl_bench_difference){.shift = NAN,
				.shift_low = NAN, .shift_high = NAN, .relative = NAN, .p = NAN, .p_t = NAN,
				.p_adjusted = NAN, .effect = NAN, .d_z = NAN};
		}
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

/* ---- differences ---- */

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

/* By the trials of its race a search chose what to measure: they are no evidence for the choice. */
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

static int compare_all(struct builder *b)
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

/* ---- what a reader must know besides ---- */

static bool searched(const struct report *r)
{
	return !r->shown.comparison && r->results[0]->search;
}

/* What was not as it should be before the first run. */
static int note_checks(struct builder *b, const struct bench_result *result)
{
	int r = 0;

	for (size_t i = 0; result && i < result->check_count && r == 0; i++) {
		const struct bench_check *c = &result->checks[i];

		if (c->state != BENCH_CHECK_OK)
			r = report_note(b->ctx, b->r, str_format("check of %s before the first run: %s%s%s",
				c->name, c->state == BENCH_CHECK_WARN ? "warning" : "failed",
				c->text ? ", " : "", c->text ? c->text : ""));
	}
	return r;
}

static int take_notes(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;
	int r = 0;

	for (size_t i = 0; i < to->cell_count; i++)
		for (size_t k = 0; k < to->configuration_count && r == 0; k++) {
			const struct vfctl_bench_column *c = &to->cells[i].columns[k];

			if (c->failed)
				r = report_note(b->ctx, b->r, str_format("%s%s%s, %s: %zu of %zu "
					"trials failed: %s",
					to->cells[i].test, *to->cells[i].parameters ? " " : "",
					to->cells[i].parameters, to->configurations[k].name, c->failed,
					c->failed + c->goal.trials, c->error));
		}
	if (r == 0 && to->made < to->planned && !searched(b->r))
		r = report_note(b->ctx, b->r, str_format("%u of %u planned runs were made: the figures are "
			"not final", to->made, to->planned));
	for (size_t i = 0; i < ARRAY_SIZE(b->r->results) && r == 0; i++)
		r = note_checks(b, b->r->results[i]);
	for (size_t i = 0; i < ARRAY_SIZE(b->r->results) && r == 0; i++)
		if (b->r->results[i] && b->r->results[i]->torn)
			r = report_note(b->ctx, b->r, str_format("the last line of %s/" BENCH_TRIALS
				" is cut off and was passed over", b->r->results[i]->dir));
	return r;
}

static int take_commands(struct builder *b, const struct bench_result *result)
{
	struct vfctl_bench_report *to = &b->r->shown;

	/* Of the first trial of each cell and configuration: the others' are the same. */
	for (size_t i = 0; i < result->trial_count; i++) {
		char **commands = result->trials[i].trial == 1 ? result->trials[i].commands : NULL;

		for (size_t k = 0; commands && commands[k]; k++) {
			size_t at = 0;

			while (at < to->command_count && !str_eq(to->commands[at], commands[k]))
				at++;
			if (at < to->command_count)
				continue;
			if (!array_grow(to->commands, to->command_count))
				return ctx_oom(b->ctx);
			to->commands[to->command_count++] = commands[k];
		}
	}
	return 0;
}

static void count_runs(struct vfctl_bench_report *to, const struct bench_trial *t)
{
	to->made++;
	to->failed += t->error != NULL;
	to->warm_ups += t->trial == 0;
}

/* What of "size=64 threads=2" differs within the test. */
static int take_varying(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;

	for (size_t i = 0; i < to->cell_count; i++) {
		const struct bench_trial *t = b->firsts[i];
		_buf_ struct buf text = {0};

		buf_puts(&text, "");
		for (size_t p = 0; p < t->parameter_count; p++) {
			bool differs = false;

			for (size_t k = 0; k < to->cell_count; k++)
				differs |= str_eq(b->firsts[k]->test, t->test) &&
					(p >= b->firsts[k]->parameter_count ||
					!str_eq(b->firsts[k]->parameters[p].value, t->parameters[p].value));
			if (differs)
				buf_printf(&text, "%s%s", text.len ? " " : "", t->parameters[p].value);
		}
		if (b->by_configuration[i])
			buf_printf(&text, "%s%s", text.len ? " " : "", b->by_configuration[i]);
		to->cells[i].varies = report_keep(b->r, buf_steal(&text));
		if (!to->cells[i].varies)
			return ctx_oom(b->ctx);
	}
	return 0;
}

static int finish_report(struct builder *b)
{
	int r = take_varying(b);

	if (r == 0)
		r = build_columns(b);
	if (r == 0)
		r = compare_all(b);
	if (r == 0)
		r = take_notes(b);
	if (r < 0)
		return r;
	return searched(b->r) ? search_advise(b->ctx, b->r) : report_advise(b->ctx, b->r);
}

static void free_builder(struct builder *b)
{
	free(b->entries);
	free(b->firsts);
	free(b->by_configuration);
}
#define _builder_ _cleanup_(free_builder)

/* ---- one result ---- */

static int find_baseline(struct builder *b, const char *name)
{
	struct vfctl_bench_report *to = &b->r->shown;

	for (size_t i = 0; name && i < to->configuration_count; i++)
		if (str_eq(to->configurations[i].name, name)) {
			to->baseline = i;
			return 0;
		}
	return name ? ctx_mistake(b->ctx, -ENOENT, "there is no configuration '%s' in %s", name,
			to->directory) : 0;
}

static int column_of(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t, size_t *ret)
{
	for (size_t i = 0; i < result->configuration_count; i++)
		if (str_eq(result->configurations[i].name, t->configuration)) {
			*ret = i;
			return 0;
		}
	return ctx_fail(b->ctx, -EBADMSG, "%s/" BENCH_TRIALS ": run %u is of the configuration '%s', which "
		BENCH_DESCRIPTION " does not name", result->dir, t->run, t->configuration);
}

static int take_trials(struct builder *b, const struct bench_result *result)
{
	int r = 0;

	for (size_t i = 0; i < result->trial_count && r == 0; i++) {
		const struct bench_trial *t = &result->trials[i];
		size_t cell, column = 0;

		count_runs(&b->r->shown, t);
		r = check_trial(b, result, t);
		if (r == 0)
			r = column_of(b, result, t, &column);
		if (r == 0 && t->trial) {
			r = find_cell(b, result, t, NULL, true, &cell);
			if (r == 0)
				r = add_entry(b, t, cell, column);
		}
	}
	return r;
}

int vfctl_bench_report_read(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report)
{
	_report_ struct report *r = calloc(1, sizeof(*r));
	_builder_ struct builder b = {.ctx = ctx, .r = r};
	const struct bench_result *result;
	int error;

	if (!r)
		return ctx_oom(ctx);
	error = bench_result_read(ctx, directory, &r->results[0]);
	if (error < 0)
		return error;
	result = r->results[0];
	r->shown.directory = result->dir;
	r->shown.name = result->name;
	take_figures(&r->shown, result, options);
	for (size_t i = 0; i < result->configuration_count && error == 0; i++)
		error = add_configuration(ctx, r, result->configurations[i].name,
			&result->configurations[i]);
	if (error == 0)
		error = find_baseline(&b,
			options && options->baseline ? options->baseline : result->baseline);
	if (error == 0)
		error = take_conditions(ctx, r, result);
	if (error == 0)
		error = take_trials(&b, result);
	if (error == 0)
		error = take_commands(&b, result);
	if (error == 0)
		error = finish_report(&b);
	if (error < 0)
		return error;
	*ret_report = &steal(r)->shown;
	return 0;
}

/* ---- two results ---- */

static int check_same_goal(struct builder *b, const struct bench_trial *t)
{
	const struct bench_test *before = test_of(b->r->results[0], t->test);
	const struct bench_test *after = test_of(b->r->results[1], t->test);

	if (!before || !after || (str_eq(before->goal, after->goal) &&
		before->higher_is_better == after->higher_is_better))
		return 0;
	return ctx_fail(b->ctx, -EBADMSG, "the test '%s' has another goal before (%s) than after (%s): "
		"they cannot be compared", t->test, before->goal, after->goal);
}

static bool is_in(const struct bench_result *result, const struct bench_trial *like)
{
	for (size_t i = 0; i < result->trial_count; i++)
		if (result->trials[i].trial && same_cell(&result->trials[i], like) &&
			str_eq(result->trials[i].configuration, like->configuration))
			return true;
	return false;
}

static int take_side(struct builder *b, size_t side, bool named)
{
	const struct bench_result *result = b->r->results[side];
	int r = 0;

	for (size_t i = 0; i < result->trial_count && r == 0; i++) {
		const struct bench_trial *t = &result->trials[i];
		const char *configuration = named ? t->configuration : NULL;
		size_t cell;

		count_runs(&b->r->shown, t);
		r = check_trial(b, result, t);
		if (r == 0)
			r = check_same_goal(b, t);
		if (r < 0 || !t->trial)
			continue;
		r = find_cell(b, result, t, configuration, false, &cell);
		if (r == -ENOENT && is_in(b->r->results[!side], t))
			r = find_cell(b, result, t, configuration, true, &cell);
		if (r == 0)
			r = add_entry(b, t, cell, side);
		else if (r == -ENOENT)
			r = 0; /* of this one alone: said below */
	}
	return r;
}

static int note_alone(struct builder *b, size_t side)
{
	const struct bench_result *result = b->r->results[side];
	const struct bench_trial *last = NULL;
	int r = 0;

	for (size_t i = 0; i < result->trial_count && r == 0; i++) {
		const struct bench_trial *t = &result->trials[i];
		bool said = !t->trial;

		for (size_t k = 0; k < i && !said; k++)
			said = result->trials[k].trial && same_cell(&result->trials[k], t) &&
				str_eq(result->trials[k].configuration, t->configuration);
		last = t;
		if (!said && !is_in(b->r->results[!side], t))
			r = report_note(b->ctx, b->r, str_format("only in %s: %s, %s", result->dir,
				last->test,
				last->configuration));
	}
	return r;
}

static bool many_configurations(const struct report *r)
{
	return r->results[0]->configuration_count > 1 || r->results[1]->configuration_count > 1 ||
		!str_eq(r->results[0]->configurations[0].name, r->results[1]->configurations[0].name);
}

int vfctl_bench_compare(struct vfctl_ctx *ctx, const char *before, const char *after,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report)
{
	_report_ struct report *r = calloc(1, sizeof(*r));
	_builder_ struct builder b = {.ctx = ctx, .r = r};
	int error;

	if (!r)
		return ctx_oom(ctx);
	error = bench_result_read(ctx, before, &r->results[0]);
	if (error == 0)
		error = bench_result_read(ctx, after, &r->results[1]);
	if (error < 0)
		return error;
	r->shown.comparison = true;
	take_figures(&r->shown, r->results[0], options);
	take_figures(&r->shown, r->results[1], options);
	r->shown.directory = r->results[1]->dir;
	r->shown.name = report_keep(r, str_format("%s: before and after", r->results[1]->name));
	error = r->shown.name ? add_configuration(ctx, r, "before", NULL) : ctx_oom(ctx);
	if (error == 0)
		error = add_configuration(ctx, r, "after", NULL);
	if (error == 0)
		error = take_conditions(ctx, r, r->results[1]);
	for (size_t side = 0; side < 2 && error == 0; side++)
		error = take_side(&b, side, many_configurations(r));
	if (error == 0 && !r->shown.cell_count)
		error = ctx_fail(ctx, -ENODATA, "%s and %s have no test with the same parameters and "
			"configuration: there is nothing to compare", before, after);
	for (size_t side = 0; side < 2 && error == 0; side++)
		error = note_alone(&b, side);
	if (error == 0)
		error = finish_report(&b);
	if (error < 0)
		return error;
	*ret_report = &steal(r)->shown;
	return 0;
}
