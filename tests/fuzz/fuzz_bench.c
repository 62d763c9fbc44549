// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The first line names a tool, the rest is what it printed: a figure that is taken is finite and
 * has a name and no double; what is refused says why. "trial" and "result": our own files.
 */
#include <math.h>
#include <string.h>

#include "bench/result.h"
#include "fuzz.h"

static void check_row(const struct bench_row *row)
{
	struct bench_trial trial = {0};

	for (size_t i = 0; i < row->metric_count; i++) {
		const struct bench_metric *m = &row->metrics[i];

		FUZZ_CHECK(isfinite(m->value) && m->name[0]);
		FUZZ_CHECK(bench_metric_find(row->metrics, row->metric_count, m->name) == m);
		FUZZ_CHECK(strcmp(m->name, "stdev") != 0 || m->from_samples);
	}
	for (size_t i = 0; i < row->sample_count; i++)
		FUZZ_CHECK(row->samples[i] >= 0);
	if (bench_trial_from_row(row, &trial) == 0) {
		uint64_t counted = 0;

		for (size_t i = 0; i < trial.histogram.count; i++)
			counted += trial.histogram.counts[i];
		FUZZ_CHECK(counted == row->sample_count);
		FUZZ_CHECK(trial.metric_count == row->metric_count);
	}
	bench_trial_clear(&trial);
}

static void check(struct vfctl_ctx *ctx, enum bench_tool tool, const char *text, size_t len)
{
	struct bench_extract by_path = {.json_path = "a.b[1]"}, by_regex = {.regex = "second: *([^ ]+)"};
	struct bench_reading *reading = NULL;
	int r = bench_parse(ctx, tool, text && len % 2 ? &by_path : &by_regex, text, len, &reading);

	if (r < 0) {
		FUZZ_CHECK(!reading && *vfctl_ctx_error(ctx));
		return;
	}
	FUZZ_CHECK(reading->row_count && strlen(reading->version) < sizeof(reading->version));
	for (size_t i = 0; i < reading->row_count; i++)
		check_row(&reading->rows[i]);
	bench_reading_free(reading);
}

/* A line that was read and written is the same line when it is read again. */
static void check_trial(struct vfctl_ctx *ctx, const char *text, size_t len)
{
	struct bench_trial trial, again;
	char *line, *twice;

	if (bench_trial_read(ctx, "fuzz", text, len, &trial) < 0) {
		FUZZ_CHECK(*vfctl_ctx_error(ctx));
		return;
	}
	line = bench_trial_format(&trial);
	FUZZ_CHECK(line && bench_trial_read(ctx, "again", line, strlen(line), &again) == 0);
	twice = bench_trial_format(&again);
	FUZZ_CHECK(twice && strcmp(line, twice) == 0);
	free(line);
	free(twice);
	bench_trial_clear(&trial);
	bench_trial_clear(&again);
}

static void check_result(struct vfctl_ctx *ctx, const char *text, size_t len)
{
	struct bench_result *result = NULL;

	if (bench_result_parse(ctx, "fuzz", text, len, &result) < 0) {
		FUZZ_CHECK(!result && *vfctl_ctx_error(ctx));
		return;
	}
	FUZZ_CHECK(result->configuration_count && result->test_count && result->name);
	FUZZ_CHECK(result->alpha > 0 && result->alpha < 1 && result->noise >= 0 && result->noise < 1);
	bench_result_free(result);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const char *text = (const char *)data, *end = size ? memchr(text, '\n', size) : NULL;
	struct vfctl_ctx *ctx;
	enum bench_tool tool;
	char name[16] = "";

	if (!end || (size_t)(end - text) >= sizeof(name) || vfctl_ctx_new(&ctx) < 0)
		return 0;
	memcpy(name, text, (size_t)(end - text));
	if (strcmp(name, "trial") == 0)
		check_trial(ctx, end + 1, size - (size_t)(end + 1 - text));
	else if (strcmp(name, "result") == 0)
		check_result(ctx, end + 1, size - (size_t)(end + 1 - text));
	else if (bench_tool_parse(name, &tool) == 0)
		check(ctx, tool, end + 1, size - (size_t)(end + 1 - text));
	vfctl_ctx_free(ctx);
	return 0;
}
