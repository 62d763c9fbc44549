// SPDX-License-Identifier: GPL-2.0-or-later
/* Corners of the planner where an answer was once wrong, or a claim too large. */
#include "placement_case.h"

#include "placement/model/host_model.h"

static struct vfctl_cell_want cell(uint32_t vcpus, uint64_t gib, int node)
{
	return (struct vfctl_cell_want){.vcpus = vcpus, .memory_bytes = gib * GIB, .node = node};
}

static struct vfctl_request with_cells(const struct vfctl_cell_want *cells, size_t count)
{
	struct vfctl_request r = {.name = "g", .node = VFCTL_NODE_NONE, .has_emulator = true,
		.cells = cells, .cell_count = count};

	for (size_t i = 0; i < count; i++) {
		r.vcpus += cells[i].vcpus;
		r.memory_bytes += cells[i].memory_bytes;
	}
	return r;
}

static void assert_placed(const struct host_model *h, const struct vfctl_request *r, size_t count)
{
	struct vfctl_plan *plan = make_plan(h, r, count);

	for (size_t i = 0; i < count; i++) {
		const struct vfctl_assignment *a = &plan->assignments[i];

		for (size_t k = 0; a->refusal && k < a->reason_count; k++)
			print_error("%s\n", a->reasons[k].text);
		assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
		assert_int_equal(a->vcpu_count, r[i].vcpus);
	}
	vfctl_plan_free(plan);
}

/* Equal nodes represent each other only if no guest requests one by number. */
static void alike_is_not_the_same(void **state)
{
	struct vfctl_cell_want cells[] = {cell(2, 1, VFCTL_NODE_NONE), cell(2, 1, 0)};
	struct vfctl_cell_want one[] = {cell(2, 1, VFCTL_NODE_NONE)};
	struct vfctl_request r = with_cells(cells, 2), batch[2];
	struct vfctl_vf_want near = any_vf;
	struct host_model h;

	make_host(&h, 2, 5, 1);
	assert_placed(&h, &r, 1);
	r = with_cells(one, 1);
	r.node = 1;
	assert_placed(&h, &r, 1);
	batch[0] = guest(2, NULL);
	batch[0].memory_bytes = 60 * GIB;
	batch[0].cells_max = 1;
	batch[1] = guest(3, NULL);
	batch[1].node = 0;
	batch[1].memory_bytes = 5 * GIB;
	assert_placed(&h, batch, 2);

	/* The other node of the VF's package, though two packages look the same. */
	make_host(&h, 4, 4, 1);
	for (unsigned i = 0; i < 16; i++) {
		h.cores[i].package = (int)i / 8;
		h.distances[i] = i % 5 == 0 ? 10 : 20;
	}
	for (unsigned i = 12; i < 15; i++)
		vfctl_cpuset_add(&h.model.busy_cpus, i);
	add_vfs(&h, 0x10, 3, 1, 0);
	near.affinity = VFCTL_AFFINITY_SOCKET;
	r = guest(3, &near);
	r.cells_max = 1;
	assert_placed(&h, &r, 1);
}

static void memory_of_other_nodes(void **state)
{
	struct vfctl_cell_want cells[] = {cell(2, 4, 0), cell(2, 8, 1)};
	struct vfctl_request r = guest(20, NULL);
	struct host_model h;

	/*
	 * A guest that fits with its own memory fits even if the memory of other nodes is possible
	 * too.
	 */
	make_host(&h, 2, 11, 1);
	h.nodes[0].memory_bytes = 10 * GIB;
	h.nodes[1].memory_bytes = 30 * GIB;
	r.memory_bytes = 40 * GIB;
	assert_placed(&h, &r, 1);
	r.memory_affinity = VFCTL_AFFINITY_PREFERRED;
	assert_placed(&h, &r, 1);

	/* A cell leaves its own memory to one that has no other. */
	make_host(&h, 3, 4, 1);
	h.nodes[0].memory_bytes = 8 * GIB;
	h.nodes[1].memory_bytes = MIB;
	h.nodes[2].memory_bytes = 4 * GIB;
	r = with_cells(cells, 2);
	r.memory_affinity = VFCTL_AFFINITY_PREFERRED;
	assert_placed(&h, &r, 1);
}

static void whole_means_nobody_else(void **state)
{
	struct vfctl_request both[] = {guest(2, NULL), guest(2, NULL)};
	struct vfctl_promise memory = {.node = 0, .bytes = GIB, .shared_vcpus = 1};
	struct vfctl_occupant o = {.name = "o", .memory = &memory, .memory_count = 1};
	struct vfctl_plan *plan;
	struct host_model h;

	/* Not even shared vCPUs, in the same batch ... */
	make_host(&h, 1, 8, 1);
	vfctl_cpuset_parse("0-1", &h.model.shared_cpus);
	both[0].whole_node = true;
	both[1].shared_vcpus = 2;
	both[1].emulator_cores = 0;
	plan = make_plan(&h, both, 2);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 1);
	vfctl_plan_free(plan);
	/* ... or there before. */
	h.model.occupants = &o;
	h.model.occupant_count = 1;
	plan = make_plan(&h, both, 1);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 0);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT, "another guest uses it"));
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY, "whole_node: false"));
	vfctl_plan_free(plan);
}

/* Groups of as many cores, but of other threads, are not the cores that were counted. */
static void whole_l3_of_unlike_cores_is_refused(void **state)
{
	struct vfctl_request r = guest(4, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	for (int i = 0; i < 4; i++)
		add_core(&h, 0, 2);
	for (size_t i = 0; i < 8; i++)
		h.cores[i].l3 = (int)i / 4;
	r.whole_l3 = true;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT,
		"no L3 group of equal cores is entirely free"));
	vfctl_plan_free(plan);
}

/* More sets and PFs than a guest has VFs. */
static void many_rails(void **state)
{
	struct vfctl_vf_want wants[] = {any_vf, any_vf, any_vf};
	struct vfctl_request r = guest(2, wants);
	struct host_model h;

	make_host(&h, 1, 4, 1);
	for (unsigned pf = 0; pf < 30; pf++)
		add_vfs(&h, 16 + pf, 0, 1, 0);
	for (uint32_t i = 0; i < 3; i++) {
		wants[i].count = 2;
		wants[i].anti_affinity = i + 1;
	}
	r.want_count = 3;
	assert_placed(&h, &r, 1);
}

/* VFs and cells may not be farther than asked, in either direction. */
static void distance_limits_vfs_too(void **state)
{
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r = guest(2, &want);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x80, 1, 1, 0);
	for (unsigned i = 4; i < 8; i++)
		vfctl_cpuset_add(&h.model.busy_cpus, i);
	want.affinity = VFCTL_AFFINITY_PREFERRED;
	assert_placed(&h, &r, 1);
	r.max_distance = 20;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_VFS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY, "no max_distance"));
	vfctl_plan_free(plan);
}

/* A preferred VF is no reason to split a guest that a node holds. */
static void preferred_vfs_do_not_split(void **state)
{
	struct vfctl_vf_want wants[] = {any_vf, any_vf};
	struct vfctl_request r = guest(2, wants);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 1);
	add_vfs(&h, 0x80, 1, 1, 2);
	for (int i = 0; i < 2; i++) {
		wants[i].fabric = i + 1;
		wants[i].affinity = VFCTL_AFFINITY_PREFERRED;
	}
	r.want_count = 2;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].cell_count, 1);
	assert_false(plan->assignments[0].local);
	vfctl_plan_free(plan);
}

/* Unlike cells on unlike nodes have many orders: bounded, and said where it ends. */
static void a_search_that_is_cut_says_so(void **state)
{
	const struct vfctl_plan_options few = {.max_steps = 1, .timeout_ms = 600000};
	struct vfctl_cell_want cells[] = {cell(1, 1, VFCTL_NODE_NONE), cell(2, 2, VFCTL_NODE_NONE),
		cell(3, 3, VFCTL_NODE_NONE)};
	struct vfctl_request r = with_cells(cells, 3);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 4, 4, 1);
	for (unsigned i = 0; i < 4; i++)
		vfctl_cpuset_add(&h.model.busy_cpus, i * 5 % 16);
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &r, 1, &few, &plan), 0);
	if (plan->value[VFCTL_LEVEL_PLACED] == 0) {
		assert_int_equal(plan->gap_level, VFCTL_LEVEL_PLACED);
		assert_int_equal(plan->bound[VFCTL_LEVEL_PLACED], 1);
	} else {
		assert_int_not_equal(plan->gap_level, VFCTL_LEVELS);
	}
	vfctl_plan_free(plan);
}

/* Memory entries in another order than the nodes are not remote. */
static void entries_are_found_by_node(void **state)
{
	struct vfctl_promise memory[] = {{.node = 1, .bytes = GIB}, {.node = 0, .bytes = GIB}};
	struct vfctl_occupant o = {.name = "o", .memory = memory, .memory_count = 2};
	struct vfctl_rebalance *r;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	vfctl_cpuset_parse("0,4", &o.cpus);
	h.model.occupants = &o;
	h.model.occupant_count = 1;
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->local_before, 1);
	assert_int_equal(r->move_count, 0);
	vfctl_rebalance_free(r);
	/* Without memory it cannot be asked for again: it stays, and nothing fails. */
	o.memory_count = 0;
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 0);
	vfctl_rebalance_free(r);
}

static uint64_t placed_of(const struct host_model *h, const struct vfctl_request *r, size_t count)
{
	struct vfctl_plan *plan = make_plan(h, r, count);
	uint64_t placed = plan->value[VFCTL_LEVEL_PLACED];

	vfctl_plan_free(plan);
	return placed;
}

/*
 * Resources that one guest of a batch takes are not available to the others, whatever their kind.
 */
static void guests_of_a_batch_take_from_each_other(void **state)
{
	struct vfctl_request both[] = {guest(3, NULL), guest(3, NULL)};
	struct host_model h;

	make_host(&h, 1, 8, 1);
	vfctl_cpuset_parse("0-1", &h.model.shared_cpus);
	h.model.shared_ratio = 2;
	both[0].shared_vcpus = both[1].shared_vcpus = 3;
	assert_int_equal(placed_of(&h, both, 1), 1);
	assert_int_equal(placed_of(&h, both, 2), 1);

	/* Five cores of two groups of four leave no group whole. */
	make_host(&h, 1, 8, 1);
	for (size_t i = 0; i < 8; i++)
		h.cores[i].l3 = (int)i / 4;
	both[0] = guest(4, NULL);
	both[1] = guest(2, NULL);
	both[1].whole_l3 = true;
	assert_int_equal(placed_of(&h, both, 2), 1);
	both[0] = guest(3, NULL);
	assert_int_equal(placed_of(&h, both, 2), 2);
}

/* Split 7 + 1 so that the other has room on the second node: 4 + 4 would leave none. */
static void uneven_splits_make_room(void **state)
{
	struct vfctl_request both[] = {guest(8, NULL), guest(5, NULL)};
	struct host_model h;

	make_host(&h, 2, 7, 1);
	for (int i = 0; i < 2; i++) {
		both[i].emulator_cores = 0;
		both[i].has_emulator = true;
		both[i].memory_bytes = 8 * GIB;
	}
	both[1].cells_max = 1;
	assert_int_equal(placed_of(&h, both, 2), 2);
}

/* ... but where nothing is lost by it, cells are even, though room would be saved. */
static void even_cells_come_before_room(void **state)
{
	struct vfctl_request r = guest(6, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 3, 4, 1);
	for (unsigned i = 0; i < 9; i++)
		h.distances[i] = i % 4 == 0 ? 10 : 20;
	vfctl_cpuset_parse("4-5", &h.model.busy_cpus);
	r.emulator_cores = 0;
	r.has_emulator = true;
	r.memory_bytes = 6 * GIB;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].cell_count, 2);
	assert_int_equal(plan->assignments[0].cells[0].node, 0);
	assert_int_equal(plan->assignments[0].cells[1].node, 2);
	vfctl_plan_free(plan);
}

/* A move that would only tidy up is not made: they are local where they are. */
static void no_move_for_room(void **state)
{
	struct vfctl_promise memory[] = {{.node = 0, .bytes = GIB}, {.node = 1, .bytes = GIB}};
	struct vfctl_occupant o[] = {{.name = "a", .memory = &memory[0], .memory_count = 1},
		{.name = "b", .memory = &memory[1], .memory_count = 1}};
	struct vfctl_rebalance *r;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	vfctl_cpuset_parse("0", &o[0].cpus);
	vfctl_cpuset_parse("4", &o[1].cpus);
	h.model.occupants = o;
	h.model.occupant_count = 2;
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 0);
	vfctl_rebalance_free(r);
}

/* SLIT tables need not be symmetric: both ways count. */
static void distance_counts_both_ways(void **state)
{
	struct vfctl_cell_want cells[] = {cell(1, 1, VFCTL_NODE_NONE), cell(1, 1, VFCTL_NODE_NONE)};
	struct vfctl_request r = with_cells(cells, 2);
	struct host_model h;

	make_host(&h, 2, 4, 1);
	r.max_distance = 20;
	for (int way = 0; way < 2; way++) {
		h.distances[1] = way ? 15 : 25;
		h.distances[2] = way ? 25 : 15;
		assert_int_equal(placed_of(&h, &r, 1), 0);
	}
	h.distances[2] = 15;
	assert_int_equal(placed_of(&h, &r, 1), 1);
}

/* Nine unlike nodes and eight unlike cells: more orders than are looked at. */
static void more_ways_than_are_looked_at(void **state)
{
	struct vfctl_cell_want cells[8];
	struct vfctl_plan *plan;
	struct vfctl_request r;
	struct host_model h;

	make_host(&h, 9, 7, 1);
	for (unsigned i = 0; i < 9; i++)
		h.nodes[i].memory_bytes = (40 + i) * GIB;
	for (uint32_t k = 0; k < 8; k++)
		cells[k] = cell(1 + k % 2, 1 + k, VFCTL_NODE_NONE);
	r = with_cells(cells, 8);
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 1);
	assert_int_not_equal(plan->gap_level, VFCTL_LEVELS);
	assert_true(plan->gap_level > VFCTL_LEVEL_LOCAL);
	vfctl_plan_free(plan);
}

static void one_pf_is_not_two(void **state)
{
	struct vfctl_vf_want wants[] = {any_vf, any_vf};
	struct vfctl_model_pf pf = {.bdf = bdf(0x10, 0), .node = 0, .num_vfs = 4, .max_vfs = 7,
		.names = (char *[]){"ens1", NULL}};
	struct vfctl_request r = guest(2, wants);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	add_vfs(&h, 0x10, 0, 4, 0);
	h.model.pfs = &pf;
	h.model.pf_count = 1;
	for (int i = 0; i < 2; i++) {
		wants[i].any_pf = false;
		wants[i].pf = bdf(0x10, 0);
		wants[i].anti_affinity = 1;
	}
	r.want_count = 2;
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &r, 1, NULL, &plan), -EINVAL);
	assert_string_equal(vfctl_ctx_error(ctx), "g: 2 VFs of ens1 cannot be on different PFs "
		"(apart, bond); request one, or remove that key");
	wants[0].count = 2;
	r.want_count = 1;
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &r, 1, NULL, &plan), -EINVAL);
	/* One VF in each of two sets is not a contradiction. */
	wants[0].count = 1;
	wants[1].anti_affinity = 2;
	r.want_count = 2;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	vfctl_plan_free(plan);
}

/* QEMU's second core makes the guest hold more CPUs than vCPUs; its cores have one thread. */
static void cores_of_one_thread_have_no_siblings(void **state)
{
	struct vfctl_request r = guest(2, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	r.emulator_cores = 2;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	for (size_t i = 0; i < plan->assignments[0].reason_count; i++)
		assert_null(strstr(plan->assignments[0].reasons[i].text, "equal size"));
	vfctl_plan_free(plan);
	make_host(&h, 1, 8, 2);
	r.vcpus = 3;
	plan = make_plan(&h, &r, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_CHOICE,
		"(the vCPUs do not fill cores of equal size)"));
	vfctl_plan_free(plan);
}

static int setup(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(alike_is_not_the_same),
		cmocka_unit_test(memory_of_other_nodes),
		cmocka_unit_test(whole_means_nobody_else),
		cmocka_unit_test(whole_l3_of_unlike_cores_is_refused),
		cmocka_unit_test(many_rails),
		cmocka_unit_test(distance_limits_vfs_too),
		cmocka_unit_test(preferred_vfs_do_not_split),
		cmocka_unit_test(a_search_that_is_cut_says_so),
		cmocka_unit_test(entries_are_found_by_node),
		cmocka_unit_test(guests_of_a_batch_take_from_each_other),
		cmocka_unit_test(uneven_splits_make_room),
		cmocka_unit_test(even_cells_come_before_room),
		cmocka_unit_test(no_move_for_room),
		cmocka_unit_test(distance_counts_both_ways),
		cmocka_unit_test(more_ways_than_are_looked_at),
		cmocka_unit_test(one_pf_is_not_two),
		cmocka_unit_test(cores_of_one_thread_have_no_siblings),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
