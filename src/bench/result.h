/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_RESULT_H
#define VFCTL_BENCH_RESULT_H

#include "base/util.h"
#include "bench/bench.h"
#include "bench/trial.h"

/*
 * A result directory:
 *	bench.json	what was to be measured, on which host, with which tools and checks
 *	trials.jsonl	a line for each trial, in the order they were made (bench/trial.h)
 *	raw/		what the tools printed
 */
#define BENCH_SCHEMA 1
#define BENCH_DESCRIPTION "bench.json"

struct bench_configuration {
	char *name;
	struct bench_setting *settings;
	size_t setting_count;
};

struct bench_test {
	char *name, *tool;
	char *goal; /* the metric that is judged */
	bool higher_is_better;
};

struct bench_result {
	char *dir, *name, *created, *vfctl, *baseline /* or NULL */;
	uint64_t seed;
	unsigned runs; /* planned */
	double alpha, noise;
	bool emulated;
	unsigned trials_each, warmup; /* 0: not said */
	bool search;	    /* its runs were chosen as it went (bench/search.h) */
	double max_seconds; /* of a search; 0: no limit */
	struct bench_configuration *configurations;
	size_t configuration_count;
	struct bench_test *tests;
	size_t test_count;
	struct bench_setting *host; /* members of "host": texts, numbers and flags */
	size_t host_count;
	struct bench_tool_version *tools;
	size_t tool_count;
	struct bench_check *checks;
	size_t check_count;
	struct bench_trial *trials; /* as in the file; a run measured again counts once, its last */
	size_t trial_count;
	unsigned torn; /* lines that a crash cut off: passed over */
};

/*
 * Read bench.json and trials.jsonl of @dir (no trials.jsonl: no trial was made yet).
 * @return 0; -ENOENT; -EBADMSG, saying where; -EPROTONOSUPPORT a newer schema.
 */
int bench_result_read(struct vfctl_ctx *ctx, const char *dir, struct bench_result **ret);
/* bench.json alone, from its text. @what: for words. */
int bench_result_parse(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct bench_result **ret);
/* The same of each, in the same order. */
bool bench_same_parameters(const struct bench_trial *a, const struct bench_trial *b);
void bench_result_free(struct bench_result *result);
DEFINE_FREEP(struct bench_result, bench_result_free)

#endif
