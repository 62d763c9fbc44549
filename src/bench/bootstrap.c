// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>

#include "bench/stats.h"
#include "bench/stats_gsl.h"

#define RESAMPLES 10000

static int fill_sample(struct gsl_random *random, const double *sorted, size_t count, double *medians,
	double *drawn)
{
	for (size_t i = 0; i < RESAMPLES; i++) {
		for (size_t k = 0; k < count; k++)
			drawn[k] = sorted[gsl_random_below(random, count)];
		if (sort_doubles(drawn, count) < 0)
			return -ENOMEM;
		medians[i] = quantile_sorted(drawn, count, 0.5);
	}
	return sort_doubles(medians, RESAMPLES);
}

static int resample(struct gsl_random *random, const double *v, size_t count, double confidence,
	struct interval *ret)
{
	_free_ double *room = reallocarray(NULL, RESAMPLES + 2 * count, sizeof(*room));
	double *sorted = room ? room + RESAMPLES : NULL;
	int r;

	if (!room || !random)
		return -ENOMEM;
	/* The order in which the trials came is not to change the answer. */
	memcpy(sorted, v, count * sizeof(*v));
	r = sort_doubles(sorted, count);
	if (r == 0)
		r = fill_sample(random, sorted, count, room, sorted + count);
	if (r == 0)
		*ret = (struct interval){quantile_sorted(room, RESAMPLES, (1 - confidence) / 2),
			quantile_sorted(room, RESAMPLES, (1 + confidence) / 2)};
	return r;
}

int bootstrap_median(struct vfctl_ctx *ctx, const double *v, size_t count, double confidence,
	uint64_t seed, struct interval *ret)
{
	struct gsl_random *random;
	int r;

	*ret = (struct interval){NAN, NAN};
	if (count < 2)
		return 0;
	r = gsl_bind(ctx);
	if (r < 0)
		return r;
	random = gsl_random_new(seed);
	r = resample(random, v, count, confidence, ret);
	gsl_random_free(random);
	return r < 0 ? ctx_oom(ctx) : 0;
}
