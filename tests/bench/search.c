// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * search [SEARCHES]: what vfctl tune search claims of figures whose truth is known, thousands of
 * times: how often it claims what is not so, lets the best one go, and finds what is there.
 * Prints a line for each kind of figures; the status is 1 when a promise of docs/how-to/tuning.md breaks.
 */
#include <errno.h>
#include <math.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/ctx.h"
#include "bench/race.h"

/* ---- figures ---- */

static uint64_t state = 20260101;

static double uniform(void)
{
	uint64_t z = state += 0x9e3779b97f4a7c15;

	z = (z ^ z >> 30) * 0xbf58476d1ce4e5b9;
	z = (z ^ z >> 27) * 0x94d049bb133111eb;
	return ((double)((z ^ z >> 31) >> 11) + 0.5) / 9007199254740992.0;
}

static double normal(void)
{
	return sqrt(-2 * log(uniform())) * cos(2 * M_PI * uniform());
}

enum noise_kind { BELL, OUTLIERS, DRIFT, STEPS, NONE };

struct truth {
	const char *what;
	double medians[9]; /* the baseline first; 0: no more */
	double spread;	   /* of a trial, relative */
	enum noise_kind kind;
	bool higher_is_better;
	double power;	   /* least share of searches that must find the best; 0: none is better */
};

/* A round has its drift in common, as trials made in turns have. */
static double draw(const struct truth *t, size_t configuration, double drift)
{
	double noise = t->kind == NONE ? 0 : normal() * t->spread;
	double value;

	if (t->kind == OUTLIERS && uniform() < 0.1)
		noise = fabs(noise) * 10;
	value = t->medians[configuration] * exp(noise + (t->kind == DRIFT ? drift : 0));
	return t->kind == STEPS ? round(value / 5) * 5 : value; /* a coarse clock: ties */
}

static const struct truth truths[] = {
	{"all alike, 4 settings", {100, 100, 100, 100, 100}, 0.05, BELL, false, 0},
	{"all alike, 8 settings", {100, 100, 100, 100, 100, 100, 100, 100, 100}, 0.1, BELL, false, 0},
	{"all alike, outliers", {100, 100, 100, 100, 100}, 0.05, OUTLIERS, false, 0},
	{"all alike, drifting host", {100, 100, 100, 100}, 0.02, DRIFT, false, 0},
	{"all alike, coarse clock", {100, 100, 100, 100}, 0.03, STEPS, false, 0},
	{"all alike, one much worse", {100, 100, 100, 500}, 0.05, BELL, false, 0},
	{"all alike, throughput", {100, 100, 100, 100}, 0.05, BELL, true, 0},
	{"all the same number", {100, 100, 100}, 0, NONE, false, 0},
	{"0.5 % better, always: less than the noise", {100, 99.5}, 0, NONE, false, 0},
	{"as it is is the best", {100, 130, 150, 500}, 0.05, BELL, false, 0},
	{"10 % better, spread of 5 %", {100, 90, 100, 100, 100}, 0.05, BELL, false, 0.95},
	{"10 % better, spread of 10 %", {100, 90, 100, 100, 100}, 0.1, BELL, false, 0.6},
	{"10 % better, outliers", {100, 90, 100, 100, 100}, 0.05, OUTLIERS, false, 0.65},
	{"10 % better, drifting host", {100, 90, 100, 100}, 0.02, DRIFT, false, 0.99},
	{"10 % better, 8 settings", {100, 90, 100, 100, 100, 100, 100, 100, 100}, 0.05, BELL, false, 0.95},
	{"10 % more throughput", {100, 100, 110, 100}, 0.05, BELL, true, 0.95},
	{"3 times as good", {300, 100, 250}, 0.05, BELL, false, 0.999},
	{"5 % better, always", {100, 95}, 0, NONE, false, 0.999},
};

/* ---- one search ---- */

struct tally {
	unsigned found, wrong, lost, none_better;
	double runs;
};

static bool is_better(const struct truth *t, size_t a, size_t than)
{
	return t->higher_is_better ? t->medians[a] > t->medians[than] : t->medians[a] < t->medians[than];
}

static size_t best_of(const struct truth *t, size_t count)
{
	size_t best = 0;

	for (size_t i = 1; i < count; i++)
		if (is_better(t, i, best))
			best = i;
	return best;
}

static void search_once(struct vfctl_ctx *ctx, const struct truth *t, struct tally *io)
{
	struct race_rules rules = {.trials = 15, .alpha = 0.05, .noise = 0.01,
		.higher_is_better = t->higher_is_better};
	struct race *race;
	struct race_block block;
	double drift = 0;
	size_t best;

	while (rules.count < 9 && t->medians[rules.count] > 0)
		rules.count++;
	best = best_of(t, rules.count);
	if (race_new(&rules, &race) < 0)
		exit(2);
	while (race_next(ctx, race, &block) == 1) {
		drift += normal() * 0.1;
		for (size_t i = 0; i < block.count; i++)
			race_take(race, block.members[i], draw(t, block.members[i], drift), 1);
	}
	io->runs += (double)race->runs;
	io->found += race->verdict == RACE_BETTER && race->leader == best;
	/* Better than the baseline by nothing, or by less than the noise. */
	io->wrong += race->verdict == RACE_BETTER &&
		(!is_better(t, race->leader, 0) ||
			fabs(t->medians[race->leader] / t->medians[0] - 1) < rules.noise);
	io->lost += race->entries[best].state != RACE_RUNS;
	io->none_better += race->verdict == RACE_NONE_BETTER && best != 0;
	race_free(race);
}

/* For so many searches, three standard deviations above the promised rate is more than chance. */
static bool within(unsigned count, unsigned of, double promise)
{
	return count <= promise * of + 3 * sqrt(promise * (1 - promise) * of);
}

static bool hold(struct vfctl_ctx *ctx, const struct truth *t, unsigned searches)
{
	struct tally tally = {0};
	bool good;

	for (unsigned i = 0; i < searches; i++)
		search_once(ctx, t, &tally);
	good = within(tally.wrong, searches, 0.05) && within(tally.lost, searches, 0.05) &&
		within(tally.none_better, searches, 0.05) && tally.found >= t->power * searches;
	printf("%-44s found %5.1f %%, wrong %4.2f %%, best let go %4.2f %%, %5.1f runs%s\n", t->what,
		100.0 * tally.found / searches, 100.0 * tally.wrong / searches,
		100.0 * tally.lost / searches, tally.runs / searches, good ? "" : "   BROKEN");
	return good;
}

int main(int argc, char **argv)
{
	unsigned searches = argc > 1 ? (unsigned)strtoul(argv[1], NULL, 10) : 2000;
	struct vfctl_ctx *ctx;
	bool good = true;

	if (!searches || vfctl_ctx_new(&ctx) < 0)
		return 2;
	for (size_t i = 0; i < sizeof(truths) / sizeof(truths[0]); i++)
		good &= hold(ctx, &truths[i], searches);
	vfctl_ctx_free(ctx);
	return good ? 0 : 1;
}
