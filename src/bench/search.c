// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/search.h"

#include <errno.h>
#include <math.h>

/* ---- from a result directory ---- */

static size_t baseline_of(const struct bench_result *result)
{
	for (size_t i = 0; result->baselines && i < result->configuration_count; i++)
		if (str_eq(result->configurations[i].name, result->baselines[0]))
			return i;
	return 0;
}

static int check_result(struct vfctl_ctx *ctx, const struct bench_result *result)
{
	if (!result->search)
		return ctx_usage_error(ctx, -EINVAL, "%s is the result of a measurement, not of a "
			"search; to show it: vfctl bench report %s", result->dir, result->dir);
	if (result->configuration_count < 2 || result->configuration_count > RACE_MAX ||
		result->test_count != 1 || !result->trials_each ||
		result->trials_each > SEARCH_TRIALS_MAX)
		return ctx_fail(ctx, -EBADMSG, "%s/" BENCH_DESCRIPTION ": a search needs exactly one "
			"test, some configurations and a number of trials", result->dir);
	return 0;
}

static struct race_rules rules_of(const struct bench_result *result)
{
	return (struct race_rules){.count = result->configuration_count,
		.baseline = baseline_of(result), .trials = result->trials_each,
		.warmup = result->warmup > 0, .alpha = result->alpha, .noise = result->noise,
		.higher_is_better = result->tests[0].higher_is_better,
		.max_seconds = result->max_seconds};
}

static bool is_of_phase(const struct bench_trial *t, enum race_phase phase)
{
	const char *name = phase == RACE_CONFIRMS ? SEARCH_CONFIRMATION : SEARCH_RACE;

	for (size_t i = 0; i < t->parameter_count; i++)
		if (str_eq(t->parameters[i].name, SEARCH_PHASE))
			return str_eq(t->parameters[i].value, name);
	return false;
}

static const struct bench_trial *find_trial(const struct bench_result *result,
	const struct race_block *block, size_t configuration)
{
	const char *name = result->configurations[configuration].name;

	for (size_t i = 0; i < result->trial_count; i++) {
		const struct bench_trial *t = &result->trials[i];

		if (t->trial == block->trial && str_eq(t->configuration, name) &&
			is_of_phase(t, block->phase))
			return t;
	}
	return NULL;
}

static double value_of(const struct bench_result *result, const struct bench_trial *t)
{
	const struct bench_metric *m = t->error ? NULL
		: bench_metric_find(t->metrics, t->metric_count, result->tests[0].goal);

	return m ? m->value : NAN;
}

/* If the directory has the whole block, take it and return true. */
static bool take_block(const struct bench_result *result, const struct race_block *block,
	struct race *race)
{
	for (size_t i = 0; i < block->count; i++)
		if (!find_trial(result, block, block->members[i]))
			return false;
	for (size_t i = 0; i < block->count; i++) {
		const struct bench_trial *t = find_trial(result, block, block->members[i]);

		race_take(race, block->members[i], value_of(result, t), t->seconds);
	}
	return true;
}

int search_replay(struct vfctl_ctx *ctx, const struct bench_result *result, struct race **ret,
	bool *ret_over)
{
	_cleanup_(race_freep) struct race *race = NULL;
	struct race_block block;
	struct race_rules rules;
	int r = check_result(ctx, result);

	if (r < 0)
		return r;
	rules = rules_of(result);
	if (race_new(&rules, &race) < 0)
		return ctx_oom(ctx);
	while ((r = race_next(ctx, race, &block)) == 1)
		if (!take_block(result, &block, race))
			break;
	if (r < 0)
		return r;
	*ret_over = r == 0;
	*ret = steal(race);
	return 0;
}

/* ---- measuring ---- */

struct search {
	struct bench *b;
	const char *dir;
	struct bench_result *result; /* the trials that existed before */
	struct race *race;
	unsigned failed; /* number of consecutive failures */
};

static void clear_search(struct search *s)
{
	race_free(s->race);
	bench_result_free(s->result);
}

static const char *name_of(const struct search *s, size_t configuration)
{
	return s->b->plan->configurations[configuration].name;
}

static void tell_block(const struct search *s, const struct race_block *block, size_t done)
{
	const struct race *race = s->race;
	double each = race->runs ? race->seconds / (double)race->runs : 0;

	if (block->phase == RACE_CONFIRMS)
		ctx_progress(s->b->ctx, "confirming %s, pair %u of %u; about %.0f s left",
			name_of(s, race->leader), block->trial, race->confirm,
			each * (double)(2 * (race->confirm - race->round) - done));
	else
		ctx_progress(s->b->ctx, "round %u of at most %u: %zu of %zu settings in the race; %.0f s "
			"left at most", block->trial, race->rules.trials, block->count, race->rules.count,
			each * (double)((race->rules.trials - race->round) * block->count +
				2 * (size_t)race->rules.trials - done));
}

/* Report those that left after the previous round. */
static void tell_leavers(const struct search *s, const struct race_block *block)
{
	const struct race *race = s->race;
	char p[VFCTL_BENCH_TEXT];

	for (size_t i = 0; i < race->rules.count; i++) {
		const struct race_entry *e = &race->entries[i];

		if (e->round + 1 != block->trial || block->phase != RACE_RACES)
			continue;
		if (e->state == RACE_WORSE)
			log_info(s->b->ctx, "%s leaves the race after %u rounds: worse than %s (p %s)",
				name_of(s, i), e->round, name_of(s, e->by), vfctl_bench_p(e->p, p));
		else if (e->state == RACE_FAILS)
			log_info(s->b->ctx, "%s leaves the race: it fails", name_of(s, i));
	}
}

static int make_run(struct search *s, size_t at)
{
	struct bench_made made;
	int r = bench_make(s->b, s->dir, at, &made);

	if (r < 0)
		return r;
	race_take(s->race, s->b->turns[at].configuration, made.worked ? made.value : NAN,
		made.seconds);
	if (!made.refused)
		s->failed = made.worked ? 0 : s->failed + 1;
	if (s->failed == BENCH_FAILED_IN_A_ROW)
		return ctx_append(s->b->ctx, -EIO, " (%d consecutive runs failed, so vfctl stopped; "
			"solve that, then continue with: vfctl tune search --resume %s)",
			BENCH_FAILED_IN_A_ROW, s->dir);
	return 0;
}

static int make_block(struct search *s, const struct race_block *block)
{
	size_t start = s->b->turn_count;
	int r = bench_add_turns(s->b, block->members, block->count, block->phase == RACE_CONFIRMS,
		block->trial);

	for (size_t i = 0; i < block->count && r == 0; i++) {
		size_t configuration = s->b->turns[start + i].configuration;
		const struct bench_trial *t = find_trial(s->result, block, configuration);

		tell_block(s, block, i);
		if (t)
			race_take(s->race, configuration, value_of(s->result, t), t->seconds);
		else
			r = make_run(s, start + i);
	}
	return r;
}

int bench_search(struct bench *b, const char *dir)
{
	_cleanup_(clear_search) struct search s = {.b = b, .dir = dir};
	struct race_block block;
	struct race_rules rules;
	int r = bench_result_read(b->ctx, dir, &s.result);

	if (r == 0)
		r = check_result(b->ctx, s.result);
	if (r == 0)
		r = bench_prepare(b, dir);
	if (r < 0)
		return r;
	rules = rules_of(s.result);
	if (race_new(&rules, &s.race) < 0)
		return ctx_oom(b->ctx);
	while (r >= 0 && (r = race_next(b->ctx, s.race, &block)) == 1) {
		tell_leavers(&s, &block);
		r = make_block(&s, &block);
	}
	return r;
}
