// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement_case.h"

#include "placement/model/host_model.h"
#include "topology/topology.h"

static void guest_goes_to_the_node_of_its_vf(void **state)
{
	struct host_model h;
	struct vfctl_request request = guest(4, &any_vf);
	struct vfctl_plan *plan;
	const struct vfctl_assignment *a;

	make_host(&h, 2, 4, 2);
	add_vfs(&h, 0x80, 1, 2, 0);
	request.iothreads = 1;
	plan = make_plan(&h, &request, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(a->node, 1);
	assert_string_equal(cpus_text(a), "8,9,10,11");
	assert_int_equal(a->guest_threads, 2);
	assert_string_equal(set_text(&a->emulator_cpus), "12-13");
	assert_string_equal(set_text(&a->iothread_cpus), "12-13");
	assert_string_equal(set_text(&a->held_cpus), "8-13");
	assert_int_equal(a->vf_count, 1);
	assert_int_equal(a->vfs[0].index, 0);
	assert_true(has_reason(a, VFCTL_REASON_CHOICE, "0000:80:00.1"));
	vfctl_plan_free(plan);
}

static void siblings_are_adjacent_under_interleaved_numbers(void **state)
{
	struct vfctl_request request = guest(4, NULL);
	struct host_model h;
	struct vfctl_plan *plan;

	make_host(&h, 1, 4, 2);
	for (unsigned i = 0; i < 4; i++) {
		h.cores[i].cpus = (struct vfctl_cpuset){0};
		vfctl_cpuset_add(&h.cores[i].cpus, i);
		vfctl_cpuset_add(&h.cores[i].cpus, i + 4);
	}
	plan = make_plan(&h, &request, 1);
	assert_string_equal(cpus_text(&plan->assignments[0]), "0,4,1,5");
	vfctl_plan_free(plan);
}

static void core_with_one_busy_thread_is_not_free(void **state)
{
	struct vfctl_request request = guest(4, NULL);
	struct host_model h;
	struct vfctl_plan *plan;

	make_host(&h, 1, 5, 2);
	vfctl_cpuset_add(&h.model.busy_cpus, 1);
	vfctl_cpuset_add(&h.model.reserved_cpus, 4);
	plan = make_plan(&h, &request, 1);
	assert_string_equal(cpus_text(&plan->assignments[0]), "2,3,6,7");
	assert_string_equal(set_text(&plan->assignments[0].emulator_cpus), "8-9");
	vfctl_plan_free(plan);
}

static void thread_policies(void **state)
{
	static const struct {
		enum vfctl_threads threads;
		uint32_t vcpus;
		const char *cpus;
		uint32_t guest_threads;
		enum vfctl_refusal refusal;
	} cases[] = {
		{VFCTL_THREADS_PREFER, 4, "0,1,2,3", 2, 0},
		{VFCTL_THREADS_PREFER, 3, "0,1,2", 1, 0},
		{VFCTL_THREADS_REQUIRE, 4, "0,1,2,3", 2, 0},
		{VFCTL_THREADS_ISOLATE, 3, "0,2,4", 1, 0},
		{VFCTL_THREADS_ISOLATE, 4, "", 0, VFCTL_REFUSAL_CPUS},
		{VFCTL_THREADS_NONE, 4, "0,1,2,3", 1, 0},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_request request = guest(cases[i].vcpus, NULL);
		const struct vfctl_assignment *a;
		struct vfctl_plan *plan;
		struct host_model h;

		make_host(&h, 1, 4, 2);
		request.threads = cases[i].threads;
		plan = make_plan(&h, &request, 1);
		a = &plan->assignments[0];
		assert_int_equal(a->refusal, cases[i].refusal);
		if (!a->refusal) {
			assert_string_equal(cpus_text(a), cases[i].cpus);
			assert_int_equal(a->guest_threads, cases[i].guest_threads);
		}
		vfctl_plan_free(plan);
	}
}

/* Cores {0,1} {2,3} {4} and {0,1} {2}: first-come planners break the large cores. */
static void small_cores_go_first(void **state)
{
	struct vfctl_request queue[] = {guest(3, NULL), guest(2, NULL)};
	struct vfctl_request other[] = {guest(1, NULL), guest(2, NULL)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 2, 2);
	add_core(&h, 0, 1);
	queue[0].emulator_cores = queue[1].emulator_cores = 0;
	queue[1].threads = VFCTL_THREADS_REQUIRE;
	add_core(&h, 0, 1);
	vfctl_cpuset_add(&h.model.reserved_cpus, 5);
	plan = make_plan(&h, queue, 2);
	assert_string_equal(cpus_text(&plan->assignments[0]), "0,1,4");
	assert_string_equal(cpus_text(&plan->assignments[1]), "2,3");
	assert_string_equal(set_text(&plan->assignments[1].emulator_cpus), "5");
	vfctl_plan_free(plan);

	other[0].emulator_cores = other[1].emulator_cores = 0;
	other[1].threads = VFCTL_THREADS_REQUIRE;
	vfctl_cpuset_add(&h.model.reserved_cpus, 2);
	plan = make_plan(&h, other, 2);
	assert_string_equal(cpus_text(&plan->assignments[0]), "4");
	assert_string_equal(cpus_text(&plan->assignments[1]), "0,1");
	vfctl_plan_free(plan);
}

static void one_l3_holds_the_guest_when_it_can(void **state)
{
	struct vfctl_request request = guest(4, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 10, 1);
	for (unsigned i = 0; i < 10; i++)
		h.cores[i].l3 = i < 3 ? 0 : i < 8 ? 1 : 2;
	plan = make_plan(&h, &request, 1);
	assert_string_equal(cpus_text(&plan->assignments[0]), "3,4,5,6");
	assert_string_equal(set_text(&plan->assignments[0].emulator_cpus), "7");
	vfctl_plan_free(plan);
}

/* Wants [any, PF A] with one VF on A and one on B: the narrow want is served first. */
static void narrow_wants_are_served_first(void **state)
{
	struct vfctl_vf_want wants[] = {
		any_vf, {.pf = bdf(0x10, 0), .fabric = VFCTL_FABRIC_ANY, .cell = VFCTL_CELL_ANY, .count = 1}};
	struct vfctl_request request = guest(2, wants);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	add_vfs(&h, 0x20, 0, 1, 1);
	request.want_count = 2;
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_NONE);
	assert_int_equal(plan->assignments[0].vfs[0].bdf.bus, 0x20);
	assert_int_equal(plan->assignments[0].vfs[1].bdf.bus, 0x10);
	vfctl_plan_free(plan);
}

/* n0: 8 CPUs and 2 VFs, n1: 8 CPUs and 1 VF; 3+VF, 3+VF, then 7 without. */
static void queue_that_spreading_would_lose(void **state)
{
	struct vfctl_request queue[] = {
		guest(3, &any_vf), guest(3, &any_vf), guest(7, NULL)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	add_vfs(&h, 0x10, 0, 2, 0);
	add_vfs(&h, 0x80, 1, 1, 0);
	plan = make_plan(&h, queue, 3);
	for (size_t i = 0; i < 3; i++) {
		assert_int_equal(plan->assignments[i].refusal, VFCTL_REFUSAL_NONE);
		assert_int_equal(plan->assignments[i].node, i == 2);
	}
	vfctl_plan_free(plan);
}

/* n0 has the only VF: a guest without VFs keeps off it. */
static void guest_without_vfs_leaves_their_node_free(void **state)
{
	struct vfctl_request queue[] = {guest(4, NULL), guest(6, &any_vf)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	plan = make_plan(&h, queue, 2);
	assert_int_equal(plan->assignments[0].node, 1);
	assert_int_equal(plan->assignments[1].node, 0);
	vfctl_plan_free(plan);
}

/* Even where that node would leave less over. */
static void guest_without_vfs_prefers_room_to_waste(void **state)
{
	struct vfctl_request request = guest(3, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 8, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	vfctl_cpuset_add(&h.model.busy_cpus, 0);
	vfctl_cpuset_add(&h.model.busy_cpus, 1);
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].node, 1);
	vfctl_plan_free(plan);
}

static void vf_without_locality_warns(void **state)
{
	struct vfctl_request request = guest(2, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, VFCTL_NODE_NONE, 1, 0);
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].node, 0);
	assert_true(
		has_reason(&plan->assignments[0], VFCTL_REASON_WARNING, "no NUMA node"));
	vfctl_plan_free(plan);

	/* With a local VF on node 1, that is better than guessing. */
	add_vfs(&h, 0x80, 1, 1, 0);
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].node, 1);
	assert_int_equal(plan->assignments[0].vfs[0].bdf.bus, 0x80);
	vfctl_plan_free(plan);
}

static void vf_on_a_node_without_cpus_goes_to_the_nearest(void **state)
{
	struct vfctl_request request = guest(2, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 3, 4, 1);
	vfctl_cpuset_andnot(&h.topology.online, &h.nodes[2].cpus);
	h.nodes[2].cpus = (struct vfctl_cpuset){0};
	h.topology.core_count = 8;
	add_vfs(&h, 0x10, 2, 1, 0);
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].node, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_WARNING, "nearest"));
	vfctl_plan_free(plan);
}

static void refusals_say_what_is_short(void **state)
{
	struct vfctl_vf_want two = {
		.pf = bdf(0x10, 0), .fabric = VFCTL_FABRIC_ANY, .cell = VFCTL_CELL_ANY, .count = 2};
	struct vfctl_model_pf pf = {.bdf = bdf(0x10, 0), .num_vfs = 1, .max_vfs = 7,
		.names = (char *[]){"left", NULL}};
	struct vfctl_request request = guest(2, &two);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	h.model.pfs = &pf;
	h.model.pf_count = 1;
	plan = make_plan(&h, &request, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_VFS);
	assert_int_equal(a->node, VFCTL_NODE_NONE);
	assert_true(has_reason(a, VFCTL_REASON_SHORT,
		"2 of left requested, local; free: 1 on node 0"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY,
		"create 1 more VF on left (it has 1 of 7)"));
	vfctl_plan_free(plan);
	/* If the PF can have no more VFs, this is not proposed. */
	pf.max_vfs = 1;
	plan = make_plan(&h, &request, 1);
	for (size_t i = 0; i < plan->assignments[0].reason_count; i++)
		assert_null(strstr(plan->assignments[0].reasons[i].text, "create"));
	vfctl_plan_free(plan);
	h.model.pf_count = 0;

	request = guest(4, &any_vf);
	request.cells_max = 1;
	plan = make_plan(&h, &request, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_reason(a, VFCTL_REASON_SHORT,
		"node 0: 4 free whole cores (4 CPUs), 5 needed: 4 for 4 vCPUs"));
	assert_true(has_reason(a, VFCTL_REASON_SHORT, "node 1: VFs: 1 of any PF requested, local; free: "
		"1 on node 0"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY,
		"with 3 vCPUs it fits, on node 0"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY,
		"with cells: auto it fits, on nodes 0-1"));
	vfctl_plan_free(plan);

	request = guest(2, &any_vf);
	request.page_bytes = GIB;
	request.cells_max = 1;
	vfctl_topology_set_pages(&h.topology, 0, GIB, 3, 3);
	vfctl_topology_set_pages(&h.topology, 1, GIB, 8, 8);
	plan = make_plan(&h, &request, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_MEMORY);
	assert_true(has_reason(
		a, VFCTL_REASON_SHORT, "4 GiB requested in pages of 1 GiB, 3 GiB free"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "reserve 1 more page of 1 GiB on node 0 "
		"(hugepages-1048576kB/nr_hugepages)"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY,
		"with affinity: preferred (some of its VFs would be remote) it fits"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with 3 GiB of memory it fits"));
	vfctl_plan_free(plan);
}

static void refused_guest_does_not_disturb_the_next(void **state)
{
	struct vfctl_request queue[] = {guest(99, &any_vf), guest(2, &any_vf)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	plan = make_plan(&h, queue, 2);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_int_equal(plan->assignments[1].refusal, VFCTL_REFUSAL_NONE);
	vfctl_plan_free(plan);
}

static void pages_and_promises(void **state)
{
	struct vfctl_promise promises[] = {
		{.node = 0, .page_bytes = GIB, .bytes = 2 * GIB, .taken = true},
		{.node = 0, .page_bytes = GIB, .bytes = 1 * GIB},
		{.node = 0, .page_bytes = 64 * MIB, .bytes = 99 * GIB},
	};
	struct vfctl_request queue[] = {guest(1, NULL), guest(1, NULL), guest(1, NULL)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	h.model.promises = promises;
	h.model.promise_count = 3;
	vfctl_topology_set_pages(&h.topology, 0, GIB, 9, 7);
	vfctl_topology_set_pages(&h.topology, 0, 2 * MIB, 2048, 2048);
	for (size_t i = 0; i < 3; i++)
		queue[i].page_bytes = VFCTL_PAGES_AUTO;
	/* 9 pages less 3 promised: one guest of 4 GiB; then small pages; then base pages.
	 */
	plan = make_plan(&h, queue, 3);
	assert_true(plan->assignments[0].page_bytes == GIB);
	assert_true(plan->assignments[1].page_bytes == 2 * MIB);
	assert_true(plan->assignments[2].page_bytes == VFCTL_PAGES_BASE);
	assert_true(
		has_reason(&plan->assignments[2], VFCTL_REASON_WARNING, "base pages"));
	vfctl_plan_free(plan);
}

/* The leases and the kernel report different numbers: the smaller one counts. */
static void pages_are_free_only_when_both_say_so(void **state)
{
	struct vfctl_promise promise = {
		.node = 0, .page_bytes = GIB, .bytes = 6 * GIB, .taken = true};
	struct vfctl_request request = guest(1, NULL);
	static const struct {
		uint64_t total, free;
		size_t promises;
		enum vfctl_refusal refusal;
	} cases[] = {
		{9, 9, 0, VFCTL_REFUSAL_NONE},
		{9, 3, 0, VFCTL_REFUSAL_MEMORY}, /* a foreign guest took 6 */
		{9, 9, 1, VFCTL_REFUSAL_MEMORY}, /* taken since the counts were read */
		{10, 4, 1, VFCTL_REFUSAL_NONE},  /* ours took 6, counted once */
		{10, VFCTL_COUNT_UNKNOWN, 1, VFCTL_REFUSAL_NONE},
		{9, VFCTL_COUNT_UNKNOWN, 1, VFCTL_REFUSAL_MEMORY},
	};

	request.page_bytes = GIB;
	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_plan *plan;
		struct host_model h;

		make_host(&h, 1, 4, 1);
		vfctl_topology_set_pages(
			&h.topology, 0, GIB, cases[i].total, cases[i].free);
		h.model.promises = &promise;
		h.model.promise_count = cases[i].promises;
		plan = make_plan(&h, &request, 1);
		assert_int_equal(plan->assignments[0].refusal, cases[i].refusal);
		vfctl_plan_free(plan);
	}
}

static void memory_less_node_is_refused(void **state)
{
	struct vfctl_request request = guest(2, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	h.nodes[0].memory_bytes = 0;
	add_vfs(&h, 0x10, 0, 1, 0);
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_MEMORY);
	vfctl_plan_free(plan);
}

static void absurd_requests_are_named(void **state)
{
	static const struct vfctl_vf_want none = {
		.any_pf = true, .cell = VFCTL_CELL_ANY, .fabric = -1, .count = 0};
	static const struct vfctl_vf_want many = {
		.any_pf = true, .cell = VFCTL_CELL_ANY, .fabric = -1, .count = 65};
	struct vfctl_request requests[12];
	const char *message[12];
	struct host_model h;
	size_t n = 0;

	make_host(&h, 1, 4, 1);
#define CASE(word, ...)                                                                  \
	do {                                                                             \
		requests[n] = guest(2, NULL);                                            \
		__VA_ARGS__;                                                             \
		message[n++] = word;                                                       \
	} while (0)
	CASE("0 vCPUs", requests[n].vcpus = 0);
	CASE("5000 vCPUs", requests[n].vcpus = 5000);
	CASE("65 emulator cores", requests[n].emulator_cores = 65);
	CASE("100 I/O threads", requests[n].iothreads = 100);
	CASE("the guest has no memory", requests[n].memory_bytes = 0);
	CASE("powers of two", requests[n].page_bytes = 3 * MIB);
	CASE("whole number of pages", requests[n].page_bytes = GIB;
		requests[n].memory_bytes = GIB + 1);
	CASE("0 VFs", requests[n] = guest(2, &none));
	CASE("65 VFs", requests[n] = guest(2, &many));
	CASE("node 7", requests[n].node = 7);
	CASE("thread policy 9", requests[n].threads = (enum vfctl_threads)9);
	CASE("no name", requests[n].name = NULL);
#undef CASE
	for (size_t i = 0; i < n; i++) {
		struct vfctl_plan *plan = NULL;

		assert_int_equal(
			vfctl_plan_make(ctx, &h.model, &requests[i], 1, NULL, &plan), -EINVAL);
		assert_null(plan);
		if (!strstr(vfctl_ctx_error(ctx), message[i]))
			fail_msg("'%s' lacks '%s'", vfctl_ctx_error(ctx), message[i]);
	}
}

static void absurd_hosts_are_named(void **state)
{
	struct vfctl_request request = guest(2, NULL);
	struct vfctl_plan *plan = NULL;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	vfctl_cpuset_add(&h.nodes[1].cpus, 2);
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &request, 1, NULL, &plan), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "nodes[1].cpus: CPU 2 is in node 0 too"));

	make_host(&h, 2, 4, 1);
	vfctl_cpuset_add(&h.cores[1].cpus, 0);
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &request, 1, NULL, &plan), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "in cores[0] too"));

	make_host(&h, 2, 4, 1);
	h.nodes[1].id = 0;
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &request, 1, NULL, &plan), -EINVAL);

	make_host(&h, 1, 4, 1);
	h.topology.node_count = 0;
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &request, 1, NULL, &plan), -EINVAL);

	make_host(&h, 1, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	add_vfs(&h, 0x10, 0, 1, 0);
	assert_int_equal(vfctl_plan_make(ctx, &h.model, &request, 1, NULL, &plan), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "0000:10:00.1"));
	assert_null(plan);
}

static void asked_node_is_kept(void **state)
{
	struct vfctl_request request = guest(2, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 3, 4, 1);
	request.node = 2;
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].node, 2);
	vfctl_plan_free(plan);
	vfctl_cpuset_andnot(&h.topology.online, &h.nodes[2].cpus);
	h.nodes[2].cpus = (struct vfctl_cpuset){0};
	h.topology.core_count = 8;
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT, "no CPUs"));
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
		cmocka_unit_test(guest_goes_to_the_node_of_its_vf),
		cmocka_unit_test(siblings_are_adjacent_under_interleaved_numbers),
		cmocka_unit_test(core_with_one_busy_thread_is_not_free),
		cmocka_unit_test(thread_policies),
		cmocka_unit_test(small_cores_go_first),
		cmocka_unit_test(one_l3_holds_the_guest_when_it_can),
		cmocka_unit_test(narrow_wants_are_served_first),
		cmocka_unit_test(queue_that_spreading_would_lose),
		cmocka_unit_test(guest_without_vfs_leaves_their_node_free),
		cmocka_unit_test(guest_without_vfs_prefers_room_to_waste),
		cmocka_unit_test(vf_without_locality_warns),
		cmocka_unit_test(vf_on_a_node_without_cpus_goes_to_the_nearest),
		cmocka_unit_test(refusals_say_what_is_short),
		cmocka_unit_test(refused_guest_does_not_disturb_the_next),
		cmocka_unit_test(pages_and_promises),
		cmocka_unit_test(pages_are_free_only_when_both_say_so),
		cmocka_unit_test(memory_less_node_is_refused),
		cmocka_unit_test(absurd_requests_are_named),
		cmocka_unit_test(absurd_hosts_are_named),
		cmocka_unit_test(asked_node_is_kept),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
