// SPDX-License-Identifier: GPL-2.0-or-later
/* bench plans: what each plan measures, how long it takes, and what it needs. */
#include <dirent.h>
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "session.h"
#include "verbs.h"

#define PLAN_MAX (256u << 10)

struct plan_row {
	char *file, *name, *source;
	char **needs;
	size_t runs;
	unsigned seconds;
};

struct plan_list {
	struct plan_row *v;
	size_t count;
	int status; /* exit status because of those that are not valid */
};

static void plan_list_clear(struct plan_list *l)
{
	for (size_t i = 0; i < l->count; i++) {
		free(l->v[i].file);
		free(l->v[i].name);
		free(l->v[i].source);
		for (char **need = l->v[i].needs; need && *need; need++)
			free(*need);
		free(l->v[i].needs);
	}
	free(l->v);
}

static int fill_row(struct vfctl_bench *bench, const char *file, struct plan_row *row)
{
	const char *source = vfctl_bench_source(bench);

	row->file = strdup(file);
	row->name = strdup(vfctl_bench_name(bench));
	row->source = source ? strdup(source) : NULL;
	row->runs = vfctl_bench_turn_count(bench);
	row->seconds = vfctl_bench_seconds(bench);
	return row->file && row->name && (row->source || !source) ? vfctl_bench_needs(bench, &row->needs)
								  : -ENOMEM;
}

/* A plan that is not valid is reported, and the others are shown. */
static int add_plan(struct invocation *in, struct plan_list *l, const char *file)
{
	_cleanup_(vfctl_bench_closep) struct vfctl_bench *bench = NULL;
	struct plan_row *v;
	_free_ char *text = NULL;
	size_t len = 0;
	int r = read_named(in, file, PLAN_MAX, &text, &len);

	if (r) {
		l->status = r;
		return 0;
	}
	r = vfctl_bench_open(in->ctx, file, text, len, NULL, &bench);
	if (r < 0 && r != -ENOMEM) {
		complain_about(in, "not listed", vfctl_ctx_error(in->ctx));
		l->status = EXIT_FAILED;
		return 0;
	}
	v = r < 0 ? NULL : reallocarray(l->v, l->count + 1, sizeof(*v));
	if (!v)
		return -ENOMEM;
	l->v = v;
	l->v[l->count] = (struct plan_row){0};
	return fill_row(bench, file, &l->v[l->count++]);
}

static int is_plan_file(const struct dirent *entry)
{
	size_t len = strlen(entry->d_name);

	return entry->d_name[0] != '.' && len > 5 && strcmp(entry->d_name + len - 5, ".yaml") == 0;
}

/* A plan, or a directory of plans. */
static int add_plans(struct invocation *in, struct plan_list *l, const char *path)
{
	struct dirent **names;
	int count = scandir(path, &names, is_plan_file, alphasort), r = 0;

	if (count < 0)
		return errno == ENOMEM ? -ENOMEM : add_plan(in, l, path);
	for (int i = 0; i < count; i++) {
		char file[4096];

		snprintf(file, sizeof(file), "%s/%s", path, names[i]->d_name);
		r = r < 0 ? r : add_plan(in, l, file);
		free(names[i]);
	}
	free(names);
	return r;
}

#define OF struct plan_row
static const struct member row_table[] = {
	FIELD(file, "file of the plan", FILLED),
	FIELD(name, "name of the plan", FILLED),
	FIELD(runs, "runs that it makes"),
	FIELD(seconds, "about how long they take, s"),
	TEXTS("needs", needs, "packages, programs and devices that it needs"),
	FIELD(source, "what it repeats; null: not stated"), END};
#undef OF

#define OF struct plan_list
static const struct member list_table[] = {
	LIST("plans", v, count, row_table, "plans by file"), END};
#undef OF
const struct answer bench_plans_answer[] = {{NULL, list_table, false}, {0}};

static const char *duration_text(unsigned seconds, char buf[32])
{
	if (seconds < 3600)
		snprintf(buf, 32, "%u min", (seconds + 59) / 60);
	else
		snprintf(buf, 32, "%u h %02u min", seconds / 3600, seconds % 3600 / 60);
	return buf;
}

static void print_plans(struct out *out, const struct plan_list *l)
{
	static const char *const headings[] = {"FILE", "RUNS", "TIME", "NEEDS", "SOURCE"};
	static const signed char give[] = {OUT_STAYS, OUT_STAYS, OUT_STAYS, OUT_WRAPS, OUT_WRAPS_SOON};

	out_table(out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; i < l->count; i++) {
		const struct plan_row *row = &l->v[i];
		char needs[512] = "", time[32];
		size_t at = 0;

		for (size_t k = 0; row->needs[k] && at < sizeof(needs); k++)
			at += (size_t)snprintf(needs + at, sizeof(needs) - at, "%s%s", k ? ", " : "",
				row->needs[k]);
		out_cell(out, "%s", row->file);
		out_cell(out, "%zu", row->runs);
		out_cell(out, "%s", duration_text(row->seconds, time));
		out_cell(out, "%s", needs);
		out_cell(out, "%s", row->source ? row->source : "");
	}
	out_table_end(out);
}

int bench_run_plans(struct invocation *in)
{
	_cleanup_(plan_list_clear) struct plan_list list = {.status = EXIT_DONE};
	int r = 0;

	if (in->arg_count == 0 && access(VFCTL_PLANS_DIR, R_OK) < 0)
		return fail_as(in, EXIT_FAILED, -errno, "there are no plans in " VFCTL_PLANS_DIR " (the "
			"package vfctl-bench installs them); name a file or a directory");
	if (in->arg_count == 0)
		r = add_plans(in, &list, VFCTL_PLANS_DIR);
	for (size_t i = 0; i < in->arg_count && r == 0; i++)
		r = add_plans(in, &list, in->args[i]);
	if (r < 0)
		return fail(in, r);
	if (in->json)
		answer_put(in->out, NULL, list_table, &list);
	else if (list.count)
		print_plans(in->out, &list);
	return list.status;
}
