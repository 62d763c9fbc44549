// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oracle-split COUNT [SEED]: guests of cells: auto, the planner against brute force. Of a
 * single guest: placed, local, and the distance where its memory is local. Of two: how many
 * are placed, unless the plan says that this is not proven.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "placement/model/host_model.h"
#include "placement/placement.h"
#include "split.h"

static struct vfctl_ctx *ctx;
static struct {
	uint64_t bad, unproven, missed, refused, split, single;
} seen;

static bool differs(const struct instance *in, const char *what, uint64_t planner, uint64_t brute)
{
	if (planner == brute)
		return false;
	fprintf(stderr, "seed %" PRIu64 ": %s: planner %" PRIu64 ", brute force %" PRIu64 "\n",
		in->seed, what, planner, brute);
	return true;
}

static bool keeps_threads(const struct instance *in, const struct vfctl_request *r,
	const struct vfctl_assignment *a)
{
	for (size_t i = 0; i < in->topology.core_count; i++) {
		uint32_t here = 0, threads = vfctl_cpuset_count(&in->cores[i].cpus);

		for (size_t v = 0; v < a->vcpu_count; v++)
			here += a->vcpus[v] < VFCTL_CPU_MAX &&
				vfctl_cpuset_has(&in->cores[i].cpus, a->vcpus[v]);
		if ((r->threads == VFCTL_THREADS_ISOLATE && here > 1) ||
			(r->threads == VFCTL_THREADS_REQUIRE && here &&
				(here != threads || threads < 2 || a->guest_threads != threads)))
			return false;
	}
	return true;
}

/* Check the policy of threads, and the required place of memory, which plan_is_sound() does not. */
static bool keeps_request(const struct instance *in, const struct vfctl_request *r,
	const struct vfctl_assignment *a)
{
	for (size_t k = 0; k < a->cell_count; k++)
		if ((r->memory_affinity == VFCTL_AFFINITY_REQUIRED &&
			    a->cells[k].node != a->cells[k].memory_node) ||
			!a->cells[k].memory_bytes ||
			(r->page_bytes != VFCTL_PAGES_AUTO &&
				a->cells[k].page_bytes != r->page_bytes))
			return false;
	return keeps_threads(in, r, a) && (a->refusal != VFCTL_REFUSAL_NONE ||
		!vfctl_cpuset_empty(&a->emulator_cpus));
}

static bool check_single(const struct instance *in, const struct vfctl_plan *plan,
	const struct split_answer *brute)
{
	seen.single++;
	if (differs(in, "placed", plan->value[VFCTL_LEVEL_PLACED], brute->placed) ||
		differs(in, "proven", plan->gap_level != VFCTL_LEVEL_PLACED, true))
		return false;
	seen.refused += !brute->placed;
	if (!brute->placed)
		return true;
	seen.split += plan->assignments[0].cell_count > 1;
	if (differs(in, "local", plan->value[VFCTL_LEVEL_LOCAL], brute->local))
		return false;
	/* Brute force adds nothing for memory of other nodes. */
	return (!brute->local && in->requests[0].memory_affinity != VFCTL_AFFINITY_REQUIRED) ||
		!differs(in, "distance", plan->value[VFCTL_LEVEL_DISTANCE], brute->distance);
}

static bool check_many(const struct instance *in, const struct vfctl_plan *plan,
	const struct split_answer *brute)
{
	bool proven = plan->gap_level != VFCTL_LEVEL_PLACED;

	seen.unproven += !proven;
	seen.missed += !proven && brute->placed > plan->value[VFCTL_LEVEL_PLACED];
	if (!proven && brute->placed >= plan->value[VFCTL_LEVEL_PLACED] &&
		brute->placed <= plan->bound[VFCTL_LEVEL_PLACED])
		return true;
	return !differs(in, "placed", plan->value[VFCTL_LEVEL_PLACED], brute->placed);
}

static bool check_one(uint64_t seed)
{
	const struct vfctl_plan_options options = {.max_steps = 4000000, .timeout_ms = 600000};
	struct vfctl_plan *plan;
	struct split_answer brute;
	struct instance in;
	bool ok;

	split_make(&in, seed);
	if (vfctl_plan_make(ctx, &in.model, in.requests, in.guest_count, &options, &plan) < 0) {
		fprintf(stderr, "seed %" PRIu64 ": %s\n", seed, vfctl_ctx_error(ctx));
		return false;
	}
	split_solve(&in, &brute);
	ok = plan_is_sound(&in.model, in.requests, plan);
	for (size_t g = 0; g < in.guest_count; g++)
		ok &= keeps_request(&in, &in.requests[g], &plan->assignments[g]);
	if (!ok)
		fprintf(stderr, "seed %" PRIu64 ": the plan breaks a rule\n", seed);
	ok &= in.guest_count == 1 ? check_single(&in, plan, &brute)
				  : check_many(&in, plan, &brute);
	vfctl_plan_free(plan);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1;

	if (!count || vfctl_ctx_new(&ctx) < 0) {
		fprintf(stderr, "usage: oracle-split COUNT [SEED]\n");
		return 2;
	}
	for (uint64_t i = 0; i < count; i++)
		seen.bad += !check_one(seed + i);
	printf("%" PRIu64 " instances from seed %" PRIu64 ": %" PRIu64 " of one guest (%" PRIu64
		" split, %" PRIu64 " refused), %" PRIu64 " of two\n", count, seed, seen.single,
		seen.split, seen.refused, count - seen.single);
	printf("%" PRIu64 " differ; of two guests %" PRIu64 " are told as not proven, %" PRIu64
		" of which could be better\n", seen.bad, seen.unproven, seen.missed);
	vfctl_ctx_free(ctx);
	return seen.bad != 0;
}
