// SPDX-License-Identifier: GPL-2.0-or-later
/* Make a report from one or two result directories. */
#include "bench/report_build.h"

#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/search.h"
#include "bench/trial_index.h"

/* ---- texts ---- */

const char *report_keep(struct report *r, char *text)
{
	if (!text)
		return NULL;
	if (!array_grow(r->texts, r->text_count)) {
		free(text);
		return NULL;
	}
	r->texts[r->text_count++] = text;
	return text;
}

static int add_text(struct vfctl_ctx *ctx, struct report *r, const char ***io, size_t *io_count,
	char *text)
{
	const char *kept = report_keep(r, text);

	if (!kept || !array_grow(*io, *io_count))
		return ctx_oom(ctx);
	(*io)[(*io_count)++] = kept;
	return 0;
}

int report_note(struct vfctl_ctx *ctx, struct report *r, char *text)
{
	return add_text(ctx, r, &r->shown.notes, &r->shown.note_count, text);
}

int report_advice(struct vfctl_ctx *ctx, struct report *r, char *text)
{
	return add_text(ctx, r, &r->shown.advice, &r->shown.advice_count, text);
}

static void free_column(struct vfctl_bench_column *c)
{
	free(c->metrics);
	free(c->differences);
	free((double *)c->values);
	free((uint64_t *)c->bucket_counts);
	free((double *)c->bucket_lows);
}

void vfctl_bench_report_free(struct vfctl_bench_report *shown)
{
	struct report *r = (struct report *)shown;

	if (!r)
		return;
	for (size_t i = 0; i < shown->cell_count; i++) {
		for (size_t k = 0; shown->cells[i].columns && k < shown->configuration_count; k++)
			free_column(&shown->cells[i].columns[k]);
		free(shown->cells[i].columns);
	}
	free(shown->cells);
	free(shown->configurations);
	free(shown->baselines);
	free(shown->commands);
	free(shown->advice);
	free(shown->notes);
	for (size_t i = 0; i < r->text_count; i++)
		free(r->texts[i]);
	free(r->texts);
	for (size_t i = 0; i < ARRAY_SIZE(r->results); i++)
		bench_result_free(r->results[i]);
	free(r);
}

static void free_report(struct report **r)
{
	vfctl_bench_report_free(*r ? &(*r)->shown : NULL);
}

/* ---- members from bench.json ---- */

static void take_conditions(struct vfctl_bench_report *to, const struct bench_result *from)
{
	to->host = from->host;
	to->host_count = from->host_count;
	to->tools = from->tools;
	to->tool_count = from->tool_count;
	to->checks = from->checks;
	to->check_count = from->check_count;
}

static int add_configuration(struct vfctl_ctx *ctx, struct report *r, const char *name,
	const struct bench_configuration *from)
{
	struct vfctl_bench_report *to = &r->shown;
	struct vfctl_bench_configuration *c;

	if (!array_grow(to->configurations, to->configuration_count))
		return ctx_oom(ctx);
	c = &to->configurations[to->configuration_count++];
	c->name = name;
	c->settings = from ? from->settings : NULL;
	c->setting_count = from ? from->setting_count : 0;
	return 0;
}

static void take_figures(struct vfctl_bench_report *to, const struct bench_result *from,
	const struct vfctl_bench_options *options)
{
	to->created = from->created;
	to->vfctl = from->vfctl;
	to->seed = from->seed;
	to->alpha = options && isfinite(options->alpha) ? options->alpha : from->alpha;
	to->noise = options && isfinite(options->noise) ? options->noise : from->noise;
	to->emulated |= from->emulated;
	to->quick |= from->quick;
	to->planned += from->runs;
}

/* ---- notes for the reader ---- */

static bool searched(const struct report *r)
{
	return !r->shown.comparison && r->results[0]->search;
}

/* Note checks that failed or warned before the first run. */
static int note_checks(struct builder *b, const struct bench_result *result)
{
	int r = 0;

	for (size_t i = 0; result && i < result->check_count && r == 0; i++) {
		const struct bench_check *c = &result->checks[i];

		if (c->state != BENCH_CHECK_OK)
			r = report_note(b->ctx, b->r, str_format("check of %s before the first run: %s%s%s",
				c->name, c->state == BENCH_CHECK_WARN ? "warning" : "failed",
				c->text ? ", " : "", c->text ? c->text : ""));
	}
	return r;
}

static int take_notes(struct builder *b)
{
	struct vfctl_bench_report *to = &b->r->shown;
	int r = 0;

	for (size_t i = 0; i < to->cell_count; i++)
		for (size_t k = 0; k < to->configuration_count && r == 0; k++) {
			const struct vfctl_bench_column *c = &to->cells[i].columns[k];

			if (c->failed)
				r = report_note(b->ctx, b->r, str_format("%s%s%s, %s: %zu of %zu "
					"trials failed: %s",
					to->cells[i].test, *to->cells[i].parameters ? " " : "",
					to->cells[i].parameters, to->configurations[k].name, c->failed,
					c->failed + c->goal.trials, c->error));
		}
	if (r == 0 && to->made < to->planned && !searched(b->r))
		r = report_note(b->ctx, b->r, str_format("%u of %u planned runs were made: the figures are "
			"not final", to->made, to->planned));
	for (size_t i = 0; i < ARRAY_SIZE(b->r->results) && r == 0; i++)
		r = note_checks(b, b->r->results[i]);
	for (size_t i = 0; i < ARRAY_SIZE(b->r->results) && r == 0; i++)
		if (b->r->results[i] && b->r->results[i]->torn)
			r = report_note(b->ctx, b->r, str_format("the last line of %s/" BENCH_TRIALS
				" is truncated and was ignored", b->r->results[i]->dir));
	return r;
}

static int take_commands(struct builder *b, const struct bench_result *result)
{
	struct vfctl_bench_report *to = &b->r->shown;

	/*
	 * Only the first trial of each cell and configuration is used, because the others are the
	 * same.
	 */
	for (size_t i = 0; i < result->trial_count; i++) {
		char **commands = result->trials[i].trial == 1 ? result->trials[i].commands : NULL;

		for (size_t k = 0; commands && commands[k]; k++) {
			size_t at = 0;

			while (at < to->command_count && !str_eq(to->commands[at], commands[k]))
				at++;
			if (at < to->command_count)
				continue;
			if (!array_grow(to->commands, to->command_count))
				return ctx_oom(b->ctx);
			to->commands[to->command_count++] = commands[k];
		}
	}
	return 0;
}

static void count_runs(struct vfctl_bench_report *to, const struct bench_trial *t)
{
	to->made++;
	to->failed += t->error != NULL;
	to->warm_ups += t->trial == 0;
}

static int finish_report(struct builder *b, const struct vfctl_bench_options *options)
{
	int r;

	report_find_axes(b);
	r = report_sort_cells(b);
	if (r == 0)
		r = report_take_varying(b);
	if (r == 0)
		r = report_build_columns(b);
	if (r == 0)
		r = report_compare_all(b);
	if (r == 0 && b->r->shown.comparison)
		r = report_weigh_sessions(b, options);
	if (r == 0)
		r = take_notes(b);
	if (r < 0)
		return r;
	return searched(b->r) ? search_advise(b->ctx, b->r) : report_advise(b->ctx, b->r);
}

static void free_builder(struct builder *b)
{
	free(b->entries);
	free(b->firsts);
	free(b->by_configuration);
	trial_index_free(&b->index);
	median_chances_clear(&b->chances);
}

/* ---- one result ---- */

static int add_baseline(struct builder *b, size_t configuration)
{
	struct vfctl_bench_report *to = &b->r->shown;

	if (bench_is_baseline(to, configuration))
		return 0;
	if (!array_grow(to->baselines, to->baseline_count))
		return ctx_oom(b->ctx);
	to->baselines[to->baseline_count++] = configuration;
	to->baseline = to->baselines[0];
	return 0;
}

static int find_baseline(struct builder *b, const char *name)
{
	struct vfctl_bench_report *to = &b->r->shown;

	for (size_t i = 0; i < to->configuration_count; i++)
		if (str_eq(to->configurations[i].name, name))
			return add_baseline(b, i);
	return -ENOENT;
}

/* "A,B"; an imported configuration may have a comma in its name. */
static int find_named_baselines(struct builder *b, const char *names)
{
	_free_ char *copy = strdup(names);
	char *rest = copy, *name;
	int r = copy ? find_baseline(b, names) : ctx_oom(b->ctx);

	if (r != -ENOENT)
		return r;
	while ((name = strsep(&rest, ","))) {
		name = str_rstrip(name + strspn(name, " "));
		r = find_baseline(b, name);
		if (r == -ENOENT)
			return ctx_usage_error(b->ctx, r, "configuration '%s' is not in %s", name,
				b->r->shown.directory);
		if (r < 0)
			return r;
	}
	return 0;
}

static int find_baselines(struct builder *b, const struct bench_result *result, const char *names)
{
	int r = names ? find_named_baselines(b, names) : 0;

	for (size_t i = 0; !names && result->baselines && result->baselines[i] && r == 0; i++)
		r = find_baseline(b, result->baselines[i]);
	return r < 0 || b->r->shown.baseline_count ? r : add_baseline(b, 0);
}

static int column_of(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t, size_t *ret)
{
	for (size_t i = 0; i < result->configuration_count; i++)
		if (str_eq(result->configurations[i].name, t->configuration)) {
			*ret = i;
			return 0;
		}
	return ctx_fail(b->ctx, -EBADMSG, "%s/" BENCH_TRIALS ": run %u has the configuration '%s', "
		"which "
		BENCH_DESCRIPTION " does not define", result->dir, t->run, t->configuration);
}

static int take_trials(struct builder *b, const struct bench_result *result)
{
	int r = 0;

	for (size_t i = 0; i < result->trial_count && r == 0; i++) {
		const struct bench_trial *t = &result->trials[i];
		size_t column = 0;

		count_runs(&b->r->shown, t);
		r = report_check_trial(b, result, t);
		if (r == 0)
			r = column_of(b, result, t, &column);
		if (r == 0 && t->trial)
			r = report_take_trial(b, result, t, NULL, true, column);
	}
	return r;
}

int vfctl_bench_report_read(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report)
{
	_cleanup_(free_report) struct report *r = calloc(1, sizeof(*r));
	_cleanup_(free_builder) struct builder b = {.ctx = ctx, .r = r};
	const struct bench_result *result;
	int error;

	if (!r)
		return ctx_oom(ctx);
	error = bench_result_read(ctx, directory, &r->results[0]);
	if (error < 0)
		return error;
	result = r->results[0];
	r->shown.directory = result->dir;
	r->shown.name = result->name;
	take_figures(&r->shown, result, options);
	for (size_t i = 0; i < result->configuration_count && error == 0; i++)
		error = add_configuration(ctx, r, result->configurations[i].name,
			&result->configurations[i]);
	if (error == 0)
		error = find_baselines(&b, result, options ? options->baseline : NULL);
	take_conditions(&r->shown, result);
	if (error == 0)
		error = take_trials(&b, result);
	if (error == 0)
		error = take_commands(&b, result);
	if (error == 0)
		error = finish_report(&b, options);
	if (error < 0)
		return error;
	*ret_report = &steal(r)->shown;
	return 0;
}

/* ---- two results ---- */

static int check_same_goal(struct builder *b, const struct bench_trial *t)
{
	const struct bench_test *before = report_test_of(b->r->results[0], t->test);
	const struct bench_test *after = report_test_of(b->r->results[1], t->test);

	if (!before || !after || (str_eq(before->goal, after->goal) &&
		before->higher_is_better == after->higher_is_better))
		return 0;
	return ctx_fail(b->ctx, -EBADMSG, "the goal of the test '%s' differs, %s before and %s "
		"after, so they cannot be compared", t->test, before->goal, after->goal);
}

/* The cells of a result, each with its configuration. */
static int index_cells(struct builder *b, const struct bench_result *result, void **io)
{
	for (size_t i = 0; i < result->trial_count; i++) {
		const struct bench_trial *t = &result->trials[i];

		if (t->trial && !trial_index_add(io, &(struct trial_key){.configuration = t->configuration,
				.test = t->test, .parameters = t->parameters,
				.parameter_count = t->parameter_count}))
			return ctx_oom(b->ctx);
	}
	return 0;
}

static bool is_in(void *const *cells, const struct bench_trial *like)
{
	return trial_index_find(cells, &(struct trial_key){.configuration = like->configuration,
		.test = like->test, .parameters = like->parameters,
		.parameter_count = like->parameter_count});
}

/* @others: the cells of the other side. */
static int take_side(struct builder *b, size_t side, bool named, void *const *others)
{
	const struct bench_result *result = b->r->results[side];
	int r = 0;

	for (size_t i = 0; i < result->trial_count && r == 0; i++) {
		const struct bench_trial *t = &result->trials[i];
		const char *configuration = named ? t->configuration : NULL;

		count_runs(&b->r->shown, t);
		r = report_check_trial(b, result, t);
		if (r == 0)
			r = check_same_goal(b, t);
		if (r < 0 || !t->trial)
			continue;
		r = report_take_trial(b, result, t, configuration, is_in(others, t), side);
		if (r == -ENOENT)
			r = 0; /* only in this report: reported below */
	}
	return r;
}

static int note_alone(struct builder *b, size_t side, void *const *others)
{
	const struct bench_result *result = b->r->results[side];
	_cleanup_(trial_index_free) void *said = NULL;
	int r = 0;

	for (size_t i = 0; i < result->trial_count && r == 0; i++) {
		const struct bench_trial *t = &result->trials[i];
		const struct trial_key key = {.configuration = t->configuration, .test = t->test,
			.parameters = t->parameters, .parameter_count = t->parameter_count, .at = i};
		const struct trial_key *first;

		if (!t->trial || is_in(others, t))
			continue;
		first = trial_index_add(&said, &key);
		if (!first)
			return ctx_oom(b->ctx);
		if (first->at == i)
			r = report_note(b->ctx, b->r, str_format("only in %s: %s, %s", result->dir, t->test,
				t->configuration));
	}
	return r;
}

static int take_sides(struct builder *b, bool named)
{
	_cleanup_(trial_index_free) void *before = NULL;
	_cleanup_(trial_index_free) void *after = NULL;
	int r = index_cells(b, b->r->results[0], &before);

	if (r == 0)
		r = index_cells(b, b->r->results[1], &after);
	if (r == 0)
		r = take_side(b, 0, named, &after);
	if (r == 0)
		r = take_side(b, 1, named, &before);
	if (r == 0 && !b->r->shown.cell_count)
		r = ctx_fail(b->ctx, -ENODATA, "%s and %s have no test with the same parameters and "
			"configuration, so there is nothing to compare", b->r->results[0]->dir,
			b->r->results[1]->dir);
	if (r == 0)
		r = note_alone(b, 0, &after);
	return r < 0 ? r : note_alone(b, 1, &before);
}

static bool many_configurations(const struct report *r)
{
	return r->results[0]->configuration_count > 1 || r->results[1]->configuration_count > 1 ||
		!str_eq(r->results[0]->configurations[0].name, r->results[1]->configurations[0].name);
}

int vfctl_bench_compare(struct vfctl_ctx *ctx, const char *before, const char *after,
	const struct vfctl_bench_options *options, struct vfctl_bench_report **ret_report)
{
	_cleanup_(free_report) struct report *r = calloc(1, sizeof(*r));
	_cleanup_(free_builder) struct builder b = {.ctx = ctx, .r = r};
	int error;

	if (!r)
		return ctx_oom(ctx);
	error = bench_result_read(ctx, before, &r->results[0]);
	if (error == 0)
		error = bench_result_read(ctx, after, &r->results[1]);
	if (error < 0)
		return error;
	r->shown.comparison = true;
	take_figures(&r->shown, r->results[0], options);
	take_figures(&r->shown, r->results[1], options);
	r->shown.directory = r->results[1]->dir;
	r->shown.name = report_keep(r, str_format("%s: before and after", r->results[1]->name));
	error = r->shown.name ? add_configuration(ctx, r, "before", NULL) : ctx_oom(ctx);
	if (error == 0)
		error = add_configuration(ctx, r, "after", NULL);
	if (error == 0)
		error = add_baseline(&b, 0);
	take_conditions(&r->shown, r->results[1]);
	if (error == 0)
		error = take_sides(&b, many_configurations(r));
	if (error == 0)
		error = finish_report(&b, options);
	if (error < 0)
		return error;
	*ret_report = &steal(r)->shown;
	return 0;
}
