// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/race.h"

#include <errno.h>
#include <math.h>

#define LEAST_ROUNDS 4 /* rounds before any configuration may leave */
#define LEAST_PAIRS 8	/* of a confirmation, if the race was clear */
#define FAILURES 2

int race_new(const struct race_rules *rules, struct race **ret)
{
	_cleanup_(race_freep) struct race *race = calloc(1, sizeof(*race));

	if (!race)
		return -ENOMEM;
	*race = (struct race){.rules = *rules, .leader = SIZE_MAX,
		.phase = rules->warmup ? RACE_WARMS_UP : RACE_RACES,
		.budget = rules->alpha / (double)(rules->count > 1 ? rules->count - 1 : 1)};
	for (size_t i = 0; i < rules->count; i++) {
		race->entries[i].by = SIZE_MAX;
		race->entries[i].values = calloc(rules->trials, sizeof(double));
		if (!race->entries[i].values)
			return -ENOMEM;
	}
	race->pairs[0] = calloc(2 * (size_t)rules->trials, sizeof(double));
	if (!race->pairs[0])
		return -ENOMEM;
	race->pairs[1] = race->pairs[0] + rules->trials;
	*ret = steal(race);
	return 0;
}

void race_free(struct race *race)
{
	if (!race)
		return;
	for (size_t i = 0; i < race->rules.count; i++)
		free(race->entries[i].values);
	free(race->pairs[0]);
	rank_sums_clear(&race->sums);
	free(race);
}

size_t race_runners(const struct race *race)
{
	size_t count = 0;

	for (size_t i = 0; i < race->rules.count; i++)
		count += race->entries[i].state == RACE_RUNS;
	return count;
}

size_t race_most_runs(const struct race_rules *rules)
{
	return rules->count * (rules->trials + rules->warmup) + 2 * (size_t)rules->trials;
}

void race_take(struct race *race, size_t configuration, double value, double seconds)
{
	struct race_entry *e = &race->entries[configuration];
	bool worked = isfinite(value);

	race->runs++;
	race->seconds += seconds;
	if (race->phase == RACE_CONFIRMS) {
		race->half[configuration != race->rules.baseline] = worked ? value : NAN;
		return;
	}
	e->failed += !worked;
	if (worked && race->phase == RACE_RACES && e->worked < race->rules.trials)
		e->values[e->worked++] = value;
}

/* ---- leaving ---- */

/* The worst value that differs from @value by no more than the noise. */
static double beyond_noise(const struct race *race, double value)
{
	double part = race->rules.noise * fabs(value);

	return race->rules.higher_is_better ? value - part : value + part;
}

/*
 * The probability that @i has results that are so much worse than those of @k, by more than the
 * noise, although it is not worse.
 */
static int chance_of_worse(struct race *race, size_t i, size_t k, double *ret)
{
	const struct race_entry *a = &race->entries[i], *b = &race->entries[k];
	_free_ double *v = reallocarray(NULL, a->worked + b->worked, sizeof(*v));

	*ret = 1;
	if (a->worked < LEAST_ROUNDS || b->worked < LEAST_ROUNDS)
		return 0;
	if (!v)
		return -ENOMEM;
	for (size_t n = 0; n < a->worked; n++)
		v[n] = race->rules.higher_is_better ? -a->values[n] : a->values[n];
	for (size_t n = 0; n < b->worked; n++) {
		double limit = beyond_noise(race, b->values[n]);

		v[a->worked + n] = race->rules.higher_is_better ? -limit : limit;
	}
	return chance_of_above(v, a->worked, v + a->worked, b->worked, &race->sums, ret);
}

/*
 * Two samples of @n values cannot be distinguished with a smaller error than this: 1 of (2n over
 * n).
 */
static double least_chance(unsigned n)
{
	double p = 1;

	for (unsigned i = 1; i <= n; i++)
		p *= (double)i / (double)(n + i);
	return p;
}

/*
 * The error that this check may make in each comparison: two thirds of the remaining error. A check
 * that could show nothing with it is skipped. So all checks together spend at most alpha / (count -
 * 1) in a comparison of the really best one with another, and alpha in all its comparisons.
 */
static double spend_race(struct race *race)
{
	double level = race->budget * 2 / 3;

	if (race->round < LEAST_ROUNDS || level < least_chance(race->round))
		return 0;
	race->budget -= level;
	return level;
}

static bool is_ahead(const struct race *race, double value, double than)
{
	return race->rules.higher_is_better ? value > than : value < than;
}

static double middle_of(const struct race_entry *e)
{
	return median_of(e->values, e->worked);
}

/* The best median; of equal ones the baseline, then the first. SIZE_MAX: none has results. */
static size_t find_leader(const struct race *race)
{
	size_t base = race->rules.baseline, leader = SIZE_MAX;

	if (race->entries[base].state == RACE_RUNS && race->entries[base].worked)
		leader = base;
	for (size_t i = 0; i < race->rules.count; i++) {
		const struct race_entry *e = &race->entries[i];

		if (e->state != RACE_RUNS || !e->worked)
			continue;
		if (leader == SIZE_MAX ||
			is_ahead(race, middle_of(e), middle_of(&race->entries[leader])))
			leader = i;
	}
	return leader;
}

/* Judge it by the most certain of its comparisons with those that ran in this round. */
static int judge_one(struct race *race, const bool *ran, size_t i, double level, double *ret_p,
	size_t *ret_by)
{
	*ret_p = 1;
	*ret_by = SIZE_MAX;
	for (size_t k = 0; k < race->rules.count; k++) {
		double p = 1;

		if (k == i || !ran[k])
			continue;
		if (chance_of_worse(race, i, k, &p) < 0)
			return -ENOMEM;
		if (p <= level && p < *ret_p) {
			*ret_p = p;
			*ret_by = k;
		}
	}
	return 0;
}

static int drop_worse(struct race *race)
{
	double level = spend_race(race), p;
	size_t leader = find_leader(race), by;
	bool ran[RACE_MAX];

	for (size_t i = 0; i < race->rules.count; i++)
		ran[i] = race->entries[i].state == RACE_RUNS;
	for (size_t i = 0; i < race->rules.count && level > 0; i++) {
		struct race_entry *e = &race->entries[i];

		/* At least one configuration is left. */
		if (!ran[i] || i == leader)
			continue;
		if (judge_one(race, ran, i, level, &p, &by) < 0)
			return -ENOMEM;
		if (by == SIZE_MAX)
			continue;
		e->state = RACE_WORSE;
		e->round = race->round;
		e->by = by;
		e->p = p;
	}
	return 0;
}

/* Drop a setting that the driver rejects, or with which the workload fails. */
static void drop_failing(struct race *race)
{
	for (size_t i = 0; i < race->rules.count; i++) {
		struct race_entry *e = &race->entries[i];

		if (e->state != RACE_RUNS || e->failed < FAILURES || e->failed <= e->worked)
			continue;
		e->state = RACE_FAILS;
		e->round = race->round;
	}
}

/* ---- the end ---- */

static bool has_time(const struct race *race, size_t runs)
{
	double each = race->runs ? race->seconds / (double)race->runs : 0;

	return race->rules.max_seconds <= 0 ||
		race->seconds + each * (double)runs <= race->rules.max_seconds;
}

/* Whether each of its results is better than each of the baseline's, by more than the noise. */
static bool is_clear(const struct race *race, size_t leader)
{
	const struct race_entry *a = &race->entries[leader];
	const struct race_entry *b = &race->entries[race->rules.baseline];

	for (size_t i = 0; i < a->worked; i++)
		for (size_t k = 0; k < b->worked; k++)
			if (!is_ahead(race, beyond_noise(race, a->values[i]), b->values[k]))
				return false;
	return a->worked >= LEAST_ROUNDS && b->worked >= LEAST_ROUNDS;
}

/*
 * If the race has separated the two, few pairs are enough. Their number is fixed before the first
 * of them, so that it does not depend on their figures.
 */
static unsigned pairs_for(const struct race *race, size_t leader)
{
	unsigned least = trials_needed(true, race->rules.alpha), most = race->rules.trials;

	if (!is_clear(race, leader))
		return most;
	least = least > LEAST_PAIRS ? least : LEAST_PAIRS;
	return least < most ? least : most;
}

static void end_race_one(struct race *race, enum race_reason reason, enum race_verdict verdict)
{
	race->phase = RACE_OVER;
	race->reason = reason;
	race->verdict = verdict;
}

static void end_with_baseline(struct race *race)
{
	size_t worse = 0;

	for (size_t i = 0; i < race->rules.count; i++)
		worse += race->entries[i].state == RACE_WORSE;
	end_race_one(race, RACE_BASELINE_LEADS,
		worse && race_runners(race) == 1 ? RACE_NONE_BETTER : RACE_NO_DIFFERENCE);
}

static void end_race(struct race *race)
{
	const struct race_entry *base = &race->entries[race->rules.baseline];
	size_t leader = find_leader(race);
	double best;

	if (base->state == RACE_FAILS || !base->worked || leader == SIZE_MAX) {
		end_race_one(race, base->state == RACE_FAILS ? RACE_BASELINE_FAILS : RACE_OUT_OF_TIME,
			RACE_UNDECIDED);
		return;
	}
	race->leader = leader;
	if (leader == race->rules.baseline) {
		end_with_baseline(race);
		return;
	}
	best = middle_of(&race->entries[leader]);
	if (fabs(best - middle_of(base)) < race->rules.noise * fabs(middle_of(base))) {
		end_race_one(race, RACE_WITHIN_NOISE, RACE_NO_DIFFERENCE);
		return;
	}
	race->phase = RACE_CONFIRMS;
	race->round = 0;
	race->confirm = pairs_for(race, leader);
}

static int judge_confirmation(struct vfctl_ctx *ctx, struct race *race)
{
	const struct difference *d = &race->difference;
	double middle = median_of(race->pairs[0], race->pair_count);
	bool cut = race->round < race->confirm, ahead;
	int r = 0;

	if (race->pair_count)
		r = compare_paired(ctx, race->pairs[0], race->pairs[1], race->pair_count,
			1 - race->rules.alpha, &race->difference);
	if (r < 0)
		return r;
	ahead = race->pair_count && d->shift != 0 && (d->shift > 0) == race->rules.higher_is_better;
	if (ahead && d->p < race->rules.alpha && fabs(d->shift) >= race->rules.noise * fabs(middle))
		end_race_one(race, RACE_CONFIRMED, RACE_BETTER);
	else
		end_race_one(race, cut ? RACE_OUT_OF_TIME : RACE_CONFIRMED,
			race->pair_count < trials_needed(true, race->rules.alpha)
				? RACE_UNDECIDED
				: RACE_NO_DIFFERENCE);
	return 0;
}

/* ---- the next block ---- */

static void fill_block(const struct race *race, struct race_block *ret)
{
	*ret = (struct race_block){.phase = race->phase,
		.trial = race->phase == RACE_WARMS_UP ? 0 : race->round + 1};
	if (race->phase == RACE_CONFIRMS) {
		ret->members[ret->count++] = race->rules.baseline;
		ret->members[ret->count++] = race->leader;
		return;
	}
	for (size_t i = 0; i < race->rules.count; i++)
		if (race->entries[i].state == RACE_RUNS)
			ret->members[ret->count++] = i;
}

static int go_on_racing(struct race *race)
{
	bool over;
	int r;

	drop_failing(race);
	r = drop_worse(race);
	if (r < 0)
		return r;
	over = race->round >= race->rules.trials || race_runners(race) < 2 ||
		race->entries[race->rules.baseline].state == RACE_FAILS;
	if (!over && !has_time(race, race_runners(race) + 2 * (size_t)LEAST_PAIRS)) {
		/* With too few rounds no winner can be chosen. */
		if (race->round < LEAST_ROUNDS)
			end_race_one(race, RACE_OUT_OF_TIME, RACE_UNDECIDED);
		else
			over = true;
	}
	if (over)
		end_race(race);
	return 0;
}

static void take_pair(struct race *race)
{
	if (!isfinite(race->half[0]) || !isfinite(race->half[1]))
		return;
	race->pairs[0][race->pair_count] = race->half[0];
	race->pairs[1][race->pair_count++] = race->half[1];
}

static int judge_block(struct vfctl_ctx *ctx, struct race *race)
{
	if (race->phase == RACE_CONFIRMS) {
		race->round++;
		take_pair(race);
		if (race->round >= race->confirm || !has_time(race, 2))
			return judge_confirmation(ctx, race);
		return 0;
	}
	if (race->phase == RACE_WARMS_UP)
		race->phase = RACE_RACES;
	else
		race->round++;
	return go_on_racing(race);
}

int race_next(struct vfctl_ctx *ctx, struct race *race, struct race_block *ret)
{
	int r = 0;

	if (race->phase != RACE_OVER && race->runs)
		r = judge_block(ctx, race);
	if (r < 0)
		return r == -ENOMEM ? ctx_oom(ctx) : r;
	if (race->phase == RACE_OVER)
		return 0;
	race->half[0] = race->half[1] = NAN;
	fill_block(race, ret);
	return 1;
}
