// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Whether two configurations differ, from the trials of each.
 * The p-values are those of R's wilcox.test() and t.test(). With ties, where R before 4.6 uses an
 * approximation, they are exact too: those of the permutations of the mean ranks (unit/oracle-stats
 * compares all with R, SciPy and brute force).
 */
#include <errno.h>
#include <float.h>
#include <math.h>

#include "bench/stats.h"
#include "bench/stats_gsl.h"

#define EXACT_BELOW 50

static int refuse_endless(struct vfctl_ctx *ctx, const double *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (!isfinite(v[i]))
			return ctx_fail(ctx, -EDOM, "value %zu is not finite", i + 1);
	return 0;
}

/* ---- ranks ---- */

struct ranked {
	double value;
	size_t at;
};

static int by_value(const void *a, const void *b)
{
	double x = ((const struct ranked *)a)->value, y = ((const struct ranked *)b)->value;

	return (x > y) - (x < y);
}

/* Equal values share the mean of their ranks. @ret_ties: the sum of t^3 - t over groups of t. */
static int rank_values(const double *v, size_t count, double *ret_ranks, double *ret_ties)
{
	_free_ struct ranked *sorted = reallocarray(NULL, count ? count : 1, sizeof(*sorted));

	if (!sorted)
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		sorted[i] = (struct ranked){v[i], i};
	if (count)
		qsort(sorted, count, sizeof(*sorted), by_value);
	*ret_ties = 0;
	for (size_t i = 0, end; i < count; i = end) {
		double size;

		for (end = i + 1; end < count && !(sorted[end].value > sorted[i].value); end++)
			;
		size = (double)(end - i);
		*ret_ties += size * size * size - size;
		for (size_t k = i; k < end; k++)
			ret_ranks[sorted[k].at] = (double)(i + 1 + end) / 2;
	}
	return 0;
}

/* ---- the distribution of a sum of ranks by chance: a table of P(S = s) ---- */

struct chances {
	double *v;
	size_t count;
};

/* Signed ranks: each of 1..n is in the sum or not. */
static int signed_rank_chances(size_t n, struct chances *ret)
{
	size_t count = n * (n + 1) / 2 + 1;
	double *v = calloc(count, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v[0] = 1;
	for (size_t rank = 1; rank <= n; rank++)
		for (size_t s = count; s-- > 0;)
			v[s] = (v[s] + (s >= rank ? v[s - rank] : 0)) / 2;
	*ret = (struct chances){v, count};
	return 0;
}

/*
 * Rank sums: n of n + m ranks belong to the first sample. Number of ways to choose k with the sum s
 * from the first ranks, minus the smallest possible sum, so that W = 0..n m.
 */
static int rank_sum_chances(size_t n, size_t m, struct chances *ret)
{
	size_t count = n * m + 1;
	double *ways = calloc((n + 1) * count, sizeof(*ways)), total = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	/* The rank that is taken as the k-th smallest has rank - k of the others below it. */
	for (size_t rank = 1; rank <= n + m; rank++)
		for (size_t k = rank < n ? rank : n; k > 0; k--) {
			size_t below = rank - k;
			double *to = ways + k * count;
			const double *from = ways + (k - 1) * count;

			for (size_t s = below; below <= m && s < count; s++)
				to[s] += from[s - below];
		}
	memmove(ways, ways + n * count, count * sizeof(*ways));
	for (size_t s = 0; s < count; s++)
		total += ways[s];
	for (size_t s = 0; s < count; s++)
		ways[s] /= total;
	*ret = (struct chances){ways, count};
	return 0;
}

/*
 * With ties the mean ranks themselves are permuted. They are multiples of 1/2, so these tables are
 * over twice the sum.
 */
static int tied_signed_chances(const double *ranks, size_t n, struct chances *ret)
{
	size_t count = n * (n + 1) + 1;
	double *v = calloc(count, sizeof(*v));

	if (!v)
		return -ENOMEM;
	v[0] = 1;
	for (size_t i = 0; i < n; i++) {
		size_t twice = (size_t)(2 * ranks[i]);

		for (size_t s = count; s-- > 0;)
			v[s] = (v[s] + (s >= twice ? v[s - twice] : 0)) / 2;
	}
	*ret = (struct chances){v, count};
	return 0;
}

/* @n of @total ranks belong to the first sample. */
static int tied_sum_chances(const double *ranks, size_t total, size_t n, struct chances *ret)
{
	size_t count = total * (total + 1) + 1;
	double *ways = calloc((n + 1) * count, sizeof(*ways)), all = 0;

	if (!ways)
		return -ENOMEM;
	ways[0] = 1;
	for (size_t i = 0; i < total; i++) {
		size_t twice = (size_t)(2 * ranks[i]);

		for (size_t k = i + 1 < n ? i + 1 : n; k > 0; k--) {
			double *to = ways + k * count;
			const double *from = ways + (k - 1) * count;

			for (size_t s = twice; s < count; s++)
				to[s] += from[s - twice];
		}
	}
	memmove(ways, ways + n * count, count * sizeof(*ways));
	for (size_t s = 0; s < count; s++)
		all += ways[s];
	for (size_t s = 0; s < count; s++)
		ways[s] /= all;
	*ret = (struct chances){ways, count};
	return 0;
}

/*
 * Two-sided: the probability of a sum at least as far from its mean as @s. Without ties: twice the
 * tail.
 */
static double exact_p(const struct chances *chances, size_t s, size_t twice_mean)
{
	size_t far = 2 * s > twice_mean ? 2 * s - twice_mean : twice_mean - 2 * s;
	double p = 0;

	for (size_t i = 0; i < chances->count; i++)
		if ((2 * i > twice_mean ? 2 * i - twice_mean : twice_mean - 2 * i) >= far)
			p += chances->v[i];
	return fmin(1, p);
}

/* The smallest s with P(S <= s) >= p; at least 1. */
static size_t exact_quantile(const struct chances *chances, double p)
{
	double sum = 0;
	size_t s = 0;

	/*
	 * A slightly smaller limit, as in R: a p that is rounded to 0.025 must not count as a
	 * difference.
	 */
	p *= 1 - 8 * DBL_EPSILON;
	while (s < chances->count && (sum += chances->v[s]) < p)
		s++;
	return s ? s : 1;
}

/* With the continuity correction. */
static double normal_p(double difference, double variance)
{
	double z;

	if (variance <= 0)
		return 1; /* all are equal */
	z = (fabs(difference) - 0.5) / sqrt(variance);
	return difference == 0 ? 1 : fmin(1, 2 * fmin(gsl_normal_tail(z), gsl_normal_tail(-z)));
}

/* ---- t ---- */

static void moments(const double *v, size_t count, double *ret_mean, double *ret_variance)
{
	double mean = 0, sum = 0;

	for (size_t i = 0; i < count; i++)
		mean += (v[i] - mean) / (double)(i + 1);
	for (size_t i = 0; i < count; i++)
		sum += (v[i] - mean) * (v[i] - mean);
	*ret_mean = mean;
	*ret_variance = count > 1 ? sum / (double)(count - 1) : NAN;
}

/*
 * If the values vary only in the last digit, and the means differ by more than that, t is
 * meaningless.
 */
static double t_p(double difference, double error, double largest, double freedom)
{
	if (!(error > 10 * DBL_EPSILON * largest) || !isfinite(difference / error))
		return NAN;
	return 2 * gsl_t_tail(fabs(difference / error), freedom);
}

static double welch_p(const double *first, size_t n, const double *second, size_t m)
{
	double mean1, var1, mean2, var2, e1, e2, error, largest;

	moments(first, n, &mean1, &var1);
	moments(second, m, &mean2, &var2);
	e1 = var1 / (double)n;
	e2 = var2 / (double)m;
	error = sqrt(e1 + e2);
	/* From here on only their ratio matters, and its fourth powers. */
	largest = fmax(e1, e2);
	e1 /= largest;
	e2 /= largest;
	return t_p(mean2 - mean1, error, fmax(fabs(mean1), fabs(mean2)),
		(e1 + e2) * (e1 + e2) / (e1 * e1 / (double)(n - 1) + e2 * e2 / (double)(m - 1)));
}

static void paired_t(const double *d, size_t count, struct difference *io)
{
	double mean, variance;

	moments(d, count, &mean, &variance);
	io->p_t = t_p(mean, sqrt(variance / (double)count), fabs(mean), (double)count - 1);
	io->d_z = isfinite(io->p_t) ? mean / sqrt(variance) : NAN;
}

/* ---- Hodges and Lehmann ---- */

/* @v: all averages, or differences; the interval is that of R: its ends are two of them. */
static int shift_of(double *v, size_t count, size_t reach, struct difference *io)
{
	if (sort_doubles(v, count) < 0)
		return -ENOMEM;
	io->shift = quantile_sorted(v, count, 0.5);
	if (reach < 1)
		reach = 1;
	if (reach > count / 2)
		reach = count > 1 ? count / 2 : 1;
	io->shift_interval = (struct interval){v[reach - 1], v[count - reach]};
	if (count == 1)
		io->shift_interval = (struct interval){NAN, NAN};
	return 0;
}

static size_t normal_reach(double mean, double variance, double confidence)
{
	double reach = mean + gsl_normal_quantile((1 - confidence) / 2) * sqrt(variance);

	return reach > 1 ? (size_t)floor(reach) : 1;
}

/* ---- pairs ---- */

/* @ranks and @sizes have space for @count. */
static int signed_ranks(const double *d, size_t count, double *sizes, double *ranks,
	size_t *ret_used,
	double *ret_ties, struct difference *io)
{
	double plus = 0, all = 0;
	size_t used = 0, at = 0;
	int r;

	for (size_t i = 0; i < count; i++)
		if (d[i] != 0)
			sizes[used++] = fabs(d[i]);
	r = rank_values(sizes, used, ranks, ret_ties);
	for (size_t i = 0; i < count && r == 0; i++) {
		if (d[i] == 0)
			continue;
		all += ranks[at];
		plus += d[i] > 0 ? ranks[at] : 0;
		at++;
	}
	io->statistic = plus;
	io->effect = all > 0 ? (2 * plus - all) / all : 0;
	*ret_used = used;
	return r;
}

static int walsh_averages(const double *d, size_t count, double confidence, struct difference *io)
{
	size_t pairs = count * (count + 1) / 2, at = 0, reach;
	_free_ double *v = reallocarray(NULL, pairs, sizeof(*v));
	double n = (double)count;
	struct chances chances = {0};
	int r;

	if (!v || (count < EXACT_BELOW && signed_rank_chances(count, &chances) < 0))
		return -ENOMEM;
	for (size_t i = 0; i < count; i++)
		for (size_t k = i; k < count; k++)
			v[at++] = d[i] / 2 + d[k] / 2;
	reach = chances.v ? exact_quantile(&chances, (1 - confidence) / 2)
		: normal_reach(n * (n + 1) / 4, n * (n + 1) * (2 * n + 1) / 24, confidence);
	r = shift_of(v, pairs, reach, io);
	free(chances.v);
	return r;
}

static int wilcoxon(const double *d, size_t count, struct difference *io)
{
	_free_ double *room = reallocarray(NULL, count, 2 * sizeof(*room));
	struct chances chances;
	size_t used;
	double n, ties;
	int r = room ? signed_ranks(d, count, room, room + count, &used, &ties, io) : -ENOMEM;

	if (r < 0)
		return r;
	n = (double)used;
	io->exact = used < EXACT_BELOW;
	if (!io->exact) {
		io->p = normal_p(io->statistic - n * (n + 1) / 4,
			n * (n + 1) * (2 * n + 1) / 24 - ties / 48);
		return 0;
	}
	r = tied_signed_chances(room + count, used, &chances);
	if (r < 0)
		return r;
	io->p = exact_p(&chances, (size_t)(2 * io->statistic), used * (used + 1));
	free(chances.v);
	return 0;
}

/* With more trials, the quadratic tables of averages would be too large. */
#define VALUES_MAX 5000

static int check_counts(struct vfctl_ctx *ctx, size_t n, size_t m)
{
	if (!n || !m)
		return ctx_fail(ctx, -EDOM, "there are no values to compare");
	if (n > VALUES_MAX || m > VALUES_MAX)
		return ctx_fail(ctx, -EDOM, "more than %d trials of one configuration cannot be compared",
			VALUES_MAX);
	return gsl_bind(ctx);
}

int compare_paired(struct vfctl_ctx *ctx, const double *first, const double *second, size_t count,
	double confidence, struct difference *ret)
{
	struct difference found = {.paired = true, .n = count, .m = count};
	_free_ double *d = NULL;
	int r = check_counts(ctx, count, count);

	if (r < 0)
		return r;
	d = reallocarray(NULL, count, sizeof(*d));
	if (!d)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		d[i] = second[i] - first[i];
	r = refuse_endless(ctx, d, count);
	if (r < 0)
		return r;
	paired_t(d, count, &found);
	r = wilcoxon(d, count, &found);
	if (r == 0)
		r = walsh_averages(d, count, confidence, &found);
	if (r < 0)
		return ctx_oom(ctx);
	*ret = found;
	return 0;
}

/* ---- unpaired ---- */

static int pairwise_differences(const double *first, size_t n, const double *second, size_t m,
	double confidence, struct difference *io)
{
	_free_ double *v = reallocarray(NULL, n * m, sizeof(*v));
	struct chances chances = {0};
	double both = (double)n * (double)m;
	size_t reach, at = 0;
	int r;

	if (!v || (n < EXACT_BELOW && m < EXACT_BELOW && rank_sum_chances(n, m, &chances) < 0))
		return -ENOMEM;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			v[at++] = second[k] - first[i];
	reach = chances.v ? exact_quantile(&chances, (1 - confidence) / 2)
		: normal_reach(both / 2, both * (double)(n + m + 1) / 12, confidence);
	r = shift_of(v, n * m, reach, io);
	free(chances.v);
	return r;
}

static int mann_whitney(const double *first, size_t n, const double *second, size_t m,
	struct difference *io)
{
	_free_ double *all = reallocarray(NULL, n + m, 2 * sizeof(*all));
	double *ranks = all ? all + n + m : NULL, ties, sum = 0, both = (double)n * (double)m;
	double total = (double)(n + m);
	struct chances chances;
	size_t s;
	int r;

	if (!all)
		return -ENOMEM;
	memcpy(all, second, m * sizeof(*all));
	memcpy(all + m, first, n * sizeof(*all));
	r = rank_values(all, n + m, ranks, &ties);
	for (size_t i = 0; i < m && r == 0; i++)
		sum += ranks[i];
	io->statistic = sum - (double)m * (double)(m + 1) / 2;
	io->effect = 2 * io->statistic / both - 1;
	io->exact = n < EXACT_BELOW && m < EXACT_BELOW;
	if (!io->exact)
		io->p = normal_p(io->statistic - both / 2,
			both / 12 * (total + 1 - ties / (total * (total - 1))));
	else if (r == 0)
		r = ties > 0 ? tied_sum_chances(ranks, n + m, m, &chances) : rank_sum_chances(m, n, &chances);
	if (r < 0 || !io->exact)
		return r;
	s = (size_t)(ties > 0 ? 2 * sum : io->statistic);
	io->p = exact_p(&chances, s, ties > 0 ? 2 * m * (n + m + 1) : n * m);
	free(chances.v);
	return 0;
}

int compare_unpaired(struct vfctl_ctx *ctx, const double *first, size_t n, const double *second,
	size_t m, double confidence, struct difference *ret)
{
	struct difference found = {.n = n, .m = m, .d_z = NAN};
	int r = check_counts(ctx, n, m);

	if (r == 0)
		r = refuse_endless(ctx, first, n);
	if (r == 0)
		r = refuse_endless(ctx, second, m);
	if (r < 0)
		return r;
	found.p_t = n > 1 && m > 1 ? welch_p(first, n, second, m) : NAN;
	r = mann_whitney(first, n, second, m, &found);
	if (r == 0)
		r = pairwise_differences(first, n, second, m, confidence, &found);
	if (r < 0)
		return ctx_oom(ctx);
	*ret = found;
	return 0;
}

/* ---- one side ---- */

void rank_sums_clear(struct rank_sums *s)
{
	free(s->chances);
	*s = (struct rank_sums){0};
}

static int fill_rank_sums(size_t n, size_t m, struct rank_sums *io)
{
	struct chances chances;

	if (io->n == n && io->m == m)
		return 0;
	if (rank_sum_chances(n, m, &chances) < 0)
		return -ENOMEM;
	rank_sums_clear(io);
	*io = (struct rank_sums){n, m, chances.v};
	return 0;
}

int chance_of_above(const double *first, size_t n, const double *second, size_t m,
	struct rank_sums *io, double *ret)
{
	size_t above = 0;
	double p = 0;

	*ret = 1;
	if (!n || !m)
		return 0;
	for (size_t i = 0; i < n; i++)
		for (size_t k = 0; k < m; k++)
			above += first[i] > second[k];
	/* For half of them or fewer, the probability is at least one half. */
	if (2 * above <= n * m)
		return 0;
	if (fill_rank_sums(n, m, io) < 0)
		return -ENOMEM;
	for (size_t s = above; s <= n * m; s++)
		p += io->chances[s];
	*ret = p;
	return 0;
}

#define TRIALS_SANE 1000

unsigned trials_needed(bool paired, double alpha)
{
	double p = 1;
	unsigned n = 1;

	/* All on one side: 2 of 2^n signs, or 2 of (2n over n) orders. */
	for (; n < TRIALS_SANE; n++) {
		p *= paired ? 0.5 : (double)n / (2.0 * (2 * n - 1));
		if (2 * p <= alpha)
			break;
	}
	return n;
}
