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
	char *dir, *name, *created, *vfctl;
	char **baselines; /* names of configurations; NULL: not stated */
	uint64_t seed;
	unsigned runs; /* planned */
	double alpha, noise;
	bool emulated, quick;
	unsigned trials_each, warmup; /* 0: not stated */
	bool search;	    /* its runs were chosen during the search (bench/search.h) */
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
	struct bench_trial *trials; /* in the order of the file; of a run that was repeated, only
				       the last one */
	size_t trial_count;
	unsigned torn; /* incomplete lines after a crash, which are ignored */
};

/*
 * Read bench.json and trials.jsonl of @dir (without trials.jsonl there is no trial yet).
 * @return 0; -ENOENT; -EBADMSG with the position; -EPROTONOSUPPORT a newer schema.
 */
int bench_result_read(struct vfctl_ctx *ctx, const char *dir, struct bench_result **ret);
/* Parse only bench.json, from its text. @what: for messages. */
int bench_result_parse(struct vfctl_ctx *ctx, const char *what, const char *text, size_t len,
	struct bench_result **ret);
/* Whether they have the same parameters with the same values, in the same order. */
bool bench_same_parameters(const struct bench_trial *a, const struct bench_trial *b);
void bench_result_free(struct bench_result *result);
DEFINE_FREEP(struct bench_result, bench_result_free)

#endif
