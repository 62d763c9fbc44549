// SPDX-License-Identifier: GPL-2.0-or-later
/* The node of the memory of each cell, and the amount if the request states none. */
#include "placement/search/options.h"

/* Number of cells of a guest whose memory may be on any node although their own node has enough. */
#define CELLS_WITH_ANY_MEMORY 3

/* ---- cells with stated memory ---- */

static bool has_memory(const struct gen *g, size_t cell, unsigned node)
{
	uint64_t need = g->cells[cell].memory;

	for (size_t k = 0; k < cell; k++)
		if (g->cells[k].memory_node == node)
			need += g->cells[k].memory;
	return g->rooms[node].memory[g->page] >= need;
}

void option_memory(struct gen *g, size_t cell)
{
	struct opt_cell *c = &g->cells[cell];
	bool local;

	if (!option_go_on(g))
		return;
	if (cell == g->count) {
		option_place_cores(g);
		return;
	}
	c->memory_node = c->node;
	local = has_memory(g, cell, c->node);
	if (local)
		option_memory(g, cell + 1);
	/*
	 * If nothing follows, available memory is never left for a farther one. With several cells,
	 * another cell may need it more, which is tried for a few.
	 */
	if (g->r->memory_affinity == VFCTL_AFFINITY_REQUIRED ||
		(local && g->last && (g->count == 1 || g->count > CELLS_WITH_ANY_MEMORY)))
		return;
	for (unsigned n = 0; n < g->capacity->node_count; n++) {
		if (n == c->node || (g->r->max_distance &&
				capacity_distance(g->capacity, c->node, n) > g->r->max_distance))
			continue;
		c->memory_node = (uint8_t)n;
		if (has_memory(g, cell, n))
			option_memory(g, cell + 1);
	}
}

/* ---- cells that are not stated ---- */

static uint64_t own_memory(const struct gen *g, unsigned node)
{
	return g->rooms[node].memory[g->page];
}

/* Memory is split in whole pages; base pages in whole MiB, unless the guest's memory is not. */
static uint64_t memory_step(const struct gen *g)
{
	const uint64_t mib = UINT64_C(1) << 20;
	uint64_t odd = g->r->memory_bytes & -g->r->memory_bytes;

	if (g->page)
		return g->capacity->page_bytes[g->page];
	return odd < mib ? odd : mib;
}

/* Number of cells after @cell with memory on the same node: each needs a page. */
static uint64_t pages_kept(const struct gen *g, size_t cell)
{
	uint64_t kept = 0;

	for (size_t k = cell + 1; k < g->count; k++)
		kept += g->cells[k].memory_node == g->cells[cell].memory_node;
	return kept;
}

/*
 * Distribute memory over cells whose memory nodes are known: in proportion to vCPUs, and what a
 * node lacks from the others. False if all together have too little.
 */
static bool share_memory(struct gen *g)
{
	uint64_t step = memory_step(g), all = g->r->memory_bytes / step, given = 0;
	uint64_t left[CAPACITY_NODES_MAX];

	for (size_t k = 0; k < g->count; k++)
		left[g->cells[k].memory_node] = own_memory(g, g->cells[k].memory_node) / step;
	for (size_t k = 0; k < g->count; k++) {
		struct opt_cell *c = &g->cells[k];
		uint64_t kept = pages_kept(g, k), *here = &left[c->memory_node];

		if (*here <= kept)
			return false;
		c->memory = (unsigned __int128)all * c->vcpus / g->r->vcpus;
		c->memory = c->memory ? c->memory : 1;
		c->memory = c->memory < *here - kept ? c->memory : *here - kept;
		*here -= c->memory;
		given += c->memory;
	}
	for (size_t k = 0; k < g->count; k++) {
		struct opt_cell *c = &g->cells[k];
		uint64_t more = given < all ? all - given : 0, less = given > all ? given - all : 0;

		more = more < left[c->memory_node] ? more : left[c->memory_node];
		less = less < c->memory - 1 ? less : c->memory - 1;
		left[c->memory_node] -= more;
		given += more - less;
		c->memory = (c->memory + more - less) * step;
	}
	return given == all;
}

/* All ways for cells to take their memory from nodes other than their own. */
static void remote_memory(struct gen *g, size_t cell, bool own)
{
	struct opt_cell *c = &g->cells[cell];

	if (!option_go_on(g))
		return;
	if (cell == g->count) {
		if (!own && share_memory(g))
			option_place_cores(g);
		return;
	}
	c->memory_node = c->node;
	remote_memory(g, cell + 1, own);
	for (unsigned n = 0; n < g->capacity->node_count; n++) {
		if (n == c->node || !own_memory(g, n) || (g->r->max_distance &&
				capacity_distance(g->capacity, c->node, n) > g->r->max_distance))
			continue;
		c->memory_node = (uint8_t)n;
		remote_memory(g, cell + 1, false);
	}
}

void option_share_memory(struct gen *g)
{
	bool own;

	for (size_t k = 0; k < g->count; k++)
		g->cells[k].memory_node = g->cells[k].node;
	own = share_memory(g);
	if (own)
		option_place_cores(g);
	/* Available memory is left for a farther one only if other guests follow. */
	if (g->r->memory_affinity == VFCTL_AFFINITY_REQUIRED ||
		(own && (g->last || g->count > CELLS_WITH_ANY_MEMORY)))
		return;
	remote_memory(g, 0, true);
}
