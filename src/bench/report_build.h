/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_REPORT_BUILD_H
#define VFCTL_BENCH_REPORT_BUILD_H

#include "bench/report.h"
#include "bench/stats.h"

/* A report under construction. */
struct builder {
	struct vfctl_ctx *ctx;
	struct report *r;
	struct entry *entries;
	const struct bench_trial **firsts; /* of each cell */
	const char **by_configuration;	   /* of each cell of a comparison; else NULL */
	size_t entry_count;
	void *index; /* of the cells (bench/trial_index.h) */
	struct median_chances chances;
};

/* report_cells.c: assign trials to cells and columns, then summarize the columns. */
/*
 * Add a trial to a column of its cell, which is created if necessary; -ENOENT only if none may be
 * created. What iperf measured in both directions at once counts in two cells: each direction is
 * judged.
 */
int report_take_trial(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t,
	const char *configuration, bool may_add, size_t column);
/*
 * Put the cells in the order of the tests in bench.json, then of their curves and parameters: the
 * order of the runs is random.
 */
int report_sort_cells(struct builder *b);
/* report_sweep.c */
/* Choose the parameter over which curves are drawn: the number of sizes or threads. */
void report_find_axes(struct builder *b);
/* Order cells of a test by the parameters besides the axis: those of one curve are equal. */
int report_compare_groups(const struct bench_trial *a, const struct bench_trial *b,
	const char *axis);
/* Describe what differs between the cells of a test. */
int report_take_varying(struct builder *b);
int report_check_trial(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t);
/* Whether they have the same test and the same parameters. */
bool report_same_cell(const struct bench_trial *a, const struct bench_trial *b);
/* The test of that name; NULL if there is none. */
const struct bench_test *report_test_of(const struct bench_result *result, const char *name);
int report_build_columns(struct builder *b);

/* report_judge.c: compare each column with the baseline of its cell, and set the verdicts. */
int report_compare_all(struct builder *b);

/* sessions.c: of a comparison, drop verdicts that the spread of earlier sessions explains. */
int report_weigh_sessions(struct builder *b, const struct vfctl_bench_options *options);

#endif
