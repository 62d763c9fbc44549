/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_STATS_H
#define VFCTL_BENCH_STATS_H

#include "base/ctx.h"

/*
 * Statistics over trials. All functions take finite values and do not change them; other values
 * give -EDOM. They depend only on their arguments: the same values give the same result.
 */

/* Sort in ascending order, in stable time: about 20 ns per value. -ENOMEM. */
int sort_doubles(double *v, size_t count);
/*
 * Quantile @p (0..1) of ascending values: linear interpolation around rank (count - 1) p, Hyndman
 * and Fan's type 7, which R and NumPy use. NAN without values.
 */
double quantile_sorted(const double *sorted, size_t count, double p);
double median_of(const double *v, size_t count); /* NAN: no values, or memory is exhausted */

/* The samples of one run. @stdev: with n - 1; NAN for one sample. */
struct sample_summary {
	double min, mean, p50, p90, p95, p99, p99_9, max, stdev;
};
int sample_summary(const double *v, size_t count, struct sample_summary *ret);

/* ---- over trials ---- */

struct interval {
	double low, high; /* NAN for a single value */
};

struct median_chance {
	size_t low, high;
	double p;
};

/* How often the mean of two of @n sorted values is the median of a resample. Zeroed: empty. */
struct median_chances {
	size_t n, count;
	struct median_chance *v;
};
void median_chances_clear(struct median_chances *c);

/*
 * Where the median would be with other trials: percentiles of the medians of all resamples with
 * replacement. @io: cached for repeated use.
 */
int bootstrap_median(struct vfctl_ctx *ctx, const double *v, size_t count, double confidence,
	struct median_chances *io, struct interval *ret);

/* The difference between two configurations, second minus first. */
struct difference {
	double p;	 /* two-sided, of the rank test; 1 if all values are equal */
	double p_t;	 /* t-test (paired, else Welch's); NAN: not defined, because nothing varies */
	double statistic; /* V of Wilcoxon, W of Mann and Whitney, as in R */
	double shift;	 /* Hodges and Lehmann: the median difference */
	struct interval shift_interval;
	double effect;	 /* rank-biserial correlation: -1 all smaller, 1 all larger */
	double d_z;	 /* Cohen's, for pairs; NAN: not paired, or nothing varies */
	bool paired, exact;
	size_t n, m; /* values in each (paired: pairs) */
};
/* Wilcoxon's signed ranks without zeros; exact below 50 of them, also with ties. */
int compare_paired(struct vfctl_ctx *ctx, const double *first, const double *second, size_t count,
	double confidence, struct difference *ret);
/* Mann and Whitney's test; exact below 50 values each, also with ties. */
int compare_unpaired(struct vfctl_ctx *ctx, const double *first, size_t n, const double *second,
	size_t m, double confidence, struct difference *ret);

/* The frequency of each sum of ranks by chance, cached for repeated use. Zeroed: empty. */
struct rank_sums {
	size_t n, m;
	double *chances;
};
void rank_sums_clear(struct rank_sums *s);
/*
 * One-sided: the probability that, of all pairs with one value of each, the first is above the
 * second in at least as many as here, if both have the same distribution. Exact; equal values count
 * for the second one, so the probability is never too small. For half of the pairs or fewer the
 * result is 1. -ENOMEM.
 */
int chance_of_above(const double *first, size_t n, const double *second, size_t m,
	struct rank_sums *io, double *ret);

/* One of several comparisons that use the same trials. */
struct joint {
	const double *first, *second; /* paired: @n each, in the same order; else @n and @m */
	const unsigned *trials;	      /* paired: the number of the trial of each pair */
	size_t n, m;
	bool paired;
};
/*
 * Adjusted p-values, two-sided, of t statistics: the probability that any of the remaining
 * comparisons reaches this one's statistic if nothing differs (Westfall and Young's step-down
 * maxT). Pairs of one trial exchange their values together in all comparisons; for others the order
 * of all values is permuted, in the same way for all. All signs or orders are counted up to 20,000;
 * else 9,999 are drawn from @seed, or up to 999,999 for a small @alpha.
 * @ret_p  @count values. -ENOMEM.
 */
int joint_p(struct vfctl_ctx *ctx, const struct joint *of, size_t count, double alpha,
	uint64_t seed,
	double *ret_p);
/*
 * The difference, as a fraction of the first value, that a paired test with @planned trials shows
 * in four of five cases (80 % power), from the logarithms of the ratios of the first @count pairs.
 * @alpha is that of one comparison. Source: Cohen, Statistical Power Analysis, 2.4, with the t
 * distribution for both quantiles. NAN with fewer than 3 pairs. After gsl_bind().
 */
double detectable(const double *log_ratios, size_t count, unsigned planned, double alpha);
/*
 * The same in standard deviations: of the differences of @n pairs (Cohen's d_z), or of the values
 * if @n values were compared with @m others (Cohen's d). NAN if there are too few. After
 * gsl_bind().
 */
double detectable_d(bool paired, size_t n, size_t m, double alpha);
/* Number of trials for each configuration with which a rank test can fall below @alpha at all. */
unsigned trials_needed(bool paired, double alpha);

#endif
