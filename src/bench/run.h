/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_RUN_H
#define VFCTL_BENCH_RUN_H

#include "base/steps.h"
#include "base/util.h"
#include "bench/checks.h"
#include "bench/tool.h"

#define BENCH_FAILED_IN_A_ROW 5 /* runs: then nothing works any more */

/* One point of what is swept over: a cell of the result, in every configuration. */
struct bench_point {
	const struct bench_plan_test *test;
	const struct tool *tool;
	uint64_t size, threads; /* 0: not stated, 1 */
	const char *direction;
	const char *phase; /* of a search: "race" or "confirmation"; else NULL */
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
	bool searches;	    /* its turns are made as it goes (bench/search.h) */
	double max_seconds; /* of a search; 0: no limit */
};

/* How a plan is measured, besides what it says. */
struct bench_how {
	uint64_t seed; /* 0: the plan's, or the clock's */
	struct vfctl_hypervisor *hypervisor;
	bool searches;
	double max_seconds;
};
/* What is to be measured and in which order; looks at nothing. Takes @plan. */
int bench_new(struct vfctl_ctx *ctx, struct bench_plan *plan, const char *text,
	const struct bench_how *how, struct bench **ret);
void bench_free(struct bench *b);
DEFINE_FREEP(struct bench, bench_free)

/* Of a search: the most that it may make. */
size_t bench_planned_runs(const struct bench *b);
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

/* ---- setup.c ---- */

/* The end of that name, which the plan has. */
struct bench_end *bench_end_of(const struct bench *b, const char *name);
/* Of a configuration: its tunnel's. */
unsigned bench_number_of(const struct bench *b, const struct bench_plan_configuration *c);
/* Both ends as a configuration wants them. */
int bench_set_all(struct bench *b, const struct bench_plan_configuration *c);
int bench_make_tunnels(struct bench *b);

/* ---- for a search ---- */

/* One run that was made. */
struct bench_made {
	bool worked;
	bool refused;	/* the configuration could not be set; counts as a run that failed */
	double seconds; /* that it took */
	double value;	/* of the goal; NAN: it failed */
};
/* The directory of what the tools print, and tunnels. */
int bench_prepare(struct bench *b, const char *dir);
/* Carry out run @at + 1. As bench_measure(). */
int bench_make(struct bench *b, const char *dir, size_t at, struct bench_made *ret);
/* @members of one trial, in an order by the seed, as turns behind the others. */
int bench_add_turns(struct bench *b, const size_t *members, size_t count, size_t point,
	unsigned trial);

#endif
