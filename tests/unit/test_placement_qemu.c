// SPDX-License-Identifier: GPL-2.0-or-later
/* emulator_cores: auto: QEMU's threads on the host's CPUs, on a shared core, on the guest's own. */
#include "placement_case.h"

#include "placement/model/host_model.h"

static char carried[] = "carried";

static struct vfctl_request asks(uint32_t vcpus)
{
	struct vfctl_request r = guest(vcpus, NULL);

	r.emulator_cores = VFCTL_EMULATOR_AUTO;
	r.memory_bytes = GIB;
	return r;
}

/* @guests that are there, whose QEMU's threads share the core @at. */
static void carry(struct host_model *h, struct vfctl_occupant *list, size_t guests, size_t at)
{
	for (size_t i = 0; i < guests; i++)
		list[h->model.occupant_count++] = (struct vfctl_occupant){.name = carried,
			.qemu_cpus = h->cores[at].cpus};
	h->model.occupants = list;
}

static bool has_text(const struct vfctl_assignment *a, const char *message)
{
	for (size_t i = 0; i < a->reason_count; i++)
		if (strstr(a->reasons[i].text, message))
			return true;
	return false;
}

/* The host's own CPUs on the guest's node cost nothing; those of another node do not count. */
static void host_cpus_of_the_node_come_first(void **state)
{
	struct vfctl_request r = asks(4);
	struct host_model h;

	make_host(&h, 2, 4, 2);
	vfctl_cpuset_or(&h.model.reserved_cpus, &h.cores[0].cpus);
	for (int node = 0; node < 2; node++) {
		struct vfctl_plan *plan;
		const struct vfctl_assignment *a;

		r.node = node;
		plan = make_plan(&h, &r, 1);
		a = &plan->assignments[0];
		assert_int_equal(vfctl_cpuset_count(&a->held_cpus), 4);
		assert_int_equal(a->emulator_shared, node == 1);
		assert_string_equal(set_text(&a->emulator_cpus), node ? "12-13" : "0-1");
		assert_false(vfctl_cpuset_intersects(&a->emulator_cpus, &a->held_cpus));
		vfctl_plan_free(plan);
	}
}

/* Fifteen guests of 2 cores and a shared one fill a node of 31, as the issue has it. */
static void guests_of_a_batch_share_a_core(void **state)
{
	struct vfctl_request r[15];
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 31, 2);
	for (size_t i = 0; i < 15; i++)
		r[i] = asks(4);
	plan = make_plan(&h, r, 15);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 15);
	for (size_t i = 0; i < 15; i++) {
		assert_true(plan->assignments[i].emulator_shared);
		assert_memory_equal(&plan->assignments[i].emulator_cpus,
			&plan->assignments[0].emulator_cpus, sizeof(struct vfctl_cpuset));
	}
	vfctl_plan_free(plan);
	for (size_t i = 0; i < 15; i++)
		r[i].emulator_cores = 1;
	plan = make_plan(&h, r, 15);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 10);
	vfctl_plan_free(plan);
}

/* A core that is there carries so many, then a second one is taken. */
static void a_full_core_is_followed_by_another(void **state)
{
	struct vfctl_occupant list[2 * VFCTL_QEMU_GUESTS_PER_CPU];
	struct vfctl_request r[2] = {asks(1), asks(1)};
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	carry(&h, list, VFCTL_QEMU_GUESTS_PER_CPU - 1, 5);
	plan = make_plan(&h, r, 2);
	assert_string_equal(set_text(&plan->assignments[0].emulator_cpus), "5");
	assert_false(vfctl_cpuset_has(&plan->assignments[1].emulator_cpus, 5));
	assert_true(plan->assignments[1].emulator_shared);
	vfctl_plan_free(plan);
	carry(&h, list, 1, 5);
	plan = make_plan(&h, r, 1);
	assert_false(vfctl_cpuset_has(&plan->assignments[0].emulator_cpus, 5));
	vfctl_plan_free(plan);
}

/* Of two shared cores, the next guest gets the fuller one, so that the other becomes free. */
static void the_fuller_core_is_filled_first(void **state)
{
	struct vfctl_occupant list[8];
	struct vfctl_request r = asks(2);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	carry(&h, list, 1, 2);
	carry(&h, list, 3, 6);
	plan = make_plan(&h, &r, 1);
	assert_string_equal(set_text(&plan->assignments[0].emulator_cpus), "6");
	assert_false(vfctl_cpuset_has(&plan->assignments[0].held_cpus, 2));
	vfctl_plan_free(plan);
}

/* A guest of several cells has QEMU beside the one where that costs nothing. */
static void cells_use_a_seat_that_is_there(void **state)
{
	const struct vfctl_cell_want cells[] = {
		{.vcpus = 4, .memory_bytes = GIB, .node = VFCTL_NODE_NONE},
		{.vcpus = 4, .memory_bytes = GIB, .node = VFCTL_NODE_NONE}};
	struct vfctl_occupant list[1];
	struct vfctl_request r = asks(8);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 5, 1);
	h.model.busy_cpus = h.cores[0].cpus; /* 4 cores are free on either node */
	carry(&h, list, 1, 9);
	r.memory_bytes = 2 * GIB;
	r.cells = cells;
	r.cell_count = 2;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 1);
	assert_string_equal(set_text(&plan->assignments[0].emulator_cpus), "9");
	vfctl_plan_free(plan);
}

/* A guest with all cores of the host has QEMU on them; a guest with a whole node is refused. */
static void the_whole_host_shares_with_itself(void **state)
{
	struct vfctl_request r = asks(8);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	plan = make_plan(&h, &r, 1);
	assert_string_equal(set_text(&plan->assignments[0].emulator_cpus), "0-7");
	assert_false(plan->assignments[0].emulator_shared);
	assert_true(has_text(&plan->assignments[0], "the guest takes all cores of this host"));
	vfctl_plan_free(plan);
	make_host(&h, 2, 8, 1);
	r.node = 1;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_text(&plan->assignments[0], "9 needed: 8 for 8 vCPUs"));
	assert_true(has_text(&plan->assignments[0], "with emulator_cores: 0 (QEMU's threads on its "
		"vCPUs' CPUs: jitter) it fits"));
	vfctl_plan_free(plan);
}

/* A core alone is dearer than one that is shared: the remedy says so. */
static void auto_is_a_remedy(void **state)
{
	struct vfctl_occupant list[1];
	struct vfctl_request r = asks(4);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 5, 1);
	carry(&h, list, 1, 0);
	r.emulator_cores = 1;
	plan = make_plan(&h, &r, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_text(&plan->assignments[0], "with emulator_cores: auto it fits"));
	vfctl_plan_free(plan);
}

/* Whole L3 groups belong to one guest; a whole node cannot be shared. */
static void nothing_whole_is_shared(void **state)
{
	struct vfctl_request r = asks(4);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	for (size_t i = 0; i < 8; i++)
		h.cores[i].l3 = (int)(i / 4);
	r.whole_l3 = true;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_string_equal(set_text(&a->held_cpus), "0-3");
	assert_true(a->emulator_shared);
	assert_false(vfctl_cpuset_intersects(&a->emulator_cpus, &a->held_cpus));
	vfctl_plan_free(plan);
	r.whole_l3 = false;
	r.whole_node = true;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_false(a->emulator_shared);
	assert_string_equal(set_text(&a->held_cpus), "0-7");
	assert_true(vfctl_cpuset_within(&a->emulator_cpus, &a->held_cpus));
	vfctl_plan_free(plan);
}

static void iothreads_follow(void **state)
{
	struct vfctl_request r = asks(2);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	r.iothreads = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_memory_equal(&a->iothread_cpus, &a->emulator_cpus, sizeof(a->emulator_cpus));
	vfctl_plan_free(plan);
	r.iothread_cores = 1;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_true(a->emulator_shared);
	assert_true(vfctl_cpuset_within(&a->iothread_cpus, &a->held_cpus));
	assert_int_equal(vfctl_cpuset_count(&a->held_cpus), 3);
	vfctl_plan_free(plan);
}

/* A guest whose QEMU shares a core moves with its own cores, and has a seat where it goes. */
static void a_move_takes_a_slot(void **state)
{
	struct vfctl_promise memory = {.node = 1, .bytes = GIB};
	struct vfctl_free_vf vf;
	struct vfctl_occupant o = {.name = carried, .memory = &memory, .memory_count = 1,
		.vfs = &vf, .vf_count = 1};
	struct vfctl_rebalance *r;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 1);
	vf = h.vfs[0];
	h.model.vf_count = 0;
	o.cpus = h.cores[4].cpus;
	o.qemu_cpus = h.cores[5].cpus;
	h.model.occupants = &o;
	h.model.occupant_count = 1;
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 1);
	assert_int_equal(r->moves[0].to->node, 0);
	assert_true(r->moves[0].to->emulator_shared);
	assert_true(vfctl_cpuset_within(&r->moves[0].to->emulator_cpus, &h.nodes[0].cpus));
	vfctl_rebalance_free(r);
}

/* Checked in both directions: a shared core must not belong to one guest. */
static void the_model_keeps_shared_cores_apart(void **state)
{
	struct vfctl_occupant list[2] = {0};
	struct vfctl_host_model *read;
	struct host_model h;
	char *text;

	make_host(&h, 1, 4, 1);
	carry(&h, list, 2, 1);
	text = vfctl_model_format(&h.model);
	assert_int_equal(vfctl_model_parse(ctx, "m", text, strlen(text), &read), 0);
	assert_string_equal(set_text(&read->occupants[1].qemu_cpus), "1");
	vfctl_model_free(read);
	free(text);
	list[0].cpus = h.cores[1].cpus;
	assert_int_equal(vfctl_model_check(ctx, &h.model), -EINVAL);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "occupants[0].qemu_cpus: CPU 1 is used"));
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
		cmocka_unit_test(host_cpus_of_the_node_come_first),
		cmocka_unit_test(guests_of_a_batch_share_a_core),
		cmocka_unit_test(a_full_core_is_followed_by_another),
		cmocka_unit_test(the_fuller_core_is_filled_first),
		cmocka_unit_test(cells_use_a_seat_that_is_there),
		cmocka_unit_test(the_whole_host_shares_with_itself),
		cmocka_unit_test(auto_is_a_remedy),
		cmocka_unit_test(nothing_whole_is_shared),
		cmocka_unit_test(iothreads_follow),
		cmocka_unit_test(a_move_takes_a_slot),
		cmocka_unit_test(the_model_keeps_shared_cores_apart),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
