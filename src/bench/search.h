/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_SEARCH_H
#define VFCTL_BENCH_SEARCH_H

#include "bench/race.h"
#include "bench/report.h"
#include "bench/run.h"

/* A race of configurations (bench/race.h): measure it, or read it from its result directory. */

#define SEARCH_PHASE "phase" /* a parameter of its trials */
#define SEARCH_RACE "race"
#define SEARCH_CONFIRMATION "confirmation"
#define SEARCH_TRIALS_MAX 49 /* up to this number the tests are exact */

/*
 * Measure until the race is decided. Trials in @dir are not repeated. Returns as bench_measure();
 * bench.json must exist. A configuration that is refused or fails leaves the race.
 */
int bench_search(struct bench *b, const char *dir);

/* Make the decisions from the trials of @result. @ret_over: it was measured to its end. */
int search_replay(struct vfctl_ctx *ctx, const struct bench_result *result, struct race **ret,
	bool *ret_over);
/* The conclusions as sentences, the verdict first. */
int search_advise(struct vfctl_ctx *ctx, struct report *r);

#endif
