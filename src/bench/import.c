// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A result directory of raw data that others measured. The file is read line by line: of a line of
 * 100,000 samples its figures and histogram are kept, so that any number of them fits.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "base/parse.h"
#include "bench/parser.h"
#include "bench/result.h"
#include "host/plain.h"
#include "bench/bench.h"
#include "core/host.h"

enum role { CONFIGURATION, TEST, TRIAL, METRIC, VALUE, UNIT, SAMPLES, TOOL, PARAMETER };
static const char *const roles[] = {"configuration", "test", "trial", "metric", "value", "unit",
	"samples", "tool"};

#define FIELDS_MAX 24

struct imported_test {
	char *name, *goal;
	bool higher;
};

struct import {
	struct vfctl_ctx *ctx;
	const char *file;
	const struct vfctl_bench_import *how;
	size_t line;
	enum role role[FIELDS_MAX];
	char names[FIELDS_MAX][16]; /* of parameters */
	size_t columns;
	bool has[PARAMETER];
	struct bench_trial *trials;
	size_t trial_count;
	char **configurations;
	size_t configuration_count;
	struct imported_test *tests;
	size_t test_count;
};

static int bad_imported(struct import *i, const char *why)
{
	return ctx_mistake(i->ctx, -EINVAL, "%s:%zu: %s", i->file, i->line, why);
}

/* ---- fields ---- */

/* In place: a field in quotes may have separators, and quotes twice. */
static bool next_field(char **io_rest, struct span *ret)
{
	char *in = *io_rest, *out = in;

	if (!in)
		return false;
	ret->p = in;
	if (*in == '"') {
		for (in++; *in && (*in != '"' || in[1] == '"'); in++) {
			in += *in == '"';
			*out++ = *in;
		}
		in += *in == '"';
		ret->end = out;
		in = strchr(in, ',');
	} else {
		in = strchr(in, ',');
		ret->end = in ? in : ret->p + strlen(ret->p);
	}
	*io_rest = in ? in + 1 : NULL;
	*ret = span_trim(*ret);
	return true;
}

static int take_heading(struct import *i, char *line)
{
	struct span field;

	for (i->columns = 0; next_field(&line, &field); i->columns++) {
		enum role role = 0;

		if (i->columns == FIELDS_MAX)
			return bad_imported(i, "it has too many columns");
		while (role < PARAMETER && !span_is(field, roles[role]))
			role++;
		i->role[i->columns] = role;
		if (role < PARAMETER && i->has[role])
			return bad_imported(i, "a column is there twice");
		if (role < PARAMETER)
			i->has[role] = true;
		else if (!span_len(field) || span_len(field) >= sizeof(i->names[0]))
			return bad_imported(i, "the name of a column is empty or longer than 15 characters");
		span_copy(field, i->names[i->columns], sizeof(i->names[0]));
	}
	if (!i->has[CONFIGURATION] || !i->has[TEST] || !i->has[TRIAL])
		return bad_imported(i, "the first line must name the columns configuration, test and trial");
	if (i->has[SAMPLES] == (i->has[METRIC] || i->has[VALUE]) || i->has[METRIC] != i->has[VALUE])
		return bad_imported(i, "the first line must name either samples, or metric and value");
	return 0;
}

/* ---- what is imported ---- */

static char *dup_span(struct span s)
{
	return strndup(s.p, span_len(s));
}

static int note_configuration(struct import *i, const char *name)
{
	for (size_t k = 0; k < i->configuration_count; k++)
		if (str_eq(i->configurations[k], name))
			return 0;
	if (!array_grow(i->configurations, i->configuration_count))
		return ctx_oom(i->ctx);
	i->configurations[i->configuration_count] = strdup(name);
	return i->configurations[i->configuration_count++] ? 0 : ctx_oom(i->ctx);
}

static bool higher_is_usual(const char *metric)
{
	return str_starts(metric, "throughput") || str_eq(metric, "operations") ||
		str_eq(metric, "message_rate");
}

/* The first metric of a test is its goal, where none was asked for. */
static int note_test(struct import *i, const char *name, const char *metric)
{
	const char *goal = i->how->goal ? i->how->goal : metric;
	struct imported_test *t;

	for (size_t k = 0; k < i->test_count; k++)
		if (str_eq(i->tests[k].name, name))
			return 0;
	if (!array_grow(i->tests, i->test_count))
		return ctx_oom(i->ctx);
	t = &i->tests[i->test_count++];
	t->name = strdup(name);
	t->goal = strdup(goal);
	t->higher = i->how->higher_is_better || higher_is_usual(goal);
	return t->name && t->goal ? 0 : ctx_oom(i->ctx);
}

static bool same_trial(const struct bench_trial *a, const struct bench_trial *b)
{
	if (a->trial != b->trial || !str_eq(a->configuration, b->configuration) ||
		!str_eq(a->test, b->test) || a->parameter_count != b->parameter_count)
		return false;
	for (size_t i = 0; i < a->parameter_count; i++)
		if (!str_eq(a->parameters[i].value, b->parameters[i].value))
			return false;
	return true;
}

/* Moves @t there, or adds what it has to the one that is there. */
static int place_imported(struct import *i, struct bench_trial *t)
{
	for (size_t k = i->trial_count; k-- > 0;) {
		struct bench_trial *there = &i->trials[k];

		if (!same_trial(there, t))
			continue;
		if (!t->metric_count || bench_metric_find(there->metrics, there->metric_count,
				t->metrics[0].name) || i->has[SAMPLES])
			return bad_imported(i, "the same trial is there twice");
		if (!array_grow(there->metrics, there->metric_count))
			return ctx_oom(i->ctx);
		there->metrics[there->metric_count++] = t->metrics[0];
		return 0;
	}
	if (!array_grow(i->trials, i->trial_count))
		return ctx_oom(i->ctx);
	i->trials[i->trial_count++] = *t;
	*t = (struct bench_trial){0};
	return 0;
}

/* ---- a line ---- */

struct row {
	struct bench_trial trial;
	struct span metric, value, unit, samples;
};

static int take_samples(struct import *i, struct row *row)
{
	_free_ char *where = str_format("%s:%zu", i->file, i->line);
	struct parser p = {.ctx = i->ctx, .tool = where};
	struct bench_row figures = {0};
	struct span word;
	double value;
	int r = where ? 0 : ctx_oom(i->ctx);

	while (r == 0 && span_word(&row->samples, &word)) {
		r = parser_number(&p, word, "sample", &value);
		if (r == 0)
			r = parser_sample(&p, &figures.samples, &figures.sample_count, value);
	}
	if (r == 0 && !figures.sample_count)
		r = bad_imported(i, "it has no samples");
	else if (r == -EIO || r == -EBADMSG)
		r = ctx_blame(i->ctx, -EINVAL);
	if (r == 0 && (row_from_samples(&figures) < 0 ||
		bench_trial_from_row(&figures, &row->trial) < 0))
		r = ctx_oom(i->ctx);
	free(figures.samples);
	free(figures.metrics);
	return r;
}

static int take_value(struct import *i, struct row *row)
{
	struct bench_row figures = {0};
	char name[24], unit[12];
	double value;
	int r;

	if (!span_len(row->metric) || span_len(row->metric) >= sizeof(name) ||
		span_len(row->unit) >= sizeof(unit))
		return bad_imported(i, "its metric is empty, or that or its unit is too long");
	span_copy(row->metric, name, sizeof(name));
	span_copy(row->unit, unit, sizeof(unit));
	if (number_read(row->value, &value) < 0)
		return bad_imported(i, "its value is no number that can be read in one way only");
	r = row_put(&figures, name, i->has[UNIT] ? unit : NULL, value, false);
	if (r == 0)
		r = bench_trial_from_row(&figures, &row->trial);
	free(figures.metrics);
	return r < 0 ? ctx_oom(i->ctx) : 0;
}

static int take_parameter(struct import *i, struct row *row, size_t column, struct span field)
{
	struct bench_parameter *p;

	if (!span_len(field))
		return 0; /* of another test */
	if (!array_grow(row->trial.parameters, row->trial.parameter_count))
		return ctx_oom(i->ctx);
	p = &row->trial.parameters[row->trial.parameter_count++];
	str_copy(p->name, sizeof(p->name), i->names[column]);
	if (span_len(field) >= sizeof(p->value))
		return bad_imported(i, "a parameter is longer than 31 characters");
	span_copy(field, p->value, sizeof(p->value));
	return 0;
}

static int take_field(struct import *i, struct row *row, size_t column, struct span field)
{
	char **text = NULL;
	uint64_t number;

	switch (i->role[column]) {
	case CONFIGURATION:
		text = &row->trial.configuration;
		break;
	case TEST:
		text = &row->trial.test;
		break;
	case TOOL:
		text = &row->trial.tool;
		break;
	case TRIAL:
		if (!number_whole(field, &number) || number > 1000000)
			return bad_imported(i, "its trial is no number from 0 (a warm-up)");
		row->trial.trial = (unsigned)number;
		return 0;
	case METRIC:
		row->metric = field;
		return 0;
	case VALUE:
		row->value = field;
		return 0;
	case UNIT:
		row->unit = field;
		return 0;
	case SAMPLES:
		row->samples = field;
		return 0;
	default:
		return take_parameter(i, row, column, field);
	}
	if (!span_len(field) || !utf8_valid(field.p, span_len(field)))
		return bad_imported(i, "a name is empty, or no UTF-8");
	*text = dup_span(field);
	return *text ? 0 : ctx_oom(i->ctx);
}

static int take_fields(struct import *i, struct row *row, char *line)
{
	struct span field;
	size_t column = 0;
	int r = 0;

	for (; r == 0 && next_field(&line, &field); column++)
		r = column < i->columns ? take_field(i, row, column, field)
			: bad_imported(i, "it has more fields than the first line");
	if (r == 0 && column < i->columns)
		r = bad_imported(i, "it has fewer fields than the first line: cut off?");
	if (r == 0)
		r = i->has[SAMPLES] ? take_samples(i, row) : take_value(i, row);
	if (r == 0)
		r = note_configuration(i, row->trial.configuration);
	if (r == 0)
		r = note_test(i, row->trial.test, i->has[SAMPLES] ? "p50" : row->trial.metrics[0].name);
	return r < 0 ? r : place_imported(i, &row->trial);
}

static int take_line(struct import *i, char *line)
{
	struct row row = {0};
	int r;

	if (!*line)
		return 0;
	if (!i->columns)
		return take_heading(i, line);
	r = take_fields(i, &row, line);
	bench_trial_clear(&row.trial);
	return r;
}

static int take_file(struct import *i)
{
	int fd = plain_open(i->file);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	if (fd < 0)
		return ctx_mistake(i->ctx, fd, "%s cannot be read: %s", i->file,
			fd == -EMEDIUMTYPE ? "it is not a plain file" : strerror(-fd));
	if (!file) {
		close_fd(&fd);
		return ctx_oom(i->ctx);
	}
	while (r == 0 && (len = getline(&line, &room, file)) >= 0) {
		i->line++;
		if (strlen(line) != (size_t)len)
			r = bad_imported(i, "it has a NUL byte");
		while (len > 0 && (line[len - 1] == '\n' || line[len - 1] == '\r'))
			line[--len] = '\0';
		r = r < 0 ? r : take_line(i, line);
	}
	if (r == 0 && ferror(file))
		r = ctx_fail(i->ctx, -EIO, "%s cannot be read", i->file);
	free(line);
	fclose(file);
	if (r == 0 && !i->trial_count)
		r = ctx_mistake(i->ctx, -EINVAL, "%s has no trial", i->file);
	return r;
}

/* ---- the directory ---- */

static size_t configuration_at(const struct import *i, const char *name)
{
	size_t k = 0;

	while (k < i->configuration_count && !str_eq(i->configurations[k], name))
		k++;
	return k;
}

/* Runs in an order that says how they were made: in turns, or one configuration after the other. */
static void number_runs(struct import *i)
{
	unsigned run = 0, last = 0;

	for (size_t k = 0; k < i->trial_count; k++)
		last = i->trials[k].trial > last ? i->trials[k].trial : last;
	for (unsigned turn = 0; turn <= (i->how->paired ? last : (unsigned)i->configuration_count); turn++)
		for (size_t k = 0; k < i->trial_count; k++)
			if (i->how->paired ? i->trials[k].trial == turn
				: configuration_at(i, i->trials[k].configuration) == turn)
				i->trials[k].run = ++run;
}

static void put_imported(struct buf *out, const char *before, const char *text)
{
	buf_puts(out, before);
	if (text)
		json_put(out, text);
	else
		buf_puts(out, "null");
}

static char *format_description(const struct import *i)
{
	const struct vfctl_bench_import *how = i->how;
	_buf_ struct buf out = {0};

	put_imported(&out, "{\"schema\": 1,\n\"name\": ", how->name);
	put_imported(&out, ",\n\"created\": ", how->created);
	put_imported(&out, ",\n\"vfctl\": ", VFCTL_VERSION);
	put_imported(&out, ",\n\"imported\": ", i->file);
	buf_printf(&out, ",\n\"seed\": 1,\n\"runs\": %zu,\n\"alpha\": 0.05,\n\"noise\": 0.01,\n"
		"\"emulated\": %s", i->trial_count, how->emulated ? "true" : "false");
	put_imported(&out, ",\n\"baseline\": ", how->baseline);
	buf_puts(&out, ",\n\"configurations\": [");
	for (size_t k = 0; k < i->configuration_count; k++) {
		put_imported(&out, k ? ", {\"name\": " : "{\"name\": ", i->configurations[k]);
		buf_puts(&out, "}");
	}
	buf_puts(&out, "],\n\"tests\": [");
	for (size_t k = 0; k < i->test_count; k++) {
		put_imported(&out, k ? ", {\"name\": " : "{\"name\": ", i->tests[k].name);
		put_imported(&out, ", \"goal\": ", i->tests[k].goal);
		buf_printf(&out, ", \"better\": \"%s\"}", i->tests[k].higher ? "higher" : "lower");
	}
	buf_puts(&out, "]}\n");
	return buf_steal(&out);
}

static int put_file(struct vfctl_ctx *ctx, const char *dir, const char *name, const char *text,
	size_t len)
{
	return vfctl_tree_write(ctx, dir, name, false, text, len);
}

static void drop_file(const char *dir, const char *name)
{
	_free_ char *path = str_format("%s/%s", dir, name);

	if (path)
		unlink(path);
}

static int write_result(struct import *i, const char *dir)
{
	_free_ char *description = format_description(i);
	_buf_ struct buf lines = {0};
	bool made;
	int r;

	for (unsigned run = 1; run <= i->trial_count; run++)
		for (size_t k = 0; k < i->trial_count; k++) {
			_free_ char *line = NULL;

			if (i->trials[k].run != run)
				continue;
			line = bench_trial_format(&i->trials[k]);
			if (!line)
				return ctx_oom(i->ctx);
			buf_puts(&lines, line);
		}
	if (!description || lines.failed)
		return ctx_oom(i->ctx);
	made = mkdir(dir, 0755) == 0;
	if (!made && errno != EEXIST)
		return ctx_fail(i->ctx, -errno, "%s cannot be made: %s", dir, strerror(errno));
	r = put_file(i->ctx, dir, BENCH_TRIALS, lines.data, lines.len);
	if (r == 0) {
		r = put_file(i->ctx, dir, BENCH_DESCRIPTION, description, strlen(description));
		if (r < 0)
			drop_file(dir, BENCH_TRIALS);
	}
	if (r < 0 && made)
		rmdir(dir);
	return r;
}

static void clear_imported(struct import *i)
{
	for (size_t k = 0; k < i->trial_count; k++)
		bench_trial_clear(&i->trials[k]);
	for (size_t k = 0; k < i->configuration_count; k++)
		free(i->configurations[k]);
	for (size_t k = 0; k < i->test_count; k++) {
		free(i->tests[k].name);
		free(i->tests[k].goal);
	}
	free(i->trials);
	free(i->configurations);
	free(i->tests);
}

static void now_imported(char text[32])
{
	time_t t = time(NULL);
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(text, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		text[0] = '\0';
}

static int check_target(struct vfctl_ctx *ctx, const char *dir)
{
	_free_ char *description = str_format("%s/" BENCH_DESCRIPTION, dir);
	_free_ char *trials = str_format("%s/" BENCH_TRIALS, dir);

	if (!description || !trials)
		return ctx_oom(ctx);
	if (access(description, F_OK) == 0 || access(trials, F_OK) == 0)
		return ctx_fail(ctx, -EEXIST, "%s holds a result already; name another directory", dir);
	return 0;
}

int vfctl_bench_import(struct vfctl_ctx *ctx, const char *directory, const char *csv,
	const struct vfctl_bench_import *import)
{
	struct vfctl_bench_import how = *import;
	struct import i = {.ctx = ctx, .file = csv, .how = &how};
	char created[32];
	int r = check_target(ctx, directory);

	now_imported(created);
	if (!how.created)
		how.created = created;
	if (r == 0)
		r = take_file(&i);
	if (r == 0 && how.baseline && configuration_at(&i, how.baseline) == i.configuration_count)
		r = ctx_mistake(ctx, -EINVAL, "%s has no configuration '%s' to be the baseline", csv,
			how.baseline);
	if (r == 0) {
		number_runs(&i);
		r = write_result(&i, directory);
	}
	clear_imported(&i);
	return r;
}
