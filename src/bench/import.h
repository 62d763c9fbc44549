/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_IMPORT_H
#define VFCTL_BENCH_IMPORT_H

#include "bench/bench.h"
#include "bench/trial.h"

struct imported_test {
	char *name, *goal;
	bool higher; /* the better */
};

/* A result while it is made of other programs' data. */
struct import {
	struct vfctl_ctx *ctx;
	const struct vfctl_bench_import *how;
	struct bench_trial *trials;
	size_t trial_count;
	void *index; /* of them (bench/trial_index.h) */
	char **configurations;
	size_t configuration_count;
	struct imported_test *tests;
	size_t test_count;
};

/*
 * import_trials.c: moves @t, which has figures, into the result; figures of a trial that is there
 * are added to it if @may_add. @goal is the metric to judge its test by. -EEXIST: the trial, or one
 * of its figures, is there already.
 */
int import_add(struct import *i, struct bench_trial *t, const char *goal, bool may_add);
/* import_csv.c */
int import_csv(struct import *i, const char *file);
/* import_raw.c */
int import_outputs(struct import *i);

#endif
