// SPDX-License-Identifier: GPL-2.0-or-later
/* The text of a refusal: a true reason for each node, and only changes that were tried. */
#include "placement_case.h"

#include "placement/explain/refuse.h"
#include "placement/model/host_model.h"
#include "topology/topology.h"

static void assert_silent(const struct vfctl_assignment *a, const char *part)
{
	for (size_t i = 0; i < a->reason_count; i++)
		if (strstr(a->reasons[i].text, part))
			fail_msg("'%s' has '%s'", a->reasons[i].text, part);
}

static void use_cores(struct host_model *h, size_t first, size_t last)
{
	for (size_t i = first; i <= last; i++)
		vfctl_cpuset_or(&h->model.busy_cpus, &h->cores[i].cpus);
}

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

/* All memory in pages of 1 GiB, of which 1536 MiB is no whole number. */
static void odd_memory_and_large_pages_only(void **state)
{
	struct vfctl_request r = guest(2, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	vfctl_topology_set_pages(&h.topology, 0, GIB, 64, 64);
	r.memory_bytes = 1536 * MIB;
	r.page_bytes = VFCTL_PAGES_AUTO;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_MEMORY);
	assert_true(has_reason(a, VFCTL_REASON_SHORT, "node 0: 1536 MiB of memory requested, "));
	assert_true(has_reason(a, VFCTL_REASON_SHORT, "whole pages of 1 GiB"));
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with 2 GiB of memory it fits"));
	vfctl_plan_free(plan);
}

/* The only thing short is a place for QEMU's own threads. */
static void nothing_for_the_emulator(void **state)
{
	struct vfctl_cell_want cells[] = {cell(2, 1, VFCTL_NODE_NONE), cell(2, 1, VFCTL_NODE_NONE)};
	struct vfctl_request r = with_cells(cells, 2);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	r.has_emulator = false;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	if (a->refusal) {
		assert_true(has_reason(a, VFCTL_REASON_SHORT, "no core is asked for QEMU's threads"));
		assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with emulator_cores: 1 it fits"));
		assert_silent(a, "not all of them at once");
		assert_silent(a, "fits on some node");
	}
	vfctl_plan_free(plan);
}

static void no_more_pages_than_memory(void **state)
{
	struct vfctl_request r = guest(2, NULL);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 4, 1);
	vfctl_topology_set_pages(&h.topology, 0, GIB, 8, 4);
	r.page_bytes = GIB;
	r.memory_bytes = 140 * GIB;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_MEMORY);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT,
		"140 GiB requested in pages of 1 GiB, 4 GiB free"));
	assert_silent(&plan->assignments[0], "more");
	assert_silent(&plan->assignments[0], "nr_hugepages");
	vfctl_plan_free(plan);

	/* Base memory of the node that can be turned into pages. */
	r.memory_bytes = 6 * GIB;
	plan = make_plan(&h, &r, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY,
		"reserve 2 more pages of 1 GiB on node 0 (hugepages-1048576kB/nr_hugepages)"));
	vfctl_plan_free(plan);
}

/* For each node the one thing that it lacks. */
static void each_node_lacks_something_else(void **state)
{
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r = guest(2, &want);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 3, 4, 1);
	add_vfs(&h, 0x10, 0, 2, 0);
	add_vfs(&h, 0x20, 2, 2, 0);
	use_cores(&h, 0, 2);
	h.nodes[2].memory_bytes = 2 * GIB;
	r.cells_max = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_true(has_reason(a, VFCTL_REASON_SHORT, "node 0: 1 free whole core (1 CPU), 3 needed"));
	assert_true(has_reason(a, VFCTL_REASON_SHORT, "node 1: VFs: 1 of any PF requested, local; "
		"free: 2 on node 0, 2 on node 2"));
	assert_true(has_reason(a, VFCTL_REASON_SHORT, "node 2: 4 GiB of memory requested, 2 GiB free"));
	assert_int_equal(a->reason_count > 3 ? a->reasons[3].kind : VFCTL_REASON_REMEDY,
		VFCTL_REASON_REMEDY);
	vfctl_plan_free(plan);

	/* None are free anywhere: that is the reason, of all nodes. */
	h.model.vf_count = 0;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_VFS);
	assert_string_equal(a->reasons[0].text, "VFs: 1 of any PF requested, local; free: none");
	assert_silent(a, "whole core");
	vfctl_plan_free(plan);
}

/* ---- remedies ---- */

static void two_changes_together(void **state)
{
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r = guest(2, &want);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	/* The VF is on a full node; where there is room, all memory is in 2 MiB pages. */
	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	use_cores(&h, 0, 3);
	vfctl_topology_set_pages(&h.topology, 1, 2 * MIB, 32768, 32768);
	r.page_bytes = GIB;
	r.cells_max = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_not_equal(a->refusal, VFCTL_REFUSAL_NONE);
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with affinity: preferred (some of its VFs "
		"would be remote) and hugepages: auto it fits, on node 1"));
	vfctl_plan_free(plan);
}

static void smaller_changes(void **state)
{
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r = guest(2, &want);
	struct vfctl_plan *plan;
	struct host_model h;

	/* Two nodes of one package: the VF on the one, the cores of the other. */
	make_host(&h, 2, 4, 1);
	for (int i = 0; i < 8; i++)
		h.cores[i].package = 0;
	add_vfs(&h, 0x10, 0, 1, 0);
	use_cores(&h, 0, 3);
	r.cells_max = 1;
	plan = make_plan(&h, &r, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY, "with affinity: socket "));
	assert_silent(&plan->assignments[0], "affinity: preferred (some");
	vfctl_plan_free(plan);

	make_host(&h, 1, 4, 1);
	r = guest(2, NULL);
	r.emulator_cores = 4;
	plan = make_plan(&h, &r, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY,
		"with emulator_cores: 2 it fits"));
	vfctl_plan_free(plan);

	add_vfs(&h, 0x10, 0, 2, 0);
	want.count = 2;
	want.anti_affinity = 1;
	r = guest(2, &want);
	plan = make_plan(&h, &r, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY, "with no apart or bond"));
	vfctl_plan_free(plan);
}

static void another_number_of_cells(void **state)
{
	struct vfctl_cell_want cells[] = {cell(2, 1, VFCTL_NODE_NONE), cell(2, 1, VFCTL_NODE_NONE),
		cell(2, 1, VFCTL_NODE_NONE)};
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r = with_cells(cells, 3);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	add_vfs(&h, 0x20, 1, 1, 0);
	want.cell = VFCTL_CELL_EACH;
	r.wants = &want;
	r.want_count = 1;
	plan = make_plan(&h, &r, 1);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY,
		"with cells: 2 it fits, on nodes 0-1"));
	vfctl_plan_free(plan);
}

static void remedies_in_a_batch(void **state)
{
	struct vfctl_request both[] = {guest(3, NULL), guest(3, NULL)};
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 6, 1);
	both[0].cells_max = both[1].cells_max = 1;
	both[0].node = 0;
	plan = make_plan(&h, both, 2);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 1);
	a = &plan->assignments[plan->assignments[0].refusal ? 0 : 1];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_OTHERS);
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with 1 vCPU it fits beside the others, "
		"on node 0"));
	vfctl_plan_free(plan);
}

/* Why not there? That it would fit elsewhere is no answer. */
static void why_not_stays_on_the_node(void **state)
{
	struct vfctl_vf_want want = any_vf;
	struct vfctl_request r = guest(2, &want);
	struct vfctl_reason *reasons;
	struct host_model h;
	size_t count;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 1, 1, 0);
	use_cores(&h, 0, 2);
	vfctl_topology_set_pages(&h.topology, 1, GIB, 64, 64);
	r.page_bytes = 2 * MIB;
	assert_int_equal(vfctl_plan_why_not(ctx, &h.model, &r, 0, NULL, &reasons, &count), 0);
	assert_true(count > 0);
	for (size_t i = 0; i < count; i++) {
		assert_null(strstr(reasons[i].text, "no node given"));
		assert_null(strstr(reasons[i].text, "cells: "));
		free(reasons[i].text);
	}
	free(reasons);
}

/* Ctrl-C ends the search for remedies before the next attempt. */
static void an_interrupt_ends_it(void **state)
{
	struct vfctl_request r = guest(9, NULL);
	struct vfctl_assignment a = {0};
	const struct chosen none = {0};
	struct refused_plan plan = {.requests = &r, .count = 1, .assignments = &a,
		.chosen = &none, .steps = REFUSAL_STEPS, .deadline_ms = UINT64_MAX};
	_cleanup_(capacity_freep) struct capacity *capacity = NULL;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	assert_int_equal(capacity_new(ctx, &h.model, NULL, false, &capacity), 0);
	plan.capacity = plan.after = capacity;
	vfctl_ctx_cancel(ctx);
	assert_int_equal(explain_refusals(ctx, &plan, &a), -EINTR);
	assert_int_equal(a.reason_count, 0);
	assert_int_equal(plan.steps, REFUSAL_STEPS);
	ctx->cancelled = 0;
}

/* A change that was not tried is reported neither as a reason nor as a remedy. */
static void nothing_without_steps(void **state)
{
	struct vfctl_request r = guest(9, NULL);
	struct vfctl_assignment a = {0};
	const struct chosen none = {0};
	struct refused_plan plan = {.requests = &r, .count = 1, .assignments = &a,
		.chosen = &none, .deadline_ms = UINT64_MAX};
	_cleanup_(capacity_freep) struct capacity *capacity = NULL;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	assert_int_equal(capacity_new(ctx, &h.model, NULL, false, &capacity), 0);
	plan.capacity = plan.after = capacity;
	r.cells_max = 1;
	for (int late = 0; late < 2; late++) {
		plan.steps = late ? REFUSAL_STEPS : 0;
		plan.deadline_ms = late ? 0 : UINT64_MAX;
		assert_int_equal(explain_refusals(ctx, &plan, &a), 0);
		assert_int_equal(a.reason_count, 1);
		assert_string_equal(a.reasons[0].text,
			"the reason was not found within the search limit");
		assert_int_equal(a.remedy_count, 0);
		free(a.reasons[0].text);
		free(a.reasons);
		a = (struct vfctl_assignment){0};
	}
}

/* However many are refused, they share the steps of one refusal. */
static void many_refusals_share_their_steps(void **state)
{
	struct vfctl_request r[24];
	struct vfctl_plan *plan;
	struct host_model h;
	size_t told = 0;

	make_host(&h, 4, 8, 1);
	for (uint32_t i = 0; i < 24; i++) {
		r[i] = guest(2 + i % 12, NULL);
		r[i].memory_bytes = (1 + i) * GIB;
	}
	plan = make_plan(&h, r, 24);
	assert_true(plan->value[VFCTL_LEVEL_PLACED] < 20);
	for (size_t i = 0; i < 24; i++) {
		assert_true(!plan->assignments[i].refusal || plan->assignments[i].reason_count);
		told += plan->assignments[i].remedy_count;
	}
	assert_true(told > 0);
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
		cmocka_unit_test(odd_memory_and_large_pages_only),
		cmocka_unit_test(nothing_for_the_emulator),
		cmocka_unit_test(no_more_pages_than_memory),
		cmocka_unit_test(each_node_lacks_something_else),
		cmocka_unit_test(two_changes_together),
		cmocka_unit_test(smaller_changes),
		cmocka_unit_test(another_number_of_cells),
		cmocka_unit_test(remedies_in_a_batch),
		cmocka_unit_test(why_not_stays_on_the_node),
		cmocka_unit_test(an_interrupt_ends_it),
		cmocka_unit_test(nothing_without_steps),
		cmocka_unit_test(many_refusals_share_their_steps),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
