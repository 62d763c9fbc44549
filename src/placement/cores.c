// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/placement.h"

#include <errno.h>

int core_pool_init(struct vfctl_ctx *ctx, struct core_pool *pool,
	const struct occupancy *o, unsigned node)
{
	const struct vfctl_topology *topology = o->model->topology;

	pool->count = 0;
	pool->v = calloc(topology->core_count, sizeof(*pool->v));
	if (!pool->v)
		return ctx_oom(ctx);
	for (size_t i = 0; i < topology->core_count; i++) {
		const struct vfctl_core *core = &topology->cores[i];

		if (core->node != (int)node ||
			vfctl_cpuset_intersects(&core->cpus, &o->taken))
			continue;
		pool->v[pool->count++] = (struct core_entry){
			.core = core,
			.threads = vfctl_cpuset_count(&core->cpus),
		};
	}
	return 0;
}

void core_pool_clear(struct core_pool *pool)
{
	free(pool->v);
	*pool = (struct core_pool){0};
}

void core_pick_clear(struct core_pick *pick)
{
	free(pick->cpus);
	pick->cpus = NULL;
}

/* vCPUs that the free cores of one L3 can hold. */
static uint32_t l3_room(const struct core_pool *pool, int l3, bool one_per_core)
{
	uint32_t room = 0;

	for (size_t i = 0; i < pool->count; i++)
		if (pool->v[i].core->l3 == l3 && !pool->v[i].chosen)
			room += one_per_core ? 1 : pool->v[i].threads;
	return room;
}

/* True when an L3 with room @a is a better home for @vcpus than one with room @b. */
static bool better_room(uint32_t a, uint32_t b, uint32_t vcpus)
{
	if ((a >= vcpus) != (b >= vcpus))
		return a >= vcpus;
	return a >= vcpus ? a < b : a > b;
}

static int best_l3(const struct core_pool *pool, const struct vfctl_request *request)
{
	bool one_per_core = request->threads == VFCTL_THREADS_ISOLATE;
	int best = pool->v[0].core->l3;
	uint32_t best_room = l3_room(pool, best, one_per_core);

	for (size_t i = 1; i < pool->count; i++) {
		int l3 = pool->v[i].core->l3;
		uint32_t room;

		if (l3 == pool->v[i - 1].core->l3)
			continue;
		room = l3_room(pool, l3, one_per_core);
		if (better_room(room, best_room, request->vcpus)) {
			best = l3;
			best_room = room;
		}
	}
	return best;
}

/*
 * Bring the cores of the best L3 to the front: the one that holds all vCPUs with least
 * left over; when none does, the roomiest first. Else cores stay in the order of CPUs.
 */
static void order_by_l3(struct core_pool *pool, const struct vfctl_request *request)
{
	for (size_t done = 0; done < pool->count;) {
		struct core_pool rest = {pool->v + done, pool->count - done};
		int l3 = best_l3(&rest, request);
		size_t moved = 0;

		for (size_t i = 0; i < rest.count; i++) {
			struct core_entry entry = rest.v[i];

			if (entry.core->l3 != l3)
				continue;
			memmove(&rest.v[moved + 1], &rest.v[moved],
				(i - moved) * sizeof(entry));
			rest.v[moved++] = entry;
		}
		done += moved;
	}
}

static void unchoose(struct core_pool *pool)
{
	for (size_t i = 0; i < pool->count; i++)
		pool->v[i].chosen = false;
}

static size_t count_chosen(const struct core_pool *pool)
{
	size_t n = 0;

	for (size_t i = 0; i < pool->count; i++)
		n += pool->v[i].chosen;
	return n;
}

/* Cores of exactly @threads threads, filled evenly. */
static bool choose_even(struct core_pool *pool, uint32_t vcpus, uint32_t threads)
{
	uint32_t need = vcpus / threads;

	unchoose(pool);
	if (vcpus % threads)
		return false;
	for (size_t i = 0; i < pool->count && need; i++)
		if (pool->v[i].threads == threads) {
			pool->v[i].chosen = true;
			need--;
		}
	return need == 0;
}

/*
 * The core that wastes least: the largest one that is filled, else the smallest. (Host
 * CPUs with cores of one and of two threads exist, also by offline siblings.)
 */
static struct core_entry *next_to_fill(struct core_pool *pool, uint32_t vcpus)
{
	struct core_entry *best = NULL;

	for (size_t i = 0; i < pool->count; i++) {
		struct core_entry *e = &pool->v[i];
		bool filled = e->threads <= vcpus;

		if (e->chosen)
			continue;
		if (!best ||
			(filled &&
				(best->threads > vcpus || e->threads > best->threads)) ||
			(!filled && best->threads > vcpus && e->threads < best->threads))
			best = e;
	}
	return best;
}

static bool choose_filling(struct core_pool *pool, uint32_t vcpus)
{
	unchoose(pool);
	while (vcpus) {
		struct core_entry *e = next_to_fill(pool, vcpus);

		if (!e)
			return false;
		e->chosen = true;
		vcpus -= e->threads < vcpus ? e->threads : vcpus;
	}
	return true;
}

/* One vCPU each: cores with fewest threads first, they leave fewest idle. */
static bool choose_isolated(struct core_pool *pool, uint32_t vcpus)
{
	unchoose(pool);
	for (; vcpus; vcpus--) {
		struct core_entry *best = NULL;

		for (size_t i = 0; i < pool->count; i++)
			if (!pool->v[i].chosen &&
				(!best || pool->v[i].threads < best->threads))
				best = &pool->v[i];
		if (!best)
			return false;
		best->chosen = true;
	}
	return true;
}

static uint32_t most_threads(const struct core_pool *pool)
{
	uint32_t most = 0;

	for (size_t i = 0; i < pool->count; i++)
		if (pool->v[i].threads > most)
			most = pool->v[i].threads;
	return most;
}

/* Mark the cores for the vCPUs. Returns the guest's threads per core, 0 when none fit. */
static uint32_t choose(struct core_pool *pool, const struct vfctl_request *request)
{
	size_t emulator = request->emulator_cores;

	if (request->threads == VFCTL_THREADS_ISOLATE)
		return choose_isolated(pool, request->vcpus) &&
		       count_chosen(pool) + emulator <= pool->count;
	if (request->threads != VFCTL_THREADS_NONE)
		for (uint32_t t = most_threads(pool); t > 1; t--)
			if (choose_even(pool, request->vcpus, t) &&
				count_chosen(pool) + emulator <= pool->count)
				return t;
	return request->threads != VFCTL_THREADS_REQUIRE &&
	       choose_filling(pool, request->vcpus) &&
	       count_chosen(pool) + emulator <= pool->count;
}

static void take_vcpus(struct core_pool *pool, const struct vfctl_request *request,
	struct core_pick *pick)
{
	uint32_t most = request->threads == VFCTL_THREADS_ISOLATE ? 1 : UINT32_MAX;
	uint32_t n = 0;

	for (size_t i = 0; i < pool->count; i++) {
		const struct vfctl_cpuset *cpus = &pool->v[i].core->cpus;
		uint32_t used = 0;

		if (!pool->v[i].chosen)
			continue;
		vfctl_cpuset_or(&pick->held, cpus);
		for (int cpu = vfctl_cpuset_next(cpus, 0);
			cpu >= 0 && n < request->vcpus && used < most;
			cpu = vfctl_cpuset_next(cpus, (unsigned)cpu + 1)) {
			pick->cpus[n++] = (uint32_t)cpu;
			used++;
		}
	}
}

/* A small core, in the L3 that is most used up, so that others stay whole. */
static struct core_entry *next_for_emulator(struct core_pool *pool)
{
	struct core_entry *best = NULL;
	uint32_t best_room = 0;

	for (size_t i = 0; i < pool->count; i++) {
		struct core_entry *e = &pool->v[i];
		uint32_t room;

		if (e->chosen || (best && e->threads > best->threads))
			continue;
		room = l3_room(pool, e->core->l3, true);
		if (best && e->threads == best->threads && room >= best_room)
			continue;
		best = e;
		best_room = room;
	}
	return best;
}

static void take_emulator(struct core_pool *pool, const struct vfctl_request *request,
	struct core_pick *pick)
{
	for (uint32_t n = 0; n < request->emulator_cores; n++) {
		struct core_entry *e = next_for_emulator(pool);

		e->chosen = true;
		vfctl_cpuset_or(&pick->emulator, &e->core->cpus);
		vfctl_cpuset_or(&pick->held, &e->core->cpus);
	}
}

int core_pool_pick(struct vfctl_ctx *ctx, struct core_pool *pool,
	const struct vfctl_request *request, struct core_pick *ret)
{
	struct core_pick pick = {0};

	order_by_l3(pool, request);
	pick.guest_threads = choose(pool, request);
	if (!pick.guest_threads)
		return 0;
	pick.cpus = calloc(request->vcpus, sizeof(*pick.cpus));
	if (!pick.cpus)
		return ctx_oom(ctx);
	take_vcpus(pool, request, &pick);
	take_emulator(pool, request, &pick);
	pick.left = pool->count - count_chosen(pool);
	*ret = pick;
	return 1;
}

uint32_t core_pool_most_vcpus(struct core_pool *pool, const struct vfctl_request *request)
{
	struct vfctl_request smaller = *request;
	uint32_t most = 0;

	for (size_t i = 0; i < pool->count; i++)
		most += pool->v[i].threads;
	if (most >= request->vcpus)
		most = request->vcpus - 1;
	for (smaller.vcpus = most; smaller.vcpus > 0; smaller.vcpus--)
		if (choose(pool, &smaller))
			break;
	unchoose(pool);
	return smaller.vcpus;
}
