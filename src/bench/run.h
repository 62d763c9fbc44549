/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_RUN_H
#define VFCTL_BENCH_RUN_H

#include "base/steps.h"
#include "bench/checks.h"
#include "bench/tool.h"

/* One point of what is swept over: a cell of the result, in every configuration. */
struct bench_point {
	const struct bench_plan_test *test;
	const struct tool *tool;
	uint64_t size, threads; /* 0: not stated, 1 */
	const char *direction;
};

/* A run: which trial, of what. */
struct bench_turn {
	unsigned trial; /* 0: warm-up */
	size_t configuration, point;
};

/* A place with what its interface had before and has now. */
struct bench_end {
	struct place place;
	bool open, used;
	char **names;	/* of settings that some configuration changes; NULL-terminated */
	char *original; /* "mtu=1500 rx-usecs=3"; NULL: nothing is set here */
	char *now;	/* as far as it is known; NULL: not known */
};

struct bench {
	struct vfctl_ctx *ctx;
	struct bench_plan *plan;
	char *text; /* of the plan, as it was read */
	uint64_t seed;
	struct bench_end *ends; /* as plan->endpoints */
	struct survey survey;
	struct bench_point *points;
	size_t point_count;
	struct bench_turn *turns;
	size_t turn_count;
	bool tunnels_up;
};

/* What is to be measured and in which order; looks at nothing. @seed 0: the plan's, or the clock's. */
int bench_new(struct vfctl_ctx *ctx, struct bench_plan *plan, const char *text, uint64_t seed,
	struct vfctl_hypervisor *hypervisor, struct bench **ret);
void bench_free(struct bench *b);
static inline void bench_freep(struct bench **b)
{
	bench_free(*b);
}

/* Look at the ends: checks, versions, settings as they are. What fails is in the survey. */
int bench_look(struct bench *b);
/* What will be changed, so that it can be put back. */
int bench_steps(const struct bench *b, struct steps *ret);
/* bench.json, for a result directory. */
int bench_description(const struct bench *b, char **ret);

/* The command lines of a run, client and server (which may be NULL), as text. */
int bench_commands(const struct bench *b, size_t turn, char **ret_client, char **ret_server);
/* "size 64, 2 threads" */
const char *bench_point_words(const struct bench_point *p, char buf[128]);

/*
 * Carry out those runs that @dir has no line of yet, all in their order. A run whose tool fails is a
 * failed trial. @return 0; -EINTR; -EIO five failed one after the other: nothing works any more; or
 * that a setting or a file could not be written.
 */
int bench_measure(struct bench *b, const char *dir);

#endif
