/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_SEARCH_H
#define VFCTL_BENCH_SEARCH_H

#include "bench/race.h"
#include "bench/report.h"
#include "bench/run.h"

/* A race of configurations (bench/race.h), measured, and read again from its result directory. */

#define SEARCH_PHASE "phase" /* a parameter of its trials */
#define SEARCH_RACE "race"
#define SEARCH_CONFIRMATION "confirmation"
#define SEARCH_TRIALS_MAX 49 /* up to there the tests are exact */

/*
 * Measure until it is decided. What @dir has already is not measured again. As bench_measure(); its
 * bench.json is there. A configuration that is refused or fails leaves the race.
 */
int bench_search(struct bench *b, const char *dir);

/* The decisions that follow from the trials of @result. @ret_over: it was measured to its end. */
int search_replay(struct vfctl_ctx *ctx, const struct bench_result *result, struct race **ret,
	bool *ret_over);
/* What follows from it in sentences, the verdict first. */
int search_advise(struct vfctl_ctx *ctx, struct report *r);

#endif
