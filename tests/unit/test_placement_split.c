// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests of cells: auto that fit only when they are split, and the host as one guest. */
#include "placement_case.h"

#include "placement/model/host_model.h"

static struct vfctl_request auto_guest(uint32_t vcpus, uint64_t memory)
{
	struct vfctl_request r = guest(vcpus, NULL);

	r.memory_bytes = memory;
	r.has_emulator = true;
	r.emulator_cores = 0;
	return r;
}

/* Placed, proven and local; its cells have so many vCPUs. */
static void assert_split(const struct host_model *h, const struct vfctl_request *r,
	const uint32_t *vcpus, size_t count)
{
	struct vfctl_plan *plan = make_plan(h, r, 1);
	const struct vfctl_assignment *a = &plan->assignments[0];

	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(plan->gap_level, VFCTL_LEVELS);
	assert_true(a->local);
	assert_int_equal(a->cell_count, count);
	for (size_t k = 0; k < count; k++)
		assert_int_equal(a->cells[k].vcpu_count, vcpus[k]);
	vfctl_plan_free(plan);
}

static void assert_refused(const struct host_model *h, const struct vfctl_request *r,
	enum vfctl_refusal refusal)
{
	struct vfctl_plan *plan = make_plan(h, r, 1);

	assert_int_equal(plan->assignments[0].refusal, refusal);
	vfctl_plan_free(plan);
}

/* Two rails, a PF on each node: each node has VFs enough, but of one PF. */
static void rails_of_two_nodes_split(void **state)
{
	const struct vfctl_vf_want rails = {.any_pf = true, .fabric = VFCTL_FABRIC_ANY,
		.count = 2, .cell = VFCTL_CELL_ANY, .anti_affinity = 1};
	struct vfctl_request r = auto_guest(4, 4 * GIB);
	struct host_model h;

	make_host(&h, 2, 8, 1);
	add_vfs(&h, 0x10, 0, 4, 0);
	add_vfs(&h, 0x80, 1, 4, 0);
	r.wants = &rails;
	r.want_count = 1;
	assert_split(&h, &r, (uint32_t[]){2, 2}, 2);
	r.cells_max = 1;
	assert_refused(&h, &r, VFCTL_REFUSAL_VFS);
}

/* A core for each of two vCPUs, though one core has threads for both. */
static void cells_need_not_fill_cores(void **state)
{
	const struct vfctl_vf_want wants[] = {
		{.pf = {.bus = 0x10}, .fabric = VFCTL_FABRIC_ANY, .count = 1, .cell = VFCTL_CELL_ANY},
		{.pf = {.bus = 0x80}, .fabric = VFCTL_FABRIC_ANY, .count = 1, .cell = VFCTL_CELL_ANY},
	};
	struct vfctl_request r = auto_guest(2, 4 * GIB);
	struct host_model h;

	make_host(&h, 2, 4, 2);
	add_vfs(&h, 0x10, 0, 1, 0);
	add_vfs(&h, 0x80, 1, 1, 0);
	r.wants = wants;
	r.want_count = 2;
	assert_split(&h, &r, (uint32_t[]){1, 1}, 2);
	/* The same for memory that no node has alone. */
	r.want_count = 0;
	r.memory_bytes = 100 * GIB;
	assert_split(&h, &r, (uint32_t[]){1, 1}, 2);
	/* Siblings are asked for: there is no way. */
	r.threads = VFCTL_THREADS_REQUIRE;
	assert_refused(&h, &r, VFCTL_REFUSAL_MEMORY);
}

/* Node 0 has cores of two threads, node 1 of one: 4 vCPUs are 3 + 1. */
static void nodes_of_unlike_cores(void **state)
{
	struct vfctl_request r = auto_guest(4, 4 * GIB);
	struct host_model h;

	make_host(&h, 2, 0, 1);
	add_core(&h, 0, 2);
	add_core(&h, 0, 1);
	add_core(&h, 1, 1);
	assert_split(&h, &r, (uint32_t[]){3, 1}, 2);
	r.threads = VFCTL_THREADS_ISOLATE;
	r.vcpus = 3;
	assert_split(&h, &r, (uint32_t[]){2, 1}, 2);
}

/* A cell's memory is what its node has, to the last page. */
static void memory_that_nodes_have_unevenly(void **state)
{
	struct vfctl_request r = auto_guest(8, 66 * GIB);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 3, 4, 1);
	h.nodes[0].memory_bytes = 3 * GIB;
	h.nodes[1].memory_bytes = 1 * GIB;
	h.nodes[2].memory_bytes = 62 * GIB;
	r.vcpus = 12;
	assert_split(&h, &r, (uint32_t[]){4, 4, 4}, 3);
	/* Odd amounts are given in full. */
	r.vcpus = 8;
	r.memory_bytes = 64 * GIB + 4096;
	h.nodes[2].memory_bytes = 63 * GIB;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(plan->assignments[0].memory_bytes, r.memory_bytes);
	vfctl_plan_free(plan);
	/* If memory may be remote: 1 + 63 GiB are not halves, and node 2 has no free CPU. */
	r.memory_affinity = VFCTL_AFFINITY_PREFERRED;
	r.memory_bytes = 64 * GIB;
	h.nodes[0].memory_bytes = 1 * GIB;
	h.nodes[2].memory_bytes = 63 * GIB;
	for (unsigned c = 8; c < 12; c++)
		vfctl_cpuset_or(&h.model.busy_cpus, &h.cores[c].cpus);
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	vfctl_plan_free(plan);
}

/* Another guest of the batch makes way by being split, when the one left over cannot. */
static void any_guest_of_a_batch_may_split(void **state)
{
	struct vfctl_request r[] = {auto_guest(3, GIB), auto_guest(3, GIB), auto_guest(2, GIB)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	r[0].cells_max = r[1].cells_max = 1;
	plan = make_plan(&h, r, 3);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 3);
	vfctl_plan_free(plan);
}

/* ---- the host as one guest ---- */

static void the_whole_host(void **state)
{
	struct vfctl_request r = guest(16, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	h.nodes[0].memory_bytes = h.nodes[1].memory_bytes = 24 * GIB;
	r.memory_bytes = 40 * GIB;
	r.emulator_cores = 0;
	r.iothreads = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(plan->gap_level, VFCTL_LEVELS);
	assert_string_equal(cpus_text(a), "0,1,2,3,4,5,6,7,8,9,10,11,12,13,14,15");
	assert_int_equal(a->cells[0].memory_bytes, 20 * GIB);
	assert_int_equal(a->cells[1].memory_bytes, 20 * GIB);
	assert_string_equal(set_text(&a->emulator_cpus), "0-15");
	assert_string_equal(set_text(&a->iothread_cpus), "0-15");
	assert_true(has_reason(a, VFCTL_REASON_WARNING,
		"QEMU's threads run on the CPUs of the guest's vCPUs"));
	vfctl_plan_free(plan);
}

/* All of a large host, or nearly: each node more is no more to search than its own cores. */
static void a_guest_as_wide_as_a_large_host(void **state)
{
	static const unsigned nodes[] = {16, 24, 32, 64};

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		for (uint32_t less = 0; less <= 2; less += 2) {
			struct vfctl_request r = guest(4 * nodes[i] - less, NULL);
			struct vfctl_plan *plan;
			struct host_model h;

			make_host(&h, nodes[i], 2, 2);
			r.memory_bytes = nodes[i] * GIB;
			r.emulator_cores = VFCTL_EMULATOR_AUTO;
			plan = make_plan(&h, &r, 1);
			assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
			assert_int_equal(plan->assignments[0].cell_count, nodes[i]);
			assert_int_equal(plan->assignments[0].guest_threads, 2);
			assert_int_equal(plan->gap_level, VFCTL_LEVELS);
			vfctl_plan_free(plan);
		}
}

/* A guest that takes all cores of the host needs none for QEMU: these are not what is short. */
static void all_cores_are_needed_and_no_more(void **state)
{
	struct vfctl_request r = guest(64, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 16, 2, 2);
	vfctl_cpuset_add(&h.model.busy_cpus, 0);
	r.memory_bytes = 16 * GIB;
	r.emulator_cores = VFCTL_EMULATOR_AUTO;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_int_equal(plan->gap_level, VFCTL_LEVELS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT,
		"all nodes together: 31 free whole cores (62 CPUs), 32 needed: 32 for 64 vCPUs"));
	assert_false(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT, "for QEMU's threads"));
	vfctl_plan_free(plan);
}

/* QEMU's threads on the reserved CPUs of one node, a core for I/O threads on the other. */
static void iothreads_need_not_be_beside_qemu(void **state)
{
	struct vfctl_request r = guest(3, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	vfctl_cpuset_add(&h.model.reserved_cpus, 0);
	vfctl_cpuset_parse("1-2,7", &h.model.busy_cpus);
	r.emulator_cores = VFCTL_EMULATOR_AUTO;
	r.iothreads = r.iothread_cores = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_string_equal(cpus_text(a), "3,4,5");
	assert_string_equal(set_text(&a->emulator_cpus), "0");
	assert_string_equal(set_text(&a->iothread_cpus), "6");
	vfctl_plan_free(plan);
	/* Nor where both take a core, and no node has two left. */
	make_host(&h, 2, 2, 1);
	r.vcpus = 2;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(vfctl_cpuset_count(&a->held_cpus), 3);
	assert_int_equal(vfctl_cpuset_count(&a->iothread_cpus), 1);
	assert_false(vfctl_cpuset_intersects(&a->iothread_cpus, &a->emulator_cpus));
	vfctl_plan_free(plan);
}

/* Threads that are held and have no vCPU are better than a vCPU's own. */
static void idle_siblings_carry_qemu(void **state)
{
	struct vfctl_request r = guest(2, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 2, 2);
	r.emulator_cores = 0;
	r.threads = VFCTL_THREADS_ISOLATE;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_string_equal(set_text(&a->emulator_cpus), "1,3");
	assert_true(has_reason(a, VFCTL_REASON_WARNING, "siblings of the guest's vCPUs"));
	vfctl_plan_free(plan);
	/* The host's own CPUs come first, and cost nothing. */
	add_core(&h, 0, 1);
	vfctl_cpuset_add(&h.model.reserved_cpus, 4);
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_string_equal(set_text(&a->emulator_cpus), "4");
	for (size_t i = 0; i < a->reason_count; i++)
		assert_null(strstr(a->reasons[i].text, "QEMU's threads run on"));
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
		cmocka_unit_test(rails_of_two_nodes_split),
		cmocka_unit_test(cells_need_not_fill_cores),
		cmocka_unit_test(nodes_of_unlike_cores),
		cmocka_unit_test(memory_that_nodes_have_unevenly),
		cmocka_unit_test(any_guest_of_a_batch_may_split),
		cmocka_unit_test(the_whole_host),
		cmocka_unit_test(a_guest_as_wide_as_a_large_host),
		cmocka_unit_test(all_cores_are_needed_and_no_more),
		cmocka_unit_test(iothreads_need_not_be_beside_qemu),
		cmocka_unit_test(idle_siblings_carry_qemu),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
