// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A CSV file of trials. It is read line by line: of a line of 100,000 samples its figures and
 * histogram are kept, so that any number of them fits.
 */
#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "bench/import.h"
#include "bench/parser.h"
#include "host/plain.h"

enum role { CONFIGURATION, TEST, TRIAL, METRIC, VALUE, UNIT, SAMPLES, TOOL, PARAMETER };
static const char *const roles[] = {"configuration", "test", "trial", "metric", "value", "unit",
	"samples", "tool"};

#define FIELDS_MAX 24

struct csv {
	struct import *to;
	const char *file;
	size_t line;
	enum role role[FIELDS_MAX];
	char names[FIELDS_MAX][16]; /* of parameters */
	size_t columns;
	bool has[PARAMETER];
};

static int bad_imported(struct csv *i, const char *why)
{
	return ctx_usage_error(i->to->ctx, -EINVAL, "%s:%zu: %s", i->file, i->line, why);
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

static int take_heading(struct csv *i, char *line)
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
			return bad_imported(i, "a column occurs twice");
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

/* ---- a line ---- */

static char *dup_span(struct span s)
{
	return strndup(s.p, span_len(s));
}


struct row {
	struct bench_trial trial;
	struct span metric, value, unit, samples;
};

static int take_samples(struct csv *i, struct row *row)
{
	_free_ char *where = str_format("%s:%zu", i->file, i->line);
	struct parser p = {.ctx = i->to->ctx, .tool = where};
	struct bench_row figures = {0};
	struct span word;
	double value;
	int r = where ? 0 : ctx_oom(i->to->ctx);

	while (r == 0 && span_word(&row->samples, &word)) {
		r = parser_number(&p, word, "sample", &value);
		if (r == 0)
			r = parser_sample(&p, &figures.samples, &figures.sample_count, value);
	}
	if (r == 0 && !figures.sample_count)
		r = bad_imported(i, "it has no samples");
	else if (r == -EIO || r == -EBADMSG)
		r = ctx_mark_usage_error(i->to->ctx, -EINVAL);
	if (r == 0 && (row_from_samples(&figures) < 0 ||
		bench_trial_from_row(&figures, &row->trial) < 0))
		r = ctx_oom(i->to->ctx);
	free(figures.samples);
	free(figures.metrics);
	return r;
}

static int take_value(struct csv *i, struct row *row)
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
		return bad_imported(i, "its value is not an unambiguous number");
	r = row_put(&figures, name, i->has[UNIT] ? unit : NULL, value, false);
	if (r == 0)
		r = bench_trial_from_row(&figures, &row->trial);
	free(figures.metrics);
	return r < 0 ? ctx_oom(i->to->ctx) : 0;
}

static int take_parameter(struct csv *i, struct row *row, size_t column, struct span field)
{
	struct bench_parameter *p;

	if (!span_len(field))
		return 0; /* of another test */
	if (!array_grow(row->trial.parameters, row->trial.parameter_count))
		return ctx_oom(i->to->ctx);
	p = &row->trial.parameters[row->trial.parameter_count++];
	str_copy(p->name, sizeof(p->name), i->names[column]);
	if (span_len(field) >= sizeof(p->value))
		return bad_imported(i, "a parameter is longer than 31 characters");
	span_copy(field, p->value, sizeof(p->value));
	return 0;
}

static int take_field(struct csv *i, struct row *row, size_t column, struct span field)
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
			return bad_imported(i, "its trial is not a number from 0 (a warm-up)");
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
		return bad_imported(i, "a name is empty or not UTF-8");
	*text = dup_span(field);
	return *text ? 0 : ctx_oom(i->to->ctx);
}

static int take_fields(struct csv *i, struct row *row, char *line)
{
	struct span field;
	size_t column = 0;
	int r = 0;

	for (; r == 0 && next_field(&line, &field); column++)
		r = column < i->columns ? take_field(i, row, column, field)
			: bad_imported(i, "it has more fields than the first line");
	if (r == 0 && column < i->columns)
		r = bad_imported(i, "it has fewer fields than the first line and may be truncated");
	if (r == 0)
		r = i->has[SAMPLES] ? take_samples(i, row) : take_value(i, row);
	if (r == 0)
		r = import_add(i->to, &row->trial, i->has[SAMPLES] ? "p50" : row->trial.metrics[0].name,
			!i->has[SAMPLES]);
	return r == -EEXIST ? bad_imported(i, "the same trial occurs twice") : r;
}

static int take_line(struct csv *i, char *line)
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

static int take_file(struct csv *i)
{
	int fd = plain_open(i->file);
	FILE *file = fd < 0 ? NULL : fdopen(fd, "r");
	char *line = NULL;
	size_t room = 0;
	ssize_t len;
	int r = 0;

	if (fd < 0)
		return ctx_usage_error(i->to->ctx, fd, "%s cannot be read: %s", i->file,
			fd == -EMEDIUMTYPE ? "it is not a regular file" : strerror(-fd));
	if (!file) {
		close_fd(&fd);
		return ctx_oom(i->to->ctx);
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
		r = ctx_fail(i->to->ctx, -EIO, "%s cannot be read", i->file);
	free(line);
	fclose(file);
	if (r == 0 && !i->to->trial_count)
		r = ctx_usage_error(i->to->ctx, -EINVAL, "%s has no trial", i->file);
	return r;
}

int import_csv(struct import *i, const char *file)
{
	struct csv csv = {.to = i, .file = file};

	return take_file(&csv);
}
