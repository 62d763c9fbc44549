// SPDX-License-Identifier: GPL-2.0-or-later
/* A report on the terminal and as JSON. */
#include <math.h>
#include <stdio.h>
#include <string.h>

#include "verbs.h"

#define CONFIGURATIONS_MAX 32 /* columns of a matrix; the printer supports 40 */

#define HEADING 96

/* Heading of the first column: "BYTES", "THREADS DIRECTION". */
static void heading_of(const struct vfctl_bench_report *r, size_t first, char text[HEADING])
{
	const char *names = *r->cells[first].varied ? r->cells[first].varied : "cell";
	bool bytes = strncmp(names, "size", 4) == 0 && (!names[4] || names[4] == ' ');

	snprintf(text, HEADING, "%s%s", bytes ? "bytes" : "", bytes ? names + 4 : names);
	for (char *c = text; *c; c++)
		*c = *c >= 'a' && *c <= 'z' ? (char)(*c - 'a' + 'A') : *c;
}

static void print_heading(struct out *out, const struct vfctl_bench_cell *cell)
{
	out_line(out, "%s", "");
	out_line(out, "%s%s%s%s: %s, %s is better", cell->test, cell->tool ? " (" : "",
		cell->tool ? cell->tool : "", cell->tool ? ")" : "", cell->goal,
		cell->higher_is_better ? "higher" : "lower");
}

static const char *interval_text(const struct vfctl_bench_cell *cell,
	const struct vfctl_bench_summary *s, char text[3 * VFCTL_BENCH_TEXT])
{
	char low[VFCTL_BENCH_TEXT], high[VFCTL_BENCH_TEXT], *unit;

	if (s->trials < 2)
		return "-";
	vfctl_bench_value(s->low, cell->unit, s->median, low);
	vfctl_bench_value(s->high, cell->unit, s->median, high);
	unit = strchr(low, ' ');
	if (unit)
		*unit = '\0';
	unit = strchr(high, ' ');
	if (unit)
		*unit = '\0';
	snprintf(text, 3 * VFCTL_BENCH_TEXT, "%s to %s", low, high);
	return text;
}

/* @at: the number of the baseline, here and below. */
static const char *verdict_text(const struct vfctl_bench_report *r, size_t at,
	const struct vfctl_bench_column *c)
{
	const struct vfctl_bench_difference *d = &c->differences[at];

	if (c->configuration == r->baselines[at])
		return "baseline";
	if (!c->goal.trials)
		return "failed";
	return vfctl_bench_verdict_name(d->verdict);
}

static void summary_row(struct out *out, const struct vfctl_bench_report *r, size_t at,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	char a[VFCTL_BENCH_TEXT], b[3 * VFCTL_BENCH_TEXT];

	if (!c->goal.trials && !c->failed)
		return; /* not measured yet */
	out_cell(out, "%s", cell->varies);
	out_cell(out, "%s", r->configurations[c->configuration].name);
	out_cell(out, "%zu", c->goal.trials);
	if (c->goal.trials)
		out_cell(out, "%s%s", vfctl_bench_value(c->goal.median, cell->unit, c->goal.median, a),
			c->best ? " *" : "");
	else
		out_cell(out, "%s", "");
	out_cell(out, "%s", interval_text(cell, &c->goal, b));
	out_cell(out, "%s", vfctl_bench_relative(c->differences[at].relative, a));
	out_cell(out, "%s", vfctl_bench_p(c->differences[at].p_adjusted, a));
	out_cell(out, "%s", verdict_text(r, at, c));
}

static void print_summary(struct out *out, const struct vfctl_bench_report *r, size_t first,
	size_t at)
{
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS, OUT_STAYS, OUT_STAYS, 1, OUT_STAYS,
		OUT_STAYS, OUT_WRAPS_SOON};
	char heading[HEADING], percent[16];
	const char *headings[] = {heading, "CONFIGURATION", "TRIALS", "MEDIAN", percent, "CHANGE", "P",
		"VERDICT"};

	heading_of(r, first, heading);
	snprintf(percent, sizeof(percent), "%g %%", 100 * (1 - r->alpha));
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = first; i < r->cell_count; i++)
		for (size_t k = 0; strcmp(r->cells[i].test, r->cells[first].test) == 0 &&
			k < r->configuration_count; k++)
			summary_row(out, r, at, &r->cells[i], &r->cells[i].columns[k]);
	out_table_end(out);
}

static void print_matrix(struct out *out, const struct vfctl_bench_report *r, size_t first)
{
	size_t columns = r->configuration_count < CONFIGURATIONS_MAX ? r->configuration_count
		: CONFIGURATIONS_MAX;
	const char *headings[CONFIGURATIONS_MAX + 1];
	char heading[HEADING], text[VFCTL_BENCH_TEXT];

	heading_of(r, first, heading);
	headings[0] = heading;
	for (size_t k = 0; k < columns; k++)
		headings[k + 1] = r->configurations[k].name;
	out_table(out, 0, headings, columns + 1);
	for (size_t i = first; i < r->cell_count; i++) {
		const struct vfctl_bench_cell *cell = &r->cells[i];

		if (strcmp(cell->test, r->cells[first].test) != 0)
			continue;
		out_cell(out, "%s", cell->varies);
		for (size_t k = 0; k < columns; k++) {
			const struct vfctl_bench_column *c = &cell->columns[k];

			out_cell(out, "%s%s", c->goal.trials ? vfctl_bench_value(c->goal.median, cell->unit,
				c->goal.median, text) : "", c->best ? " *" : "");
		}
	}
	out_table_end(out);
}

static void tail_row(struct out *out, const struct vfctl_bench_report *r, size_t at,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	static const char *const names[] = {"p50", "p90", "p95", "p99", "p99_9", "max"};
	const struct vfctl_bench_summary *max = bench_summary_of(c, "max");
	char text[VFCTL_BENCH_TEXT];

	out_cell(out, "%s", cell->varies);
	out_cell(out, "%s", r->configurations[c->configuration].name);
	out_cell(out, "%zu", c->goal.trials);
	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		const struct vfctl_bench_summary *s = bench_summary_of(c, names[i]);

		out_cell(out, "%s", s ? vfctl_bench_value(s->median, s->unit, s->median, text) : "");
	}
	out_cell(out, "%s", max ? vfctl_bench_value(max->max, "us", 1, text) : "");
	out_cell(out, "%s", verdict_text(r, at, c));
}

static void print_tail(struct out *out, const struct vfctl_bench_report *r, size_t first, size_t at)
{
	char heading[HEADING];
	const char *headings[] = {heading, "CONFIGURATION", "TRIALS", "P50", "P90", "P95", "P99",
		"P99.9", "MAX", "WORST MAX", "VERDICT"};

	heading_of(r, first, heading);
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = first; i < r->cell_count; i++)
		for (size_t k = 0; strcmp(r->cells[i].test, r->cells[first].test) == 0 &&
			k < r->configuration_count; k++)
			tail_row(out, r, at, &r->cells[i], &r->cells[i].columns[k]);
	out_table_end(out);
}

static void tests_row(struct out *out, const struct vfctl_bench_report *r, size_t at,
	const struct vfctl_bench_cell *cell, const struct vfctl_bench_column *c)
{
	const struct vfctl_bench_difference *d = &c->differences[at];
	double base = cell->columns[r->baselines[at]].goal.mean;
	char text[VFCTL_BENCH_TEXT];

	out_cell(out, "%s", cell->varies);
	out_cell(out, "%s", r->configurations[c->configuration].name);
	out_cell(out, "%zu", d->pairs);
	out_cell(out, "%s", vfctl_bench_value(base, cell->unit, base, text));
	out_cell(out, "%s", vfctl_bench_value(c->goal.mean, cell->unit, c->goal.mean, text));
	out_cell(out, "%s%s", d->paired ? "Wilcoxon" : "Mann-Whitney", d->exact ? ", exact" : "");
	out_cell(out, "%s", vfctl_bench_p(d->p, text));
	out_cell(out, "%s", vfctl_bench_p(d->p_adjusted, text));
	out_cell(out, "%s", d->paired ? "paired" : "Welch");
	out_cell(out, "%s", vfctl_bench_p(d->p_t, text));
	out_cell(out, isfinite(d->d_z) ? "%+.2f" : "-", d->d_z);
	out_cell(out, "%s", verdict_text(r, at, c));
}

/* The p-values of each comparison: the rank test, which decides, next to the t-test. */
static void print_tests(struct out *out, const struct vfctl_bench_report *r, size_t first,
	size_t at)
{
	char heading[HEADING];
	const char *headings[] = {heading, "CONFIGURATION", "TRIALS", "BASELINE", "MEAN", "RANK TEST",
		"P", "ADJUSTED", "T-TEST", "P(T)", "D_Z", "VERDICT"};

	heading_of(r, first, heading);
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = first; i < r->cell_count; i++)
		for (size_t k = 0; strcmp(r->cells[i].test, r->cells[first].test) == 0 &&
			k < r->configuration_count; k++)
			if (r->cells[i].columns[k].differences[at].verdict != VFCTL_BENCH_NOT_COMPARED)
				tests_row(out, r, at, &r->cells[i], &r->cells[i].columns[k]);
	out_table_end(out);
}

static void print_against(struct out *out, const struct vfctl_bench_report *r, size_t first,
	size_t at,
	const char *shape)
{
	if (at)
		out_line(out, "%s", "");
	if (r->baseline_count > 1)
		out_line(out, "against %s", r->configurations[r->baselines[at]].name);
	if (shape && strcmp(shape, "tail") == 0)
		print_tail(out, r, first, at);
	else if (shape && strcmp(shape, "tests") == 0)
		print_tests(out, r, first, at);
	else
		print_summary(out, r, first, at);
}

static void print_test(struct out *out, const struct vfctl_bench_report *r, size_t first,
	const char *shape)
{
	print_heading(out, &r->cells[first]);
	if (shape && strcmp(shape, "matrix") == 0)
		print_matrix(out, r, first);
	else
		for (size_t at = 0; at < r->baseline_count; at++)
			print_against(out, r, first, at, shape);
}

void bench_print(struct out *out, const struct vfctl_bench_report *r, const char *shape)
{
	bool summary = !shape || strcmp(shape, "summary") == 0;

	for (size_t i = 0; i < r->advice_count; i++)
		out_fold(out, 2, "%s", r->advice[i]);
	if (r->emulated)
		out_fold(out, 2, "Measured on emulated hardware: comparisons are meaningful, absolute "
			"figures are not.");
	for (size_t i = 0; i < r->cell_count; i++)
		if (bench_first_of_test(r, i))
			print_test(out, r, i, shape);
	if (r->note_count || (r->comparisons && summary))
		out_line(out, "%s", "");
	if (r->comparisons && summary)
		out_fold(out, 2, "CHANGE: Hodges-Lehmann estimate relative to the baseline's median");
	for (size_t i = 0; i < r->note_count; i++)
		out_fold(out, 2, "%s", r->notes[i]);
}

/* ---- JSON ---- */

#define OF struct vfctl_bench_summary
OBJECT_OF(summary_if_any, OF, it->trials ? it : NULL)
static const struct member summary_table[] = {
	SECTION("SUMMARY", "A metric over the trials of a column. Figures are in the unit beside "
		"them: us, bit/s, 1/s, %. A figure that is not defined, such as the interval of a "
		"single trial, is null."),
	FIELD(metric, "min, mean, p50, p90, p95, p99, p99_9, max, stdev, samples, throughput, ...",
		FILLED),
	FIELD(unit, "unit of the figures; \"\": none", FILLED),
	FIELD(from_samples, "vfctl computed it from each sample; false: the tool printed it"),
	FIELD(trials, "number of trials"),
	FIELD(median, "median"),
	FIELD(low, "lower end of the bootstrap interval of the median; only for the goal"),
	FIELD(high, "upper end of that interval"),
	FIELD(mean, "mean"),
	FIELD(stdev, "standard deviation"),
	FIELD(min, "minimum"),
	FIELD(p90, "90th percentile"),
	FIELD(p95, "95th percentile"),
	FIELD(p99, "99th percentile"),
	FIELD(p99_9, "99.9th percentile"),
	FIELD(max, "maximum"), END};
#undef OF

#define OF struct vfctl_bench_difference
TEXT_OF(difference_verdict, OF, vfctl_bench_verdict_name(it->verdict))
TEXT_OF(difference_test, OF, it->paired ? "wilcoxon" : "mann-whitney")
OBJECT_OF(difference_if_any, OF, it->verdict == VFCTL_BENCH_NOT_COMPARED ? NULL : it)
static const struct member difference_table[] = {
	TEXT("verdict", difference_verdict, "better, worse, no difference shown, too few trials, or "
		"differs: two sessions differ, but the reason is unknown (compare)"),
	FIELD(shift, "Hodges-Lehmann estimate of column minus baseline"),
	FIELD(shift_low, "lower end of its confidence interval"),
	FIELD(shift_high, "upper end of its confidence interval"),
	FIELD(relative, "shift divided by the baseline's median"),
	TEXT("test", difference_test, "wilcoxon (paired trials) or mann-whitney"),
	FIELD(exact, "p is exact, without approximation"),
	FIELD(pairs, "trials of each side that were compared"),
	FIELD(p, "two-sided p-value"),
	FIELD(p_adjusted, "p-value adjusted for all comparisons (step-down maxT); it decides the verdict"),
	FIELD(p_t, "p-value of the t-test, paired or Welch's"),
	FIELD(effect, "rank-biserial correlation, -1 to 1"),
	FIELD(d_z, "Cohen's d_z, for pairs"),
	FIELD(detectable, "smallest difference that these trials show in four of five cases, as a share "
		"of the baseline; null: too few trials"),
	FIELD(detectable_d, "the same in standard deviations, of the pairs or of the trials"),
	FIELD(p_sessions, "chance that sessions without the change differ so much (compare --history)"),
	FIELD(trials_needed, "number of trials that could show a difference; null: there are enough",
		NONZERO), END};
#undef OF

static int fill_lows(struct out *out, const void *of)
{
	const struct vfctl_bench_column *c = of;

	for (size_t i = 0; i <= c->bucket_count; i++)
		out_real(out, NULL, c->bucket_lows[i]);
	return 0;
}

static int fill_metrics(struct out *out, const void *of)
{
	const struct vfctl_bench_column *c = of;

	for (size_t i = 0; i < c->metric_count; i++)
		answer_put(out, NULL, summary_table, summary_if_any(&c->metrics[i]));
	return 0;
}

#define OF struct vfctl_bench_column
OBJECT_OF(column_goal, OF, summary_if_any(&it->goal))
OBJECT_OF(column_difference, OF, difference_if_any(it->differences))
OBJECT_OF(column_samples, OF, it->bucket_count ? it : NULL)
static const struct member column_fields[] = {
	FIELD(best, "its median is the best one of the cell"),
	FIELD(failed, "trials that failed"),
	FIELD(error, "why the first of them failed"),
	OBJECT_GET("goal", column_goal, summary_table, "the metric that is judged; null: no trial "
		"succeeded", NULLABLE),
	SCALARS("values", values, goal.trials, "its value in each trial"),
	FILL("metrics", fill_metrics, summary_table, "all metrics"),
	OBJECT_GET("difference", column_difference, difference_table, "difference from the (first) "
		"baseline; null: it is the baseline, or cannot be compared", NULLABLE), END};
static const struct member samples_table[] = {
	FILL_EACH("lows", fill_lows, MEMBER_AT_REAL, "bounds of the buckets"),
	SCALARS("counts", bucket_counts, bucket_count, "samples in each bucket"), END};
static const struct member column_samples_table[] = {
	OBJECT_GET("samples", column_samples, samples_table, "all samples of all trials", NULLABLE), END};
#undef OF

struct column_view {
	const struct vfctl_bench_report *report;
	const struct vfctl_bench_column *column;
};

struct against_view {
	const struct vfctl_bench_difference *difference;
	const char *baseline;
};

#define OF struct against_view
static const struct member against_table[] = {
	FIELD(baseline, "name of the baseline", FILLED),
	PART_AT(difference, difference_table), END};
#undef OF

static int fill_differences(struct out *out, const void *of)
{
	const struct column_view *view = of;
	const struct vfctl_bench_report *r = view->report;

	for (size_t at = 0; at < r->baseline_count; at++) {
		struct against_view one = {&view->column->differences[at],
			r->configurations[r->baselines[at]].name};

		if (difference_if_any(one.difference))
			answer_put(out, NULL, against_table, &one);
	}
	return 0;
}

#define OF struct column_view
TEXT_OF(column_name, OF, it->report->configurations[it->column->configuration].name)
FLAG_OF(column_is_baseline, OF, bench_is_baseline(it->report, it->column->configuration))
#define COLUMN TEXT("configuration", column_name, "name of the configuration; in compare: before " \
	"or after"), \
	FLAG("baseline", column_is_baseline, "the other columns are compared with it"), \
	PART_AT(column, column_fields), \
	FILL("differences", fill_differences, against_table, "differences from each baseline")
static const struct member column_table[] = {
	COLUMN, END};
static const struct member page_column_table[] = {
	COLUMN,
	PART_AT(column, column_samples_table), END};
#undef OF

struct cell_view {
	const struct vfctl_bench_report *report;
	const struct vfctl_bench_cell *cell;
	const struct member *column;
};

static int fill_columns(struct out *out, const void *of)
{
	const struct cell_view *view = of;

	for (size_t k = 0; k < view->report->configuration_count; k++)
		answer_put(out, NULL, view->column, &(struct column_view){view->report,
			&view->cell->columns[k]});
	return 0;
}

#define OF struct vfctl_bench_cell
TEXT_OF(cell_better, OF, it->higher_is_better ? "higher" : "lower")
static const struct member cell_fields[] = {
	FIELD(test, "name of the test", FILLED),
	FIELD(tool, "tool of the test"),
	FIELD(parameters, "parameters, such as \"size=64 threads=2\"", FILLED),
	FIELD(goal, "the metric that is judged"),
	FIELD(unit, "its unit"),
	TEXT("better", cell_better, "lower or higher"), END};
static const struct member page_cell_fields[] = {
	FIELD(varies, "parameters that differ within the test"),
	FIELD(varied, "names of these parameters"),
	FIELD(axis, "parameter over which curves are drawn: size, threads or null"),
	FIELD(group, "the other parameters that differ: those of one curve are equal"),
	FIELD(size, "bytes of a message; 0: not a parameter"),
	FIELD(threads, "threads; 0: not a parameter"), END};
#undef OF

#define OF struct cell_view
static const struct member cell_table[] = {
	PART_AT(cell, cell_fields),
	FILL("columns", fill_columns, column_table, "a column for each configuration"), END};
static const struct member page_cell_table[] = {
	PART_AT(cell, cell_fields),
	PART_AT(cell, page_cell_fields),
	FILL("columns", fill_columns, page_column_table, "a column for each configuration"), END};
#undef OF

static int fill_cells(struct out *out, const void *of)
{
	const struct vfctl_bench_report *r = of;

	for (size_t i = 0; i < r->cell_count; i++)
		answer_put(out, NULL, cell_table, &(struct cell_view){r, &r->cells[i], column_table});
	return 0;
}

static int fill_page_cells(struct out *out, const void *of)
{
	const struct vfctl_bench_report *r = of;

	for (size_t i = 0; i < r->cell_count; i++)
		answer_put(out, NULL, page_cell_table, &(struct cell_view){r, &r->cells[i],
			page_column_table});
	return 0;
}

#define OF struct bench_setting
const struct member answer_setting[] = {
	FIELD(name, "client or server: an endpoint; otherwise a setting of both endpoints, or of "
		"one with the prefix client. or server.", FILLED),
	FIELD(value, "its value"), END};
#undef OF

#define OF struct bench_tool_version
static const struct member tool_table[] = {
	FIELD(name, "program"),
	FIELD(version, "its version"),
	FIELD(endpoint, "endpoint on which it runs"), END};
#undef OF

#define OF struct bench_check
TEXT_OF(check_state, OF, bench_check_word(it->state))
const struct member answer_check[] = {
	FIELD(name, "emulated, governor, node, device, link, port, tool, versions, ...", FILLED),
	TEXT("state", check_state, "ok, warn or fail"),
	FIELD(text, "what was found"), END};
#undef OF

struct configuration_view {
	const struct vfctl_bench_configuration *c;
	bool baseline;
};

#define OF struct configuration_view
static const struct member configuration_table[] = {
	FIELD_VIA("name", c, name, "its name", FILLED),
	FIELD(baseline, "the other configurations are compared with it"),
	LIST_VIA("settings", c, settings, setting_count, answer_setting, "its settings"), END};
#undef OF

static int fill_configurations(struct out *out, const void *of)
{
	const struct vfctl_bench_report *r = of;

	for (size_t i = 0; i < r->configuration_count; i++)
		answer_put(out, NULL, configuration_table, &(struct configuration_view){&r->configurations[i],
			bench_is_baseline(r, i)});
	return 0;
}

static int fill_baselines(struct out *out, const void *of)
{
	const struct vfctl_bench_report *r = of;

	for (size_t at = 0; at < r->baseline_count; at++)
		out_str(out, NULL, r->configurations[r->baselines[at]].name);
	return 0;
}

/* JavaScript's numbers have 53 bits. */
static const char *format_seed(const struct vfctl_bench_report *r, char *room)
{
	snprintf(room, MEMBER_ROOM, "%llu", (unsigned long long)r->seed);
	return room;
}

#define OF struct vfctl_bench_report
TEXT_OF(report_seed, OF, format_seed(it, room))
static const struct member report_fields[] = {
	FIELD(name, "name of the result"),
	FIELD(created, "time at which it was created"),
	FIELD(directory, "directory of the result; in compare: of the later result"),
	FIELD(seed, "seed of the order of the runs and of drawn permutations"),
	FIELD(alpha, "significance level"),
	FIELD(noise, "smaller relative differences are ignored"),
	FIELD(emulated, "measured on emulated hardware"),
	FIELD(planned, "planned runs"),
	FIELD(made, "runs that were made, including failed runs and warm-ups"),
	FIELD(failed, "failed runs"),
	FILL_EACH("baselines", fill_baselines, MEMBER_TEXT, "configurations with which the others are "
		"compared"),
	FIELD(comparisons, "comparisons that p_adjusted covers"),
	FIELD(detectable_median, "median of the comparisons' detectable"),
	FIELD(detectable_worst, "largest of the comparisons' detectable"),
	FIELD(quick, "a smoke run, which gives no verdict"),
	FIELD(better, "comparisons with the verdict better"),
	FIELD(worse, "comparisons with the verdict worse; if there are any, compare exits with "
		"status 3"),
	FIELD(differing, "comparisons with the verdict differs"),
	SCALARS("advice", advice, advice_count, "sentences; the first one is the answer"),
	SCALARS("notes", notes, note_count, "failed trials, missing runs, cells that only one "
		"result has"), END};
/* The subject and the conditions of a result. */
static const struct member conditions_table[] = {
	TEXT("seed_text", report_seed, "the seed, as text"),
	FIELD(vfctl, "version of vfctl"),
	FIELD(comparison, "the report compares two results"),
	FILL("configurations", fill_configurations, configuration_table, "configurations"),
	LIST("host", host, host_count, answer_setting, "properties of the host"),
	LIST("tools", tools, tool_count, tool_table, "programs that measured"),
	LIST("checks", checks, check_count, answer_check, "checks before the runs"),
	SCALARS("commands", commands, command_count, "command lines"), END};
const struct member answer_report[] = {
	SECTION("REPORT", NULL),
	PART_SELF(report_fields),
	FILL("cells", fill_cells, cell_table, "a cell for each test and set of parameters"), END};
static const struct member page_table[] = {
	PART_SELF(report_fields),
	PART_SELF(conditions_table),
	FILL("cells", fill_page_cells, page_cell_table, "a cell for each test and set of parameters"),
	END};
#undef OF

void bench_put_report(struct out *out, const struct vfctl_bench_report *r, bool page)
{
	answer_put(out, NULL, page ? page_table : answer_report, r);
}
