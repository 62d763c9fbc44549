/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_STATS_H
#define VFCTL_BENCH_STATS_H

#include "base/ctx.h"

/*
 * Statistics over trials. All take finite values and leave them as they are; what is not finite
 * is -EDOM. None looks anything up but what it is given: the same values give the same answer.
 */

/* Ascending, stable in time: some 20 ns a value. -ENOMEM. */
int sort_doubles(double *v, size_t count);
/*
 * Quantile @p (0..1) of ascending values: linear between the two next to rank (count - 1) p,
 * Hyndman and Fan's type 7, which R and NumPy use. NAN of none.
 */
double quantile_sorted(const double *sorted, size_t count, double p);
double median_of(const double *v, size_t count); /* NAN: none, or out of memory */

/* Of the samples of one run. @stdev: n - 1; NAN of one. */
struct sample_summary {
	double min, mean, p50, p90, p95, p99, p99_9, max, stdev;
};
int sample_summary(const double *v, size_t count, struct sample_summary *ret);

/* ---- over trials ---- */

struct interval {
	double low, high; /* NAN: of one value there is none */
};

/*
 * Where the median would lie had other trials been made: percentiles of the medians of 10,000
 * resamples. @seed decides them all.
 */
int bootstrap_median(struct vfctl_ctx *ctx, const double *v, size_t count, double confidence,
	uint64_t seed, struct interval *ret);

/* What two configurations differ by, second minus first. */
struct difference {
	double p;	 /* two-sided, of the rank test; 1 where all are equal */
	double p_t;	 /* of the t-test (paired, else Welch's); NAN: not defined, nothing varies */
	double statistic; /* V of Wilcoxon, W of Mann and Whitney, as R has them */
	double shift;	 /* Hodges and Lehmann: the median difference */
	struct interval shift_interval;
	double effect;	 /* rank-biserial correlation: -1 all smaller, 1 all larger */
	double d_z;	 /* Cohen's, of pairs; NAN: not paired, or nothing varies */
	bool paired, exact;
	size_t n, m; /* values in each (paired: pairs) */
};
/* Wilcoxon's signed ranks; exact below 50 pairs without ties and zeros, as R. */
int compare_paired(struct vfctl_ctx *ctx, const double *first, const double *second, size_t count,
	double confidence, struct difference *ret);
/* Mann and Whitney; exact below 50 values each without ties, as R. */
int compare_unpaired(struct vfctl_ctx *ctx, const double *first, size_t n, const double *second,
	size_t m, double confidence, struct difference *ret);

/* How often each sum of ranks comes by chance; kept, as it is asked for again. Zeroed: none yet. */
struct rank_sums {
	size_t n, m;
	double *chances;
};
void rank_sums_clear(struct rank_sums *s);
/*
 * One-sided: the chance that of all pairs (one of each) the first is above the second in so many as
 * here, where both are drawn alike. Exact; equal ones count for the second, which never makes the
 * chance too small. What is half of the pairs or fewer is told as 1. -ENOMEM.
 */
int chance_of_above(const double *first, size_t n, const double *second, size_t m,
	struct rank_sums *io, double *ret);

/* Holm's step-down over @count p-values, in place; NAN are passed over. -ENOMEM. */
int holm(double *p, size_t count);
/*
 * Trials that each configuration needs for the rank test to get below @alpha at all, when
 * @comparisons are made.
 */
unsigned trials_needed(bool paired, double alpha, size_t comparisons);

#endif
