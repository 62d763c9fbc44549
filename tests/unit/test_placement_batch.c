// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * A batch beside its own guests one at a time, and beside itself on a machine where time flies: the clock
 * of these tests is theirs.
 */
#include "placement/model/host_model.h"
#include "placement_case.h"

#include <stdlib.h>
#include <time.h>

#define GUESTS 40
#define NODES 4
#define NODES_MOST 48 /* of a host where guests are split */
#define VFS 2 /* of a guest */

/* ---- the clock ---- */

/* Microseconds that pass with each look at the clock. */
static long clock_step_us, clock_us, clock_looks;

int clock_gettime(clockid_t id, struct timespec *ret)
{
	(void)id;
	ret->tv_sec = 1000 + clock_us / 1000000;
	ret->tv_nsec = clock_us % 1000000 * 1000;
	clock_us += clock_step_us;
	clock_looks++;
	return 0;
}

/* ---- hosts and guests of a seed ---- */

struct batch {
	struct host_model h;
	struct vfctl_request requests[GUESTS];
	struct vfctl_cell_want cells[GUESTS][3];
	struct vfctl_vf_want wants[GUESTS];
	char names[GUESTS][24];
	size_t count;
	/* One at a time: those that are there. */
	struct vfctl_occupant occupants[GUESTS];
	struct vfctl_promise memory[GUESTS][NODES_MOST];
	struct vfctl_free_vf vfs[GUESTS][VFS];
};

static uint64_t state;

static uint32_t R(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % below);
}

static void make_guest(struct batch *b, size_t g)
{
	struct vfctl_request *r = &b->requests[g];
	size_t cells = R(3) ? 0 : 2 + R(2);

	snprintf(b->names[g], sizeof(b->names[g]), "g%zu", g);
	*r = guest(1 + R(R(3) ? 8 : 24), R(2) ? &b->wants[g] : NULL);
	r->name = b->names[g];
	r->emulator_cores = R(2) ? VFCTL_EMULATOR_AUTO : R(2);
	r->has_emulator = true;
	r->memory_bytes = (1 + R(16)) * GIB;
	b->wants[g] = (struct vfctl_vf_want){.any_pf = R(2), .count = 1 + R(VFS), .pf = bdf(16 + R(NODES), 0),
		.fabric = VFCTL_FABRIC_ANY, .cell = VFCTL_CELL_ANY,
		.affinity = R(3) ? VFCTL_AFFINITY_REQUIRED : VFCTL_AFFINITY_PREFERRED};
	if (!cells)
		return;
	r->cells = b->cells[g];
	r->cell_count = cells;
	r->vcpus = 0;
	r->memory_bytes = 0;
	for (size_t k = 0; k < cells; k++) {
		b->cells[g][k] = (struct vfctl_cell_want){.vcpus = 1 + R(8), .node = VFCTL_NODE_NONE,
			.memory_bytes = (1 + R(8)) * GIB};
		r->vcpus += b->cells[g][k].vcpus;
		r->memory_bytes += b->cells[g][k].memory_bytes;
	}
}

static void make_batch(struct batch *b, uint64_t seed)
{
	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	*b = (struct batch){0};
	make_host(&b->h, NODES, 12 + R(8), 2);
	for (unsigned n = 0; n < NODES; n++)
		add_vfs(&b->h, 16 + n, (int)n, 1 + R(8), 1);
	b->count = 12 + R(GUESTS - 11);
	for (size_t g = 0; g < b->count; g++)
		make_guest(b, g);
}

/* Many small nodes, over which nearly all guests are split: to find one a place takes a long search. */
static void make_split_batch(struct batch *b, uint64_t seed)
{
	unsigned nodes, cores;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	*b = (struct batch){0};
	nodes = 16 + R(NODES_MOST - 15);
	cores = 1 + R(2);
	make_host(&b->h, nodes, cores, 1 + R(2));
	for (unsigned n = 0; n < nodes && b->h.model.vf_count < 30; n++)
		if (R(3))
			add_vfs(&b->h, 16 + n, (int)n, 1 + R(2), 1);
	b->count = 6 + R(GUESTS - 5);
	for (size_t g = 0; g < b->count; g++) {
		make_guest(b, g);
		if (b->requests[g].cell_count)
			continue;
		b->requests[g].vcpus = 1 + R(R(3) ? 8 : 8 + 2 * nodes * cores);
		b->requests[g].memory_bytes = (1 + R(R(2) ? 16 : 64)) * GIB;
	}
}

/* One to four small nodes with few VFs: what one guest takes is what the next lacks. */
static void make_small_batch(struct batch *b, uint64_t seed)
{
	unsigned nodes;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	*b = (struct batch){0};
	nodes = 1 + R(NODES);
	make_host(&b->h, nodes, 4 + R(9), 1 + R(2));
	for (unsigned n = 0; n < nodes; n++)
		if (R(3))
			add_vfs(&b->h, 16 + n, (int)n, 1 + R(8), 1);
	b->count = 24;
	for (size_t g = 0; g < b->count; g++)
		make_guest(b, g);
}

/* ---- one at a time ---- */

static int smaller_first(const void *a, const void *b)
{
	const struct vfctl_request *x = a, *y = b;

	if (x->vcpus != y->vcpus)
		return x->vcpus < y->vcpus ? -1 : 1;
	return x->memory_bytes < y->memory_bytes ? -1 : x->memory_bytes > y->memory_bytes;
}

static void take_vf(struct batch *b, const struct vfctl_free_vf *vf)
{
	struct vfctl_host_model *m = &b->h.model;

	for (size_t i = 0; i < m->vf_count; i++)
		if (vfctl_bdf_compare(&b->h.vfs[i].bdf, &vf->bdf) == 0)
			b->h.vfs[i] = b->h.vfs[--m->vf_count];
}

static bool settles(struct batch *b, const struct vfctl_request *r)
{
	struct vfctl_plan *plan = make_plan(&b->h, r, 1);
	const struct vfctl_assignment *a = &plan->assignments[0];
	size_t i = b->h.model.occupant_count;
	struct vfctl_occupant *o = &b->occupants[i];
	bool placed = a->refusal == VFCTL_REFUSAL_NONE;

	if (placed) {
		*o = (struct vfctl_occupant){.name = (char *)(uintptr_t)r->name, .cpus = a->held_cpus,
			.memory = b->memory[i], .vfs = b->vfs[i]};
		if (a->emulator_shared)
			o->qemu_cpus = a->emulator_cpus;
		for (size_t k = 0; k < a->cell_count; k++)
			o->memory[o->memory_count++] = (struct vfctl_promise){
				.node = a->cells[k].memory_node, .bytes = a->cells[k].memory_bytes};
		for (size_t k = 0; k < a->vf_count; k++) {
			o->vfs[o->vf_count++] = a->vfs[k];
			take_vf(b, &a->vfs[k]);
		}
		b->h.model.occupants = b->occupants;
		b->h.model.occupant_count++;
	}
	vfctl_plan_free(plan);
	return placed;
}

static void expect_no_worse(struct batch *b, uint64_t seed)
{
	struct vfctl_plan *plan = make_plan(&b->h, b->requests, b->count);
	uint64_t together = plan->value[VFCTL_LEVEL_PLACED], alone = 0;

	vfctl_plan_free(plan);
	qsort(b->requests, b->count, sizeof(b->requests[0]), smaller_first);
	for (size_t g = 0; g < b->count; g++)
		alone += settles(b, &b->requests[g]);
	if (together < alone)
		fail_msg("seed %lu: %lu of %zu guests are placed together, %lu one at a time",
			(unsigned long)seed, (unsigned long)together, b->count, (unsigned long)alone);
}

/* The long form: a thousand batches on small hosts. */
static void a_batch_is_never_worse_than_one_at_a_time(void **unused)
{
	static const uint64_t seeds[] = {1, 15, 30, 83, 95}, split_seeds[] = {7, 12};
	uint64_t small_seeds = getenv("VFCTL_LONG") ? 1000 : 40;
	static struct batch b;

	for (size_t i = 0; i < ARRAY_SIZE(seeds); i++) {
		make_batch(&b, seeds[i]);
		expect_no_worse(&b, seeds[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(split_seeds); i++) {
		make_split_batch(&b, split_seeds[i]);
		expect_no_worse(&b, split_seeds[i]);
	}
	for (uint64_t seed = 1; seed <= small_seeds; seed++) {
		make_small_batch(&b, seed);
		expect_no_worse(&b, seed);
	}
}

/* ---- the clock is the last resort ---- */

static void a_busy_machine_gives_the_same_answer(void **unused)
{
	struct vfctl_plan *calm, *busy;
	static struct batch b;

	make_batch(&b, 15);
	clock_looks = 0;
	calm = make_plan(&b.h, b.requests, b.count);
	assert_int_equal(calm->cut, VFCTL_CUT_STEPS);
	/* The same takes four seconds. */
	clock_step_us = 4000000 / clock_looks;
	busy = make_plan(&b.h, b.requests, b.count);
	clock_step_us = 0;
	assert_memory_equal(calm->value, busy->value, sizeof(calm->value));
	assert_memory_equal(calm->bound, busy->bound, sizeof(calm->bound));
	assert_int_equal(calm->steps, busy->steps);
	assert_int_equal(busy->cut, VFCTL_CUT_STEPS);
	for (size_t g = 0; g < b.count; g++) {
		const struct vfctl_assignment *x = &calm->assignments[g], *y = &busy->assignments[g];

		assert_int_equal(x->refusal, y->refusal);
		assert_int_equal(x->reason_count, y->reason_count);
		assert_int_equal(x->node, y->node);
		assert_memory_equal(&x->held_cpus, &y->held_cpus, sizeof(x->held_cpus));
	}
	vfctl_plan_free(calm);
	vfctl_plan_free(busy);
}

static void what_the_clock_cut_is_told(void **unused)
{
	const struct vfctl_plan_options options = {.timeout_ms = 100};
	struct vfctl_plan *plan;
	static struct batch b;

	make_batch(&b, 15);
	clock_step_us = 10000;
	assert_int_equal(vfctl_plan_make(ctx, &b.h.model, b.requests, b.count, &options, &plan), 0);
	clock_step_us = 0;
	assert_int_equal(plan->cut, VFCTL_CUT_CLOCK);
	assert_int_not_equal(plan->gap_level, VFCTL_LEVELS);
	assert_true(plan->value[VFCTL_LEVEL_PLACED] > 0);
	vfctl_plan_free(plan);
	/* One guest on an empty host is all there is to search. */
	b.requests[0] = guest(2, NULL);
	plan = make_plan(&b.h, b.requests, 1);
	assert_int_equal(plan->cut, VFCTL_CUT_NONE);
	assert_int_equal(plan->gap_level, VFCTL_LEVELS);
	vfctl_plan_free(plan);
}

static int setup(void **unused)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **unused)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_batch_is_never_worse_than_one_at_a_time),
		cmocka_unit_test(a_busy_machine_gives_the_same_answer),
		cmocka_unit_test(what_the_clock_cut_is_told),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
