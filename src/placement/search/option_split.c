// SPDX-License-Identifier: GPL-2.0-or-later
/* Split a guest without stated cells over nodes, as evenly as the nodes permit. */
#include "placement/search/options.h"

/* Number of uneven splits over the same nodes that are tried in a batch. */
#define SPLITS_MAX 64

/* vCPUs of each cell: dedicated and shared ones. */
struct split {
	uint32_t alone[CAPACITY_NODES_MAX], shared[CAPACITY_NODES_MAX];
};

void option_spread_shared(struct gen *g)
{
	uint64_t vcpus = 0, before = 0;

	for (size_t k = 0; k < g->count; k++) {
		vcpus += g->cells[k].vcpus;
		g->cells[k].shared = (uint32_t)(vcpus * g->r->shared_vcpus / g->r->vcpus -
			before);
		before += g->cells[k].shared;
	}
}

/* ---- what a node can take ---- */

/* Cores of the node that the guest may use. */
static uint32_t open_cores(const struct gen *g, unsigned node, unsigned class)
{
	uint32_t whole = (uint32_t)g->rooms[node].l3_whole * g->capacity->nodes[node].l3_cores;
	uint32_t cores = g->rooms[node].cores[class];

	return g->r->whole_l3 && whole < cores ? whole : cores;
}

/*
 * vCPUs per core of the class if the guest is split in steps of @unit; 0: the class is not usable.
 */
static uint32_t per_core(const struct gen *g, unsigned class, uint32_t unit)
{
	uint32_t threads = g->capacity->class_threads[class];

	if (g->r->threads == VFCTL_THREADS_REQUIRE)
		return threads == unit ? threads : 0;
	return g->r->threads == VFCTL_THREADS_ISOLATE ? 1 : threads;
}

/* Steps of @unit vCPUs that a node's cores hold besides @extra cores for QEMU. */
static uint32_t most_steps(const struct gen *g, unsigned node, uint32_t unit, uint32_t extra)
{
	uint32_t vcpus = 0;

	/* QEMU's cores are those that are least useful for vCPUs. */
	for (int useful = 0; useful < 2; useful++)
		for (unsigned c = 0; c < g->capacity->class_count; c++) {
			uint32_t cores = open_cores(g, node, c), each = per_core(g, c, unit);
			uint32_t taken = cores < extra ? cores : extra;

			if (useful != (each > 0))
				continue;
			extra -= taken;
			vcpus += (cores - taken) * each;
		}
	return extra ? 0 : vcpus / unit;
}

/* The largest number of the guest's vCPUs that could be on the node. */
static uint32_t most_vcpus(const struct gen *g, unsigned node)
{
	uint32_t alone = g->r->vcpus - g->r->shared_vcpus, shared = g->r->shared_vcpus;
	uint32_t threads = g->rooms[node].threads;

	alone = alone < threads ? alone : threads;
	shared = shared < g->rooms[node].shared ? shared : g->rooms[node].shared;
	return alone + shared;
}

/* ---- vCPUs ---- */

static void try_split(struct gen *g, const struct split *split)
{
	g->list->work += g->count;
	for (size_t k = 0; k < g->count; k++) {
		g->cells[k].shared = split->shared[k];
		g->cells[k].vcpus = split->alone[k] + split->shared[k];
		if (!g->cells[k].vcpus)
			return;
	}
	option_share_memory(g);
}

/*
 * Distribute @total more on top of @units, as evenly as the nodes permit: each gets the same until
 * it is full.
 */
static bool level(const uint32_t *most, size_t count, uint32_t total, uint32_t *units)
{
	uint32_t left = total;

	while (left) {
		size_t open = 0, given = 0;

		for (size_t k = 0; k < count; k++)
			open += units[k] < most[k];
		if (!open)
			return false;
		for (size_t k = 0; k < count; k++) {
			uint32_t share = (uint32_t)(left / open ? left / open : 1);

			if (units[k] >= most[k] || given >= left)
				continue;
			if (share > most[k] - units[k])
				share = most[k] - units[k];
			if (share > left - given)
				share = (uint32_t)(left - given);
			units[k] += share;
			given += share;
		}
		left -= (uint32_t)given;
	}
	return true;
}

/* Distribute shared vCPUs in proportion; @most: capacity of the nodes for the dedicated ones. */
static bool in_proportion(struct gen *g, const uint32_t *most, struct split *ret)
{
	uint32_t all[CAPACITY_NODES_MAX] = {0}, vcpus[CAPACITY_NODES_MAX] = {0};

	for (size_t k = 0; k < g->count; k++)
		all[k] = most[k] + g->rooms[g->cells[k].node].shared;
	if (!level(all, g->count, g->r->vcpus, vcpus))
		return false;
	for (size_t k = 0; k < g->count; k++)
		g->cells[k].vcpus = vcpus[k];
	option_spread_shared(g);
	for (size_t k = 0; k < g->count; k++) {
		ret->shared[k] = g->cells[k].shared;
		ret->alone[k] = vcpus[k] - ret->shared[k];
		if (ret->alone[k] > most[k] ||
			ret->shared[k] > g->rooms[g->cells[k].node].shared)
			return false;
	}
	return true;
}

/*
 * One vCPU for each cell, of the kind for which its node has CPUs; if it has both, of the more
 * plentiful one.
 */
static bool give_first(const uint32_t *most, const uint32_t *carries, size_t count,
	uint32_t *alone, uint32_t *shared, struct split *ret)
{
	for (int both = 0; both < 2; both++)
		for (size_t k = 0; k < count; k++) {
			uint32_t *from = most[k] && (!carries[k] || *alone) ? alone : shared;

			if ((most[k] && carries[k]) != both)
				continue;
			if (!*from || (from == shared && !carries[k]))
				return false;
			--*from;
			ret->alone[k] = from == alone;
			ret->shared[k] = from == shared;
		}
	return true;
}

/* Distribute both kinds independently if they cannot be in proportion. */
static bool by_kind(struct gen *g, const uint32_t *most, struct split *ret)
{
	uint32_t alone = g->r->vcpus - g->r->shared_vcpus, shared = g->r->shared_vcpus;
	uint32_t carries[CAPACITY_NODES_MAX];

	for (size_t k = 0; k < g->count; k++)
		carries[k] = g->rooms[g->cells[k].node].shared;
	*ret = (struct split){0};
	return give_first(most, carries, g->count, &alone, &shared, ret) &&
		level(most, g->count, alone, ret->alone) &&
		level(carries, g->count, shared, ret->shared);
}

/* The most even split in steps of @unit, if the nodes hold at most @most. */
static bool even_split(struct gen *g, const uint32_t *most, uint32_t unit, struct split *ret)
{
	if (g->r->shared_vcpus)
		return in_proportion(g, most, ret) || by_kind(g, most, ret);
	*ret = (struct split){0};
	if (!level(most, g->count, g->r->vcpus / unit, ret->alone))
		return false;
	for (size_t k = 0; k < g->count; k++)
		ret->alone[k] *= unit;
	return true;
}

/* From a split over two cells, continue with less and less even ones. */
static void try_pairs(struct gen *g, const uint32_t *most, uint32_t unit, const struct split *even)
{
	int64_t first = even->alone[0] / unit, total = g->r->vcpus / unit;
	struct split split = {0};

	for (int64_t step = 1; step < total && step < SPLITS_MAX; step++)
		for (int side = -1; side <= 1; side += 2) {
			int64_t a = first + side * step;

			if (a < 1 || a >= total || a > most[0] || total - a > most[1])
				continue;
			split.alone[0] = (uint32_t)a * unit;
			split.alone[1] = (uint32_t)(total - a) * unit;
			try_split(g, &split);
		}
}

/* All splits of @left more steps over the cells from @cell on, except the even one. */
static void try_all(struct gen *g, const uint32_t *most, uint32_t unit,
	const struct split *even, size_t cell, uint32_t left, struct split *split)
{
	uint32_t later = (uint32_t)(g->count - cell) - 1;

	if (!later) {
		split->alone[cell] = left * unit;
		if (left <= most[cell] && memcmp(split, even, sizeof(*split)) != 0)
			try_split(g, split);
		return;
	}
	for (uint32_t n = 1; n <= most[cell] && n + later <= left; n++) {
		split->alone[cell] = n * unit;
		try_all(g, most, unit, even, cell + 1, left - n, split);
	}
}

/*
 * Number of splits of so many steps, with at least one for each cell; above SPLITS_MAX any number.
 */
static uint64_t count_splits(size_t cells, uint32_t steps)
{
	uint64_t count = 1;

	for (size_t k = 1; k < cells && count && count <= SPLITS_MAX; k++)
		count = steps > k ? count * (steps - k) / k : 0;
	return count;
}

static void try_uneven(struct gen *g, const uint32_t *most, uint32_t unit,
	const struct split *even)
{
	uint32_t steps = g->r->vcpus / unit;
	struct split split = {0};

	if (g->count == 2)
		try_pairs(g, most, unit, even);
	else if (count_splits(g->count, steps) <= SPLITS_MAX)
		try_all(g, most, unit, even, 0, steps, &split);
}

static void make_way_at(struct gen *g, uint32_t *most, uint32_t unit, size_t cell, uint32_t cores)
{
	uint32_t was = most[cell];
	struct split split;

	most[cell] = most_steps(g, g->cells[cell].node, unit, cores);
	if (even_split(g, most, unit, &split))
		try_split(g, &split);
	most[cell] = was;
}

/* QEMU's threads at one cell, its I/O threads at another. */
static void make_way_in_pairs(struct gen *g, uint32_t *most, uint32_t unit)
{
	for (size_t q = 0; q < g->count; q++) {
		uint32_t was = most[q];

		most[q] = most_steps(g, g->cells[q].node, unit, option_qemu_cores(g, g->cells[q].node));
		for (size_t e = 0; e < g->count; e++)
			if (e != q)
				make_way_at(g, most, unit, e, request_extra_cores(g->r));
		most[q] = was;
	}
}

/* QEMU's cores need a place too: reduce the capacity of one cell after the other. */
static void make_way(struct gen *g, uint32_t *most, uint32_t unit)
{
	bool on_host = request_has_auto(g->r) && option_host_cell(g) < g->count;
	size_t before = g->list->count;

	for (size_t k = 0; k < g->count; k++)
		make_way_at(g, most, unit, k, request_extra_cores(g->r) +
			(on_host ? 0 : option_qemu_cores(g, g->cells[k].node)));
	if (!on_host && request_has_auto(g->r) && request_extra_cores(g->r) &&
		g->list->count == before)
		make_way_in_pairs(g, most, unit);
}

static void split_by(struct gen *g, uint32_t unit)
{
	uint32_t most[CAPACITY_NODES_MAX];
	size_t before = g->list->count;
	struct split even;

	for (size_t k = 0; k < g->count; k++)
		most[k] = most_steps(g, g->cells[k].node, unit, 0);
	if (!even_split(g, most, unit, &even))
		return;
	try_split(g, &even);
	if ((request_extra_cores(g->r) || request_has_auto(g->r)) && g->list->count == before)
		make_way(g, most, unit);
	if (!g->last && !g->r->shared_vcpus)
		try_uneven(g, most, unit, &even);
}

/* Whether all free cores of the cells' nodes have the same class. */
static bool cores_alike(const struct gen *g)
{
	unsigned kinds = 0;

	for (unsigned c = 0; c < g->capacity->class_count; c++)
		for (size_t k = 0; k < g->count; k++)
			if (g->rooms[g->cells[k].node].cores[c]) {
				kinds++;
				break;
			}
	return kinds <= 1;
}

/* Step sizes, largest first: cores that the vCPUs fill, then single vCPUs. */
static size_t list_units(const struct gen *g, uint32_t ret[CAPACITY_CLASSES_MAX + 1])
{
	bool single = g->r->threads == VFCTL_THREADS_ISOLATE || g->r->shared_vcpus;
	size_t count = 0;

	for (unsigned c = g->capacity->class_count; c-- > 0 && !single;) {
		uint32_t threads = g->capacity->class_threads[c];

		if (threads > 1 && g->r->vcpus % threads == 0)
			ret[count++] = threads;
	}
	if (g->r->threads != VFCTL_THREADS_REQUIRE)
		ret[count++] = 1;
	return count;
}

/* Whether these nodes can meet the wants, each alone. */
static bool have_vfs(const struct gen *g)
{
	const struct option o = {.nodes = g->used, .cell_count = (uint8_t)g->count};
	uint64_t distance;

	return match_floor(g->capacity, g->demand, &o, g->cells, &distance);
}

/* Threads stay idle only if no split in whole cores is possible. */
static void split_over(struct gen *g)
{
	uint32_t units[CAPACITY_CLASSES_MAX + 1];
	size_t before = g->list->count, count = list_units(g, units);

	g->list->work++;
	if (!have_vfs(g))
		return;
	for (size_t i = 0; i < count; i++) {
		split_by(g, units[i]);
		if (g->list->count > before && (g->last || cores_alike(g)))
			break;
	}
	/* Other guests may need the memory, or the shared CPUs, that it could take elsewhere. */
	g->list->partial |= !g->last && g->list->count > before;
}

/* ---- nodes ---- */

/* The largest amount of it that the node could take. */
static uint64_t most_of(const struct gen *g, unsigned node, bool memory)
{
	return memory ? g->rooms[node].memory[g->page] : most_vcpus(g, node);
}

/* What the cells before @cell could hold, with the best nodes from @from on for the others. */
static uint64_t at_most(const struct gen *g, size_t cell, unsigned from, bool memory)
{
	uint64_t best[CAPACITY_NODES_MAX], sum = 0;
	size_t count = 0;

	for (size_t k = 0; k < cell; k++)
		sum += most_of(g, g->cells[k].node, memory);
	for (unsigned n = from; n < g->capacity->node_count; n++) {
		uint64_t value = most_of(g, n, memory);
		size_t at = count++;

		for (; at > 0 && best[at - 1] < value; at--)
			best[at] = best[at - 1];
		best[at] = value;
	}
	for (size_t i = 0; i < count && i < g->count - cell; i++)
		sum += best[i];
	return sum;
}

/* Nodes ascending: cells that are not stated have no order. */
void option_split(struct gen *g, size_t cell, unsigned from)
{
	g->list->work += g->capacity->node_count / 4;
	if (at_most(g, cell, from, false) < g->r->vcpus ||
		(g->r->memory_affinity == VFCTL_AFFINITY_REQUIRED &&
			at_most(g, cell, from, true) < g->r->memory_bytes))
		return;
	if (!option_go_on(g))
		return;
	if (cell == g->count) {
		split_over(g);
		return;
	}
	for (unsigned n = from; n < g->capacity->node_count; n++) {
		if (!option_can_hold(g, n) || !most_vcpus(g, n) || option_has_equal(g, n))
			continue;
		g->cells[cell].node = (uint8_t)n;
		g->used |= UINT64_C(1) << n;
		option_split(g, cell + 1, n + 1);
		g->used &= ~(UINT64_C(1) << n);
	}
}
