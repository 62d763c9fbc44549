// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Random refusals from a seed: each has a reason, and each remedy that is told is carried out
 * here, on the request or the host, after which the planner has to place the guest.
 */
#include "placement_case.h"

#include "../oracle/instance.h"
#include "placement/explain/change.h"
#include "placement/model/host_model.h"
#include "topology/topology.h"

#define ALONE 400
#define BATCHES 60
#define BATCH_MAX 8
#define VFS_MAX 64
#define PFS_MAX 4
#define OCCUPANTS_MAX 4

static const char *const shapes[] = {
	"numa:1 core:4 pu:1", "numa:2 core:6 pu:2", "pack:2 numa:2 l3:2 core:3 pu:2",
	"numa:4 core:4 pu:1", "pack:1 numa:3 core:4 pu:2", "numa:2 l3:2 core:4 pu:1",
};

struct random_host {
	struct instance rnd; /* only for its numbers */
	struct vfctl_topology *t;
	struct vfctl_host_model model;
	struct vfctl_model_pf pfs[PFS_MAX];
	struct vfctl_free_vf vfs[VFS_MAX];
	struct vfctl_occupant occupants[OCCUPANTS_MAX];
	struct vfctl_promise memory[OCCUPANTS_MAX];
	struct vfctl_request requests[BATCH_MAX];
	struct vfctl_cell_want cells[BATCH_MAX][4];
	struct vfctl_vf_want wants[BATCH_MAX][2];
	size_t count;
};

#define R(n) instance_random(&h->rnd, (n))

static void make_vfs(struct random_host *h)
{
	h->model.pf_count = 1 + R(PFS_MAX);
	for (uint32_t p = 0; p < h->model.pf_count; p++) {
		struct vfctl_model_pf *pf = &h->pfs[p];

		*pf = (struct vfctl_model_pf){.bdf = bdf(16 + p, 0), .fabric = (int)R(2),
			.node = R(8) ? (int)R((uint32_t)h->t->node_count) : VFCTL_NODE_NONE,
			.num_vfs = 1 + R(6), .max_vfs = 8, .root = VFCTL_ROOT_UNKNOWN};
		for (uint32_t i = R(3); i < pf->num_vfs; i++)
			h->vfs[h->model.vf_count++] = (struct vfctl_free_vf){
				.bdf = bdf(16 + p, i + 1), .pf = pf->bdf, .index = i,
				.node = pf->node, .fabric = pf->fabric, .root = pf->root};
	}
	h->model.pfs = h->pfs;
	h->model.vfs = h->vfs;
}

/* A guest of vfctl on a few cores of a node that no other guest uses. */
static void make_occupants(struct random_host *h, struct vfctl_cpuset *held)
{
	size_t count = R(OCCUPANTS_MAX + 1);

	for (size_t i = 0; i < count; i++) {
		const struct vfctl_core *first = &h->t->cores[R((uint32_t)h->t->core_count)];
		struct vfctl_occupant *o = &h->occupants[h->model.occupant_count];
		uint32_t cores = 1 + R(3);

		*o = (struct vfctl_occupant){.name = "o", .memory = &h->memory[i],
			.memory_count = 1};
		h->memory[i] = (struct vfctl_promise){.node = first->node, .bytes = GIB};
		for (size_t c = 0; c < h->t->core_count && cores; c++)
			if (h->t->cores[c].node == first->node &&
				!vfctl_cpuset_intersects(held, &h->t->cores[c].cpus)) {
				vfctl_cpuset_or(held, &h->t->cores[c].cpus);
				vfctl_cpuset_or(&o->cpus, &h->t->cores[c].cpus);
				cores--;
			}
		h->model.occupant_count += !vfctl_cpuset_empty(&o->cpus);
	}
	h->model.occupants = h->occupants;
}

static void make_want(struct random_host *h, size_t cells, struct vfctl_vf_want *w)
{
	*w = (struct vfctl_vf_want){.any_pf = !h->model.pf_count || R(2), .count = 1 + R(4) / 2,
		.fabric = R(3) ? VFCTL_FABRIC_ANY : (int)R(2), .cell = VFCTL_CELL_ANY,
		.affinity = R(3) ? VFCTL_AFFINITY_REQUIRED : (enum vfctl_affinity)R(4)};
	if (!w->any_pf)
		w->pf = h->pfs[R((uint32_t)h->model.pf_count)].bdf;
	if (w->any_pf && !R(4))
		w->anti_affinity = 1;
	if (cells && !R(3))
		w->cell = R(2) ? VFCTL_CELL_EACH : (int)R((uint32_t)cells);
}

static void make_cells(struct random_host *h, size_t g)
{
	struct vfctl_request *r = &h->requests[g];
	uint32_t count = 1 + R(4);

	if (count > r->vcpus || R(3))
		return;
	r->vcpus -= r->vcpus % count;
	r->memory_bytes = count * ((r->memory_bytes / count + GIB) / GIB * GIB);
	for (uint32_t k = 0; k < count; k++)
		h->cells[g][k] = (struct vfctl_cell_want){.vcpus = r->vcpus / count,
			.memory_bytes = r->memory_bytes / count, .node = VFCTL_NODE_NONE};
	if (R(3) == 0)
		h->cells[g][0].node = (int)R((uint32_t)h->t->node_count);
	r->cells = h->cells[g];
	r->cell_count = count;
	r->cells_max = 0;
}

static void make_guest(struct random_host *h, size_t g, uint32_t vcpus)
{
	static const uint64_t pages[] = {VFCTL_PAGES_AUTO, VFCTL_PAGES_AUTO, VFCTL_PAGES_BASE, GIB};
	struct vfctl_request *r = &h->requests[g];

	*r = (struct vfctl_request){.name = "g", .vcpus = 1 + R(vcpus),
		.threads = (enum vfctl_threads[]){VFCTL_THREADS_PREFER, VFCTL_THREADS_ISOLATE,
			VFCTL_THREADS_NONE}[R(3)],
		.emulator_cores = (uint32_t[]){0, 1, 3, VFCTL_EMULATOR_AUTO}[R(4)], .memory_bytes = (1 + R(24)) * 512 * MIB,
		.page_bytes = pages[R(4)], .node = R(8) ? VFCTL_NODE_NONE :
			(int)R((uint32_t)h->t->node_count),
		.memory_affinity = R(4) ? VFCTL_AFFINITY_REQUIRED : VFCTL_AFFINITY_PREFERRED,
		.cells_max = R(2), .whole_node = !R(16), .whole_l3 = !R(12),
		.max_distance = R(12) ? 0 : 15, .wants = h->wants[g], .want_count = R(3)};
	if (r->page_bytes == GIB)
		r->memory_bytes = (r->memory_bytes + GIB - 1) / GIB * GIB;
	if (!R(4)) {
		r->iothreads = 1;
		r->iothread_cores = R(2);
	}
	if (!R(12))
		r->shared_vcpus = R(r->vcpus + 1);
	if (r->node == VFCTL_NODE_NONE)
		make_cells(h, g);
	for (size_t i = 0; i < r->want_count; i++)
		make_want(h, r->cell_count, &h->wants[g][i]);
}

static void make_random(struct random_host *h, uint64_t seed, size_t guests)
{
	struct vfctl_topology_source source = {.kind = VFCTL_TOPOLOGY_SYNTHETIC};
	struct vfctl_cpuset held = {0};

	*h = (struct random_host){.rnd = {.state = seed}};
	source.text = shapes[R(ARRAY_SIZE(shapes))];
	assert_int_equal(vfctl_topology_load(ctx, &source, &h->t), 0);
	for (size_t i = 0; i < h->t->node_count; i++) {
		uint64_t gib = 2 + R(16);

		h->t->nodes[i].memory_bytes = gib * GIB;
		if (R(2))
			vfctl_topology_set_pages(h->t, h->t->nodes[i].id, GIB,
				R(4) ? R((uint32_t)gib + 1) : gib, VFCTL_COUNT_UNKNOWN);
	}
	h->model.topology = h->t;
	if (R(2))
		h->model.reserved_cpus = h->t->cores[0].cpus;
	if (R(3) == 0)
		h->model.shared_cpus = h->t->cores[1].cpus;
	held = h->model.reserved_cpus;
	vfctl_cpuset_or(&held, &h->model.shared_cpus);
	for (size_t i = 2; i < h->t->core_count; i++)
		if (!R(6))
			vfctl_cpuset_or(&h->model.busy_cpus, &h->t->cores[i].cpus);
	vfctl_cpuset_or(&held, &h->model.busy_cpus);
	make_vfs(h);
	make_occupants(h, &held);
	h->count = guests;
	for (size_t g = 0; g < guests; g++)
		make_guest(h, g, guests > 1 ? 8 : 16);
}

/* ---- remedies, carried out ---- */

static struct {
	size_t refusals, remedies, pairs, of_host, without, unexplained;
	size_t pf, count, shared, left_out;
} seen;

static size_t placed_in(const struct vfctl_host_model *m, const struct vfctl_request *requests,
	size_t count, size_t about, bool *ret_about)
{
	struct vfctl_plan *plan = NULL;
	size_t placed;

	if (vfctl_plan_make(ctx, m, requests, count, NULL, &plan) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	placed = plan->value[VFCTL_LEVEL_PLACED];
	*ret_about = plan->assignments[about].refusal == VFCTL_REFUSAL_NONE;
	vfctl_plan_free(plan);
	return placed;
}

/* The host without the occupant, which is asked for again before the guest. */
static bool fits_after_move(const struct random_host *h, const struct change *change)
{
	struct vfctl_host_model m = h->model;
	struct vfctl_occupant left[OCCUPANTS_MAX];
	struct vfctl_request both[2];
	struct resident resident;
	bool placed;
	size_t n;

	assert_int_equal(resident_init(ctx, &m, &m.occupants[change->index], &resident), 0);
	m.occupant_count = 0;
	for (size_t i = 0; i < h->model.occupant_count; i++)
		if (i != change->index)
			left[m.occupant_count++] = h->model.occupants[i];
	m.occupants = left;
	both[0] = resident.request;
	both[1] = h->requests[0];
	n = placed_in(&m, both, 2, 1, &placed);
	resident_clear(&resident);
	return n == 2;
}

/* Nobody else loses a place that the guest gets. */
static bool fits_without(const struct random_host *h, size_t left_out, size_t about, size_t placed)
{
	struct vfctl_request requests[BATCH_MAX];
	size_t count = 0, n, at = about - (left_out < about);
	bool fits;

	for (size_t i = 0; i < h->count; i++)
		if (i != left_out)
			requests[count++] = h->requests[i];
	n = placed_in(&h->model, requests, count, at, &fits);
	return fits && n >= placed;
}

static bool helps(const struct random_host *h, const struct vfctl_remedy *remedy, size_t about,
	size_t placed)
{
	struct vfctl_request requests[BATCH_MAX];
	struct changed_request changed;
	struct changed_host host = {.model = h->model};
	bool fits;
	size_t n;

	if (remedy->changes[0].kind == CHANGE_MOVE)
		return fits_after_move(h, &remedy->changes[0]);
	seen.left_out += remedy->changes[0].kind == CHANGE_LEAVE;
	if (remedy->changes[0].kind == CHANGE_LEAVE)
		return fits_without(h, remedy->changes[0].index, about, placed);
	memcpy(requests, h->requests, sizeof(requests));
	changed_request_init(&changed, &requests[about]);
	for (size_t i = 0; i < remedy->count; i++)
		if (remedy->changes[i].kind < CHANGE_OF_HOST) {
			seen.pf += remedy->changes[i].kind == CHANGE_PF;
			seen.count += remedy->changes[i].kind == CHANGE_COUNT;
			seen.shared += remedy->changes[i].kind == CHANGE_SHARED;
			assert_true(change_request(&changed, &remedy->changes[i]));
		} else {
			assert_int_equal(change_host(ctx, &h->model, &requests[about],
				&remedy->changes[i], &host), 0);
		}
	requests[about] = changed.r;
	n = placed_in(&host.model, requests, h->count, about, &fits);
	changed_host_clear(&host);
	return fits && n > placed;
}

static void check_refusal(const struct random_host *h, const struct vfctl_plan *plan, size_t g)
{
	const struct vfctl_assignment *a = &plan->assignments[g];
	size_t reasons = 0;

	for (size_t i = 0; i < a->reason_count; i++) {
		reasons += a->reasons[i].kind == VFCTL_REASON_SHORT;
		seen.unexplained += strstr(a->reasons[i].text, "each resource is available") != NULL;
	}
	assert_true(reasons > (a->refusal == VFCTL_REFUSAL_OTHERS));
	assert_int_equal(reasons + a->remedy_count, a->reason_count);
	seen.refusals++;
	seen.remedies += a->remedy_count;
	seen.without += !a->remedy_count;
	for (size_t i = 0; i < a->remedy_count; i++) {
		const struct vfctl_remedy *r = &a->remedies[i];

		seen.pairs += r->count > 1;
		seen.of_host += r->changes[0].kind >= CHANGE_OF_HOST;
		assert_int_equal(a->reasons[r->reason].kind, VFCTL_REASON_REMEDY);
		if (!helps(h, r, g, plan->value[VFCTL_LEVEL_PLACED])) {
			for (size_t k = 0; k < a->reason_count; k++)
				print_error("%s\n", a->reasons[k].text);
			fail_msg("'%s' does not help", a->reasons[r->reason].text);
		}
	}
}

static void check_seed(uint64_t seed, size_t guests)
{
	static struct random_host h;
	struct vfctl_plan *plan = NULL;
	int r;

	make_random(&h, seed, guests);
	r = vfctl_plan_make(ctx, &h.model, h.requests, h.count, NULL, &plan);
	for (size_t g = 0; r == 0 && g < h.count; g++)
		if (plan->assignments[g].refusal != VFCTL_REFUSAL_NONE)
			check_refusal(&h, plan, g);
	/* Some ask for what contradicts itself. */
	assert_true(r == 0 || r == -EINVAL);
	vfctl_plan_free(plan);
	vfctl_topology_free(h.t);
}

static void check_seeds(uint64_t seed, size_t refusals, size_t guests)
{
	memset(&seen, 0, sizeof(seen));
	while (seen.refusals < refusals)
		check_seed(seed++, guests);
	print_message("%zu refusals, %zu remedies (%zu of two changes, %zu of the host), %zu "
		"without any, %zu with no better reason than that it was not found; %zu with "
		"another PF, %zu with fewer VFs, %zu with shared vCPUs, %zu without another\n",
		seen.refusals, seen.remedies, seen.pairs, seen.of_host, seen.without,
		seen.unexplained, seen.pf, seen.count, seen.shared, seen.left_out);
	/* No kind is there in vain. */
	assert_true(guests == 1 ? seen.pf && seen.count && seen.shared : seen.left_out);
}

static void remedies_help_guests_alone(void **state)
{
	check_seeds(1, ALONE, 1);
}

static void remedies_help_in_batches(void **state)
{
	check_seeds(5000, BATCHES, BATCH_MAX);
}

/* ---- one of each ---- */

static struct vfctl_model_pf pf_on(unsigned bus, int node, uint32_t vfs)
{
	return (struct vfctl_model_pf){.bdf = bdf(bus, 0), .node = node, .fabric = 1,
		.num_vfs = vfs, .max_vfs = vfs, .root = VFCTL_ROOT_UNKNOWN};
}

/* The named PF has none left: another one of its network, but none of another. */
static void any_pf_of_the_same_network(void **state)
{
	struct vfctl_model_pf pfs[] = {pf_on(16, 0, 0), pf_on(17, 1, 1), pf_on(18, 0, 1)};
	const struct vfctl_vf_want named = {.pf = bdf(16, 0), .fabric = VFCTL_FABRIC_ANY,
		.count = 1, .cell = VFCTL_CELL_ANY};
	struct vfctl_request r = guest(2, &named);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 17, 1, 1, 1);
	add_vfs(&h, 18, 0, 1, 2);
	pfs[2].fabric = 2;
	h.model.pfs = pfs;
	h.model.pf_count = 3;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_VFS);
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with any PF of the same network instead of "
		"0000:10:00.0 it fits, on node 1"));
	vfctl_plan_free(plan);
}

static void the_most_vfs_that_are_there(void **state)
{
	struct vfctl_vf_want four = any_vf;
	struct vfctl_request r = guest(2, &four);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 2, 4, 1);
	add_vfs(&h, 16, 0, 3, 1);
	four.count = 4;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with 3 VFs of any PF it fits, on node 0"));
	vfctl_plan_free(plan);
}

/* 7 cores, of which QEMU has one: 2 of 8 vCPUs share a CPU, which carries 4. */
static void the_fewest_vcpus_shared(void **state)
{
	struct vfctl_request r = guest(8, NULL);
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 8, 1);
	h.model.shared_cpus = h.cores[0].cpus;
	plan = make_plan(&h, &r, 1);
	a = &plan->assignments[0];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_CPUS);
	assert_true(has_reason(a, VFCTL_REASON_REMEDY, "with shared_vcpus: 2 (slower"));
	vfctl_plan_free(plan);
}

/* Either of the others makes room; the smaller one is told. */
static void another_guest_left_out(void **state)
{
	struct vfctl_request r[] = {guest(4, NULL), guest(3, NULL), guest(5, NULL)};
	const struct vfctl_assignment *a;
	struct vfctl_plan *plan;
	struct host_model h;

	make_host(&h, 1, 10, 1);
	r[0].name = "four";
	r[1].name = "three";
	r[2].name = "five";
	plan = make_plan(&h, r, 3);
	assert_int_equal(plan->value[VFCTL_LEVEL_PLACED], 2);
	a = &plan->assignments[2];
	assert_int_equal(a->refusal, VFCTL_REFUSAL_OTHERS);
	/* 10 cores: 5 + 4 are taken; without "three" 5 are free, but 6 are needed. */
	assert_true(has_reason(a, VFCTL_REASON_REMEDY,
		"or omit guest four (4 vCPUs, 0 VFs): then it fits on node 0"));
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
		cmocka_unit_test(any_pf_of_the_same_network),
		cmocka_unit_test(the_most_vfs_that_are_there),
		cmocka_unit_test(the_fewest_vcpus_shared),
		cmocka_unit_test(another_guest_left_out),
		cmocka_unit_test(remedies_help_guests_alone),
		cmocka_unit_test(remedies_help_in_batches),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
