// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Outputs of a tool, each of one trial: CONFIGURATION=FILE, numbered in the order in which they are
 * named.
 */
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "bench/import.h"
#include "bench/parser.h"
#include "bench/result.h"

/* Latency, throughput, or else what comes first. */
static const char *goal_of(const struct bench_row *row)
{
	static const char *const usual[] = {"p50", "throughput"};

	for (size_t i = 0; i < ARRAY_SIZE(usual); i++)
		if (bench_metric_find(row->metrics, row->metric_count, usual[i]))
			return usual[i];
	return row->metrics[0].name;
}

static int fill_trial(struct import *i, const char *configuration, unsigned number,
	const struct bench_row *row, struct bench_trial *io)
{
	enum bench_tool tool = 0;

	bench_tool_parse(i->how->tool, &tool);
	io->trial = number;
	io->configuration = strdup(configuration);
	io->test = strdup(i->how->tool);
	io->tool = strdup(bench_tool_name(tool));
	if (!io->configuration || !io->test || !io->tool || bench_trial_from_row(row, io) < 0)
		return ctx_oom(i->ctx);
	if (!row->size)
		return 0;
	if (!array_grow(io->parameters, io->parameter_count))
		return ctx_oom(i->ctx);
	str_copy(io->parameters[0].name, sizeof(io->parameters[0].name), "size");
	snprintf(io->parameters[0].value, sizeof(io->parameters[0].value), "%llu",
		(unsigned long long)row->size);
	io->parameter_count = 1;
	return 0;
}

static int add_row(struct import *i, const char *configuration, unsigned number, const char *file,
	const struct bench_row *row)
{
	struct bench_trial t = {0};
	int r;

	if (!row->metric_count)
		return 0;
	r = fill_trial(i, configuration, number, row, &t);
	if (r == 0)
		r = import_add(i, &t, goal_of(row), false);
	bench_trial_clear(&t);
	return r == -EEXIST ? ctx_usage_error(i->ctx, -EINVAL, "%s has several figures for %llu bytes",
		file,
		(unsigned long long)row->size) : r;
}

/* Count the outputs before this one that belong to the same configuration. */
static unsigned number_of(const struct vfctl_bench_import *how, size_t at, size_t name_len)
{
	unsigned count = 1;

	for (size_t k = 0; k < at; k++)
		count += strncmp(how->outputs[k], how->outputs[at], name_len + 1) == 0;
	return count;
}

static int add_output(struct import *i, size_t at)
{
	const char *text = i->how->outputs[at], *equals = strchr(text, '=');
	_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
	_free_ char *configuration = NULL;
	int r;

	if (!equals || equals == text || !equals[1] || !utf8_valid(text, (size_t)(equals - text)))
		return ctx_usage_error(i->ctx, -EINVAL, "'%s' must be CONFIGURATION=FILE, such as vf=%s",
			text, equals && equals[1] ? equals + 1 : equals ? "output.txt" : text);
	configuration = strndup(text, (size_t)(equals - text));
	if (!configuration)
		return ctx_oom(i->ctx);
	r = bench_read_output(i->ctx, i->how->tool, equals + 1, i->how->regex, i->how->json_path,
		&reading);
	if (r == -EBADMSG || r == -EIO)
		return ctx_prefix(i->ctx, r, "%s", equals + 1);
	for (size_t k = 0; r == 0 && k < reading->row_count; k++)
		r = add_row(i, configuration, number_of(i->how, at, strlen(configuration)), equals + 1,
			&reading->rows[k]);
	return r;
}

int import_outputs(struct import *i)
{
	int r = 0;

	for (size_t at = 0; at < i->how->output_count && r == 0; at++)
		r = add_output(i, at);
	if (r == 0 && !i->trial_count)
		r = ctx_usage_error(i->ctx, -EINVAL, "the outputs have no figures");
	return r;
}
