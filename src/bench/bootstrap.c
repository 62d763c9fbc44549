// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <math.h>

#include "bench/stats.h"
#include "bench/stats_gsl.h"

#define RESAMPLES 10000

/* The values are sorted: how often each was drawn is enough to have the sample in order. */
static int fill_sample(struct gsl_random *random, const double *sorted, size_t count,
	double *medians,
	double *drawn)
{
	_free_ size_t *times = calloc(count, sizeof(*times));

	if (!times)
		return -ENOMEM;
	for (size_t i = 0; i < RESAMPLES; i++) {
		size_t filled = 0;

		for (size_t k = 0; k < count; k++)
			times[gsl_random_below(random, count)]++;
		for (size_t k = 0; k < count && filled <= count / 2; k++)
			for (size_t n = times[k]; n > 0; n--)
				drawn[filled++] = sorted[k];
		memset(times, 0, count * sizeof(*times));
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
	/* The order of the trials must not change the result. */
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
