// SPDX-License-Identifier: GPL-2.0-or-later
/* What a search measures next, drops and claims. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "bench/race.h"
#include "bench/result.h"

static struct vfctl_ctx *ctx;

/* The figure of run @n (from 0) of a configuration; NAN: it fails. */
typedef double (*figures)(size_t configuration, size_t n);

static struct race *run(struct race_rules rules, figures f, double seconds)
{
	struct race *race = NULL;
	struct race_block block;
	size_t made[RACE_MAX] = {0};
	int r;

	assert_int_equal(race_new(&rules, &race), 0);
	while ((r = race_next(ctx, race, &block)) == 1)
		for (size_t i = 0; i < block.count; i++) {
			size_t k = block.members[i];

			race_take(race, k, f(k, made[k]++), seconds);
		}
	assert_int_equal(r, 0);
	assert_true(race->runs <= race_most_runs(&rules));
	/* Once over, it stays so. */
	assert_int_equal(race_next(ctx, race, &block), 0);
	return race;
}

static const struct race_rules usual = {.count = 3, .trials = 15, .warmup = true, .alpha = 0.05,
	.noise = 0.01};

static double anti_affinity(size_t k, size_t n)
{
	return 100 + 50 * (double)k + (double)(n * 7 % 5);
}

static void the_worse_leave_early_and_nothing_is_confirmed_without_need(void **unused)
{
	struct race *race = run(usual, anti_affinity, 1);

	assert_int_equal(race->verdict, RACE_NONE_BETTER);
	assert_int_equal(race->entries[0].state, RACE_RUNS);
	assert_int_equal(race->entries[1].state, RACE_WORSE);
	assert_int_equal(race->entries[1].by, 0);
	assert_true(race->entries[2].round <= 5);
	assert_int_equal(race->pair_count, 0);
	race_free(race);
}

static double turned(size_t k, size_t n)
{
	return anti_affinity(2 - k, n);
}

static void the_best_is_confirmed_by_figures_of_its_own(void **unused)
{
	struct race *race = run(usual, turned, 1);

	assert_int_equal(race->verdict, RACE_BETTER);
	assert_int_equal(race->leader, 2);
	assert_int_equal(race->pair_count, 8);
	assert_true(race->difference.p < 0.05 && race->difference.shift < -90);
	race_free(race);
}

/* It wins the race by luck alone, and is then as the baseline. */
static double lucky(size_t k, size_t n)
{
	double value = 100 + (double)(n * 13 % 11);

	return k == 1 && n < 16 ? value - 3 : value + (double)(k * n % 3);
}

static void luck_in_the_race_is_no_claim(void **unused)
{
	struct race *race = run(usual, lucky, 1);

	assert_int_equal(race->leader, 1);
	assert_int_equal(race->verdict, RACE_NO_DIFFERENCE);
	assert_int_equal(race->pair_count, 15);
	race_free(race);
}

static double same(size_t k, size_t n)
{
	return 5;
}

static double within(size_t k, size_t n)
{
	return k ? 99.5 : 100;
}

static double beyond(size_t k, size_t n)
{
	return k == 1 ? 98 : 100;
}

static void constants_differ_by_more_than_the_noise_or_not_at_all(void **unused)
{
	struct race *race = run(usual, same, 1);

	assert_int_equal(race->verdict, RACE_NO_DIFFERENCE);
	assert_int_equal(race->reason, RACE_BASELINE_LEADS);
	race_free(race);
	race = run(usual, within, 1);
	assert_int_equal(race->verdict, RACE_NO_DIFFERENCE);
	assert_int_equal(race->reason, RACE_WITHIN_NOISE);
	assert_int_equal(race_runners(race), 3);
	race_free(race);
	race = run(usual, beyond, 1);
	assert_int_equal(race->verdict, RACE_BETTER);
	assert_int_equal(race->leader, 1);
	race_free(race);
}

static double second_fails(size_t k, size_t n)
{
	return k == 1 ? NAN : turned(k, n);
}

static double first_fails(size_t k, size_t n)
{
	return k == 0 ? NAN : anti_affinity(k, n);
}

static double confirmation_fails(size_t k, size_t n)
{
	return k == 2 && n >= 6 ? NAN : turned(k, n);
}

static void what_fails_leaves(void **unused)
{
	struct race *race = run(usual, second_fails, 1);

	assert_int_equal(race->entries[1].state, RACE_FAILS);
	assert_int_equal(race->entries[1].failed, 2);
	assert_int_equal(race->verdict, RACE_BETTER);
	race_free(race);
	race = run(usual, first_fails, 1);
	assert_int_equal(race->verdict, RACE_UNDECIDED);
	assert_int_equal(race->reason, RACE_BASELINE_FAILS);
	assert_true(race->runs < 10);
	race_free(race);
	race = run(usual, confirmation_fails, 1);
	assert_int_equal(race->verdict, RACE_UNDECIDED);
	race_free(race);
}

static void time_that_is_up_claims_nothing(void **unused)
{
	struct race_rules rules = usual;
	struct race *race;

	for (rules.max_seconds = 1; rules.max_seconds < 120; rules.max_seconds += 1) {
		race = run(rules, turned, 1);
		assert_true(race->seconds <= rules.max_seconds + (double)rules.count);
		assert_true(race->verdict == RACE_BETTER || race->verdict == RACE_UNDECIDED ||
			race->verdict == RACE_NO_DIFFERENCE);
		assert_true(race->verdict != RACE_BETTER || race->pair_count >= 6);
		race_free(race);
	}
}

/* The error that all looks may make together is what is promised. */
static void looks_spend_no_more_than_their_error(void **unused)
{
	for (size_t count = 2; count <= RACE_MAX; count++) {
		struct race_rules rules = usual;
		struct race *race;

		rules.count = count;
		race = run(rules, same, 1);
		assert_true(race->budget > 0);
		assert_true(race->budget <= 0.05 / (double)(count - 1));
		race_free(race);
	}
}

static void what_is_told_as_chance_is_exact(void **unused)
{
	const double low[] = {1, 2, 3, 4}, high[] = {5, 6, 7, 8}, ties[] = {4, 4, 4, 4};
	struct rank_sums sums = {0};
	double p;

	assert_int_equal(chance_of_above(high, 4, low, 4, &sums, &p), 0);
	assert_true(fabs(p - 1.0 / 70) < 1e-12); /* 1 of (8 over 4) */
	assert_int_equal(chance_of_above(high, 3, low, 4, &sums, &p), 0);
	assert_true(fabs(p - 1.0 / 35) < 1e-12);
	assert_int_equal(chance_of_above(low, 4, high, 4, &sums, &p), 0);
	assert_true(p >= 1);
	assert_int_equal(chance_of_above(ties, 4, ties, 4, &sums, &p), 0);
	assert_true(p >= 1);
	/* 4 is above three of four, each time; a tie is not. R: pwilcox(11, 4, 4, lower = F) */
	assert_int_equal(chance_of_above(ties, 4, low, 4, &sums, &p), 0);
	assert_true(fabs(p - 12.0 / 70) < 1e-12);
	rank_sums_clear(&sums);
}

#define RESULT(search) "{\"schema\": 1, \"name\": \"s\", \"seed\": 1, \"runs\": 9, \"trials\": 8, " \
	"\"configurations\": [{\"name\": \"a\"}], \"tests\": [{\"name\": \"t\", \"goal\": \"p50\", " \
	"\"better\": \"lower\"}], \"search\": " search "}"

static void a_damaged_search_is_refused(void **unused)
{
	static const char *const bad[] = {RESULT("7"), RESULT("{}"), RESULT("{\"max_seconds\": -1}"),
		RESULT("{\"max_seconds\": \"x\"}"), RESULT("[]")};
	static const char good[] = RESULT("{\"max_seconds\": 60}");
	struct bench_result *result = NULL;

	for (size_t i = 0; i < sizeof(bad) / sizeof(bad[0]); i++)
		assert_int_equal(bench_result_parse(ctx, "f", bad[i], strlen(bad[i]), &result), -EBADMSG);
	assert_int_equal(bench_result_parse(ctx, "f", good, strlen(good), &result), 0);
	assert_true(result->search);
	assert_int_equal(result->trials_each, 8);
	bench_result_free(result);
}

static int begin(void **unused)
{
	return vfctl_ctx_new(&ctx);
}

static int end(void **unused)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(the_worse_leave_early_and_nothing_is_confirmed_without_need),
		cmocka_unit_test(the_best_is_confirmed_by_figures_of_its_own),
		cmocka_unit_test(luck_in_the_race_is_no_claim),
		cmocka_unit_test(constants_differ_by_more_than_the_noise_or_not_at_all),
		cmocka_unit_test(what_fails_leaves),
		cmocka_unit_test(time_that_is_up_claims_nothing),
		cmocka_unit_test(looks_spend_no_more_than_their_error),
		cmocka_unit_test(what_is_told_as_chance_is_exact),
		cmocka_unit_test(a_damaged_search_is_refused),
	};

	return cmocka_run_group_tests(tests, begin, end);
}
