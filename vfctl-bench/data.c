// SPDX-License-Identifier: GPL-2.0-or-later
/* bench history, import and parse. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "verbs.h"

/* ---- history ---- */

struct history {
	struct vfctl_bench_result *v;
	size_t count, room;
	int status; /* exit status because of those that could not be read */
};

static void history_clear(struct history *h)
{
	free(h->v);
}

static int by_date(const void *a, const void *b)
{
	const struct vfctl_bench_result *x = a, *y = b;
	int order = strcmp(x->created, y->created);

	return order ? order : strcmp(x->directory, y->directory);
}

/* A result that cannot be read is reported, and the others are shown. */
static int add_result(struct invocation *in, struct history *h, const char *directory)
{
	int r;

	if (h->count == h->room) {
		size_t room = h->room ? 2 * h->room : 8;
		struct vfctl_bench_result *v = reallocarray(h->v, room, sizeof(*v));

		if (!v)
			return -ENOMEM;
		h->v = v;
		h->room = room;
	}
	r = vfctl_bench_result_read(in->ctx, directory, &h->v[h->count]);
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		complain_about(in, directory, vfctl_ctx_error(in->ctx));
		h->status = EXIT_FAILED;
		return 0;
	}
	h->count++;
	return 0;
}

static bool is_result(const char *directory)
{
	char path[4096];

	return snprintf(path, sizeof(path), "%s/bench.json", directory) < (int)sizeof(path) &&
		access(path, F_OK) == 0;
}

/* A result, or a directory of results. */
static int add_directory(struct invocation *in, struct history *h, const char *directory)
{
	_free_ char **names = NULL;
	int r;

	if (is_result(directory))
		return add_result(in, h, directory);
	r = vfctl_bench_results(in->ctx, directory, &names);
	if (r < 0)
		return r;
	for (size_t i = 0; names[i]; i++) {
		r = r < 0 ? r : add_result(in, h, names[i]);
		free(names[i]);
	}
	return r;
}

#define OF struct vfctl_bench_result
static const struct member result_table[] = {
	FIELD(directory, "directory of the result", FILLED),
	FIELD(name, "name of the result", FILLED),
	FIELD(created, "time at which it was created"),
	FIELD(planned, "planned runs"),
	FIELD(made, "runs that were made"),
	FIELD(failed, "failed runs"),
	FIELD(goal, "best configuration of the first cell"), END};
#undef OF

#define OF struct history
static const struct member history_table[] = {
	LIST("results", v, count, result_table, "results by date"), END};
#undef OF
const struct answer bench_history_answer[] = {{NULL, history_table, false}, {0}};

static void print_history(struct out *out, const struct history *h)
{
	static const char *const headings[] = {"CREATED", "NAME", "RUNS", "FAILED",
		"BEST OF THE FIRST CELL",
		"DIRECTORY"};
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS, OUT_STAYS, 1, OUT_WRAPS_SOON, OUT_WRAPS};

	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; i < h->count; i++) {
		const struct vfctl_bench_result *r = &h->v[i];

		out_cell(out, "%s", r->created);
		out_cell(out, "%s", r->name);
		out_cell(out, r->made < r->planned ? "%u of %u" : "%u", r->made, r->planned);
		if (r->failed)
			out_cell(out, "%u", r->failed);
		else
			out_cell(out, "%s", "");
		out_cell(out, "%s", r->goal);
		out_cell(out, "%s", r->directory);
	}
	out_table_end(out);
}

int bench_run_history(struct invocation *in)
{
	_cleanup_(history_clear) struct history h = {.status = EXIT_DONE};
	int r = 0;

	/* Nothing was measured here yet, which is not an error. */
	if (in->arg_count == 0 && access(VFCTL_BENCH_DIR, F_OK) == 0)
		r = add_directory(in, &h, VFCTL_BENCH_DIR);
	for (size_t i = 0; i < in->arg_count && r == 0; i++)
		r = add_directory(in, &h, in->args[i]);
	if (r < 0)
		return fail(in, r);
	if (h.count)
		qsort(h.v, h.count, sizeof(*h.v), by_date);
	if (in->json)
		answer_put(in->out, NULL, history_table, &h);
	else if (h.count)
		print_history(in->out, &h);
	else
		out_line(in->out, "no results");
	return h.status;
}

/* ---- import ---- */

static const char *last_part(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

struct import_view {
	const char *directory;
};

#define OF struct import_view
static const struct member import_table[] = {
	FIELD(directory, "directory of the result", FILLED), END};
#undef OF
const struct answer bench_import_answer[] = {{NULL, import_table, false}, {0}};

int bench_run_import(struct invocation *in)
{
	const char *name = option_of(in, "name"), *what;
	struct vfctl_bench_import import = {.csv = option_of(in, "csv"), .tool = option_of(in, "tool"),
		.regex = option_of(in, "regex"), .json_path = option_of(in, "json-path"),
		.outputs = in->args + 1, .output_count = in->arg_count - 1,
		.name = name ? name : last_part(in->args[0]),
		.baseline = option_of(in, "baseline"), .goal = option_of(in, "goal"),
		.higher_is_better = option_of(in, "higher"), .paired = option_of(in, "paired"),
		.emulated = option_of(in, "emulated")};
	int r;

	if (!import.csv && !import.tool && !import.output_count)
		return usage(in, "needs either: vfctl bench import DIR --csv FILE; or: vfctl bench import "
			"DIR CONFIGURATION=FILE...");
	if (import.csv && import.tool)
		return usage(in, "--csv and --tool exclude each other");
	if (import.csv && import.output_count)
		return usage(in, "--csv takes no other files, but '%s' was given", import.outputs[0]);
	if (import.tool && !import.output_count)
		return usage(in, "--tool needs outputs, such as vf=run1.txt vf=run2.txt bare=run3.txt");
	r = vfctl_bench_import(in->ctx, in->args[0], &import);
	if (r < 0)
		return fail(in, r);
	if (in->json) {
		answer_put(in->out, NULL, import_table, &(struct import_view){in->args[0]});
	} else if (!in->quiet) {
		what = import.csv ? import.csv : import.tool ? import.tool : "these outputs";
		out_line(in->out, "%s contains the data of %s; to see the comparison: vfctl bench "
			"report %s", in->args[0], what, in->args[0]);
	}
	return EXIT_DONE;
}

/* ---- parse ---- */

#define OF struct vfctl_bench_figure
static const struct member figure_table[] = {
	FIELD(size, "size of a message in bytes; 0: the output does not have it"),
	FIELD(metric, "metric", FILLED),
	FIELD(unit, "unit of the value", FILLED),
	FIELD(value, "the value"),
	FIELD(from_samples, "vfctl computed it from each sample"), END};
#undef OF

struct figures_view {
	const char *tool, *version;
	const struct vfctl_bench_figure *figures;
	size_t count;
};

#define OF struct figures_view
static const struct member figures_table[] = {
	FIELD(tool, "tool, as it was named", FILLED),
	FIELD(version, "its version, if the output has it"),
	LIST("figures", figures, count, figure_table, "figures of the output"), END};
#undef OF
const struct answer bench_parse_answer[] = {{NULL, figures_table, false}, {0}};

static void print_figures(struct out *out, const struct vfctl_bench_figure *v, size_t count)
{
	static const char *const headings[] = {"BYTES", "METRIC", "VALUE", "UNIT", "FROM"};

	out_table(out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = 0; i < count; i++) {
		if (v[i].size)
			out_cell(out, "%llu", (unsigned long long)v[i].size);
		else
			out_cell(out, "%s", "");
		out_cell(out, "%s", v[i].metric);
		out_cell(out, "%.12g", v[i].value);
		out_cell(out, "%s", v[i].unit);
		out_cell(out, "%s", v[i].from_samples ? "samples" : "the tool");
	}
	out_table_end(out);
}

int bench_run_parse(struct invocation *in)
{
	_free_ struct vfctl_bench_figure *figures = NULL;
	char version[32];
	size_t count;
	int r = vfctl_bench_parse(in->ctx, in->args[0], in->args[1], option_of(in, "regex"),
		option_of(in, "json-path"), version, &figures, &count);

	if (r < 0)
		return fail(in, r);
	if (in->json)
		answer_put(in->out, NULL, figures_table, &(struct figures_view){in->args[0],
			*version ? version : NULL, figures, count});
	else
		print_figures(in->out, figures, count);
	return EXIT_DONE;
}
