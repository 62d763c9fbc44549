// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Outputs of tools, each of one trial: CONFIGURATION=FILE, numbered in the order in which they are
 * named. A file without its configuration is named after it: vf-1.txt is of "vf".
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

/* An output that is imported. */
struct output {
	const char *tool;    /* NULL: not known yet */
	const char *file;
	char *configuration;
	unsigned number; /* of the trial */
};

static int fill_trial(struct import *i, const struct output *o, const struct bench_row *row,
	struct bench_trial *io)
{
	enum bench_tool tool = 0;

	bench_tool_parse(o->tool, &tool);
	io->trial = o->number;
	io->configuration = strdup(o->configuration);
	io->test = strdup(o->tool);
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

static int add_row(struct import *i, const struct output *o, const struct bench_row *row)
{
	struct bench_trial t = {0};
	int r;

	if (!row->metric_count)
		return 0;
	r = fill_trial(i, o, row, &t);
	if (r == 0)
		r = import_add(i, &t, goal_of(row), false);
	bench_trial_clear(&t);
	return r == -EEXIST ? ctx_usage_error(i->ctx, -EINVAL, "%s has several figures for %llu bytes",
		o->file, (unsigned long long)row->size) : r;
}

/* The trials of this configuration and test that are there already. */
static unsigned count_trials(const struct import *i, const struct output *o)
{
	unsigned last = 0;

	for (size_t k = 0; k < i->trial_count; k++)
		if (str_eq(i->trials[k].configuration, o->configuration) &&
			str_eq(i->trials[k].test, o->tool) && i->trials[k].trial > last)
			last = i->trials[k].trial;
	return last;
}

/* "results/vf-12.txt" is of "vf"; "" if nothing is left. */
static char *name_of_file(const char *path)
{
	const char *slash = strrchr(path, '/'), *name = slash ? slash + 1 : path;
	const char *point = strchr(name, '.');
	size_t len = point ? (size_t)(point - name) : strlen(name);

	while (len && name[len - 1] >= '0' && name[len - 1] <= '9')
		len--;
	while (len && strchr("-_", name[len - 1]))
		len--;
	return strndup(name, len);
}

static int split_output(struct import *i, const char *text, struct output *ret)
{
	const char *equals = strchr(text, '=');

	ret->tool = i->how->tool;
	ret->file = equals ? equals + 1 : text;
	ret->configuration = equals ? strndup(text, (size_t)(equals - text)) : name_of_file(text);
	if (!ret->configuration)
		return ctx_oom(i->ctx);
	if (!*ret->file || !*ret->configuration ||
		!utf8_valid(ret->configuration, strlen(ret->configuration)))
		return ctx_usage_error(i->ctx, -EINVAL, "'%s' must be CONFIGURATION=FILE, such as vf=%s",
			text, *ret->file ? ret->file : "output.txt");
	return 0;
}

static int add_output(struct import *i, size_t at)
{
	_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
	struct output o = {0};
	int r = split_output(i, i->how->outputs[at], &o);

	if (r == 0)
		r = bench_read_output(i->ctx, &o.tool, o.file, i->how->regex, i->how->json_path, &reading);
	if (r == -EBADMSG || r == -EIO)
		r = ctx_prefix(i->ctx, r, "%s", o.file);
	if (r == 0)
		o.number = count_trials(i, &o) + 1;
	for (size_t k = 0; r == 0 && k < reading->row_count; k++)
		r = add_row(i, &o, &reading->rows[k]);
	free(o.configuration);
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
