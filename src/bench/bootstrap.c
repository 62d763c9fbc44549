// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bootstrap interval of a median. A resample draws as many trials as there are, with
 * replacement, so its median is one of them, or the mean of two. The chance of each follows from
 * the binomial distribution (Efron, The Jackknife, the Bootstrap and Other Resampling Plans, 1982,
 * 10.2). So nothing is drawn, and columns with the same number of trials share the chances.
 */
#include <errno.h>
#include <math.h>

#include "bench/stats.h"

#define NEGLIGIBLE 1e-13

static double log_choose(size_t n, size_t k)
{
	return lgamma((double)n + 1) - lgamma((double)k + 1) - lgamma((double)(n - k) + 1);
}

/* The chance that at least @k of @n draws are among that share of the values. */
static double at_least(size_t n, size_t k, double share)
{
	double p = 0;

	if (share >= 1)
		return 1;
	for (size_t i = k; share > 0 && i <= n; i++)
		p += exp(log_choose(n, i) + (double)i * log(share) + (double)(n - i) * log1p(-share));
	return fmin(1, p);
}

/* The logarithm of the chance that the largest of half the draws is value number @at. */
static double log_largest(size_t n, size_t at)
{
	double half = (double)(n / 2), last = (double)at + 1;

	return half * log(last / (double)n) + log1p(-pow((double)at / last, half));
}

static int put_chance(struct median_chances *io, size_t low, size_t high, double p)
{
	if (p < NEGLIGIBLE)
		return 0;
	if (!array_grow(io->v, io->count))
		return -ENOMEM;
	io->v[io->count++] = (struct median_chance){low, high, p};
	return 0;
}

/*
 * Of an even number of draws the two in the middle are averaged. @p: the chance that value @at is
 * the lower one; the upper one is the smallest of the other half.
 */
static int put_even_chances(struct median_chances *io, size_t at, double p)
{
	size_t n = io->n;
	double first = log_choose(n, n / 2) + log_largest(n, at), chance = 1;
	int r = 0;

	for (size_t high = at + 1; high < n && r == 0 && chance >= NEGLIGIBLE; high++) {
		chance = exp(first + log_largest(n, n - 1 - high));
		p -= chance;
		r = put_chance(io, at, high, chance);
	}
	return r < 0 ? r : put_chance(io, at, at, p);
}

static int fill_chances(size_t n, struct median_chances *io)
{
	double below = 0;
	int r = 0;

	if (io->n == n)
		return 0;
	median_chances_clear(io);
	io->n = n;
	for (size_t i = 0; i < n && r == 0; i++) {
		double reached = at_least(n, (n + 1) / 2, (double)(i + 1) / (double)n), p = reached - below;

		below = reached;
		if (p >= NEGLIGIBLE)
			r = n % 2 ? put_chance(io, i, i, p) : put_even_chances(io, i, p);
	}
	return r;
}

void median_chances_clear(struct median_chances *c)
{
	free(c->v);
	*c = (struct median_chances){0};
}

struct weighted {
	double value, p;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct weighted *)a)->value, y = ((const struct weighted *)b)->value;

	return (x > y) - (x < y);
}

/* The smallest median that at least that share of the resamples does not exceed. */
static double quantile_weighted(const struct weighted *v, size_t count, double share)
{
	double sum = 0;
	size_t i = 0;

	while (i + 1 < count && (sum += v[i].p) < share - 1e-9)
		i++;
	return v[i].value;
}

static int weigh_medians(const double *sorted, const struct median_chances *c, double confidence,
	struct interval *ret)
{
	_free_ struct weighted *v = reallocarray(NULL, c->count, sizeof(*v));

	if (!v)
		return -ENOMEM;
	for (size_t i = 0; i < c->count; i++)
		v[i] = (struct weighted){sorted[c->v[i].low] / 2 + sorted[c->v[i].high] / 2, c->v[i].p};
	qsort(v, c->count, sizeof(*v), by_value);
	*ret = (struct interval){quantile_weighted(v, c->count, (1 - confidence) / 2),
		quantile_weighted(v, c->count, (1 + confidence) / 2)};
	return 0;
}

int bootstrap_median(struct vfctl_ctx *ctx, const double *v, size_t count, double confidence,
	struct median_chances *io, struct interval *ret)
{
	_free_ double *sorted = reallocarray(NULL, count ? count : 1, sizeof(*sorted));
	int r;

	*ret = (struct interval){NAN, NAN};
	if (count < 2)
		return 0;
	if (!sorted)
		return ctx_oom(ctx);
	memcpy(sorted, v, count * sizeof(*v));
	r = sort_doubles(sorted, count);
	if (r == 0)
		r = fill_chances(count, io);
	if (r == 0)
		r = weigh_medians(sorted, io, confidence, ret);
	return r < 0 ? ctx_oom(ctx) : 0;
}
