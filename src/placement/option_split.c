// SPDX-License-Identifier: GPL-2.0-or-later
/* A guest whose cells nobody gave, split over nodes: as even as they allow, or less. */
#include "placement/options.h"

/* Uneven splits over the same nodes that are tried in a batch. */
#define SPLITS_MAX 64

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

/* vCPUs a node could take, in steps of the split. */
static uint32_t most_units(const struct gen *g, unsigned node, uint32_t unit)
{
	const struct room *room = &g->rooms[node];
	uint32_t vcpus = g->r->threads == VFCTL_THREADS_ISOLATE ? room->core_count
								: room->threads;

	if (g->r->shared_vcpus == g->r->vcpus)
		vcpus = room->shared;
	else if (g->r->shared_vcpus)
		vcpus += room->shared;
	return vcpus / unit;
}

/*
 * Memory in proportion to vCPUs, in whole pages; what a node lacks goes to the others.
 * False when all of them together have not enough.
 */
static bool split_memory(struct gen *g, bool own_only)
{
	uint64_t page = g->page ? g->site->page_bytes[g->page] : UINT64_C(1) << 20;
	uint64_t left = g->r->memory_bytes / page, vcpus = g->r->vcpus, given = 0;

	for (size_t k = 0; k < g->count; k++) {
		struct opt_cell *c = &g->cells[k];
		uint64_t most = g->rooms[c->node].memory[g->page] / page;
		uint64_t pages = (unsigned __int128)g->r->memory_bytes / page * c->vcpus / vcpus;

		if (!own_only)
			most = left;
		pages = pages ? pages : 1;
		c->memory = pages < most ? pages : most;
		given += c->memory;
		if (!c->memory)
			return false;
	}
	for (size_t k = 0; k < g->count; k++) {
		uint64_t most = g->rooms[g->cells[k].node].memory[g->page] / page;
		uint64_t more = left > given ? left - given : 0;

		if (!own_only)
			most = left;
		if (more > most - g->cells[k].memory)
			more = most - g->cells[k].memory;
		g->cells[k].memory += more;
		given += more;
		/* At least a page each may have been more than there is to split. */
		if (given > left && g->cells[k].memory > given - left) {
			g->cells[k].memory -= given - left;
			given = left;
		}
		g->cells[k].memory *= page;
	}
	return given == left;
}

static void try_split(struct gen *g, const uint32_t *units, uint32_t unit)
{
	uint32_t left = g->r->vcpus;

	for (size_t k = 0; k < g->count; k++) {
		uint32_t vcpus = units[k] * unit;

		g->cells[k].vcpus = vcpus < left ? vcpus : left;
		left -= g->cells[k].vcpus;
		if (!g->cells[k].vcpus)
			return;
	}
	option_spread_shared(g);
	for (size_t k = 0; k < g->count; k++)
		if (!option_cell_fits(g, k, g->cells[k].node))
			return;
	if (left)
		return;
	if (split_memory(g, true) ||
		(g->r->memory_affinity != VFCTL_AFFINITY_REQUIRED && split_memory(g, false)))
		option_memory(g, 0);
}

/* As even as the nodes allow: each gets the same until it is full. */
static bool level(const uint32_t *most, size_t count, uint32_t total, uint32_t *units)
{
	uint32_t left = total;

	for (size_t k = 0; k < count; k++)
		units[k] = 0;
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

/* From a split of two cells, the ones less and less even. */
static void try_uneven(struct gen *g, const uint32_t *most, const uint32_t *units,
	uint32_t unit)
{
	uint32_t total = units[0] + units[1];

	for (uint32_t step = 1; step < total && step < SPLITS_MAX; step++)
		for (int side = 0; side < 2; side++) {
			uint32_t a = side ? units[0] + step : units[0] - step;
			uint32_t other[2] = {a, total - a};

			if ((side && units[1] <= step) || (!side && units[0] <= step) ||
				other[0] > most[0] || other[1] > most[1])
				continue;
			try_split(g, other, unit);
		}
}

static void split_over(struct gen *g, uint32_t unit)
{
	uint32_t most[SITE_NODES_MAX], units[SITE_NODES_MAX];
	uint32_t total = (g->r->vcpus + unit - 1) / unit;
	size_t before = g->list->count;
	bool extra = g->r->emulator_cores + g->r->iothread_cores > 0;

	g->list->work++;
	for (size_t k = 0; k < g->count; k++)
		most[k] = most_units(g, g->cells[k].node, unit);
	if (!level(most, g->count, total, units))
		return;
	try_split(g, units, unit);
	/* QEMU's cores need a place too: one cell less full, each in its turn. */
	for (size_t k = 0; extra && g->list->count == before && k < g->count; k++) {
		uint32_t was = most[k], threads = 0, need;

		need = g->r->emulator_cores + g->r->iothread_cores;
		for (unsigned c = 0; c < g->site->class_count && need; c++) {
			uint32_t n = g->rooms[g->cells[k].node].cores[c];

			n = n < need ? n : need;
			threads += n * (g->r->threads == VFCTL_THREADS_ISOLATE ? 1 :
				g->site->class_threads[c]);
			need -= n;
		}
		threads = (threads + unit - 1) / unit;
		most[k] = was > threads ? was - threads : 0;
		if (!need && level(most, g->count, total, units))
			try_split(g, units, unit);
		most[k] = was;
	}
	if (!g->last && g->count == 2 && level(most, g->count, total, units))
		try_uneven(g, most, units, unit);
}

/* Nodes ascending: cells that nobody gave have no order of their own. */
void option_split(struct gen *g, size_t cell, unsigned from, uint32_t unit)
{
	if (!option_go_on(g))
		return;
	if (cell == g->count) {
		split_over(g, unit);
		return;
	}
	for (unsigned n = from; n < g->site->node_count; n++) {
		if (!option_can_hold(g, n) || !most_units(g, n, unit) || option_has_twin(g, n))
			continue;
		g->cells[cell].node = (uint8_t)n;
		g->used |= UINT64_C(1) << n;
		option_split(g, cell + 1, n + 1, unit);
		g->used &= ~(UINT64_C(1) << n);
	}
}

/* Whole cores to each cell, so that siblings stay together. */
uint32_t option_split_unit(const struct gen *g)
{
	uint32_t unit = 1;

	if (g->r->threads == VFCTL_THREADS_ISOLATE || g->r->shared_vcpus)
		return 1;
	/* Of the kinds of cores that are to be had. */
	for (unsigned c = 0; c < g->site->class_count; c++)
		for (unsigned n = 0; n < g->site->node_count; n++)
			if (g->rooms[n].cores[c] &&
				g->r->vcpus % g->site->class_threads[c] == 0)
				unit = g->site->class_threads[c];
	return unit;
}
