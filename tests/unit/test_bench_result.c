// SPDX-License-Identifier: GPL-2.0-or-later
/* Trials on disk, histograms, and what is made of trials: pairs, thresholds, corrections. */
#include <errno.h>
#include <math.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/stat.h>

#include <cmocka.h>

#include "bench/result.h"
#include "bench/stats.h"
#include "bench/bench.h"

static struct vfctl_ctx *ctx;
static char dir[64];

static int set_up(void **state)
{
	snprintf(dir, sizeof(dir), "/tmp/vfctl-bench-XXXXXX");
	return mkdtemp(dir) ? vfctl_ctx_new(&ctx) : -1;
}

static void drop(const char *name)
{
	char path[128];

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	unlink(path);
}

static int tear_down(void **state)
{
	drop(BENCH_TRIALS);
	drop(BENCH_DESCRIPTION);
	rmdir(dir);
	vfctl_ctx_free(ctx);
	return 0;
}

static void put_text(const char *name, const char *text, const char *mode)
{
	char path[128];
	FILE *file;

	snprintf(path, sizeof(path), "%s/%s", dir, name);
	file = fopen(path, mode);
	assert_non_null(file);
	assert_true(fputs(text, file) >= 0);
	fclose(file);
}

static void describe(const char *more)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"schema\":1,\"name\":\"made\",\"seed\":1,\"runs\":0,\"configurations\":"
		"[{\"name\":\"a\"},{\"name\":\"b\"}],\"tests\":[{\"name\":\"t\",\"goal\":\"p50\",\"better\":"
		"\"lower\"}]%s}", more);
	drop(BENCH_TRIALS);
	put_text(BENCH_DESCRIPTION, text, "we");
}

static void add(unsigned run, unsigned number, char *configuration, double value)
{
	struct bench_metric metric = {.name = "p50", .unit = "us", .value = value};
	struct bench_trial trial = {.run = run, .trial = number, .configuration = configuration,
		.test = "t", .metrics = &metric, .metric_count = 1};

	assert_int_equal(bench_trial_append(ctx, dir, &trial), 0);
}

static struct vfctl_bench_report *report(const struct vfctl_bench_options *options)
{
	struct vfctl_bench_report *found;

	assert_int_equal(vfctl_bench_report_read(ctx, dir, options, &found), 0);
	return found;
}

/* ---- histogram ---- */

static void buckets_meet(void **state)
{
	for (int i = -200; i < 600; i++) {
		double low = bench_bucket_low(i), high = bench_bucket_low(i + 1);

		assert_true(low > 0 && high > low);
		assert_true(high / low <= 1 + 1.0 / BENCH_PER_OCTAVE + 1e-12);
	}
	assert_true(bench_bucket_low(0) == 1);
	assert_true(bench_bucket_low(BENCH_PER_OCTAVE) == 2);
}

static void samples_fall_into_their_buckets(void **state)
{
	double samples[] = {1, 1.9999, 2, 1000, 0, 1e-300, 1e300};
	struct bench_row row = {.samples = samples, .sample_count = ARRAY_SIZE(samples)};
	struct bench_trial trial = {0};
	uint64_t all = 0;

	assert_int_equal(bench_trial_from_row(&row, &trial), 0);
	for (size_t i = 0; i < trial.histogram.count; i++)
		all += trial.histogram.counts[i];
	assert_int_equal(all, ARRAY_SIZE(samples));
	assert_int_equal(trial.histogram.counts[0 - trial.histogram.first], 1);
	assert_int_equal(trial.histogram.counts[BENCH_PER_OCTAVE - 1 - trial.histogram.first], 1);
	assert_int_equal(trial.histogram.counts[BENCH_PER_OCTAVE - trial.histogram.first], 1);
	bench_trial_clear(&trial);
}

/* ---- files ---- */

static void a_trial_comes_back_as_it_was(void **state)
{
	double samples[] = {1.1, 2.2, 3.3};
	struct bench_metric metric = {.name = "p50", .unit = "us", .value = 0.1 + 0.2,
		.from_samples = true};
	struct bench_row row = {.metrics = &metric, .metric_count = 1, .samples = samples,
		.sample_count = 3};
	struct bench_parameter parameter = {"size", "64"};
	char *commands[] = {"sockperf 'a b' \"\\\n\xc3\xa9", NULL}, *raw[] = {"raw/1.txt", NULL};
	struct bench_trial trial = {.run = 1, .trial = 1, .configuration = "a", .test = "t",
		.tool = "sockperf", .started = "2026-11-23T04:00:00Z", .seconds = 1.5, .commands = commands,
		.raw = raw, .parameters = &parameter, .parameter_count = 1};
	struct bench_result *result;
	const struct bench_trial *back;

	describe("");
	assert_int_equal(bench_trial_from_row(&row, &trial), 0);
	assert_int_equal(bench_trial_append(ctx, dir, &trial), 0);
	assert_int_equal(bench_result_read(ctx, dir, &result), 0);
	assert_int_equal(result->trial_count, 1);
	back = &result->trials[0];
	assert_string_equal(back->commands[0], commands[0]);
	assert_string_equal(back->raw[0], raw[0]);
	assert_string_equal(back->parameters[0].value, "64");
	assert_true(back->metrics[0].value == 0.1 + 0.2);
	assert_true(back->metrics[0].from_samples);
	assert_int_equal(back->histogram.count, trial.histogram.count);
	assert_memory_equal(back->histogram.counts, trial.histogram.counts,
		trial.histogram.count * sizeof(uint64_t));
	assert_null(back->error);
	bench_result_free(result);
	free(trial.metrics);
	free(trial.histogram.counts);
}

static void what_is_not_finite_is_refused(void **state)
{
	struct bench_metric metric = {.name = "p50", .unit = "us", .value = NAN};
	struct bench_trial trial = {.run = 1, .trial = 1, .configuration = "a", .test = "t",
		.metrics = &metric, .metric_count = 1};

	describe("");
	assert_int_equal(bench_trial_append(ctx, dir, &trial), -EINVAL);
}

/* A crash left half a line: it is passed over, and cut off by who writes next. */
static void half_a_line_is_none(void **state)
{
	struct bench_result *result;

	describe("");
	add(1, 1, "a", 1);
	put_text(BENCH_TRIALS, "{\"run\":2,\"trial\":1,\"conf", "ae");
	assert_int_equal(bench_result_read(ctx, dir, &result), 0);
	assert_int_equal(result->trial_count, 1);
	assert_int_equal(result->torn, 1);
	bench_result_free(result);
	add(2, 1, "b", 2);
	assert_int_equal(bench_result_read(ctx, dir, &result), 0);
	assert_int_equal(result->trial_count, 2);
	assert_int_equal(result->torn, 0);
	bench_result_free(result);
}

static void a_run_made_again_counts_once(void **state)
{
	struct bench_result *result;

	describe("");
	add(1, 1, "a", 1);
	add(2, 1, "b", 2);
	add(1, 1, "a", 3);
	assert_int_equal(bench_result_read(ctx, dir, &result), 0);
	assert_int_equal(result->trial_count, 2);
	assert_true(result->trials[0].metrics[0].value == 3);
	bench_result_free(result);
}

static void add_size(unsigned run, char *size, double value)
{
	struct bench_metric metric = {.name = "p50", .unit = "us", .value = value};
	struct bench_parameter parameter = {.name = "size"};
	struct bench_trial trial = {.run = run, .trial = 1, .configuration = "a", .test = "t",
		.metrics = &metric, .metric_count = 1, .parameters = &parameter, .parameter_count = 1};

	snprintf(parameter.value, sizeof(parameter.value), "%s", size);
	assert_int_equal(bench_trial_append(ctx, dir, &trial), 0);
}

/* As perftest -a does. */
static void each_line_of_a_programs_own_sweep_counts(void **state)
{
	struct bench_result *result;

	describe("");
	add_size(1, "2", 1);
	add_size(1, "4", 2);
	add_size(2, "2", 3);
	add_size(1, "4", 5);
	assert_int_equal(bench_result_read(ctx, dir, &result), 0);
	assert_int_equal(result->trial_count, 3);
	assert_true(result->trials[0].metrics[0].value == 1);
	assert_true(result->trials[1].metrics[0].value == 5);
	bench_result_free(result);
}

/* ---- verdicts ---- */

/* In turns they are pairs, and what drifts in both is no difference of theirs. */
static void turns_make_pairs(void **state)
{
	struct vfctl_bench_report *r;

	describe("");
	for (unsigned i = 0; i < 10; i++) {
		add(2 * i + 1, i + 1, "a", 100 + 20 * i);
		add(2 * i + 2, i + 1, "b", 103 + 20 * i + 0.01 * i);
	}
	r = report(NULL);
	assert_true(r->cells[0].columns[1].differences[0].paired);
	assert_int_equal(r->cells[0].columns[1].differences[0].verdict, VFCTL_BENCH_WORSE);
	vfctl_bench_report_free(r);
	describe("");
	for (unsigned i = 0; i < 10; i++) {
		add(i + 1, i + 1, "a", 100 + 20 * i);
		add(i + 11, i + 1, "b", 103 + 20 * i + 0.01 * i);
	}
	r = report(NULL);
	assert_false(r->cells[0].columns[1].differences[0].paired);
	assert_int_equal(r->cells[0].columns[1].differences[0].verdict, VFCTL_BENCH_NO_DIFFERENCE);
	vfctl_bench_report_free(r);
}

/* Significant is not enough: it must matter too. */
static void noise_is_no_difference(void **state)
{
	struct vfctl_bench_options fine = {.alpha = NAN, .noise = 0.001};
	struct vfctl_bench_report *r;

	describe("");
	for (unsigned i = 0; i < 10; i++) {
		add(2 * i + 1, i + 1, "a", 100 + 0.01 * i);
		add(2 * i + 2, i + 1, "b", 100.5 + 0.011 * i);
	}
	r = report(NULL);
	assert_true(r->cells[0].columns[1].differences[0].p_adjusted < 0.05);
	assert_int_equal(r->cells[0].columns[1].differences[0].verdict, VFCTL_BENCH_NO_DIFFERENCE);
	assert_int_equal(r->cells[0].columns[1].differences[0].trials_needed, 0);
	vfctl_bench_report_free(r);
	r = report(&fine);
	assert_int_equal(r->cells[0].columns[1].differences[0].verdict, VFCTL_BENCH_WORSE);
	vfctl_bench_report_free(r);
}

static void too_few_is_said(void **state)
{
	struct vfctl_bench_report *r;

	describe("");
	for (unsigned i = 0; i < 5; i++) {
		add(2 * i + 1, i + 1, "a", 100 + i);
		add(2 * i + 2, i + 1, "b", 200 + 2 * i);
	}
	r = report(NULL);
	assert_int_equal(r->cells[0].columns[1].differences[0].verdict, VFCTL_BENCH_TOO_FEW);
	assert_int_equal(r->cells[0].columns[1].differences[0].trials_needed, 6);
	assert_non_null(strstr(r->advice[0], "Too few trials"));
	assert_string_equal(r->advice[1], "b against a: too few trials.");
	vfctl_bench_report_free(r);
}

/* Warm-ups and failures do not count; a trial without its partner is in no pair. */
static void only_whole_pairs_count(void **state)
{
	struct bench_trial failed = {.run = 3, .trial = 2, .configuration = "a", .test = "t",
		.error = "no server"};
	struct vfctl_bench_report *r;

	describe("");
	add(1, 0, "a", 1e6);
	add(2, 1, "a", 100);
	assert_int_equal(bench_trial_append(ctx, dir, &failed), 0);
	add(4, 1, "b", 101);
	add(5, 2, "b", 102);
	add(6, 3, "a", 100.5);
	add(7, 3, "b", 103);
	r = report(NULL);
	assert_int_equal(r->warm_ups, 1);
	assert_int_equal(r->cells[0].columns[0].failed, 1);
	assert_string_equal(r->cells[0].columns[0].error, "no server");
	assert_int_equal(r->cells[0].columns[0].goal.trials, 2);
	assert_int_equal(r->cells[0].columns[1].differences[0].pairs, 2);
	vfctl_bench_report_free(r);
}

/* All resamples of few values: the chances of their medians, and the interval, by counting. */
static void count_resamples(size_t n, double share, double ret_p[16], struct interval *ret)
{
	size_t all = 1, drawn[16];
	double sum = 0;

	for (size_t i = 0; i < n; i++)
		all *= n;
	memset(ret_p, 0, 16 * sizeof(*ret_p));
	for (size_t code = 0; code < all; code++) {
		size_t times[8] = {0}, filled = 0;

		for (size_t i = 0, rest = code; i < n; i++, rest /= n)
			times[rest % n]++;
		for (size_t i = 0; i < n; i++)
			for (size_t k = times[i]; k > 0; k--)
				drawn[filled++] = i;
		ret_p[drawn[(n - 1) / 2] + drawn[n / 2]] += 1 / (double)all; /* by twice the median */
	}
	*ret = (struct interval){NAN, NAN};
	for (size_t i = 0; i < 2 * n - 1; i++) {
		sum += ret_p[i];
		if (isnan(ret->low) && sum >= share / 2)
			ret->low = (double)i / 2;
		if (isnan(ret->high) && sum >= 1 - share / 2)
			ret->high = (double)i / 2;
	}
}

static void the_bootstrap_counts_all_resamples(void **state)
{
	double v[] = {5, 3, 0, 1, 6, 2, 4}, sorted[] = {0, 1, 2, 3, 4, 5, 6}, p[16], found[16];
	_cleanup_(median_chances_clear) struct median_chances chances = {0};
	struct interval expected, interval;

	for (size_t n = 2; n <= 7; n++) {
		count_resamples(n, 0.1, p, &expected);
		assert_int_equal(bootstrap_median(ctx, sorted, n, 0.9, &chances, &interval), 0);
		assert_true(interval.low == expected.low && interval.high == expected.high);
		memset(found, 0, sizeof(found));
		for (size_t i = 0; i < chances.count; i++)
			found[chances.v[i].low + chances.v[i].high] += chances.v[i].p;
		for (size_t i = 0; i < 2 * n - 1; i++)
			assert_true(fabs(found[i] - p[i]) < 1e-9);
	}
	assert_int_equal(bootstrap_median(ctx, v, 7, 0.9, &chances, &interval), 0);
	assert_true(interval.low == expected.low && interval.high == expected.high);
	assert_int_equal(bootstrap_median(ctx, v, 1, 0.95, &chances, &interval), 0);
	assert_true(isnan(interval.low) && isnan(interval.high));
}

/* Of many values, the chances of all medians still make up one. */
static void the_chances_of_medians_are_complete(void **state)
{
	const size_t counts[] = {15, 16, 49, 50, 999, 1000};
	double v[1000];

	for (size_t i = 0; i < 1000; i++)
		v[i] = (double)i;
	for (size_t i = 0; i < ARRAY_SIZE(counts); i++) {
		_cleanup_(median_chances_clear) struct median_chances chances = {0};
		struct interval interval;
		double sum = 0;

		assert_int_equal(bootstrap_median(ctx, v, counts[i], 0.95, &chances, &interval), 0);
		for (size_t k = 0; k < chances.count; k++)
			sum += chances.v[k].p;
		assert_true(fabs(sum - 1) < 1e-8);
		assert_true(fabs(interval.low + interval.high - (double)(counts[i] - 1)) <= 1);
	}
}

static void degenerate_sets_have_an_answer(void **state)
{
	double same[] = {4, 4, 4, 4, 4, 4}, bad[] = {1, NAN};
	struct sample_summary s;
	struct difference d;

	assert_int_equal(compare_paired(ctx, same, same, 6, 0.95, &d), 0);
	assert_true(d.p == 1 && isnan(d.p_t) && d.shift == 0 && d.effect == 0);
	assert_int_equal(compare_unpaired(ctx, same, 6, same, 3, 0.95, &d), 0);
	assert_true(d.p == 1 && d.shift == 0);
	assert_int_equal(compare_paired(ctx, bad, same, 2, 0.95, &d), -EDOM);
	assert_int_equal(compare_unpaired(ctx, same, 6, bad, 2, 0.95, &d), -EDOM);
	assert_int_equal(compare_paired(ctx, same, same, 0, 0.95, &d), -EDOM);
	assert_int_equal(sample_summary(bad, 2, &s), -EDOM);
	assert_int_equal(sample_summary(bad, 0, &s), -EDOM);
	assert_int_equal(trials_needed(true, 0.05), 6);
	assert_int_equal(trials_needed(false, 0.05), 4);
}

/* R: power.t.test(n = 15, sd = 1, type = "paired", power = 0.8) has delta = 0.778; with n = 6, 1.43. */
static void what_the_trials_can_show(void **state)
{
	/* Their standard deviation is 0.01. */
	static const double ratios[] = {0.01, 0.02, 0.03}, equal[] = {1, 1, 1};

	(void)state;
	assert_true(fabs(log1p(detectable(ratios, 3, 15, 0.05)) - 0.007783) < 2e-5);
	assert_true(fabs(log1p(detectable(ratios, 3, 6, 0.05)) - 0.0143) < 2e-4);
	assert_true(detectable(ratios, 3, 15, 0.05 / 27) > 1.4 * detectable(ratios, 3, 15, 0.05));
	assert_true(detectable(equal, 3, 15, 0.05) == 0);
	assert_true(isnan(detectable(ratios, 2, 15, 0.05)));
	/* power.t.test(n = 20, sd = 1, power = 0.8) has delta = 0.909. */
	assert_true(fabs(detectable_d(false, 20, 20, 0.05) - 0.909) < 1e-3);
	assert_true(fabs(detectable_d(true, 15, 15, 0.05) - 0.778) < 1e-3);
	assert_true(isnan(detectable_d(false, 1, 20, 0.05)));
}

/* ---- several baselines ---- */

#define KINDS 3  /* a, b and c; a and b are baselines */
#define ROUNDS 7
#define PAIRS 6	 /* b - a, c - a and c - b, in two tests */

static void describe_baselines(const char *baselines)
{
	char text[1024];

	snprintf(text, sizeof(text), "{\"schema\":1,\"name\":\"made\",\"seed\":1,\"runs\":0,%s\"configurations\":"
		"[{\"name\":\"a\"},{\"name\":\"b\"},{\"name\":\"c\"}],\"tests\":[{\"name\":\"t\",\"goal\":"
		"\"p50\",\"better\":\"lower\"},{\"name\":\"u\",\"goal\":\"p50\",\"better\":\"lower\"}]}", baselines);
	drop(BENCH_TRIALS);
	put_text(BENCH_DESCRIPTION, text, "we");
}

/* Values in both tests; c differs clearly in the first one. */
static void add_rounds(double values[2][KINDS][ROUNDS])
{
	static char *names[] = {"a", "b", "c"};
	unsigned seed = 5, run = 0;

	for (unsigned i = 0; i < ROUNDS; i++)
		for (size_t k = 0; k < KINDS; k++)
			for (size_t t = 0; t < 2; t++) {
				struct bench_metric metric = {.name = "p50", .unit = "us"};
				struct bench_trial trial = {.run = ++run, .trial = i + 1,
					.configuration = names[k], .test = t ? (char *)"u" : (char *)"t",
					.metrics = &metric, .metric_count = 1};

				seed = seed * 1103515245 + 12345;
				values[t][k][i] = metric.value = 100 + (double)(seed >> 16 & 255) / 64 +
					(k == 2 && !t ? 9 : 0) + (k == 1 ? 1.5 : 0);
				assert_int_equal(bench_trial_append(ctx, dir, &trial), 0);
			}
}

static double t_with_signs(const double *a, const double *b, unsigned signs)
{
	double mean = 0, squares = 0;

	for (unsigned i = 0; i < ROUNDS; i++) {
		double d = (signs >> i & 1 ? -1 : 1) * (b[i] - a[i]);

		mean += d / ROUNDS;
		squares += d * d;
	}
	return fabs(mean) / sqrt((squares - ROUNDS * mean * mean) / (ROUNDS - 1) / ROUNDS);
}

/* All signs of all trials: the share whose maximum over the comparisons with smaller t reaches this t. */
static void brute_force(double values[2][KINDS][ROUNDS], double p[PAIRS])
{
	static const size_t pairs[3][2] = {{0, 1}, {0, 2}, {1, 2}};
	double observed[PAIRS], found[PAIRS];

	memset(p, 0, PAIRS * sizeof(*p));
	for (unsigned signs = 0; signs < 1u << ROUNDS; signs++) {
		for (size_t i = 0; i < PAIRS; i++) {
			found[i] = t_with_signs(values[i / 3][pairs[i % 3][0]], values[i / 3][pairs[i % 3][1]],
				signs);
			observed[i] = signs ? observed[i] : found[i];
		}
		for (size_t i = 0; i < PAIRS; i++) {
			double most = 0;

			for (size_t k = 0; k < PAIRS; k++)
				most = observed[k] <= observed[i] ? fmax(most, found[k]) : most;
			p[i] += most >= observed[i] * (1 - 1e-9) ? 1.0 / (1u << ROUNDS) : 0;
		}
	}
	for (size_t i = 0; i < PAIRS; i++) /* a smaller t never has a smaller p */
		for (size_t k = 0; k < PAIRS; k++)
			p[i] = observed[k] > observed[i] ? fmax(p[i], p[k]) : p[i];
}

static void check_baselines(const struct vfctl_bench_report *r, const double p[PAIRS])
{
	assert_int_equal(r->baseline_count, 2);
	assert_int_equal(r->comparisons, PAIRS);
	for (size_t t = 0; t < 2; t++) {
		const struct vfctl_bench_column *c = r->cells[t].columns;
		const struct vfctl_bench_difference *all[] = {&c[1].differences[0], &c[2].differences[0],
			&c[2].differences[1]};

		for (size_t i = 0; i < 3; i++)
			assert_true(fabs(all[i]->p_adjusted - fmax(all[i]->p, p[3 * t + i])) < 1e-9);
		/* The second table repeats a against b with the other sign. */
		assert_true(c[0].differences[1].shift == -c[1].differences[0].shift);
		assert_true(c[0].differences[1].p_adjusted == c[1].differences[0].p_adjusted);
		assert_int_equal(c[0].differences[0].verdict, VFCTL_BENCH_NOT_COMPARED);
		assert_int_equal(c[1].differences[1].verdict, VFCTL_BENCH_NOT_COMPARED);
	}
	assert_int_equal(r->cells[0].columns[2].differences[1].verdict, VFCTL_BENCH_WORSE);
}

static void each_is_compared_with_each_baseline(void **state)
{
	struct vfctl_bench_options options = {.alpha = NAN, .noise = NAN, .baseline = "a, b"};
	_cleanup_(vfctl_bench_report_freep) struct vfctl_bench_report *r = NULL, *named = NULL;
	double values[2][KINDS][ROUNDS], p[PAIRS];

	(void)state;
	describe_baselines("\"baseline\":\"a\",\"baselines\":[\"a\",\"b\"],");
	add_rounds(values);
	brute_force(values, p);
	r = report(NULL);
	check_baselines(r, p);
	describe_baselines("");
	add_rounds(values);
	named = report(&options);
	check_baselines(named, p);
	options.baseline = "a,nobody";
	assert_int_equal(vfctl_bench_report_read(ctx, dir, &options, &named), -ENOENT);
	describe_baselines("\"baselines\":[\"a\",\"z\"],");
	assert_int_equal(vfctl_bench_report_read(ctx, dir, NULL, &named), -EBADMSG);
	describe_baselines("\"baselines\":[],");
	assert_int_equal(vfctl_bench_report_read(ctx, dir, NULL, &named), -EBADMSG);
}

/* 27 cells, 6 trials in turns: 12 % more in 9 of them, nothing in the others. */
static void six_trials_reach_a_verdict_for_27_cells(void **state)
{
	double first[27][6], second[27][6], p[27];
	unsigned trials[6] = {1, 2, 3, 4, 5, 6}, seed = 7;
	struct joint joints[27];

	for (size_t i = 0; i < 27; i++) {
		for (size_t k = 0; k < 6; k++) {
			seed = seed * 1103515245 + 12345;
			first[i][k] = 100 + (double)(seed >> 16 & 255) / 256;
			seed = seed * 1103515245 + 12345;
			second[i][k] = (i < 9 ? 112 : 100) + (double)(seed >> 16 & 255) / 256;
		}
		joints[i] = (struct joint){first[i], second[i], trials, 6, 6, true};
	}
	assert_int_equal(joint_p(ctx, joints, 27, 0.05, 1, p), 0);
	for (size_t i = 0; i < 27; i++)
		assert_true(i < 9 ? p[i] < 0.05 : p[i] > 0.05);
}

static void many_are_sorted(void **state)
{
	static double v[100000];
	uint64_t random = 88172645463325252u;

	for (size_t i = 0; i < ARRAY_SIZE(v); i++) {
		random ^= random << 13;
		random ^= random >> 7;
		random ^= random << 17;
		v[i] = ((double)(random >> 11) - 4e15) * (i % 3 ? 1e-12 : 1);
	}
	assert_int_equal(sort_doubles(v, ARRAY_SIZE(v)), 0);
	for (size_t i = 1; i < ARRAY_SIZE(v); i++)
		assert_true(v[i - 1] <= v[i]);
}

/* ---- descriptions ---- */

static void bad_descriptions_are_refused(void **state)
{
	static const char *const more[] = {",\"baseline\":\"c\"", ",\"alpha\":0", ",\"alpha\":2",
		",\"noise\":-1", ",\"checks\":[{\"name\":\"x\",\"state\":\"maybe\"}]", ",\"tools\":{}",
		",\"host\":[]"};
	struct bench_result *result = NULL;

	for (size_t i = 0; i < ARRAY_SIZE(more); i++) {
		describe(more[i]);
		assert_int_equal(bench_result_read(ctx, dir, &result), -EBADMSG);
		assert_null(result);
	}
	describe("");
	add(1, 1, "c", 1);
	assert_int_equal(vfctl_bench_report_read(ctx, dir, NULL, &(struct vfctl_bench_report *){0}),
		-EBADMSG);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(buckets_meet),
		cmocka_unit_test(samples_fall_into_their_buckets),
		cmocka_unit_test(a_trial_comes_back_as_it_was),
		cmocka_unit_test(what_is_not_finite_is_refused),
		cmocka_unit_test(half_a_line_is_none),
		cmocka_unit_test(a_run_made_again_counts_once),
		cmocka_unit_test(each_line_of_a_programs_own_sweep_counts),
		cmocka_unit_test(turns_make_pairs),
		cmocka_unit_test(noise_is_no_difference),
		cmocka_unit_test(too_few_is_said),
		cmocka_unit_test(only_whole_pairs_count),
		cmocka_unit_test(the_bootstrap_counts_all_resamples),
		cmocka_unit_test(the_chances_of_medians_are_complete),
		cmocka_unit_test(degenerate_sets_have_an_answer),
		cmocka_unit_test(what_the_trials_can_show),
		cmocka_unit_test(six_trials_reach_a_verdict_for_27_cells),
		cmocka_unit_test(each_is_compared_with_each_baseline),
		cmocka_unit_test(many_are_sorted),
		cmocka_unit_test(bad_descriptions_are_refused),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
