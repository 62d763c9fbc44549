// SPDX-License-Identifier: GPL-2.0-or-later
#include "bench/detect.h"

#include <errno.h>
#include <math.h>
#include <stdlib.h>

#include "bench/stats.h"
#include "bench/stats_gsl.h"

#define POWER 0.8
#define TRIALS_LOOKED_AT 5
#define TRIALS_LEAST 3 /* for a spread */

/* The sum of the squared distances from the mean. */
static double squares_of(const double *v, size_t count)
{
	double mean = 0, squares = 0;

	for (size_t i = 0; i < count; i++)
		mean += v[i] / (double)count;
	for (size_t i = 0; i < count; i++)
		squares += (v[i] - mean) * (v[i] - mean);
	return squares;
}

double detectable_d(bool paired, size_t n, size_t m, double alpha)
{
	double freedom = paired ? (double)n - 1 : (double)(n + m) - 2;
	double per_trial = paired ? 1 / (double)n : 1 / (double)n + 1 / (double)m;

	if (n < 2 || m < 2)
		return NAN;
	return (gsl_t_quantile(alpha / 2, freedom) + gsl_t_quantile(1 - POWER, freedom)) * sqrt(per_trial);
}

double detectable(const double *log_ratios, size_t count, unsigned planned, double alpha)
{
	if (count < TRIALS_LEAST)
		return NAN;
	return expm1(detectable_d(true, planned, planned, alpha) *
		sqrt(squares_of(log_ratios, count) / (double)(count - 1)));
}

unsigned detect_after(const struct bench *b)
{
	const struct bench_plan *plan = b->plan;

	if (plan->configuration_count < 2 || plan->trials < bench_plan_trials_needed(plan))
		return 0;
	return plan->trials / 2 < TRIALS_LOOKED_AT ? plan->trials / 2 : TRIALS_LOOKED_AT;
}

/* The configuration that is baseline number @at; SIZE_MAX: there are fewer. */
static size_t baseline_of(const struct bench_plan *plan, size_t at)
{
	for (size_t i = 0; i < plan->configuration_count; i++)
		if (bench_plan_is_baseline(plan, plan->configurations[i].name, at + 1) &&
			!bench_plan_is_baseline(plan, plan->configurations[i].name, at))
			return i;
	return SIZE_MAX;
}

/* Two baselines are compared with each other only once. */
static bool is_compared(const struct bench_plan *plan, size_t at, size_t configuration)
{
	return !bench_plan_is_baseline(plan, plan->configurations[configuration].name, at + 1);
}

static size_t count_comparisons(const struct bench_plan *plan)
{
	size_t count = 0;

	for (size_t at = 0; baseline_of(plan, at) != SIZE_MAX; at++)
		for (size_t c = 0; c < plan->configuration_count; c++)
			count += is_compared(plan, at, c);
	return count;
}

/* The trials in which both configurations have a value at that point. */
static size_t log_ratios(const struct bench *b, const double *values, size_t point,
	const size_t pair[2],
	double ret[TRIALS_LOOKED_AT])
{
	double found[TRIALS_LOOKED_AT][2];
	size_t count = 0;

	for (size_t i = 0; i < TRIALS_LOOKED_AT; i++)
		found[i][0] = found[i][1] = NAN;
	for (size_t i = 0; i < b->turn_count; i++) {
		const struct bench_turn *t = &b->turns[i];

		if (t->trial > TRIALS_LOOKED_AT)
			break; /* the runs are in the order of their trials */
		if (t->point != point || !t->trial)
			continue;
		for (size_t k = 0; k < 2; k++)
			if (t->configuration == pair[k])
				found[t->trial - 1][k] = values[i];
	}
	for (size_t i = 0; i < TRIALS_LOOKED_AT; i++)
		if (found[i][0] > 0 && found[i][1] > 0)
			ret[count++] = log(found[i][1] / found[i][0]);
	return count;
}

/* A configuration at a point, with what it can show there. */
struct detection {
	double difference;
	size_t point, configuration;
};

static int by_difference(const void *a, const void *b)
{
	const struct detection *x = a, *y = b;

	return (x->difference > y->difference) - (x->difference < y->difference);
}

static size_t detect_all(const struct bench *b, const double *values, struct detection *ret)
{
	const struct bench_plan *plan = b->plan;
	double alpha = plan->alpha / (double)(b->point_count * count_comparisons(plan));
	size_t count = 0, baseline;

	for (size_t at = 0; (baseline = baseline_of(plan, at)) != SIZE_MAX; at++)
		for (size_t i = 0; i < b->point_count * plan->configuration_count; i++) {
			size_t p = i / plan->configuration_count, c = i % plan->configuration_count;
			double ratios[TRIALS_LOOKED_AT];
			size_t pairs = !is_compared(plan, at, c) ? 0
				: log_ratios(b, values, p, (size_t[]){baseline, c}, ratios);
			double d = detectable(ratios, pairs, plan->trials, alpha);

			if (!isnan(d))
				ret[count++] = (struct detection){d, p, c};
		}
	qsort(ret, count, sizeof(*ret), by_difference);
	return count;
}

int detect_tell(struct bench *b, const double *values)
{
	_free_ struct detection *v = calloc(b->point_count * count_comparisons(b->plan) + 1, sizeof(*v));
	const struct detection *worst;
	char what[128], about[VFCTL_BENCH_TEXT], most[VFCTL_BENCH_TEXT];
	size_t count;
	int r = v ? gsl_bind(b->ctx) : ctx_oom(b->ctx);

	if (r < 0)
		return r == -ENOMEM ? r : 0; /* it is only a hint; the report says that GSL is missing */
	count = detect_all(b, values, v);
	if (!count)
		return 0;
	worst = &v[count - 1];
	vfctl_bench_about(v[(count - 1) / 2].difference, about);
	if (count == 1)
		log_info(b->ctx, "after the first trials: %u trials can show a difference of about %s",
			b->plan->trials, about);
	else
		log_info(b->ctx, "after the first trials: %u trials can show differences of about %s "
			"(median of %zu comparisons); the least sensitive comparison is %s, %s: about %s",
			b->plan->trials, about, count, b->plan->configurations[worst->configuration].name,
			bench_point_text(&b->points[worst->point], what),
			vfctl_bench_about(worst->difference, most));
	return 0;
}
