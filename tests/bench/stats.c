// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * stats SETS: sample sets made from a seed, each with what vfctl makes of it, for R and SciPy to look
 * over: a line "kind paired n m", the two samples, our figures.
 */
#include <math.h>
#include <stdio.h>
#include <stdlib.h>

#include "bench/stats.h"

static uint64_t state = 20261123;

static double uniform(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (double)(state >> 11) / 9007199254740992.0;
}

static double normal(void)
{
	double u = uniform(), v = uniform();

	return sqrt(-2 * log(u + 1e-300)) * cos(6.283185307179586 * v);
}

enum kind { NORMAL, LOGNORMAL, TIES, EQUAL, TWO_VALUES, ZEROS, HUGE_ONES, TINY, SHIFTED, KINDS };
static const char *const names[] = {"normal", "lognormal", "ties", "equal", "two-values", "zeros",
	"huge", "tiny", "shifted"};

static double draw(enum kind kind, bool second)
{
	switch (kind) {
	case LOGNORMAL:
		return exp(normal());
	case TIES:
		return round(20 + 3 * normal()) / 4;
	case EQUAL:
		return 4.25;
	case TWO_VALUES:
		return uniform() < 0.5 ? 1 : 2;
	case ZEROS:
		return uniform() < 0.7 ? 0 : uniform();
	case HUGE_ONES:
		return normal() * 1e150;
	case TINY:
		return normal() * 1e-150;
	case SHIFTED:
		return normal() + (second ? 3 : 0);
	default:
		return 100 + normal();
	}
}

static void print(const double *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		printf(i ? " %.17g" : "%.17g", v[i]);
	putchar('\n');
}

static int print_figures(struct vfctl_ctx *ctx, bool paired, const double *x, size_t n, const double *y,
	size_t m)
{
	struct sample_summary s;
	struct difference d;
	struct interval median;
	_cleanup_(median_chances_clear) struct median_chances chances = {0};
	int r = paired ? compare_paired(ctx, x, y, n, 0.95, &d)
		: compare_unpaired(ctx, x, n, y, m, 0.95, &d);

	if (r == 0)
		r = sample_summary(x, n, &s);
	if (r == 0)
		r = bootstrap_median(ctx, x, n, 0.95, &chances, &median);
	if (r < 0) {
		fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
		return r;
	}
	print((double[]){d.p, d.p_t, d.statistic, d.shift, d.shift_interval.low,
		d.shift_interval.high, d.exact, s.mean, s.stdev, s.p50, s.p90, s.p95, s.p99, s.p99_9,
		median.low, median.high}, 16);
	return 0;
}

/* Comparisons that share their trials, few enough to count all signs or orders. */
static int print_joint(struct vfctl_ctx *ctx, bool paired)
{
	size_t count = 1 + (size_t)(uniform() * 5), n = 2 + (size_t)(uniform() * (paired ? 7 : 4));
	size_t m = paired ? n : 2 + (size_t)(uniform() * 4);
	double x[5 * 8], y[5 * 8], p[5];
	unsigned trials[8];
	struct joint joints[5];
	int r;

	for (size_t i = 0; i < count; i++) {
		double shift = uniform() < 0.5 ? 0 : 4 * uniform(), grain = uniform() < 0.3 ? 1 : 1000;

		for (size_t k = 0; k < n; k++)
			x[i * n + k] = round(grain * normal()) / grain;
		for (size_t k = 0; k < m; k++)
			y[i * m + k] = round(grain * (normal() + shift)) / grain;
		joints[i] = (struct joint){x + i * n, y + i * m, trials, n, m, paired};
	}
	for (size_t k = 0; k < n; k++)
		trials[k] = (unsigned)(10 * (n - k));
	r = joint_p(ctx, joints, count, 0.05, 1, p);
	printf("joint %d %zu %zu %zu\n", paired, n, m, count);
	print(x, count * n);
	print(y, count * m);
	print(p, count);
	return r;
}

int main(int argc, char **argv)
{
	long sets = argc == 2 ? strtol(argv[1], NULL, 10) : 0;
	struct vfctl_ctx *ctx;

	if (sets < 1 || vfctl_ctx_new(&ctx) < 0)
		return 2;
	for (long i = 0; i < sets; i++) {
		enum kind kind = (enum kind)(i % KINDS);
		bool paired = i / KINDS % 2;
		size_t n = 1 + (size_t)(uniform() * (i % 10 ? 20 : 60));
		size_t m = paired ? n : 1 + (size_t)(uniform() * (i % 10 ? 20 : 60));
		double x[64], y[64];

		for (size_t k = 0; k < n; k++)
			x[k] = draw(kind, false);
		for (size_t k = 0; k < m; k++)
			y[k] = draw(kind, true);
		printf("%s %d %zu %zu\n", names[kind], paired, n, m);
		print(x, n);
		print(y, m);
		if (print_figures(ctx, paired, x, n, y, m) < 0)
			return 1;
	}
	for (long i = 0; i < sets / 10; i++)
		if (print_joint(ctx, i % 2) < 0)
			return 1;
	vfctl_ctx_free(ctx);
	return 0;
}
