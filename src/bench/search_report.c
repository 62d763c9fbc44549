// SPDX-License-Identifier: GPL-2.0-or-later
/* The result of a search, as numbers and sentences. */
#include "bench/search_report.h"

#include <math.h>

#include "bench/search.h"

struct found {
	struct vfctl_search shown;
	struct bench_result *result;
	struct race *race;
	char **texts;
	size_t text_count;
};

const char *vfctl_search_verdict_name(enum vfctl_search_verdict verdict)
{
	static const char *const names[] = {[VFCTL_SEARCH_UNDECIDED] = "undecided",
		[VFCTL_SEARCH_NO_DIFFERENCE] = "no difference shown",
		[VFCTL_SEARCH_NONE_BETTER] = "none better", [VFCTL_SEARCH_BETTER] = "better"};

	return names[verdict];
}

const char *vfctl_search_state_name(enum vfctl_search_state state)
{
	static const char *const names[] = {[VFCTL_SEARCH_RACES] = "in the race",
		[VFCTL_SEARCH_WORSE] = "worse", [VFCTL_SEARCH_FAILS] = "fails"};

	return names[state];
}

void vfctl_search_free(struct vfctl_search *shown)
{
	struct found *f = (struct found *)shown;

	if (!f)
		return;
	free(shown->candidates);
	for (size_t i = 0; i < f->text_count; i++)
		free(f->texts[i]);
	free(f->texts);
	free(shown->sentences);
	race_free(f->race);
	bench_result_free(f->result);
	free(f);
}

static void free_found(struct found **f)
{
	vfctl_search_free(*f ? &(*f)->shown : NULL);
}

/* ---- sentences ---- */

static const char *name_of(const struct found *f, size_t candidate)
{
	return f->result->configurations[candidate].name;
}

/* Takes over @text; NULL: memory is exhausted. */
static const char *add_line(struct found *f, char *text)
{
	if (!text || !array_grow(f->texts, f->text_count)) {
		free(text);
		return NULL;
	}
	f->texts[f->text_count++] = text;
	return text;
}

/* Takes over @text. */
static int say_line(struct vfctl_ctx *ctx, struct found *f, char *text)
{
	struct vfctl_search *s = &f->shown;

	if (!add_line(f, text) || !array_grow(s->sentences, s->sentence_count))
		return ctx_oom(ctx);
	s->sentences[s->sentence_count++] = text;
	return 0;
}

static char *tell_figures(const struct found *f)
{
	const struct vfctl_search *s = &f->shown;
	char change[VFCTL_BENCH_TEXT], low[VFCTL_BENCH_TEXT], high[VFCTL_BENCH_TEXT];
	char from[VFCTL_BENCH_TEXT], to[VFCTL_BENCH_TEXT], p[VFCTL_BENCH_TEXT];

	vfctl_bench_p(s->p, p);
	return str_format("%s %s, from %s to %s (%g %% interval %s to %s, p %s%s, confirmed by %zu "
		"pairs of trials)", s->goal, vfctl_bench_relative(s->change, change),
		vfctl_bench_value(s->baseline_median, s->unit, s->baseline_median, from),
		vfctl_bench_value(s->leader_median, s->unit, s->leader_median, to),
		100 * (1 - s->alpha), vfctl_bench_relative(s->change_low, low),
		vfctl_bench_relative(s->change_high, high), p[0] == '<' ? "" : "= ", p, s->pairs);
}

/* The winner of the race did not win again, or was not ahead by more than the noise. */
static char *tell_no_difference(const struct found *f)
{
	const struct vfctl_search *s = &f->shown;
	const char *base = name_of(f, s->baseline);
	_free_ char *figures = s->pairs ? tell_figures(f) : NULL;

	if (s->pairs)
		return figures ? str_format("No difference shown: keep %s. %s led the race; measured "
				 "again: %s.", base, name_of(f, s->leader), figures) : NULL;
	if (f->race->reason == RACE_WITHIN_NOISE)
		return str_format("No difference shown: keep %s. %s led the race by less than the noise "
			"of %g %%.", base, name_of(f, s->leader), 100 * s->noise);
	return str_format("No difference shown: keep %s. No setting did better in the race.", base);
}

static char *tell_undecided(const struct found *f)
{
	const struct vfctl_search *s = &f->shown;
	const char *base = name_of(f, s->baseline), *error = s->candidates[s->baseline].error;

	if (!s->over)
		return str_format("Not decided yet: %zu of at most %zu runs were made. To continue: "
			"vfctl tune search --resume %s.", s->runs, s->most_runs, s->directory);
	if (f->race->reason == RACE_BASELINE_FAILS)
		return str_format("No conclusion: the workload fails with %s%s%s.", base,
			error ? ": " : "", error ? error : "");
	return str_format("No conclusion: %s. Keep %s.", s->out_of_time
		? "the time ran out before enough was measured"
		: "too few of the confirming trials succeeded", base);
}

static char *tell_verdict(const struct found *f)
{
	const struct vfctl_search *s = &f->shown;
	_free_ char *figures = NULL;

	switch (s->verdict) {
	case VFCTL_SEARCH_BETTER:
		figures = tell_figures(f);
		return figures ? str_format("Use %s: %s.", name_of(f, s->best), figures) : NULL;
	case VFCTL_SEARCH_NONE_BETTER:
		return str_format("Keep %s: no setting that was tried is better than the present "
			"one. The others are shown to be worse (with %g %% confidence over all of "
			"them).",
			name_of(f, s->baseline), 100 * (1 - s->alpha));
	case VFCTL_SEARCH_NO_DIFFERENCE:
		return tell_no_difference(f);
	default:
		return tell_undecided(f);
	}
}

static int tell_leavers(struct vfctl_ctx *ctx, struct found *f)
{
	const struct vfctl_search *s = &f->shown;
	char p[VFCTL_BENCH_TEXT];
	int r = 0;

	for (size_t i = 0; i < s->candidate_count && r == 0; i++) {
		const struct vfctl_search_candidate *c = &s->candidates[i];

		vfctl_bench_p(c->p, p);
		if (c->state == VFCTL_SEARCH_WORSE)
			r = say_line(ctx, f, str_format("%s left the race after %u rounds: worse than %s by "
				"more than %g %% (p %s%s).", c->name, c->left_after,
				name_of(f, c->worse_than), 100 * s->noise, p[0] == '<' ? "" : "= ", p));
		else if (c->state == VFCTL_SEARCH_FAILS)
			r = say_line(ctx, f, str_format("%s left the race: it fails%s%s.", c->name,
				c->error ? ": " : "", c->error ? c->error : ""));
	}
	return r;
}

/* ---- figures ---- */

/* Valid as long as @f; NULL: nothing failed, or memory is exhausted. */
static const char *error_of(struct found *f, const char *configuration)
{
	const struct bench_result *result = f->result;
	const char *goal = result->tests[0].goal;

	for (size_t i = 0; i < result->trial_count; i++) {
		const struct bench_trial *t = &result->trials[i];

		if (!str_eq(t->configuration, configuration))
			continue;
		if (t->error)
			return t->error;
		if (!bench_metric_find(t->metrics, t->metric_count, goal))
			return add_line(f, str_format("%s gave no %s", t->tool ? t->tool : "its tool", goal));
	}
	return NULL;
}

static const char *unit_of(const struct bench_result *result)
{
	for (size_t i = 0; i < result->trial_count; i++) {
		const struct bench_trial *t = &result->trials[i];
		const struct bench_metric *m = bench_metric_find(t->metrics, t->metric_count,
			result->tests[0].goal);

		if (m)
			return m->unit;
	}
	return "";
}

static void take_candidate(struct found *f, size_t i, struct vfctl_search_candidate *ret)
{
	static const enum vfctl_search_state states[] = {[RACE_RUNS] = VFCTL_SEARCH_RACES,
		[RACE_WORSE] = VFCTL_SEARCH_WORSE, [RACE_FAILS] = VFCTL_SEARCH_FAILS};
	const struct race_entry *e = &f->race->entries[i];
	const struct bench_configuration *from = &f->result->configurations[i];

	*ret = (struct vfctl_search_candidate){.name = from->name, .settings = from->settings,
		.setting_count = from->setting_count, .trials = e->worked, .failed = e->failed,
		.median = median_of(e->values, e->worked), .state = states[e->state],
		.left_after = e->round, .worse_than = e->by,
		.p = e->state == RACE_WORSE ? e->p : NAN,
		.error = e->failed ? error_of(f, from->name) : NULL};
}

static int take_candidates(struct vfctl_ctx *ctx, struct found *f)
{
	struct vfctl_search *s = &f->shown;

	s->candidates = calloc(f->race->rules.count, sizeof(*s->candidates));
	if (!s->candidates)
		return ctx_oom(ctx);
	s->candidate_count = f->race->rules.count;
	for (size_t i = 0; i < s->candidate_count; i++)
		take_candidate(f, i, &s->candidates[i]);
	return 0;
}

static void take_confirmation(struct found *f)
{
	struct vfctl_search *s = &f->shown;
	const struct race *race = f->race;
	double base = median_of(race->pairs[0], race->pair_count);

	s->baseline_median = s->leader_median = s->change = s->change_low = s->change_high = s->p =
		s->p_adjusted = NAN;
	if (!race->pair_count || race->phase != RACE_OVER)
		return;
	s->pairs = race->pair_count;
	s->baseline_median = base;
	s->leader_median = median_of(race->pairs[1], race->pair_count);
	s->p = s->p_adjusted = race->difference.p;
	if (base == 0)
		return;
	s->change = race->difference.shift / fabs(base);
	s->change_low = race->difference.shift_interval.low / fabs(base);
	s->change_high = race->difference.shift_interval.high / fabs(base);
}

static void take_figures(struct found *f, bool over)
{
	static const enum vfctl_search_verdict verdicts[] = {
		[RACE_UNDECIDED] = VFCTL_SEARCH_UNDECIDED,
		[RACE_NO_DIFFERENCE] = VFCTL_SEARCH_NO_DIFFERENCE,
		[RACE_NONE_BETTER] = VFCTL_SEARCH_NONE_BETTER, [RACE_BETTER] = VFCTL_SEARCH_BETTER};
	struct vfctl_search *s = &f->shown;
	const struct bench_result *result = f->result;
	const struct race *race = f->race;

	s->directory = result->dir;
	s->name = result->name;
	s->test = result->tests[0].name;
	s->goal = result->tests[0].goal;
	s->unit = unit_of(result);
	s->higher_is_better = result->tests[0].higher_is_better;
	s->emulated = result->emulated;
	s->alpha = result->alpha;
	s->noise = result->noise;
	s->over = over;
	s->out_of_time = race->reason == RACE_OUT_OF_TIME;
	s->fails = race->reason == RACE_BASELINE_FAILS;
	s->verdict = over ? verdicts[race->verdict] : VFCTL_SEARCH_UNDECIDED;
	s->baseline = race->rules.baseline;
	s->leader = race->leader;
	s->best = s->verdict == VFCTL_SEARCH_BETTER ? race->leader : s->baseline;
	s->runs = result->trial_count;
	s->most_runs = race_most_runs(&race->rules);
	for (size_t i = 0; i < result->trial_count; i++)
		s->seconds += result->trials[i].seconds;
	take_confirmation(f);
}

/* @f->result must be set. */
static int fill_search_report(struct vfctl_ctx *ctx, struct found *f)
{
	bool over = false;
	int r = search_replay(ctx, f->result, &f->race, &over);

	if (r < 0)
		return r;
	take_figures(f, over);
	r = take_candidates(ctx, f);
	if (r == 0)
		r = say_line(ctx, f, tell_verdict(f));
	return r < 0 ? r : tell_leavers(ctx, f);
}

int vfctl_search_read(struct vfctl_ctx *ctx, const char *directory, struct vfctl_search **ret)
{
	_cleanup_(free_found) struct found *f = calloc(1, sizeof(*f));
	int r = f ? bench_result_read(ctx, directory, &f->result) : ctx_oom(ctx);

	if (r == 0)
		r = fill_search_report(ctx, f);
	if (r == 0)
		*ret = &steal(f)->shown;
	return r;
}

int search_advise(struct vfctl_ctx *ctx, struct report *report)
{
	struct found *f = calloc(1, sizeof(*f));
	int r = f ? 0 : ctx_oom(ctx);

	if (r < 0)
		return r;
	f->result = report->results[0];
	r = fill_search_report(ctx, f);
	for (size_t i = 0; i < f->shown.sentence_count && r == 0; i++) {
		char *copy = strdup(f->shown.sentences[i]);

		r = copy ? report_advice(ctx, report, copy) : ctx_oom(ctx);
	}
	f->result = NULL; /* it belongs to the report */
	vfctl_search_free(&f->shown);
	return r;
}
