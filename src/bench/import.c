// SPDX-License-Identifier: GPL-2.0-or-later
/* A result directory of raw data that others measured. */
#include "bench/import.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>
#include <time.h>

#include "base/json.h"
#include "bench/result.h"
#include "bench/trial_index.h"
#include "host/files.h"

/* ---- the directory ---- */

static size_t configuration_at(const struct import *i, const char *name)
{
	size_t k = 0;

	while (k < i->configuration_count && !str_eq(i->configurations[k], name))
		k++;
	return k;
}

static int by_turn(const void *a, const void *b)
{
	const struct bench_trial *x = a, *y = b;

	return x->run < y->run ? -1 : x->run > y->run;
}

static size_t turn_of(const struct import *i, const struct bench_trial *t)
{
	return i->how->paired ? t->trial : configuration_at(i, t->configuration);
}

/* Runs in an order that says how they were made: in turns, or one configuration after the other. */
static int number_runs(struct import *i)
{
	size_t turns = 0;
	_free_ unsigned *next = NULL;
	unsigned run = 0;

	for (size_t k = 0; k < i->trial_count; k++)
		turns = turn_of(i, &i->trials[k]) >= turns ? turn_of(i, &i->trials[k]) + 1 : turns;
	next = calloc(turns + 1, sizeof(*next));
	if (!next)
		return ctx_oom(i->ctx);
	for (size_t k = 0; k < i->trial_count; k++)
		next[turn_of(i, &i->trials[k])]++;
	for (size_t turn = 0; turn < turns; turn++) {
		unsigned count = next[turn];

		next[turn] = run;
		run += count;
	}
	for (size_t k = 0; k < i->trial_count; k++)
		i->trials[k].run = ++next[turn_of(i, &i->trials[k])];
	trial_index_free(&i->index);
	qsort(i->trials, i->trial_count, sizeof(*i->trials), by_turn);
	return 0;
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
	put_imported(&out, ",\n\"imported\": ", how->csv ? how->csv : how->tool ? how->tool : "outputs");
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

	for (size_t k = 0; k < i->trial_count; k++) {
		_free_ char *line = bench_trial_format(&i->trials[k]);

		if (!line)
			return ctx_oom(i->ctx);
		buf_puts(&lines, line);
	}
	if (!description || lines.failed)
		return ctx_oom(i->ctx);
	made = mkdir(dir, 0755) == 0;
	if (!made && errno != EEXIST)
		return ctx_fail(i->ctx, -errno, "%s cannot be created: %s", dir, strerror(errno));
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
	trial_index_free(&i->index);
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
	if (access(description, F_OK) == 0)
		return ctx_fail(ctx, -EEXIST, "%s already contains a result; name another directory", dir);
	if (access(trials, F_OK) == 0)
		return ctx_fail(ctx, -EEXIST, "%s has no " BENCH_DESCRIPTION " beside it: an import was "
			"interrupted there; remove that file, or name another directory", trials);
	return 0;
}

int vfctl_bench_import(struct vfctl_ctx *ctx, const char *directory,
	const struct vfctl_bench_import *import)
{
	struct vfctl_bench_import how = *import;
	struct import i = {.ctx = ctx, .how = &how};
	char created[32];
	int r = check_target(ctx, directory);

	now_imported(created);
	if (!how.created)
		how.created = created;
	if (r == 0)
		r = how.csv ? import_csv(&i, how.csv) : import_outputs(&i);
	if (r == 0 && how.baseline && configuration_at(&i, how.baseline) == i.configuration_count)
		r = ctx_usage_error(ctx, -EINVAL, "the data have no configuration '%s' to be the baseline",
			how.baseline);
	if (r == 0)
		r = number_runs(&i);
	if (r == 0)
		r = write_result(&i, directory);
	clear_imported(&i);
	return r;
}
