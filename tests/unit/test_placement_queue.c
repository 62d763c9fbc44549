// SPDX-License-Identifier: GPL-2.0-or-later
/* Guests that come one after the other: what a plan leaves decides who can come next. */
#include "placement_case.h"

#include "placement/model/host_model.h"

/* Plan for a guest and give it what was planned. @ret_node (or NULL): where it went. */
static bool arrives(struct host_model *h, const struct vfctl_request *r, int *ret_node)
{
	struct vfctl_plan *plan = make_plan(h, r, 1);
	const struct vfctl_assignment *a = &plan->assignments[0];
	bool placed = a->refusal == VFCTL_REFUSAL_NONE;

	vfctl_cpuset_or(&h->model.busy_cpus, &a->held_cpus);
	for (size_t i = 0; i < a->vf_count; i++)
		for (size_t k = 0; k < h->model.vf_count; k++)
			if (vfctl_bdf_compare(&h->vfs[k].bdf, &a->vfs[i].bdf) == 0)
				h->vfs[k] = h->vfs[--h->model.vf_count];
	if (placed && ret_node)
		*ret_node = a->node;
	vfctl_plan_free(plan);
	return placed;
}

static struct vfctl_request asks(uint32_t vcpus, const struct vfctl_vf_want *want)
{
	struct vfctl_request r = guest(vcpus, want);

	r.emulator_cores = 0;
	r.has_emulator = true;
	r.memory_bytes = GIB;
	return r;
}

/* The ordinary server: one NIC, on node 0. Every second guest wants a VF of it. */
static void one_nic_serves_all_guests(void **state)
{
	static const uint32_t sizes[] = {4, 2, 8, 16};

	for (size_t k = 0; k < ARRAY_SIZE(sizes); k++) {
		struct host_model h;
		unsigned placed = 0;

		make_host(&h, 2, 32, 2);
		add_vfs(&h, 0x10, 0, 32, 1);
		for (;; placed++) {
			struct vfctl_request r = asks(sizes[k], placed % 2 ? &any_vf : NULL);

			if (!arrives(&h, &r, NULL))
				break;
		}
		assert_int_equal(placed, 128 / sizes[k]);
	}
}

/* VFs of the one fabric are on node 0, of the other on node 1: who needs neither is no burden. */
static void scarce_vfs_are_left_what_they_need(void **state)
{
	struct host_model h;
	struct vfctl_request plain = asks(8, NULL);
	int node = -1;

	make_host(&h, 2, 8, 2);
	add_vfs(&h, 0x10, 0, 16, 1);
	add_vfs(&h, 0x80, 1, 1, 2);
	/* One VF of fabric 2: one guest more that could have it; 16 of fabric 1. */
	assert_true(arrives(&h, &plain, &node));
	assert_int_equal(node, 1);
}

/* The administrator's kinds of next guests decide. */
static void typical_guests_decide(void **state)
{
	struct vfctl_request small = asks(4, NULL);

	for (int large = 0; large < 2; large++) {
		struct host_model h;
		int node = -1;

		make_host(&h, 2, 8, 2);
		/* Node 1 has 6 of 8 cores free: a guest of 12 fits there, or 16 on node 0. */
		vfctl_cpuset_or(&h.model.busy_cpus, &h.cores[8].cpus);
		vfctl_cpuset_or(&h.model.busy_cpus, &h.cores[9].cpus);
		h.model.typical[0] = (struct vfctl_typical){.vcpus = large ? 16 : 12, .cells = 1,
			.share = 1};
		h.model.typical_count = 1;
		assert_true(arrives(&h, &small, &node));
		/* 16 fit on node 0 only; of 12, one on each: with 4 gone from node 0 still so. */
		assert_int_equal(node, large ? 1 : 0);
	}
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
		cmocka_unit_test(one_nic_serves_all_guests),
		cmocka_unit_test(scarce_vfs_are_left_what_they_need),
		cmocka_unit_test(typical_guests_decide),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
