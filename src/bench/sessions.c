// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Two results are two sessions: the host may differ between them in more than what was changed.
 * Earlier sessions without the change show how much the median of a cell varies by itself.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "base/parse.h"
#include "bench/report_build.h"
#include "bench/stats.h"
#include "bench/stats_gsl.h"
#include "bench/trial_index.h"

#define SESSIONS_LEAST 3 /* with BEFORE: of two, the spread is hardly known */

struct sessions {
	double *medians; /* of a cell, in each session that has it */
	size_t count;
};

struct weighing {
	struct builder *b;
	void *index; /* the cells */
	bool named;  /* they differ in the configuration as well */
	struct sessions *cells;
	double *values; /* of one cell, in the session that is read */
	size_t value_count;
};

static struct trial_key key_of(const struct weighing *w, const struct bench_trial *t, size_t cell)
{
	return (struct trial_key){.configuration = w->named ? t->configuration : NULL, .test = t->test,
		.goal = w->b->r->shown.cells[cell].goal, .parameters = t->parameters,
		.parameter_count = t->parameter_count};
}

static int index_cells(struct weighing *w)
{
	struct builder *b = w->b;

	for (size_t i = 0; i < b->r->shown.cell_count; i++)
		w->named |= b->by_configuration[i] != NULL;
	for (size_t i = 0; i < b->r->shown.cell_count; i++) {
		struct trial_key key = key_of(w, b->firsts[i], i);

		key.configuration = b->by_configuration[i];
		key.at = i;
		if (!trial_index_add(&w->index, &key))
			return ctx_oom(b->ctx);
	}
	return 0;
}

static int add_median(struct weighing *w, size_t cell, double median)
{
	struct sessions *s = &w->cells[cell];

	if (!isfinite(median))
		return 0;
	if (!array_grow(s->medians, s->count))
		return ctx_oom(w->b->ctx);
	s->medians[s->count++] = median;
	return 0;
}

static int take_value(struct weighing *w, const struct bench_trial *t, size_t cell)
{
	const struct trial_key key = key_of(w, t, cell), *found = trial_index_find(&w->index, &key);
	const struct bench_metric *m = t->error || !t->trial || !found || found->at != cell ? NULL
		: bench_metric_find(t->metrics, t->metric_count, w->b->r->shown.cells[cell].goal);

	if (!m)
		return 0;
	if (!str_eq(m->unit, w->b->r->shown.cells[cell].unit))
		return ctx_fail(w->b->ctx, -EBADMSG, "the %s of run %u of an earlier session is in "
			"'%s', that of the compared results in '%s'", m->name, t->run, m->unit,
			w->b->r->shown.cells[cell].unit);
	if (!array_grow(w->values, w->value_count))
		return ctx_oom(w->b->ctx);
	w->values[w->value_count++] = m->value;
	return 0;
}

static int take_session(struct weighing *w, const struct bench_result *result)
{
	int r = 0;

	for (size_t cell = 0; cell < w->b->r->shown.cell_count && r == 0; cell++) {
		w->value_count = 0;
		for (size_t i = 0; i < result->trial_count && r == 0; i++)
			r = take_value(w, &result->trials[i], cell);
		if (r == 0 && w->value_count)
			r = add_median(w, cell, median_of(w->values, w->value_count));
	}
	return r;
}

static int read_sessions(struct weighing *w, const struct vfctl_bench_options *options)
{
	const struct vfctl_bench_report *report = &w->b->r->shown;
	int r = 0;

	for (size_t i = 0; i < options->session_count && r == 0; i++) {
		_cleanup_(bench_result_freep) struct bench_result *result = NULL;

		r = bench_result_read(w->b->ctx, options->sessions[i], &result);
		if (r == 0)
			r = take_session(w, result);
	}
	for (size_t i = 0; i < report->cell_count && r == 0; i++)
		r = add_median(w, i, report->cells[i].columns[report->baseline].goal.median);
	return r;
}

/* How likely a further session of the same host differs so much: a t-test of one value. */
static double chance_of(const struct sessions *s, double after)
{
	double n = (double)s->count, mean = 0, squares = 0, t;

	for (size_t i = 0; i < s->count; i++)
		mean += s->medians[i] / n;
	for (size_t i = 0; i < s->count; i++)
		squares += (s->medians[i] - mean) * (s->medians[i] - mean);
	if (after == mean)
		return 1;
	t = fabs(after - mean) / sqrt(squares / (n - 1) * (1 + 1 / n));
	return 2 * gsl_t_tail(t, n - 1);
}

static void set_verdict(struct vfctl_bench_report *to, struct vfctl_bench_difference *d,
	enum vfctl_bench_verdict verdict)
{
	to->better -= d->verdict == VFCTL_BENCH_BETTER;
	to->worse -= d->verdict == VFCTL_BENCH_WORSE;
	to->differing += verdict == VFCTL_BENCH_DIFFERS;
	d->verdict = verdict;
}

static void weigh_cell(struct weighing *w, size_t cell, size_t *io_within, size_t *io_unknown)
{
	struct vfctl_bench_report *to = &w->b->r->shown;
	struct vfctl_bench_column *after = &to->cells[cell].columns[!to->baseline];
	struct vfctl_bench_difference *d = after->differences;

	if (d->verdict < VFCTL_BENCH_BETTER)
		return;
	if (w->cells[cell].count < SESSIONS_LEAST) {
		*io_unknown += 1;
		set_verdict(to, d, VFCTL_BENCH_DIFFERS);
		return;
	}
	d->p_sessions = chance_of(&w->cells[cell], after->goal.median);
	if (d->p_sessions * (double)to->comparisons < to->alpha)
		return;
	set_verdict(to, d, VFCTL_BENCH_NO_DIFFERENCE);
	*io_within += 1;
}

static int note_unknown(struct weighing *w, size_t unknown, bool any_history)
{
	const char *remedy = "name at least two results of earlier sessions without the change "
		"(--history DIR), or state with --same-host-state that nothing else changed";

	if (!any_history)
		return report_note(w->b->ctx, w->b->r, str_format("before and after are one session each, "
			"and a host changes between two sessions by itself: %s", remedy));
	return report_note(w->b->ctx, w->b->r, str_format("%zu cell%s in fewer than %d earlier sessions, "
		"so it is unknown whether sessions alone explain the difference: %s", unknown,
		unknown == 1 ? " is" : "s are", SESSIONS_LEAST - 1, remedy));
}

static int weigh_all(struct weighing *w, const struct vfctl_bench_options *options)
{
	size_t within = 0, unknown = 0;
	int r = index_cells(w);

	if (r == 0)
		r = read_sessions(w, options);
	for (size_t i = 0; i < w->b->r->shown.cell_count && r == 0; i++)
		weigh_cell(w, i, &within, &unknown);
	if (r == 0 && within)
		r = report_note(w->b->ctx, w->b->r, str_format("sessions without the change differ by as "
			"much in %zu of %zu comparison%s, so the verdict there is \"no difference shown\"",
			within, w->b->r->shown.comparisons, plural(w->b->r->shown.comparisons)));
	return r == 0 && unknown ? note_unknown(w, unknown, options->session_count) : r;
}

int report_weigh_sessions(struct builder *b, const struct vfctl_bench_options *options)
{
	static const struct vfctl_bench_options none = {0};
	struct weighing w = {.b = b};
	int r;

	if (!b->r->shown.better && !b->r->shown.worse)
		return 0;
	options = options ? options : &none;
	if (options->same_host_state)
		return report_note(b->ctx, b->r, strdup("the verdicts assume that nothing but the change "
			"differs between the two sessions (--same-host-state)"));
	w.cells = calloc(b->r->shown.cell_count + 1, sizeof(*w.cells));
	r = w.cells ? weigh_all(&w, options) : ctx_oom(b->ctx);
	for (size_t i = 0; w.cells && i < b->r->shown.cell_count; i++)
		free(w.cells[i].medians);
	free(w.cells);
	free(w.values);
	trial_index_free(&w.index);
	return r;
}
