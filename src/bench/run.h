/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BENCH_RUN_H
#define VFCTL_BENCH_RUN_H

#include "base/steps.h"
#include "base/util.h"
#include "bench/checks.h"
#include "bench/tool.h"
#include "types/hypervisor.h"

#define BENCH_FAILED_IN_A_ROW 5 /* consecutive failed runs after which the measurement ends */

/* One point of the sweep: a cell of the result, in every configuration. */
struct bench_point {
	const struct bench_plan_test *test;
	const struct tool *tool;
	uint64_t size, threads, iterations, per_node; /* 0: not stated; threads: 1 */
	const char *direction;
	const char *phase; /* of a search: "race" or "confirmation"; else NULL */
};

/* A run: the trial, and what it measures. */
struct bench_turn {
	unsigned trial; /* 0: warm-up */
	size_t configuration, point;
};

/* A place with the original and the present settings of its interface. */
struct bench_end {
	struct place place;
	bool open, used;
	char **names;	/* of settings that some configuration changes; NULL-terminated */
	char *original; /* "mtu=1500 rx-usecs=3"; NULL: nothing is changed here */
	char *now;	/* NULL: not known */
};

/* A device of this host behind a guest's virtio interface: bench/outer.h. */
struct bench_outer {
	size_t of; /* index of the endpoint */
	struct endpoint *end;
	char *device, *original; /* "vnet0", "mtu=1500" */
	struct place place;
};

struct bench {
	struct vfctl_ctx *ctx;
	struct bench_plan *plan;
	char *text; /* text of the plan */
	uint64_t seed;
	struct bench_end *ends; /* in the order of plan->endpoints */
	struct bench_outer *outers;
	size_t outer_count;
	struct survey survey;
	struct bench_point *points;
	size_t point_count;
	struct bench_turn *turns;
	size_t turn_count;
	bool tunnels_up;
	bool quick;	    /* a smoke run (bench_plan_quicken()) */
	bool searches;	    /* its runs are chosen during the search (bench/search.h) */
	double max_seconds; /* of a search; 0: no limit */
};

/* Options for measuring, besides the plan. */
struct bench_how {
	uint64_t seed; /* 0: the plan's, or one from the clock */
	struct vfctl_hypervisor *hypervisor;
	bool searches, quick;
	double max_seconds;
};
/* Determine what to measure, and in which order, without checking anything. Takes over @plan. */
int bench_new(struct vfctl_ctx *ctx, struct bench_plan *plan, const char *text,
	const struct bench_how *how, struct bench **ret);
void bench_free(struct bench *b);
DEFINE_FREEP(struct bench, bench_free)

/* For a search, the largest number of runs. */
size_t bench_planned_runs(const struct bench *b);
/* Check the ends: requirements, versions, present settings. Failures are in the survey. */
int bench_look(struct bench *b);
/* The changes that will be made, with their roll-back. */
int bench_steps(const struct bench *b, struct steps *ret);
/* bench.json, for a result directory. */
int bench_description(const struct bench *b, char **ret);

/* The command lines of a run, client and server (which may be NULL), as text. */
int bench_commands(const struct bench *b, size_t turn, char **ret_client, char **ret_server);
/* "size 64, 2 threads" */
const char *bench_point_text(const struct bench_point *p, char buf[128]);

/*
 * Carry out the runs for which @dir has no line yet, in their order. A run whose tool fails is a
 * failed trial.
 * @return 0; -EINTR; -EIO five consecutive runs failed; or why a setting or a file could not be
 * written.
 */
int bench_measure(struct bench *b, const char *dir);

/* ---- setup.c ---- */

/* The end of that name, which the plan must have. */
struct bench_end *bench_end_of(const struct bench *b, const char *name);
/* The number of a configuration's tunnel. */
unsigned bench_number_of(const struct bench *b, const struct bench_plan_configuration *c);
/* Apply the settings of a configuration to both ends. */
int bench_set_all(struct bench *b, const struct bench_plan_configuration *c);
int bench_make_tunnels(struct bench *b);
/*
 * After the failure @error of a run: -ENODEV with a message if an interface of the configuration
 * has disappeared; else @error with its message.
 */
int bench_explain(struct bench *b, const struct bench_plan_configuration *c, const char *dir,
	int error);

/* ---- for a search ---- */

/* The result of one run. */
struct bench_made {
	bool worked;
	bool refused;	/* the configuration could not be set; counts as a failed run */
	double seconds; /* duration */
	double value;	/* of the goal; NAN: it failed */
};
/* Create the directory for the tools' output, and the tunnels. */
int bench_prepare(struct bench *b, const char *dir);
/* Carry out run @at + 1, like bench_measure(). */
int bench_make(struct bench *b, const char *dir, size_t at, struct bench_made *ret);
/* Append one trial of each of @members, in an order that depends on the seed. */
int bench_add_turns(struct bench *b, const size_t *members, size_t count, size_t point,
	unsigned trial);

#endif
