/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_REPORT_BUILD_H
#define VFCTL_BENCH_REPORT_BUILD_H

#include "bench/report.h"

/* A report while it is made of trials. */
struct builder {
	struct vfctl_ctx *ctx;
	struct report *r;
	struct entry *entries;
	const struct bench_trial **firsts; /* of each cell */
	const char **by_configuration;	   /* of each cell of a comparison; else NULL */
	size_t entry_count, first_count;
	size_t entry_room;
};

/* report_cells.c: a trial finds its cell and column; then columns are added up. */
/* The cell of a trial, a new one if need be; -ENOENT only when none may be added. */
int report_find_cell(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t, const char *configuration, bool may_add, size_t *ret);
int report_add_entry(struct builder *b, const struct bench_trial *t, size_t cell, size_t column);
int report_check_trial(struct builder *b, const struct bench_result *result,
	const struct bench_trial *t);
/* Of the same test, with the same parameters? */
bool report_same_cell(const struct bench_trial *a, const struct bench_trial *b);
/* The test of that name; NULL: there is none. */
const struct bench_test *report_test_of(const struct bench_result *result, const char *name);
int report_build_columns(struct builder *b);

/* report_judge.c: each column beside the baseline of its cell, and the verdicts. */
int report_compare_all(struct builder *b);

#endif
