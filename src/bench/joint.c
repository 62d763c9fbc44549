// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Adjusted p-values of many comparisons that share their trials: Westfall and Young's step-down
 * maxT (Resampling-Based Multiple Testing, 1993, algorithm 4.1). All comparisons are resampled
 * together, which gives the distribution of the largest statistic, so many comparisons cost little:
 * six trials reach a verdict for any number of cells, where Holm's correction of rank tests needs
 * eleven for 27.
 */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "bench/stats.h"
#include "bench/stats_gsl.h"

#define DRAWN_LEAST 9999
#define DRAWN_MOST 999999
/* Up to this number, all orders or signs are counted; of more, some are drawn. */
#define ALL_MAX 20000

/* A comparison in the form that sums need: differences of pairs, or all values minus their mean. */
struct sums {
	const struct joint *of;
	double *v;
	size_t *units;	/* for each pair the index of its trial; else NULL */
	double squares; /* of @v */
	double observed;
};

struct joint_state {
	struct sums *sums;
	size_t count;
	size_t *order;	/* comparisons by their statistics, the largest first */
	double *found;	/* the statistics of one resample */
	size_t *above;	/* by position in @order: number of resamples whose maximum reaches the statistic */
	bool *turned;	/* by trial: whether its two values are exchanged */
	size_t trials;	/* number of different trials of all pairs */
	size_t *places; /* a permutation of the positions of unpaired values: the first sample
			   below @n, then the second */
	size_t n, m;	/* largest sample sizes of a comparison that is not paired */
};

/* ---- statistics ---- */

/*
 * t of a sum whose square is at most @most, which it reaches if nothing varies. A sum that is only
 * a rounding error counts as 0, so that equal resamples have equal statistics.
 */
static double t_of(double sum, double most, double freedom)
{
	double rest = most - sum * sum;

	if (sum * sum <= 1e-24 * most || freedom <= 0)
		return 0;
	return rest > 1e-12 * most ? fabs(sum) * sqrt(freedom / rest) : HUGE_VAL;
}

static double paired_statistic(const struct sums *s, const bool *turned)
{
	size_t n = s->of->n;
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		sum += turned && turned[s->units[i]] ? -s->v[i] : s->v[i];
	return t_of(sum, (double)n * s->squares, (double)n - 1);
}

/*
 * @places: the first m of them that this comparison has form the second sample; NULL: the original
 * ones.
 */
static double unpaired_statistic(const struct sums *s, const struct joint_state *j,
	const size_t *places)
{
	size_t n = s->of->n, m = s->of->m, taken = 0;
	double sum = 0, both = 1 / (double)n + 1 / (double)m;

	for (size_t i = 0; i < m && !places; i++)
		sum += s->v[n + i];
	for (size_t i = 0; places && taken < m; i++) {
		size_t place = places[i];

		if (place < j->n ? place < n : place - j->n < m) {
			sum += s->v[place < j->n ? place : n + place - j->n];
			taken++;
		}
	}
	return t_of(sum, s->squares / both, (double)(n + m) - 2);
}

static double statistic_of(const struct sums *s, const struct joint_state *j, bool resampled)
{
	return s->of->paired ? paired_statistic(s, resampled ? j->turned : NULL)
		: unpaired_statistic(s, j, resampled ? j->places : NULL);
}

/* ---- resamples ---- */

/* Step down: use the maximum of this comparison and all with smaller statistics. */
static void count_resample(struct joint_state *j)
{
	double largest = 0;

	for (size_t i = 0; i < j->count; i++)
		j->found[i] = statistic_of(&j->sums[i], j, true);
	for (size_t i = j->count; i-- > 0;) {
		largest = fmax(largest, j->found[j->order[i]]);
		j->above[i] += largest >= j->sums[j->order[i]].observed * (1 - 1e-9);
	}
}

/* Count all signs; the last trial is fixed, because inverting all signs changes no statistic. */
static size_t count_all_signs(struct joint_state *j)
{
	size_t all = (size_t)1 << (j->trials - 1);

	for (size_t signs = 0; signs < all; signs++) {
		for (size_t i = 0; i < j->trials; i++)
			j->turned[i] = signs >> i & 1;
		count_resample(j);
	}
	return all;
}

/* The next choice of @m among n + m, in @chosen (ascending); false after the last one. */
static bool next_choice(size_t *chosen, size_t n, size_t m)
{
	for (size_t i = m; i-- > 0;)
		if (chosen[i] < n + i) {
			chosen[i]++;
			for (size_t k = i + 1; k < m; k++)
				chosen[k] = chosen[k - 1] + 1;
			return true;
		}
	return false;
}

static size_t count_all_orders(struct joint_state *j)
{
	size_t all = 0;

	for (size_t i = 0; i < j->m; i++)
		j->places[i] = i;
	do {
		count_resample(j);
		all++;
	} while (next_choice(j->places, j->n, j->m));
	return all;
}

static int count_drawn(struct joint_state *j, size_t count, uint64_t seed)
{
	struct gsl_random *random = gsl_random_new(seed);

	if (!random)
		return -ENOMEM;
	for (size_t i = 0; i < j->n + j->m; i++)
		j->places[i] = i;
	for (size_t b = 0; b < count; b++) {
		for (size_t i = 0; i < j->trials; i++)
			j->turned[i] = gsl_random_below(random, 2);
		for (size_t i = j->n + j->m; i > 1; i--) {
			size_t k = gsl_random_below(random, i), place = j->places[i - 1];

			j->places[i - 1] = j->places[k];
			j->places[k] = place;
		}
		count_resample(j);
	}
	gsl_random_free(random);
	for (size_t i = 0; i < j->count; i++)
		j->above[i]++; /* the observed order is one of them */
	return 0;
}

/* ---- preparation ---- */

static size_t unit_of(unsigned *trials, size_t *count, unsigned trial)
{
	for (size_t i = 0; i < *count; i++)
		if (trials[i] == trial)
			return i;
	trials[*count] = trial;
	return (*count)++;
}

/* Divide by the largest value, so that no square overflows. */
static void scale_values(struct sums *s, size_t count)
{
	double largest = 0;

	for (size_t i = 0; i < count; i++)
		largest = fmax(largest, fabs(s->v[i]));
	for (size_t i = 0; i < count; i++) {
		s->v[i] = largest > 0 ? s->v[i] / largest : 0;
		s->squares += s->v[i] * s->v[i];
	}
}

static void fill_paired(struct sums *s, unsigned *trials, size_t *count)
{
	for (size_t i = 0; i < s->of->n; i++) {
		s->v[i] = s->of->second[i] - s->of->first[i];
		s->units[i] = unit_of(trials, count, s->of->trials[i]);
	}
	scale_values(s, s->of->n);
}

static void fill_unpaired(struct sums *s)
{
	size_t n = s->of->n, count = n + s->of->m;
	double mean = 0;

	for (size_t i = 0; i < count; i++) {
		s->v[i] = i < n ? s->of->first[i] : s->of->second[i - n];
		mean += s->v[i] / (double)count;
	}
	for (size_t i = 0; i < count; i++)
		s->v[i] -= mean;
	scale_values(s, count);
}

static int by_statistic(const void *a, const void *b, void *sums)
{
	const struct sums *s = sums;
	double x = s[*(const size_t *)a].observed, y = s[*(const size_t *)b].observed;

	return (x < y) - (x > y);
}

/* Whether all orders can be counted, which must be the same for every comparison. */
static bool orders_are_few(const struct joint_state *j)
{
	double orders = 1;

	for (size_t i = 0; i < j->count; i++)
		if (j->sums[i].of->paired || j->sums[i].of->n != j->n || j->sums[i].of->m != j->m)
			return false;
	for (size_t i = 1; i <= j->m; i++)
		orders *= (double)(j->n + i) / (double)i;
	return orders <= ALL_MAX;
}

static bool signs_are_few(const struct joint_state *j)
{
	for (size_t i = 0; i < j->count; i++)
		if (!j->sums[i].of->paired)
			return false;
	return j->trials > 0 && (size_t)1 << (j->trials < 40 ? j->trials - 1 : 40) <= ALL_MAX;
}

/* Enough for a p-value of a hundredth of @alpha. */
static size_t draws_for(double alpha)
{
	double wanted = alpha > 0 ? 100 / alpha : DRAWN_MOST;

	return wanted <= DRAWN_LEAST ? DRAWN_LEAST : wanted >= DRAWN_MOST ? DRAWN_MOST : (size_t)wanted;
}

static int resample_all(struct joint_state *j, double alpha, uint64_t seed, double *ret_p)
{
	size_t draws = draws_for(alpha), all = draws + 1;
	double largest = 0;
	int r = 0;

	if (signs_are_few(j))
		all = count_all_signs(j);
	else if (orders_are_few(j))
		all = count_all_orders(j);
	else
		r = count_drawn(j, draws, seed);
	for (size_t i = 0; i < j->count && r == 0; i++) {
		largest = fmax(largest, (double)j->above[i] / (double)all);
		ret_p[j->order[i]] = largest;
	}
	return r;
}

static void fill_all(struct joint_state *j, const struct joint *of, double *values, size_t *units,
	unsigned *trials)
{
	for (size_t i = 0; i < j->count; i++) {
		struct sums *s = &j->sums[i];

		*s = (struct sums){.of = &of[i], .v = values, .units = units};
		if (of[i].paired) {
			fill_paired(s, trials, &j->trials);
		} else {
			fill_unpaired(s);
			j->n = of[i].n > j->n ? of[i].n : j->n;
			j->m = of[i].m > j->m ? of[i].m : j->m;
		}
		values += of[i].n + of[i].m;
		units += of[i].n;
		j->order[i] = i;
		s->observed = statistic_of(s, j, false);
	}
	qsort_r(j->order, j->count, sizeof(*j->order), by_statistic, j->sums);
}

int joint_p(struct vfctl_ctx *ctx, const struct joint *of, size_t count, double alpha,
	uint64_t seed,
	double *ret_p)
{
	struct joint_state j = {.count = count};
	size_t total = 1;
	_free_ double *values = NULL;
	_free_ size_t *numbers = NULL;
	_free_ unsigned *trials = NULL;
	_free_ bool *turned = NULL;
	_free_ struct sums *sums = calloc(count ? count : 1, sizeof(*sums));
	int r = gsl_bind(ctx);

	if (r < 0)
		return r;
	for (size_t i = 0; i < count; i++)
		total += of[i].n + of[i].m;
	values = calloc(total + count, sizeof(*values));
	numbers = calloc(2 * total + 2 * count, sizeof(*numbers));
	trials = calloc(total, sizeof(*trials));
	turned = calloc(total, sizeof(*turned));
	if (!sums || !values || !numbers || !trials || !turned)
		return ctx_oom(ctx);
	j.sums = sums;
	j.turned = turned;
	j.found = values + total;
	j.places = numbers + total;
	j.order = numbers + 2 * total;
	j.above = j.order + count;
	fill_all(&j, of, values, numbers, trials);
	return resample_all(&j, alpha, seed, ret_p) < 0 ? ctx_oom(ctx) : 0;
}
