// SPDX-License-Identifier: GPL-2.0-or-later
/* bench: how long vfctl bench takes for what it does with 100,000 samples, and with 15 trials. */
#include <stdio.h>
#include <time.h>

#include "base/buf.h"
#include "bench/stats.h"
#include "bench/trial.h"

#define SAMPLES 100000
#define ROUNDS 20
#define TRIALS 15

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static char *perftest_output(size_t *ret_len)
{
	struct buf out = {0};
	unsigned random = 1;

	buf_puts(&out, "#, usec\n");
	for (int i = 0; i < SAMPLES; i++) {
		random = random * 1664525 + 1013904223;
		buf_printf(&out, "%d, %u.%02u\n", i + 1, 1 + (random >> 24) / 64, random >> 16 & 63);
	}
	buf_puts(&out, " #bytes #iterations    t_typical[usec]\n 2       100001          1.50\n"
		"----------------------------------------\n");
	*ret_len = out.len;
	return buf_steal(&out);
}

static int parse(struct vfctl_ctx *ctx, const char *text, size_t len)
{
	double begin = now();

	for (int i = 0; i < ROUNDS; i++) {
		_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
		struct bench_trial trial = {0};

		if (bench_parse(ctx, BENCH_PERFTEST, NULL, text, len, &reading) < 0 ||
			bench_trial_from_row(&reading->rows[0], &trial) < 0)
			return -1;
		bench_trial_clear(&trial);
	}
	printf("read %d samples of perftest, with percentiles and histogram: %.1f ms\n", SAMPLES,
		(now() - begin) / ROUNDS);
	return 0;
}

static int judge(struct vfctl_ctx *ctx)
{
	double x[TRIALS], y[TRIALS], begin;
	struct difference d;
	struct interval interval;
	_cleanup_(median_chances_clear) struct median_chances chances = {0};

	for (int i = 0; i < TRIALS; i++) {
		x[i] = 100 + i * 7 % 5 + 0.01 * i;
		y[i] = 101 + i * 3 % 7 + 0.02 * i;
	}
	if (compare_paired(ctx, x, y, TRIALS, 0.95, &d) < 0) /* GSL is loaded here */
		return -1;
	begin = now();
	for (int i = 0; i < ROUNDS; i++)
		if (compare_paired(ctx, x, y, TRIALS, 0.95, &d) < 0)
			return -1;
	printf("a paired comparison of %d trials: %.3f ms\n", TRIALS, (now() - begin) / ROUNDS);
	begin = now();
	for (int i = 0; i < ROUNDS; i++)
		if (bootstrap_median(ctx, x, TRIALS, 0.95, &chances, &interval) < 0)
			return -1;
	printf("a bootstrap interval of %d trials: %.3f ms\n", TRIALS, (now() - begin) / ROUNDS);
	return 0;
}

int main(void)
{
	struct vfctl_ctx *ctx;
	size_t len;
	char *text = perftest_output(&len);
	int r;

	if (!text || vfctl_ctx_new(&ctx) < 0)
		return 1;
	r = parse(ctx, text, len) < 0 || judge(ctx) < 0;
	free(text);
	vfctl_ctx_free(ctx);
	return r;
}
