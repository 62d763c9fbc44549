// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What holds for every plan, on hosts of all shapes and queues of guests made from a seed:
 * nothing twice, nothing beyond a node, the same again for the same question, and no fewer
 * guests than first-fit places.
 */
#include "placement_case.h"

#include "../oracle/instance.h"
#include "placement/model/host_model.h"
#include "topology/topology.h"

#define GUESTS_LARGE 48
#define VFS_LARGE 256

/* From one node to eight of 128 threads; odd SMT; sub-NUMA; nodes without CPUs. */
static const char *const shapes[] = {
	"numa:1 core:4 pu:1", "numa:1 core:8 pu:2", "numa:2 core:16 pu:2",
	"pack:1 numa:4 l3:1 core:8 pu:2", "pack:2 numa:2 l3:2 core:4 pu:2",
	"numa:8 l3:8 core:8 pu:2", "numa:3 core:5 pu:3", "numa:2 core:6 pu:4",
	"pack:2 numa:4 core:8 pu:1",
};

struct large {
	struct instance rnd; /* only for its numbers */
	struct vfctl_topology *t;
	struct vfctl_host_model model;
	struct vfctl_free_vf vfs[VFS_LARGE];
	struct vfctl_request requests[GUESTS_LARGE];
	struct vfctl_vf_want wants[GUESTS_LARGE];
	size_t count;
};

#define R(n) instance_random(&l->rnd, (n))

/* Siblings go offline, a node loses its CPUs: what captured hosts look like. */
static void wear(struct large *l)
{
	struct vfctl_topology *t = l->t;

	for (size_t i = 0; i < t->core_count; i++) {
		int cpu = vfctl_cpuset_next(&t->cores[i].cpus, 0);

		if (vfctl_cpuset_count(&t->cores[i].cpus) < 2 || R(8))
			continue;
		vfctl_cpuset_remove(&t->cores[i].cpus, (unsigned)cpu);
		vfctl_cpuset_remove(&t->online, (unsigned)cpu);
		for (size_t n = 0; n < t->node_count; n++)
			vfctl_cpuset_remove(&t->nodes[n].cpus, (unsigned)cpu);
	}
}

static void empty_node(struct vfctl_topology *t, size_t node)
{
	size_t kept = 0;

	for (size_t i = 0; i < t->core_count; i++)
		if (t->cores[i].node != (int)t->nodes[node].id)
			t->cores[kept++] = t->cores[i];
	t->core_count = kept;
	vfctl_cpuset_andnot(&t->online, &t->nodes[node].cpus);
	t->nodes[node].cpus = (struct vfctl_cpuset){0};
}

static void make_vfs(struct large *l)
{
	unsigned pfs = 1 + R(8);

	for (unsigned p = 0; p < pfs; p++) {
		int node = R(6) ? (int)l->t->nodes[R((uint32_t)l->t->node_count)].id
				: VFCTL_NODE_NONE;
		unsigned count = R(24);
		int fabric = (int)R(2);

		for (unsigned i = 0; i < count; i++)
			l->vfs[l->model.vf_count++] = (struct vfctl_free_vf){
				.pf = {.bus = (uint8_t)(16 + p)}, .index = i, .node = node,
				.bdf = {.bus = (uint8_t)(16 + p), .slot = (uint8_t)(1 + i / 8),
					.function = (uint8_t)(i % 8)}, .fabric = fabric};
	}
}

static void make_guests(struct large *l)
{
	l->count = 1 + R(GUESTS_LARGE);
	for (size_t i = 0; i < l->count; i++) {
		l->wants[i] = (struct vfctl_vf_want){.any_pf = true, .count = 1 + R(3),
			.fabric = R(2) ? VFCTL_FABRIC_ANY : (int)R(2), .cell = VFCTL_CELL_ANY,
			.affinity = R(4) ? VFCTL_AFFINITY_REQUIRED : VFCTL_AFFINITY_PREFERRED};
		l->requests[i] = (struct vfctl_request){.name = "g", .vcpus = 1 + R(16),
			.threads = (enum vfctl_threads[]){VFCTL_THREADS_PREFER,
				VFCTL_THREADS_ISOLATE, VFCTL_THREADS_NONE}[R(3)],
			.emulator_cores = (uint32_t[]){0, 1, VFCTL_EMULATOR_AUTO}[R(3)],
			.has_emulator = true,
			.memory_bytes = (1 + R(8)) * GIB, .node = VFCTL_NODE_NONE,
			.page_bytes = R(2) ? VFCTL_PAGES_BASE : VFCTL_PAGES_AUTO,
			.cells_max = R(3) ? 1 : 0, .wants = &l->wants[i],
			.want_count = R(3) != 0};
	}
}

static void make_large(struct large *l, const char *shape, uint64_t seed)
{
	const struct vfctl_topology_source source = {.kind = VFCTL_TOPOLOGY_SYNTHETIC,
		.text = shape};

	*l = (struct large){.rnd = {.state = seed}};
	assert_int_equal(vfctl_topology_load(ctx, &source, &l->t), 0);
	for (size_t i = 0; i < l->t->node_count; i++) {
		l->t->nodes[i].memory_bytes = (8 + R(64)) * GIB;
		if (R(2))
			vfctl_topology_set_pages(l->t, l->t->nodes[i].id, GIB, R(8), VFCTL_COUNT_UNKNOWN);
	}
	if (R(3) == 0)
		wear(l);
	if (l->t->node_count > 2 && R(3) == 0)
		empty_node(l->t, l->t->node_count - 1);
	l->model.topology = l->t;
	l->model.vfs = l->vfs;
	make_vfs(l);
	make_guests(l);
}

/* ---- first-fit, with counters only ---- */

struct counters {
	uint32_t threads[64], cores[64];
	uint64_t memory[64];
	bool vf[VFS_LARGE];
};

static void count_free(const struct large *l, struct counters *c)
{
	*c = (struct counters){0};
	for (size_t n = 0; n < l->t->node_count; n++) {
		c->memory[n] = l->t->nodes[n].memory_bytes;
		for (size_t p = 0; p < l->t->nodes[n].pool_count; p++)
			c->memory[n] -= l->t->nodes[n].pools[p].total *
				l->t->nodes[n].pools[p].page_bytes;
		for (size_t i = 0; i < l->t->core_count; i++)
			if (l->t->cores[i].node == (int)l->t->nodes[n].id)
				c->cores[n]++;
	}
}

/* Whole cores as if each had one thread: an underestimate that any planner must reach. */
static bool first_fit_one(const struct large *l, struct counters *c, size_t g, size_t n)
{
	const struct vfctl_request *r = &l->requests[g];
	size_t taken[3], have = 0, want = r->want_count ? r->wants[0].count : 0;

	/* A core that guests may share is one of its own here. */
	uint32_t cores = r->vcpus + (r->emulator_cores ? 1 : 0);

	if (c->cores[n] < cores || c->memory[n] < r->memory_bytes)
		return false;
	for (size_t i = 0; i < l->model.vf_count && have < want; i++)
		if (!c->vf[i] && l->vfs[i].node == (int)l->t->nodes[n].id &&
			(r->wants[0].fabric < 0 || r->wants[0].fabric == l->vfs[i].fabric))
			taken[have++] = i;
	if (have < want)
		return false;
	for (size_t i = 0; i < have; i++)
		c->vf[taken[i]] = true;
	c->cores[n] -= cores;
	c->memory[n] -= r->memory_bytes;
	return true;
}

static size_t first_fit(const struct large *l)
{
	struct counters c;
	size_t placed = 0;

	count_free(l, &c);
	for (size_t g = 0; g < l->count; g++)
		for (size_t n = 0; n < l->t->node_count; n++)
			if (c.cores[n] && first_fit_one(l, &c, g, n)) {
				placed++;
				break;
			}
	return placed;
}

/* ---- the properties ---- */

static void assert_same(const struct vfctl_plan *a, const struct vfctl_plan *b)
{
	assert_memory_equal(a->value, b->value, sizeof(a->value));
	assert_memory_equal(a->bound, b->bound, sizeof(a->bound));
	assert_int_equal(a->steps, b->steps);
	for (size_t i = 0; i < a->count; i++) {
		const struct vfctl_assignment *x = &a->assignments[i], *y = &b->assignments[i];

		assert_int_equal(x->refusal, y->refusal);
		assert_int_equal(x->vcpu_count, y->vcpu_count);
		for (size_t k = 0; k < x->vcpu_count; k++)
			assert_int_equal(x->vcpus[k], y->vcpus[k]);
		assert_int_equal(x->vf_count, y->vf_count);
		for (size_t k = 0; k < x->vf_count; k++)
			assert_int_equal(vfctl_bdf_compare(&x->vfs[k].bdf, &y->vfs[k].bdf), 0);
	}
}

static void check_one(struct large *l, const struct vfctl_plan_options *options)
{
	struct vfctl_plan *plan, *again;

	if (vfctl_plan_make(ctx, &l->model, l->requests, l->count, options, &plan) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	assert_true(plan_is_sound(&l->model, l->requests, plan));
	assert_true(plan->value[VFCTL_LEVEL_PLACED] >= first_fit(l));
	assert_true(plan->bound[VFCTL_LEVEL_PLACED] >= plan->value[VFCTL_LEVEL_PLACED]);
	assert_int_equal(vfctl_plan_make(ctx, &l->model, l->requests, l->count, options, &again),
		0);
	assert_same(plan, again);
	vfctl_plan_free(plan);
	vfctl_plan_free(again);
}

static void plans_keep_the_rules(void **state)
{
	const struct vfctl_plan_options options = {.max_steps = 1500, .timeout_ms = 600000};
	static struct large l;

	for (size_t s = 0; s < sizeof(shapes) / sizeof(shapes[0]); s++)
		for (uint64_t seed = 1; seed <= 6; seed++) {
			print_message("%s, seed %lu\n", shapes[s], (unsigned long)seed);
			make_large(&l, shapes[s], seed);
			check_one(&l, &options);
			vfctl_topology_free(l.t);
		}
}

/* Fewer steps may find less, never nonsense, and what is claimed as a bound is one. */
static void bounds_hold_when_steps_run_out(void **state)
{
	static struct large l;
	struct vfctl_plan_options few = {.max_steps = 1, .timeout_ms = 600000};
	struct vfctl_plan_options many = {.max_steps = 20000, .timeout_ms = 600000};

	for (uint64_t seed = 100; seed < 130; seed++) {
		struct vfctl_plan *a, *b;

		make_large(&l, shapes[seed % 5], seed);
		l.count = l.count > 12 ? 12 : l.count;
		assert_int_equal(vfctl_plan_make(ctx, &l.model, l.requests, l.count, &few, &a), 0);
		assert_int_equal(vfctl_plan_make(ctx, &l.model, l.requests, l.count, &many, &b), 0);
		assert_true(a->value[VFCTL_LEVEL_PLACED] <= b->value[VFCTL_LEVEL_PLACED]);
		assert_true(b->value[VFCTL_LEVEL_PLACED] <= a->bound[VFCTL_LEVEL_PLACED]);
		/* A longer search cannot be better than what the shorter one proved. */
		for (unsigned i = 0; i < (unsigned)a->gap_level; i++)
			assert_int_equal(a->value[i], b->value[i]);
		vfctl_plan_free(a);
		vfctl_plan_free(b);
		vfctl_topology_free(l.t);
	}
}

static void a_cancelled_plan_says_so(void **state)
{
	static struct large l;
	struct vfctl_plan *plan;

	make_large(&l, "numa:8 l3:8 core:8 pu:2", 3);
	/* More than fits, so that it has to search. */
	for (size_t i = 0; i < l.count; i++)
		l.requests[i].vcpus = 24 + 2 * (uint32_t)(i % 5);
	vfctl_ctx_cancel(ctx);
	assert_int_equal(vfctl_plan_make(ctx, &l.model, l.requests, l.count, NULL, &plan),
		-EINTR);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "interrupted"));
	ctx->cancelled = 0;
	vfctl_topology_free(l.t);
}

/* ---- guests that have their place ---- */

static void add_occupant(struct host_model *h, const char *name, const char *cpus, int memory,
	int vf)
{
	static struct vfctl_occupant occupants[4];
	static struct vfctl_promise promises[4];
	static struct vfctl_free_vf vfs[4];
	size_t i = h->model.occupant_count++;

	occupants[i] = (struct vfctl_occupant){.name = (char *)name, .memory = &promises[i],
		.memory_count = 1};
	vfctl_cpuset_parse(cpus, &occupants[i].cpus);
	promises[i] = (struct vfctl_promise){.node = memory, .bytes = 4 * GIB};
	if (vf >= 0) {
		vfs[i] = h->vfs[vf];
		h->vfs[vf] = h->vfs[--h->model.vf_count];
		occupants[i].vfs = &vfs[i];
		occupants[i].vf_count = 1;
	}
	h->model.occupants = occupants;
}

static void moves_are_the_fewest(void **state)
{
	struct vfctl_rebalance *r;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 2, 0);
	/* One with its VF, one beside its memory, one that is in the way of the second. */
	add_occupant(&h, "good", "4-5", 1, -1);
	add_occupant(&h, "far", "6-7", 1, 0);
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->local_before, 1);
	assert_int_equal(r->local_after, 2);
	assert_int_equal(r->move_count, 1);
	assert_int_equal(r->moves[0].occupant, 1);
	assert_int_equal(r->moves[0].to->node, 0);
	assert_int_equal(r->plan->gap_level, VFCTL_LEVELS);
	vfctl_rebalance_free(r);

	/* Both nodes full: only when the two change places with the third are all local. */
	add_occupant(&h, "blocker", "0-3", 0, -1);
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->local_before, 2);
	assert_int_equal(r->local_after, 3);
	assert_int_equal(r->move_count, 3);
	vfctl_rebalance_free(r);
	/* Someone without VFs has to make way, who fits beside the others: two moves. */
	vfctl_cpuset_parse("0-1", &h.model.occupants[2].cpus);
	vfctl_cpuset_parse("2-3", &h.model.busy_cpus);
	vfctl_cpuset_parse("7", &h.model.occupants[1].cpus);
	vfctl_cpuset_parse("4", &h.model.occupants[0].cpus);
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 2);
	assert_int_equal(r->local_after, 3);
	vfctl_rebalance_free(r);
}

/*
 * Memory of a guest that stays is not available to others, in whichever order they are considered.
 */
static void a_move_needs_memory(void **state)
{
	struct vfctl_rebalance *r;
	struct host_model h;

	make_host(&h, 2, 64, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	for (unsigned n = 0; n < 2; n++) {
		h.nodes[n].memory_bytes = 80 * GIB;
		h.nodes[n].pools[0] = (struct vfctl_page_pool){.page_bytes = GIB, .total = 64,
			.free = n ? 16 : 32};
		h.nodes[n].pool_count = 1;
	}
	/* "far" and its VF are apart, but 48 of 64 pages are not free where the VF is. */
	add_occupant(&h, "near", "0-7", 0, -1);
	add_occupant(&h, "far", "64-79", 1, 0);
	for (size_t i = 0; i < 2; i++) {
		h.model.occupants[i].memory[0].page_bytes = GIB;
		h.model.occupants[i].memory[0].taken = true;
		h.model.occupants[i].memory[0].bytes = (i ? 48 : 32) * GIB;
	}
	/* Nor has "near" anywhere to go, where "far" would leave less than it needs. */
	vfctl_cpuset_parse("80-127", &h.model.busy_cpus);
	vfctl_cpuset_parse("0-16", &h.model.occupants[0].cpus);
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 0);
	assert_int_equal(r->local_after, 1);
	assert_int_equal(r->plan->gap_level, VFCTL_LEVELS);
	vfctl_rebalance_free(r);
	/* Pages that the host gave away since are no reason for anybody to leave. */
	h.nodes[0].pools[0].free = 0;
	h.model.occupants[0].memory[0].taken = false;
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 0);
	assert_int_equal(r->plan->value[VFCTL_LEVEL_PLACED], 2);
	vfctl_rebalance_free(r);
}

/* The VF is of the wrong PF, the CPUs are right: they stay, beside others that move within the node. */
static void a_move_within_the_node_keeps_its_cpus(void **state)
{
	struct vfctl_vf_want wants[2] = {any_vf, any_vf};
	struct vfctl_rebalance *r;
	struct host_model h;

	make_host(&h, 2, 8, 2);
	add_vfs(&h, 0x10, 0, 2, 0);
	add_vfs(&h, 0x20, 1, 2, 0);
	add_occupant(&h, "a", "6-7,12-13", 0, 3);
	add_occupant(&h, "b", "2-3", 0, 2);
	vfctl_cpuset_parse("16-31", &h.model.busy_cpus);
	for (size_t i = 0; i < 2; i++)
		h.model.occupants[i].wants = &wants[i];
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->local_before, 0);
	assert_int_equal(r->local_after, 2);
	assert_int_equal(r->move_count, 2);
	assert_string_equal(set_text(&r->moves[0].to->held_cpus), "6-7,12-13");
	assert_string_equal(set_text(&r->moves[1].to->held_cpus), "2-3");
	assert_int_equal(r->moves[0].to->vfs[0].node, 0);
	vfctl_rebalance_free(r);
	/* With the core that carries its QEMU's threads, though that has no seat left. */
	h.model.occupants[1].qemu_cpus = h.cores[0].cpus;
	assert_int_equal(vfctl_plan_rebalance(ctx, &h.model, NULL, &r), 0);
	assert_int_equal(r->move_count, 2);
	assert_string_equal(set_text(&r->moves[1].to->held_cpus), "2-3");
	assert_string_equal(set_text(&r->moves[1].to->emulator_cpus), "0-1");
	assert_true(r->moves[1].to->emulator_shared);
	vfctl_rebalance_free(r);
}

static void a_move_makes_room(void **state)
{
	struct vfctl_request request = guest(3, &any_vf);
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	add_occupant(&h, "a7", "0-1", 0, -1);
	request.cells_max = 1;
	plan = make_plan(&h, &request, 1);
	assert_int_equal(plan->assignments[0].refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_SHORT,
		"node 0: 2 free whole cores (2 CPUs), 4 needed"));
	assert_true(has_reason(&plan->assignments[0], VFCTL_REASON_REMEDY,
		"or move guest a7 (2 CPUs, 0 VFs) to node 1"));
	vfctl_plan_free(plan);
	/* One that we did not make is never moved. */
	h.model.occupants[0].foreign = true;
	plan = make_plan(&h, &request, 1);
	for (size_t i = 0; i < plan->assignments[0].reason_count; i++)
		assert_null(strstr(plan->assignments[0].reasons[i].text, "move guest"));
	vfctl_plan_free(plan);
}

static void why_not_names_what_decides(void **state)
{
	const struct {
		int node;
		const char *message;
	} cases[] = {
		{0, "node 0 is the chosen node"},
		{1, "VFs: 1 of any PF"},
	};
	struct vfctl_request request = guest(2, &any_vf);
	struct vfctl_reason *reasons;
	struct host_model h;
	size_t count;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 0x10, 0, 1, 0);
	for (size_t i = 0; i < 2; i++) {
		assert_int_equal(vfctl_plan_why_not(ctx, &h.model, &request, cases[i].node, NULL,
			&reasons, &count), 0);
		assert_true(count > 0);
		assert_non_null(strstr(reasons[0].text, cases[i].message));
		for (size_t k = 0; k < count; k++)
			free(reasons[k].text);
		free(reasons);
	}
	request.want_count = 0;
	assert_int_equal(vfctl_plan_why_not(ctx, &h.model, &request, 0, NULL, &reasons, &count),
		0);
	assert_non_null(strstr(reasons[0].text, "less space would be left for the next guests"));
	for (size_t k = 0; k < count; k++)
		free(reasons[k].text);
	free(reasons);
	assert_int_equal(vfctl_plan_why_not(ctx, &h.model, &request, 7, NULL, &reasons, &count),
		-EINVAL);
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
		cmocka_unit_test(plans_keep_the_rules),
		cmocka_unit_test(bounds_hold_when_steps_run_out),
		cmocka_unit_test(a_cancelled_plan_says_so),
		cmocka_unit_test(moves_are_the_fewest),
		cmocka_unit_test(a_move_needs_memory),
		cmocka_unit_test(a_move_within_the_node_keeps_its_cpus),
		cmocka_unit_test(a_move_makes_room),
		cmocka_unit_test(why_not_names_what_decides),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
