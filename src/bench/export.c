// SPDX-License-Identifier: GPL-2.0-or-later
/* A report as CSV and as Markdown; results in one line; parsing a file. */
#include <dirent.h>
#include <errno.h>
#include <math.h>
#include <stdio.h>

#include "bench/report.h"
#include "host/files.h"

/* ---- CSV ---- */

/* A spreadsheet reads text that begins like this as a formula, unless it is a number. */
static bool is_formula(const char *text)
{
	char *end;

	if (!*text || !strchr("=+-@\t\r", *text))
		return false;
	strtod(text, &end);
	return end == text || *end;
}

/*
 * Names come from untrusted plans and results: a terminal interprets control characters, including
 * C1.
 */
static const char *put_shown(struct buf *out, const char *text)
{
	unsigned char c = (unsigned char)*text;
	bool c1 = c == 0xc2 && text[1] && (unsigned char)text[1] < 0xa0;

	if (c == '\n' || c == '\r' || c == '\t')
		buf_puts(out, " ");
	else if (c < ' ' || c == 0x7f || c1)
		buf_puts(out, "?");
	else
		buf_add(out, text, 1);
	return text + (c1 ? 2 : 1);
}

static void put_csv(struct buf *out, const char *text)
{
	bool formula = text && is_formula(text), quoted = text && (formula || strpbrk(text, ",\"\n\r"));

	if (!text)
		return;
	buf_puts(out, formula ? "\"'" : quoted ? "\"" : "");
	while (*text) {
		if (*text == '"')
			buf_puts(out, "\"");
		text = put_shown(out, text);
	}
	buf_puts(out, quoted ? "\"" : "");
}

static void put_numbers(struct buf *out, const double *v, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (isfinite(v[i]))
			buf_printf(out, ",%.10g", v[i]);
		else
			buf_puts(out, ",");
}

/* @d NULL: the metric is not judged. */
static void csv_difference(struct buf *out, const struct vfctl_bench_difference *d)
{
	if (d)
		put_numbers(out, (double[]){d->shift, d->relative, d->p, d->p_adjusted, d->p_t,
			d->effect}, 6);
	else
		buf_puts(out, ",,,,,,");
	buf_printf(out, ",%s", d && d->verdict ? vfctl_bench_verdict_name(d->verdict) : "");
}

static void csv_line(struct buf *out, const struct vfctl_bench_report *r,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c,
	const struct vfctl_bench_summary *s)
{
	bool goal = str_eq(s->metric, cell->goal);

	put_csv(out, cell->test);
	buf_puts(out, ",");
	put_csv(out, cell->parameters);
	buf_puts(out, ",");
	put_csv(out, r->configurations[c->configuration].name);
	buf_puts(out, ",");
	put_csv(out, s->metric);
	buf_puts(out, ",");
	put_csv(out, s->unit);
	buf_printf(out, ",%s,%zu,%zu", s->from_samples ? "samples" : "tool", s->trials, c->failed);
	put_numbers(out, (double[]){s->median, s->mean, s->min, s->max, s->stdev, goal ? c->goal.low : NAN,
		goal ? c->goal.high : NAN}, 7);
	for (size_t at = 0; at < r->baseline_count; at++)
		csv_difference(out, goal ? &c->differences[at] : NULL);
	buf_puts(out, "\n");
}

/* One set of columns for each baseline; with several, their names end with that of the baseline. */
static void csv_heading(struct buf *out, const struct vfctl_bench_report *r)
{
	static const char *const names[] = {"shift", "relative", "p", "p_adjusted", "p_t", "effect",
		"verdict"};

	buf_puts(out, "test,parameters,configuration,metric,unit,source,trials,failed,median,mean,min,max,"
		"stdev,low,high");
	for (size_t at = 0; at < r->baseline_count; at++)
		for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
			_free_ char *text = str_format("%s against %s", names[i],
				r->configurations[r->baselines[at]].name);

			out->failed |= !text;
			buf_puts(out, ",");
			put_csv(out, at ? text : names[i]);
		}
	buf_puts(out, "\n");
}

int vfctl_bench_csv(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report, char **ret_text)
{
	_buf_ struct buf out = {0};

	csv_heading(&out, report);
	for (size_t i = 0; i < report->cell_count; i++)
		for (size_t k = 0; k < report->configuration_count; k++) {
			const struct vfctl_bench_column *c = &report->cells[i].columns[k];

			for (size_t m = 0; m < c->metric_count; m++)
				csv_line(&out, report, &report->cells[i], c, &c->metrics[m]);
		}
	*ret_text = buf_steal(&out);
	return *ret_text ? 0 : ctx_oom(ctx);
}

/* ---- Markdown ---- */

/* Escape a name so that nothing in it is markup. */
static void put_markdown(struct buf *out, const char *text)
{
	while (*text) {
		if (strchr("\\`*_{}[]<>#|!~&", *text))
			buf_puts(out, "\\");
		text = put_shown(out, text);
	}
}

static void markdown_row(struct buf *out, const struct vfctl_bench_report *r, size_t at,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	const struct vfctl_bench_difference *d = &c->differences[at];
	char value[VFCTL_BENCH_TEXT], low[VFCTL_BENCH_TEXT], high[VFCTL_BENCH_TEXT];
	char relative[VFCTL_BENCH_TEXT], p[VFCTL_BENCH_TEXT];
	double like = c->goal.median;

	buf_puts(out, "| ");
	put_markdown(out, *cell->varies ? cell->varies : "-");
	buf_puts(out, " | ");
	put_markdown(out, r->configurations[c->configuration].name);
	if (!c->goal.trials) {
		buf_printf(out, " | 0 | failed | | | | |\n");
		return;
	}
	buf_printf(out, " | %zu | %s%s%s | %s to %s | %s | %s | %s%s%s |\n", c->goal.trials,
		c->best ? "**" : "", vfctl_bench_value(like, cell->unit, like, value), c->best ? "**" : "",
		vfctl_bench_value(c->goal.low, cell->unit, like, low),
		vfctl_bench_value(c->goal.high, cell->unit, like, high),
		vfctl_bench_relative(d->relative, relative), vfctl_bench_p(d->p_adjusted, p),
		d->verdict >= VFCTL_BENCH_BETTER ? "**" : "",
		c->configuration == r->baselines[at] ? "baseline" : vfctl_bench_verdict_name(d->verdict),
		d->verdict >= VFCTL_BENCH_BETTER ? "**" : "");
}

static void markdown_table(struct buf *out, const struct vfctl_bench_report *r, size_t first,
	size_t at)
{
	const struct vfctl_bench_cell *cell = &r->cells[first];

	if (r->baseline_count > 1) {
		buf_puts(out, "\nAgainst ");
		put_markdown(out, r->configurations[r->baselines[at]].name);
		buf_puts(out, ":\n");
	}
	buf_puts(out, "\n| ");
	put_markdown(out, cell->varied);
	buf_printf(out, " | configuration | trials | median | %g %% | change | p | verdict "
		"|\n|---|---|---:|---:|---|---:|---:|---|\n", 100 * (1 - r->alpha));
	for (size_t i = first; i < r->cell_count; i++)
		for (size_t k = 0; str_eq(r->cells[i].test, cell->test) && k < r->configuration_count; k++)
			markdown_row(out, r, at, &r->cells[i], &r->cells[i].columns[k]);
}

static void markdown_test(struct buf *out, const struct vfctl_bench_report *r, size_t first)
{
	const struct vfctl_bench_cell *cell = &r->cells[first];

	buf_puts(out, "\n### ");
	put_markdown(out, cell->test);
	buf_puts(out, ": ");
	put_markdown(out, cell->goal);
	buf_printf(out, ", %s is better\n", cell->higher_is_better ? "higher" : "lower");
	for (size_t at = 0; at < r->baseline_count; at++)
		markdown_table(out, r, first, at);
}

int vfctl_bench_markdown(struct vfctl_ctx *ctx, const struct vfctl_bench_report *report,
	char **ret_text)
{
	_buf_ struct buf out = {0};

	buf_puts(&out, "## ");
	put_markdown(&out, report->name);
	buf_puts(&out, "\n\n");
	for (size_t i = 0; i < report->advice_count; i++) {
		buf_puts(&out, i ? "- " : "**");
		put_markdown(&out, report->advice[i]);
		buf_puts(&out, i ? "\n" : "**\n\n");
	}
	if (report->emulated)
		buf_puts(&out, "\nMeasured on emulated hardware: comparisons are meaningful, absolute "
			"figures are not.\n");
	for (size_t i = 0; i < report->cell_count; i++)
		if (bench_first_of_test(report, i))
			markdown_test(&out, report, i);
	if (report->comparisons)
		buf_puts(&out, "\nChange: Hodges-Lehmann estimate relative to the baseline's median\n");
	for (size_t i = 0; i < report->note_count; i++) {
		buf_puts(&out, i ? "- " : "\n- ");
		put_markdown(&out, report->notes[i]);
		buf_puts(&out, "\n");
	}
	*ret_text = buf_steal(&out);
	return *ret_text ? 0 : ctx_oom(ctx);
}

/* ---- results in one line ---- */

static void tell_goal(const struct vfctl_bench_report *r, char *text, size_t size)
{
	char value[VFCTL_BENCH_TEXT];

	text[0] = '\0';
	for (size_t i = 0; i < r->cell_count && !text[0]; i++) {
		const struct vfctl_bench_cell *cell = &r->cells[i];
		const struct vfctl_bench_column *best = NULL;

		for (size_t k = 0; k < r->configuration_count; k++)
			if (cell->columns[k].goal.trials && (!best || cell->columns[k].best))
				best = &cell->columns[k];
		if (best)
			snprintf(text, size, "%s%s%s %s: %s (%s)", cell->test, *cell->parameters ? " " : "",
				cell->parameters, cell->goal, vfctl_bench_value(best->goal.median, cell->unit,
				best->goal.median, value), r->configurations[best->configuration].name);
	}
}

int vfctl_bench_result_read(struct vfctl_ctx *ctx, const char *directory,
	struct vfctl_bench_result *ret_result)
{
	struct vfctl_bench_report *report;
	int r = vfctl_bench_report_read(ctx, directory, NULL, &report);

	if (r < 0)
		return r;
	*ret_result = (struct vfctl_bench_result){.made = report->made, .planned = report->planned,
		.failed = report->failed};
	snprintf(ret_result->directory, sizeof(ret_result->directory), "%s", directory);
	snprintf(ret_result->name, sizeof(ret_result->name), "%s", report->name);
	snprintf(ret_result->created, sizeof(ret_result->created), "%s",
		report->created ? report->created : "");
	tell_goal(report, ret_result->goal, sizeof(ret_result->goal));
	vfctl_bench_report_free(report);
	return 0;
}

static int by_name(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

int vfctl_bench_results(struct vfctl_ctx *ctx, const char *directory, char ***ret_names)
{
	char **names = calloc(1, sizeof(*names));
	DIR *dir = opendir(directory);
	struct dirent *entry;
	size_t count = 0;

	while (names && dir && (entry = readdir(dir))) {
		_free_ char *file = str_format("%s/%s/" BENCH_DESCRIPTION, directory, entry->d_name);

		if (entry->d_name[0] == '.' || !file || access(file, F_OK) < 0)
			continue;
		if (!array_grow(names, count) || !array_grow(names, count + 1))
			break;
		names[count] = str_format("%s/%s", directory, entry->d_name);
		count += names[count] != NULL;
		names[count] = NULL;
	}
	if (dir)
		closedir(dir);
	if (!names || !dir) {
		strv_free(names);
		return dir ? ctx_oom(ctx) : ctx_fail(ctx, -ENOENT, "%s cannot be read: %s", directory,
			strerror(errno));
	}
	qsort(names, count, sizeof(*names), by_name);
	*ret_names = names;
	return 0;
}

/* ---- a tool's output ---- */

#define OUTPUT_LARGEST ((size_t)1 << 30)

static int flatten(struct vfctl_ctx *ctx, const struct bench_reading *reading,
	struct vfctl_bench_figure **ret, size_t *ret_count)
{
	size_t count = 0;

	for (size_t i = 0; i < reading->row_count; i++)
		count += reading->rows[i].metric_count;
	*ret = calloc(count, sizeof(**ret));
	if (!*ret)
		return ctx_oom(ctx);
	*ret_count = 0;
	for (size_t i = 0; i < reading->row_count; i++)
		for (size_t k = 0; k < reading->rows[i].metric_count; k++) {
			const struct bench_metric *m = &reading->rows[i].metrics[k];
			struct vfctl_bench_figure *to = &(*ret)[(*ret_count)++];

			to->size = reading->rows[i].size;
			to->value = m->value;
			to->from_samples = m->from_samples;
			str_copy(to->metric, sizeof(to->metric), m->name);
			str_copy(to->unit, sizeof(to->unit), m->unit);
		}
	return 0;
}

static int parse_output(struct vfctl_ctx *ctx, const char *tool, const char *text, size_t len,
	const struct bench_extract *extract, struct bench_reading **ret)
{
	_buf_ struct buf known = {0};
	enum bench_tool which;

	if (bench_tool_parse(tool, &which) < 0) {
		for (which = 0; which < BENCH_TOOLS; which++)
			buf_printf(&known, "%s%s", which + 1 == BENCH_TOOLS ? " and " : which ? ", " : "",
				bench_tool_name(which));
		return ctx_usage_error(ctx, -EINVAL, "'%s' is not a tool that vfctl reads; it reads %s",
			tool, known.failed ? "others" : known.data);
	}
	return bench_parse(ctx, which, extract, text, len, ret);
}

int bench_read_output(struct vfctl_ctx *ctx, const char **io_tool, const char *file,
	const char *regex, const char *json_path, struct bench_reading **ret)
{
	struct bench_extract extract = {.regex = regex, .json_path = json_path};
	_free_ char *text = NULL;
	enum bench_tool which;
	size_t len;
	int r;

	if (*io_tool && bench_tool_parse(*io_tool, &which) < 0)
		return parse_output(ctx, *io_tool, "", 0, &extract, ret);
	r = vfctl_file_read(ctx, file, OUTPUT_LARGEST, &text, &len);
	if (r < 0)
		return ctx_mark_usage_error(ctx, r);
	if (!*io_tool)
		*io_tool = bench_guess(text, len);
	if (!*io_tool)
		return ctx_usage_error(ctx, -EINVAL, "%s: its text does not show which tool printed it; "
			"name the tool: --tool TOOL", file);
	return parse_output(ctx, *io_tool, text, len, &extract, ret);
}

int vfctl_bench_parse(struct vfctl_ctx *ctx, const char *tool, const char *file, const char *regex,
	const char *json_path, char ret_version[32], struct vfctl_bench_figure **ret_figures,
	size_t *ret_count)
{
	_cleanup_(bench_reading_freep) struct bench_reading *reading = NULL;
	int r = bench_read_output(ctx, &tool, file, regex, json_path, &reading);

	if (r < 0)
		return r;
	str_copy(ret_version, 32, reading->version);
	return flatten(ctx, reading, ret_figures, ret_count);
}
