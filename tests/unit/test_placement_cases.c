// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Ordinary cases that other systems' planners get wrong, each under the name of the planner
 * and of what it does: refused guests that fit, remote VFs while local ones are free, guests
 * that block the next one.
 */
#include "placement/model/host_model.h"
#include "placement_case.h"

static struct vfctl_cell_want cell(uint32_t vcpus, uint64_t gib)
{
	return (struct vfctl_cell_want){.vcpus = vcpus, .memory_bytes = gib * GIB,
		.node = VFCTL_NODE_NONE};
}

/* Cells and nothing else: QEMU's threads are somewhere. */
static struct vfctl_request celled(const struct vfctl_cell_want *cells, size_t count)
{
	struct vfctl_request r = {.name = "g", .node = VFCTL_NODE_NONE, .has_emulator = true,
		.threads = VFCTL_THREADS_NONE, .cells = cells, .cell_count = count};

	for (size_t i = 0; i < count; i++) {
		r.vcpus += cells[i].vcpus;
		r.memory_bytes += cells[i].memory_bytes;
	}
	return r;
}

static void use_cores(struct host_model *h, unsigned node, unsigned count)
{
	for (size_t i = 0; i < h->topology.core_count && count; i++)
		if (h->cores[i].node == (int)node &&
			!vfctl_cpuset_intersects(&h->cores[i].cpus, &h->model.busy_cpus)) {
			vfctl_cpuset_or(&h->model.busy_cpus, &h->cores[i].cpus);
			count--;
		}
}

static void assert_nodes(const struct vfctl_assignment *a, const int *nodes, size_t count)
{
	for (size_t i = 0; a->refusal && i < a->reason_count; i++)
		print_error("%s\n", a->reasons[i].text);
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(a->cell_count, count);
	for (size_t i = 0; i < count; i++)
		assert_int_equal(a->cells[i].node, nodes[i]);
}

static unsigned vfs_on(const struct vfctl_assignment *a, int node)
{
	unsigned n = 0;

	for (size_t i = 0; i < a->vf_count; i++)
		n += a->vfs[i].node == node;
	return n;
}

/* A second cell that fitted nowhere at first is not asked again (stale cache). */
static void nova_refuses_cells_in_the_wrong_order(void **state)
{
	const struct vfctl_cell_want cells[] = {cell(2, 1), cell(4, 1)};
	struct vfctl_request r = celled(cells, 2);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 3, 4, 1);
	use_cores(&h, 0, 2);
	use_cores(&h, 2, 4);
	plan = make_plan(&h, &r, 1);
	assert_nodes(&plan->assignments[0], (int[]){0, 1}, 2);
	vfctl_plan_free(plan);
}

/* Two cells get the same CPUs, on a node that is not theirs. */
static void nova_gives_cpus_twice(void **state)
{
	const struct vfctl_cell_want cells[] = {cell(2, 1), cell(2, 1), cell(4, 1)};
	struct vfctl_request r = celled(cells, 3);
	const struct vfctl_assignment *a;
	struct vfctl_cpuset seen = {0};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 4, 4, 1);
	use_cores(&h, 0, 2);
	use_cores(&h, 2, 4);
	use_cores(&h, 3, 2);
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_nodes(a, (int[]){0, 3, 1}, 3);
	for (size_t i = 0; i < a->vcpu_count; i++) {
		assert_false(vfctl_cpuset_has(&seen, a->vcpus[i]));
		vfctl_cpuset_add(&seen, a->vcpus[i]);
	}
	vfctl_plan_free(plan);
}

/* [any VF, VF of A]: the first takes the only one of A, and the guest is refused. */
static void nova_serves_vfs_in_the_order_asked(void **state)
{
	struct vfctl_vf_want wants[2] = {any_vf, any_vf};
	struct vfctl_request r = guest(2, wants);

	for (int first = 0; first < 2; first++) {
		struct vfctl_plan *plan;
		struct host_model h;

		make_host(&h, 1, 4, 1);
		add_vfs(&h, 0x10, 0, 1, 7);
		add_vfs(&h, 0x20, 0, 1, 8);
		wants[first].fabric = VFCTL_FABRIC_ANY;
		wants[!first].fabric = 7;
		r.want_count = 2;
		plan = make_plan(&h, &r, 1);
		assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
		assert_int_equal(plan->assignments[0].vfs[!first].fabric, 7);
		vfctl_plan_free(plan);
	}
}

/* Affinity to the socket takes both VFs from the node without CPUs, with one at hand. */
static void nova_socket_takes_the_far_vf(void **state)
{
	struct vfctl_vf_want two = any_vf;
	struct vfctl_request r = guest(2, &two);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	h.topology.core_count = 4;
	h.nodes[1].cpus = (struct vfctl_cpuset){0};
	h.topology.online = h.nodes[0].cpus;
	add_vfs(&h, 0x10, 1, 2, 0);
	add_vfs(&h, 0x20, 0, 1, 0);
	two.count = 2;
	two.affinity = VFCTL_AFFINITY_SOCKET;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(vfs_on(&plan->assignments[0], 0), 1);
	assert_int_equal(vfs_on(&plan->assignments[0], 1), 1);
	vfctl_plan_free(plan);
}

/* QEMU's core is counted where it does not fit: 4 + 3 on 4 + 4 cores is refused. */
static void nova_has_no_place_for_the_emulator(void **state)
{
	const struct vfctl_cell_want cells[] = {cell(4, 1), cell(3, 1)};
	struct vfctl_request r = celled(cells, 2);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	r.has_emulator = false;
	r.emulator_cores = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_true(vfctl_cpuset_within(&a->emulator_cpus, &h.nodes[a->cells[1].node].cpus));
	vfctl_plan_free(plan);
}

/* Two cells land on two sockets while a whole socket is free. */
static void nova_spreads_cells_over_sockets(void **state)
{
	const struct vfctl_cell_want cells[] = {cell(2, 1), cell(2, 1)};
	struct vfctl_request r = celled(cells, 2);
	struct vfctl_plan *plan;
	struct host_model h;
	int a, b;

	make_host(&h, 4, 4, 1);
	for (unsigned i = 0; i < 16; i++)
		h.distances[i] = i % 5 == 0 ? 10 : i / 8 == i % 4 / 2 ? 12 : 32;
	use_cores(&h, 0, 2);
	plan = make_plan(&h, &r, 1);
	a = plan->assignments[0].cells[0].node;
	b = plan->assignments[0].cells[1].node;
	assert_int_equal(a / 2, b / 2);
	assert_int_equal(plan->assignments[0].distance, 2);
	vfctl_plan_free(plan);
}

/* VFs on two nodes and a guest of one cell: split, all of it is local. */
static void nova_refuses_what_two_cells_could_have(void **state)
{
	struct vfctl_vf_want wants[2] = {any_vf, any_vf};
	struct vfctl_request r = guest(4, wants);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 1);
	add_vfs(&h, 0x80, 1, 1, 2);
	wants[0].fabric = 1;
	wants[1].fabric = 2;
	r.want_count = 2;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_nodes(a, (int[]){0, 1}, 2);
	assert_int_equal(a->cells[0].vcpu_count, 2);
	assert_int_equal(a->cells[1].vcpu_count, 2);
	assert_true(a->local);
	assert_int_equal(a->vf_cells[0], 0);
	assert_int_equal(a->vf_cells[1], 1);
	vfctl_plan_free(plan);
}

/* Two cells, two VFs on each node: both come from the first. */
static void nova_leaves_a_cell_without_its_vf(void **state)
{
	const struct vfctl_cell_want cells[] = {cell(2, 1), cell(2, 1)};
	struct vfctl_request r = celled(cells, 2);
	struct vfctl_vf_want want = any_vf;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 2, 0);
	add_vfs(&h, 0x80, 1, 2, 0);
	r.wants = &want;
	r.want_count = 1;
	/* One in each cell, be it said or not. */
	for (int said = 0; said < 2; said++) {
		want.count = said ? 1 : 2;
		want.cell = said ? VFCTL_CELL_EACH : VFCTL_CELL_ANY;
		plan = make_plan(&h, &r, 1);
		assert_int_equal(plan->assignments[0].vf_count, 2);
		assert_int_equal(vfs_on(&plan->assignments[0], 0), 1);
		assert_int_equal(vfs_on(&plan->assignments[0], 1), 1);
		vfctl_plan_free(plan);
	}
}

/* A guest without VFs takes the CPUs beside the only VF; the next one is refused. */
static void kubelet_takes_the_lowest_node(void **state)
{
	struct vfctl_request first = guest(4, NULL), second = guest(6, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	plan = make_plan(&h, &first, 1);
	assert_int_equal(plan->assignments[0].node, 1);
	vfctl_cpuset_or(&h.model.busy_cpus, &plan->assignments[0].held_cpus);
	vfctl_plan_free(plan);
	plan = make_plan(&h, &second, 1);
	assert_nodes(&plan->assignments[0], (int[]){0}, 1);
	vfctl_plan_free(plan);
}

/* 7 vCPUs here and 1 there, 8 GiB each: the node with 2 GiB cannot start QEMU. */
static void kubevirt_splits_memory_in_halves(void **state)
{
	struct vfctl_request r = guest(8, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	use_cores(&h, 0, 1);
	use_cores(&h, 1, 7);
	h.nodes[1].memory_bytes = 2 * GIB;
	r.memory_bytes = 16 * GIB;
	r.emulator_cores = 0;
	r.has_emulator = true;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_nodes(a, (int[]){0, 1}, 2);
	assert_int_equal(a->cells[0].vcpu_count, 7);
	assert_int_equal(a->cells[0].memory_bytes, 14 * GIB);
	assert_int_equal(a->cells[1].memory_bytes, 2 * GIB);
	vfctl_plan_free(plan);
}

/* The emptier node wins over the one with the VF. */
static void opennebula_follows_free_cpus(void **state)
{
	struct vfctl_request r = guest(3, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	use_cores(&h, 1, 4);
	add_vfs(&h, 0x80, 1, 1, 0);
	plan = make_plan(&h, &r, 1);
	assert_nodes(&plan->assignments[0], (int[]){1}, 1);
	assert_true(plan->assignments[0].local);
	vfctl_plan_free(plan);
}

/* Memory of another node is charged to the node of the CPUs: the next one over-commits. */
static void opennebula_charges_the_wrong_node(void **state)
{
	struct vfctl_request queue[] = {guest(2, NULL), guest(2, NULL)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	use_cores(&h, 1, 8);
	h.nodes[0].memory_bytes = 2 * GIB;
	h.nodes[1].memory_bytes = 6 * GIB;
	for (int i = 0; i < 2; i++)
		queue[i].memory_affinity = VFCTL_AFFINITY_PREFERRED;
	plan = make_plan(&h, queue, 2);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 1);
	assert_int_equal(plan->value[VFCTL_LEVEL_LOCAL], 0);
	for (int i = 0; i < 2; i++)
		if (!plan->assignments[i].refusal)
			assert_int_equal(plan->assignments[i].cells[0].memory_node, 1);
	vfctl_plan_free(plan);
}

/* If two VFs are possible, use the one on the other node. */
static void proxmox_takes_the_first_free_vf(void **state)
{
	struct vfctl_request r = guest(2, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	add_vfs(&h, 0x80, 1, 1, 0);
	r.node = 1;
	plan = make_plan(&h, &r, 1);
	assert_nodes(&plan->assignments[0], (int[]){1}, 1);
	assert_int_equal(vfs_on(&plan->assignments[0], 1), 1);
	vfctl_plan_free(plan);
}

/* ---- what else the requests can say ---- */

static void rails_are_on_different_pfs(void **state)
{
	struct vfctl_vf_want two = any_vf;
	struct vfctl_request r = guest(2, &two);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	add_vfs(&h, 0x10, 0, 4, 0);
	add_vfs(&h, 0x20, 0, 1, 0);
	two.count = 2;
	two.anti_affinity = 1;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	assert_int_not_equal(plan->assignments[0].vfs[0].pf.bus,
		plan->assignments[0].vfs[1].pf.bus);
	vfctl_plan_free(plan);
	two.count = 3;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_VFS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT,
		"each on its own PF"));
	vfctl_plan_free(plan);
}

static void ports_are_told_apart(void **state)
{
	struct vfctl_vf_want second = any_vf;
	struct vfctl_request r = guest(2, &second);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	add_vfs(&h, 0x10, 0, 2, 0);
	add_vfs(&h, 0x20, 0, 2, 0);
	h.vfs[0].port = h.vfs[1].port = 1;
	h.vfs[2].port = h.vfs[3].port = 2;
	second.port = 2;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].vfs[0].pf.bus, 0x20);
	vfctl_plan_free(plan);
}

static void preferred_vfs_are_local_while_they_can(void **state)
{
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request queue[] = {guest(2, &want), guest(2, &want)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 2, 0);
	want.affinity = VFCTL_AFFINITY_PREFERRED;
	queue[0].cells_max = queue[1].cells_max = 1;
	plan = make_plan(&h, queue, 2);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 2);
	assert_int_equal(plan->value[VFCTL_LEVEL_LOCAL], 1);
	/* The remote one is told, with its distance. */
	assert_true(has_reason(&plan->assignments[plan->assignments[0].local ? 1 : 0],
		VFCTL_REASON_WARNING, "at distance 21"));
	vfctl_plan_free(plan);
}

static void whole_nodes_and_whole_l3_groups(void **state)
{
	struct vfctl_request node = guest(2, NULL), l3 = guest(3, NULL), small = guest(1, NULL);
	struct vfctl_request both[2];
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	for (unsigned i = 0; i < 16; i++)
		h.cores[i].l3 = (int)i / 4;
	use_cores(&h, 0, 1);
	node.whole_node = true;
	plan = make_plan(&h, &node, 1);
	assert_nodes(&plan->assignments[0], (int[]){1}, 1);
	assert_string_equal(set_text(&plan->assignments[0].held_cpus), "8-15");
	vfctl_plan_free(plan);

	/* 3 vCPUs and a core for QEMU are one group of four, and the small one is not in it. */
	l3.whole_l3 = true;
	both[0] = small;
	both[1] = l3;
	both[0].node = both[1].node = 0;
	plan = make_plan(&h, both, 2);
	assert_string_equal(set_text(&plan->assignments[1].held_cpus), "4-7");
	assert_string_equal(set_text(&plan->assignments[0].held_cpus), "1-2");
	vfctl_plan_free(plan);
}

static void shared_vcpus_float(void **state)
{
	struct vfctl_request r = guest(6, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	vfctl_cpuset_parse("0-1", &h.model.shared_cpus);
	h.model.shared_ratio = 2;
	r.shared_vcpus = 4;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_string_equal(set_text(&a->cells[0].shared_cpus), "0-1");
	assert_int_equal(a->cells[0].shared_vcpus, 4);
	assert_int_equal(a->vcpus[5], VFCTL_CPU_MAX);
	assert_string_equal(set_text(&a->held_cpus), "2-4");
	assert_int_equal(a->guest_threads, 1);
	vfctl_plan_free(plan);
	/* Two CPUs with two each carry four. */
	r.shared_vcpus = 5;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT,
		"5 shared vCPUs requested, its shared CPUs have capacity for 4 more"));
	vfctl_plan_free(plan);
}

static void no_farther_than_asked(void **state)
{
	const struct vfctl_cell_want cells[] = {cell(2, 1), cell(2, 1)};
	struct vfctl_request r = celled(cells, 2);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	r.max_distance = 20;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	vfctl_plan_free(plan);
	r.max_distance = 21;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	vfctl_plan_free(plan);
}

/* ---- requests that contradict themselves ---- */

static void assert_error(const struct host_model *h, const struct vfctl_request *r,
	const char *message)
{
	struct vfctl_plan *plan;

	assert_int_equal(vfctl_plan_make(ctx, &h->model, r, 1, NULL, &plan), -EINVAL);
	if (!strstr(vfctl_ctx_error(ctx), message))
		fail_msg("'%s' lacks '%s'", vfctl_ctx_error(ctx), message);
}

static void contradictions_are_named(void **state)
{
	struct vfctl_cell_want cells[] = {cell(2, 1), cell(2, 1), cell(2, 1)};
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 2, 0);

	/* A VF of node 0, in a cell on node 1. */
	cells[0].node = 1;
	want.any_pf = false;
	want.pf = bdf(0x10, 0);
	want.cell = 0;
	r = celled(cells, 2);
	r.wants = &want;
	r.want_count = 1;
	assert_error(&h, &r, "required local to node 1, but the VFs of 0000:10:00.0 are on "
		"another node");
	cells[0].node = VFCTL_NODE_NONE;

	r = celled(cells, 2);
	r.vcpus = 5;
	assert_error(&h, &r, "its cells have 4 vCPUs together, the guest 5");
	r = celled(cells, 2);
	r.memory_bytes = GIB;
	assert_error(&h, &r, "bytes of memory together");
	r = celled(cells, 3);
	r.vcpus = 2;
	assert_error(&h, &r, "3 cells for 2 vCPUs");
	cells[0].node = cells[1].node = 1;
	r = celled(cells, 2);
	assert_error(&h, &r, "cells 0 and 1 both need node 1");
	cells[0].node = 9;
	assert_error(&h, &r, "needs node 9, which this host does not have");
	cells[0].node = cells[1].node = VFCTL_NODE_NONE;
	r.node = 1;
	assert_error(&h, &r, "each cell needs its own node");
	r = guest(2, &want);
	want.cell = VFCTL_CELL_EACH;
	assert_error(&h, &r, "the number of cells is not stated");
	want.cell = 4;
	assert_error(&h, &r, "for cell 4, but the guest has 0");
	r = guest(3, NULL);
	r.threads = VFCTL_THREADS_REQUIRE;
	assert_error(&h, &r, "the cores of this host have one thread each");
	make_host(&h, 1, 4, 2);
	assert_error(&h, &r, "3 vCPUs do not fill cores of 2 threads");
	r = guest(2, NULL);
	r.shared_vcpus = 3;
	assert_error(&h, &r, "3 shared vCPUs are requested; it must be 0 to 2");
	r = guest(2, NULL);
	r.iothread_cores = 1;
	assert_error(&h, &r, "but no I/O threads");
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
		cmocka_unit_test(nova_refuses_cells_in_the_wrong_order),
		cmocka_unit_test(nova_gives_cpus_twice),
		cmocka_unit_test(nova_serves_vfs_in_the_order_asked),
		cmocka_unit_test(nova_socket_takes_the_far_vf),
		cmocka_unit_test(nova_has_no_place_for_the_emulator),
		cmocka_unit_test(nova_spreads_cells_over_sockets),
		cmocka_unit_test(nova_refuses_what_two_cells_could_have),
		cmocka_unit_test(nova_leaves_a_cell_without_its_vf),
		cmocka_unit_test(kubelet_takes_the_lowest_node),
		cmocka_unit_test(kubevirt_splits_memory_in_halves),
		cmocka_unit_test(opennebula_follows_free_cpus),
		cmocka_unit_test(opennebula_charges_the_wrong_node),
		cmocka_unit_test(proxmox_takes_the_first_free_vf),
		cmocka_unit_test(rails_are_on_different_pfs),
		cmocka_unit_test(ports_are_told_apart),
		cmocka_unit_test(preferred_vfs_are_local_while_they_can),
		cmocka_unit_test(whole_nodes_and_whole_l3_groups),
		cmocka_unit_test(shared_vcpus_float),
		cmocka_unit_test(no_farther_than_asked),
		cmocka_unit_test(contradictions_are_named),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
