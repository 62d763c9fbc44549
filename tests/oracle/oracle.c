// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oracle milp|brute COUNT [SEED]: the planner against other solvers on random instances.
 * Each one that differs is told with its seed; oracle KIND 1 SEED repeats it.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "instance.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

static struct vfctl_ctx *ctx;
static uint64_t unproven;
static double planner_s, other_s; /* told, never judged */

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static struct vfctl_plan *plan_of(const struct instance *in)
{
	const struct vfctl_plan_options options = {.max_steps = 4000000, .timeout_ms = 600000};
	struct vfctl_plan *plan;

	if (vfctl_plan_make(ctx, &in->model, in->requests, in->guest_count, &options, &plan) == 0)
		return plan;
	/* The other solvers are not asked about input that is not valid. */
	return NULL;
}

static bool check_milp(const struct instance *in, const struct vfctl_plan *plan)
{
	struct oracle_value v;

	if (milp_solve(in, &v) < 0) {
		fprintf(stderr, "seed %" PRIu64 ": GLPK gave no answer\n", in->seed);
		return false;
	}
	if ((int64_t)plan->value[VFCTL_LEVEL_PLACED] == v.placed &&
		(int64_t)plan->value[VFCTL_LEVEL_LOCAL] == v.local &&
		(int64_t)plan->value[VFCTL_LEVEL_DISTANCE] == v.distance)
		return true;
	fprintf(stderr, "seed %" PRIu64 ": placed, local, distance: planner %" PRIu64 " %" PRIu64
		" %" PRIu64 ", GLPK %" PRId64 " %" PRId64 " %" PRId64 "\n", in->seed,
		plan->value[VFCTL_LEVEL_PLACED], plan->value[VFCTL_LEVEL_LOCAL],
		plan->value[VFCTL_LEVEL_DISTANCE], v.placed, v.local, v.distance);
	return false;
}

static bool check_brute(const struct instance *in, const struct vfctl_plan *plan)
{
	int64_t v[VFCTL_LEVELS];
	bool same = true;

	brute_solve(in, v);
	for (unsigned i = 0; i < VFCTL_LEVELS; i++)
		same &= (int64_t)plan->value[i] == v[i];
	for (unsigned i = 0; i < VFCTL_LEVELS && !same; i++)
		fprintf(stderr, "seed %" PRIu64 ": %s: planner %" PRIu64 ", brute force %" PRId64
			"\n", in->seed, vfctl_plan_level_name(i), plan->value[i], v[i]);
	return same;
}

static bool check_one(uint64_t seed, bool tiny)
{
	struct instance in;
	struct vfctl_plan *plan;
	double start;
	bool ok;

	instance_make(&in, seed, tiny);
	start = now();
	plan = plan_of(&in);
	planner_s += now() - start;
	if (!plan)
		return true;
	unproven += plan->gap_level != VFCTL_LEVELS;
	ok = plan_is_sound(&in.model, in.requests, plan);
	if (!ok)
		fprintf(stderr, "seed %" PRIu64 ": the plan breaks a rule\n", seed);
	start = now();
	ok &= tiny ? check_brute(&in, plan) : check_milp(&in, plan);
	other_s += now() - start;
	vfctl_plan_free(plan);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 2 ? strtoull(argv[2], NULL, 10) : 0;
	uint64_t seed = argc > 3 ? strtoull(argv[3], NULL, 10) : 1, bad = 0;
	bool tiny = argc > 1 && strcmp(argv[1], "brute") == 0;

	if (argc < 3 || (!tiny && strcmp(argv[1], "milp") != 0) || !count ||
		vfctl_ctx_new(&ctx) < 0) {
		fprintf(stderr, "usage: oracle milp|brute COUNT [SEED]\n");
		return 2;
	}
	printf("%" PRIu64 " instances from seed %" PRIu64 "\n", count, seed);
	for (uint64_t i = 0; i < count; i++)
		bad += !check_one(seed + i, tiny);
	printf("%" PRIu64 " differ, %" PRIu64 " not proven by the planner\n", bad, unproven);
	printf("the planner took %.2f s, %s %.2f s\n", planner_s,
		tiny ? "brute force" : "GLPK", other_s);
	vfctl_ctx_free(ctx);
	return bad || unproven;
}
