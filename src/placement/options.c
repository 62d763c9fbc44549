// SPDX-License-Identifier: GPL-2.0-or-later
/* The ways to place one guest in what is free: nodes, cores by class, pages, memory. */
#include "placement/search.h"

#include <errno.h>

/* Core counts to choose from for one cell; more only where cores of a node differ. */
#define VECTORS_MAX 48
/* Ways to place one guest that are looked at. */
#define OPTIONS_MAX 20000
/* Uneven splits over the same nodes that are tried in a batch. */
#define SPLITS_MAX 64

struct vector {
	uint16_t cores[SITE_CLASSES_MAX];
	uint32_t threads; /* per core, where it fills all alike; else 1 */
};

struct gen {
	const struct site *site;
	const struct job *job;
	const struct vfctl_request *r;
	const struct room *rooms;
	struct option_list *list;
	const struct vfctl_cell_want *wants; /* given cells, or the one */
	size_t count;
	bool last;
	unsigned page;
	uint32_t threads; /* what all cells so far agree on; 0: none yet */
	uint64_t used;	  /* nodes */
	struct opt_cell cells[SITE_NODES_MAX];
	uint64_t room, node_room[SITE_NODES_MAX]; /* as it is now */
	uint32_t node_vfs[SITE_NODES_MAX];
	int error;
};

void options_clear(struct option_list *list)
{
	free(list->v);
	free(list->cells);
	*list = (struct option_list){0};
}

/* ---- cores ---- */

static void add_vector(const struct vector *v, struct vector *list, size_t *count)
{
	if (*count < VECTORS_MAX)
		list[(*count)++] = *v;
}

/* Cores from the class @class down that hold @left more vCPUs, @each of a core used. */
static void fill_classes(const struct gen *g, const struct room *room, unsigned class,
	uint32_t left, bool one_each, struct vector *v, struct vector *list, size_t *count)
{
	uint32_t threads = one_each ? 1 : g->site->class_threads[class];
	uint32_t need = (left + threads - 1) / threads;
	uint32_t most = need < room->cores[class] ? need : room->cores[class];

	if (class == 0) {
		v->cores[0] = (uint16_t)need;
		if (need <= room->cores[0])
			add_vector(v, list, count);
		return;
	}
	for (uint32_t n = most + 1; n-- > 0;) {
		v->cores[class] = (uint16_t)n;
		fill_classes(g, room, class - 1, n * threads > left ? 0 : left - n * threads,
			one_each, v, list, count);
	}
}

/* A core that could be left out without missing it makes the vector a wasteful one. */
static bool is_wasteful(const struct gen *g, const struct vector *v, uint32_t vcpus)
{
	uint32_t sum = 0, smallest = 0;

	for (unsigned c = g->site->class_count; c-- > 0;) {
		sum += v->cores[c] * g->site->class_threads[c];
		if (v->cores[c])
			smallest = g->site->class_threads[c];
	}
	return smallest && sum - smallest >= vcpus;
}

static void even_vectors(const struct gen *g, const struct room *room, uint32_t vcpus,
	struct vector *list, size_t *count)
{
	for (unsigned c = g->site->class_count; c-- > 0;) {
		uint32_t threads = g->site->class_threads[c];
		struct vector v = {.threads = threads};

		if (threads < 2 || vcpus % threads || vcpus / threads > room->cores[c])
			continue;
		v.cores[c] = (uint16_t)(vcpus / threads);
		add_vector(&v, list, count);
	}
}

static size_t make_vectors(const struct gen *g, const struct room *room, uint32_t vcpus,
	struct vector list[VECTORS_MAX])
{
	enum vfctl_threads policy = g->r->threads;
	bool isolate = policy == VFCTL_THREADS_ISOLATE;
	struct vector v = {.threads = 1};
	size_t count = 0, kept;

	if (!vcpus) {
		add_vector(&v, list, &count);
		return count;
	}
	if (policy == VFCTL_THREADS_PREFER || policy == VFCTL_THREADS_REQUIRE)
		even_vectors(g, room, vcpus, list, &count);
	if (policy == VFCTL_THREADS_REQUIRE)
		return count;
	kept = count;
	fill_classes(g, room, g->site->class_count - 1, vcpus, isolate, &v, list, &count);
	for (size_t i = kept; i < count; i++)
		if (isolate || !is_wasteful(g, &list[i], vcpus))
			list[kept++] = list[i];
	return kept;
}

/* Small cores for QEMU's threads: they leave the large ones to vCPUs. */
static bool take_extra(const struct gen *g, const struct room *room, struct opt_cell *cell)
{
	uint32_t need = g->r->emulator_cores + g->r->iothread_cores;

	memset(cell->extra, 0, sizeof(cell->extra));
	for (unsigned c = 0; c < g->site->class_count && need; c++) {
		uint32_t left = (uint32_t)(room->cores[c] - cell->cores[c]);

		cell->extra[c] = (uint16_t)(left < need ? left : need);
		need -= cell->extra[c];
	}
	return !need;
}

static uint32_t count_cores(const struct opt_cell *cell)
{
	uint32_t n = 0;

	for (unsigned c = 0; c < SITE_CLASSES_MAX; c++)
		n += (uint32_t)(cell->cores[c] + cell->extra[c]);
	return n;
}

/* Whole L3 groups for the cell's cores, where it is asked for. */
static bool take_l3(const struct gen *g, struct opt_cell *cell)
{
	uint32_t size = g->site->nodes[cell->node].l3_cores, cores = count_cores(cell);

	cell->l3 = 0;
	if (!g->r->whole_l3)
		return true;
	if (!size)
		return false;
	cell->l3 = (uint16_t)((cores + size - 1) / size);
	return cell->l3 <= g->rooms[cell->node].l3_whole;
}

/* ---- a finished option ---- */

static bool push(struct gen *g, const struct option *o)
{
	struct option_list *l = g->list;

	l->work++;
	if (l->count >= OPTIONS_MAX) {
		l->cut = true;
		return true;
	}
	if (l->count == l->room) {
		size_t room = l->room ? l->room * 2 : 64;
		struct option *v = realloc(l->v, room * sizeof(*v));

		if (!v)
			return false;
		l->v = v;
		l->room = room;
	}
	if (l->cell_count + g->count > l->cell_room) {
		size_t room = (l->cell_room ? l->cell_room * 2 : 64) + g->count;
		struct opt_cell *cells = realloc(l->cells, room * sizeof(*cells));

		if (!cells)
			return false;
		l->cells = cells;
		l->cell_room = room;
	}
	memcpy(&l->cells[l->cell_count], g->cells, g->count * sizeof(g->cells[0]));
	l->v[l->count] = *o;
	l->v[l->count++].first_cell = l->cell_count;
	l->cell_count += g->count;
	return true;
}

/* Largest size of pages that the memory could have had on this host. */
static uint32_t page_rank(const struct gen *g, uint64_t memory)
{
	uint32_t rank = 0;

	if (g->r->page_bytes != VFCTL_PAGES_AUTO)
		return 0;
	for (unsigned p = g->site->page_count - 1; p > g->page; p--)
		rank += memory % g->site->page_bytes[p] == 0;
	return rank;
}

static uint32_t form_of(const struct gen *g)
{
	uint32_t most = 0, least = UINT32_MAX, best = 1, form = 0;

	for (size_t k = 0; k < g->count; k++) {
		const struct opt_cell *c = &g->cells[k];

		form += page_rank(g, c->memory);
		most = c->vcpus > most ? c->vcpus : most;
		least = c->vcpus < least ? c->vcpus : least;
	}
	for (unsigned c = 0; c < g->site->class_count; c++)
		if (g->r->vcpus % g->site->class_threads[c] == 0)
			best = g->site->class_threads[c];
	if (g->r->threads == VFCTL_THREADS_PREFER && g->threads < best)
		form++;
	return g->job->request->cell_count ? form : form + most - least;
}

static uint32_t vfs_at(const struct site *site, unsigned node)
{
	uint32_t vfs = 0;

	for (size_t i = 0; i < site->group_count; i++)
		vfs += site->groups[i].home == node ? site->groups[i].free : 0;
	return vfs;
}

static void find_room(struct gen *g)
{
	g->room = 0;
	for (unsigned n = 0; n < g->site->node_count; n++) {
		g->node_vfs[n] = vfs_at(g->site, n);
		g->node_room[n] = site_room(g->site, n, &g->rooms[n], g->node_vfs[n]);
		g->room += g->node_room[n];
	}
}

/* Room that is left, were all its VFs from its own nodes: near enough to say what to try first. */
static uint64_t room_after(const struct gen *g, const struct option *o)
{
	uint64_t sum = g->room, nodes = o->nodes;
	struct room rooms[SITE_NODES_MAX];

	for (size_t k = 0; k < o->cell_count; k++)
		nodes |= UINT64_C(1) << g->cells[k].memory_node;
	for (uint64_t left = nodes; left; left &= left - 1)
		rooms[__builtin_ctzll(left)] = g->rooms[__builtin_ctzll(left)];
	option_take(g->site, g->job, o, g->cells, rooms);
	for (uint64_t left = nodes; left; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctzll(left);
		uint32_t vfs = g->node_vfs[n], taken = site_has(o->nodes, n) ? g->job->vfs : 0;

		sum -= g->node_room[n];
		sum += site_room(g->site, n, &rooms[n], vfs > taken ? vfs - taken : 0);
	}
	return sum;
}

static void finish_as(struct gen *g, struct option *o, bool local)
{
	o->local = local;
	if (!match_floor(g->site, g->job, o, g->cells, &o->vf_distance))
		return;
	o->room = room_after(g, o);
	if (!push(g, o))
		g->error = -ENOMEM;
}

/* Could VFs be elsewhere than local? Else there is only the one way. */
static bool has_loose_wants(const struct gen *g)
{
	bool unknown = false;

	for (size_t i = 0; i < g->site->group_count; i++)
		unknown |= !g->site->groups[i].local;
	for (size_t i = 0; i < g->r->want_count; i++)
		if (g->r->wants[i].affinity == VFCTL_AFFINITY_PREFERRED ||
			g->r->wants[i].affinity == VFCTL_AFFINITY_SOCKET ||
			(g->r->wants[i].affinity == VFCTL_AFFINITY_REQUIRED && unknown))
			return true;
	return false;
}

static void finish(struct gen *g)
{
	struct option o = {.cell_count = (uint8_t)g->count, .page = (uint8_t)g->page,
		.threads = (uint8_t)(g->threads ? g->threads : 1), .nodes = g->used,
		.form = form_of(g)};
	bool local = true;

	for (size_t i = 0; i < g->count; i++) {
		const struct opt_cell *c = &g->cells[i];

		local &= c->memory_node == c->node;
		o.distance += 2 * (uint64_t)c->vcpus *
			(site_distance(g->site, c->node, c->memory_node) - 10);
		for (size_t k = 0; k < i; k++)
			o.distance += site_distance(g->site, c->node, g->cells[k].node) - 10;
	}
	if (local)
		finish_as(g, &o, true);
	if (!local || has_loose_wants(g))
		finish_as(g, &o, false);
}

/* ---- cores of all cells, once their nodes are known ---- */

static void choose_cores(struct gen *g, size_t cell, size_t extra);

static void with_vector(struct gen *g, size_t cell, size_t extra, const struct vector *v)
{
	struct opt_cell *c = &g->cells[cell];
	uint32_t before = g->threads;

	memcpy(c->cores, v->cores, sizeof(c->cores));
	memset(c->extra, 0, sizeof(c->extra));
	if (cell == extra && !take_extra(g, &g->rooms[c->node], c))
		return;
	if (!take_l3(g, c))
		return;
	if (c->vcpus > c->shared)
		g->threads = !before || before == v->threads ? v->threads : 1;
	if (c->shared)
		g->threads = 1;
	if (g->threads > 1 || g->r->threads != VFCTL_THREADS_REQUIRE)
		choose_cores(g, cell + 1, extra);
	g->threads = before;
}

static void choose_cores(struct gen *g, size_t cell, size_t extra)
{
	struct vector vectors[VECTORS_MAX];
	const struct opt_cell *c = &g->cells[cell];
	size_t count;

	if (g->error || g->list->cut)
		return;
	if (cell == g->count) {
		finish(g);
		return;
	}
	count = make_vectors(g, &g->rooms[c->node], c->vcpus - c->shared, vectors);
	for (size_t i = 0; i < count; i++)
		with_vector(g, cell, extra, &vectors[i]);
}

static void choose_extra(struct gen *g)
{
	size_t cells = g->r->emulator_cores + g->r->iothread_cores ? g->count : 1;

	g->threads = 0;
	for (size_t i = 0; i < cells; i++)
		choose_cores(g, 0, i);
}

/* ---- memory ---- */

static bool has_memory(const struct gen *g, size_t cell, unsigned node)
{
	uint64_t need = g->cells[cell].memory;

	for (size_t k = 0; k < cell; k++)
		if (g->cells[k].memory_node == node)
			need += g->cells[k].memory;
	return g->rooms[node].memory[g->page] >= need;
}

static void choose_memory(struct gen *g, size_t cell)
{
	struct opt_cell *c = &g->cells[cell];
	bool local;

	if (g->error || g->list->cut)
		return;
	if (cell == g->count) {
		choose_extra(g);
		return;
	}
	c->memory_node = c->node;
	local = has_memory(g, cell, c->node);
	if (local)
		choose_memory(g, cell + 1);
	/* Where nobody comes after it, memory that is there is never left for a farther one. */
	if (g->r->memory_affinity == VFCTL_AFFINITY_REQUIRED || (local && g->last))
		return;
	for (unsigned n = 0; n < g->site->node_count; n++) {
		if (n == c->node || (g->r->max_distance &&
				site_distance(g->site, c->node, n) > g->r->max_distance))
			continue;
		c->memory_node = (uint8_t)n;
		if (has_memory(g, cell, n))
			choose_memory(g, cell + 1);
	}
}

/* ---- nodes ---- */

static bool can_hold(const struct gen *g, unsigned node)
{
	const struct room *room = &g->rooms[node];

	if (!g->site->nodes[node].has_cpus || site_has(g->used, node) ||
		(g->r->node != VFCTL_NODE_NONE && g->site->nodes[node].id != g->r->node))
		return false;
	if (g->r->whole_node && (!g->site->nodes[node].empty || room->touched))
		return false;
	for (unsigned n = 0; g->r->max_distance && n < g->site->node_count; n++)
		if (site_has(g->used, n) &&
			(site_distance(g->site, node, n) > g->r->max_distance ||
				site_distance(g->site, n, node) > g->r->max_distance))
			return false;
	return true;
}

/* A node of lower number that is the same in all respects stands for this one. */
static bool has_twin_before(const struct gen *g, unsigned node)
{
	uint64_t twins = g->site->nodes[node].twins & ((UINT64_C(1) << node) - 1) & ~g->used;

	if (g->rooms[node].touched || g->job->home)
		return false;
	for (; twins; twins &= twins - 1)
		if (!g->rooms[__builtin_ctzll(twins)].touched)
			return true;
	return false;
}

static bool cell_fits(const struct gen *g, size_t cell, unsigned node)
{
	const struct opt_cell *c = &g->cells[cell];
	const struct room *room = &g->rooms[node];
	uint32_t alone = c->vcpus - c->shared;

	if (c->shared > room->shared)
		return false;
	return g->r->threads == VFCTL_THREADS_ISOLATE ? alone <= room->core_count
						       : alone <= room->threads;
}

static bool cells_alike(const struct gen *g, size_t a, size_t b)
{
	for (size_t i = 0; i < g->r->want_count; i++)
		if (g->r->wants[i].cell == (int)a || g->r->wants[i].cell == (int)b)
			return false;
	return g->wants[a].vcpus == g->wants[b].vcpus && g->wants[a].node == g->wants[b].node &&
		g->wants[a].memory_bytes == g->wants[b].memory_bytes &&
		g->cells[a].shared == g->cells[b].shared;
}

static bool may_go(const struct gen *g, size_t cell, unsigned node)
{
	return can_hold(g, node) && cell_fits(g, cell, node) &&
		(g->wants[cell].node == VFCTL_NODE_NONE ||
			g->wants[cell].node == g->site->nodes[node].id) &&
		(g->r->memory_affinity != VFCTL_AFFINITY_REQUIRED ||
			g->rooms[node].memory[g->page] >= g->cells[cell].memory);
}

/* One more cell gets a node, others make way for it if they must (Kuhn's matching). */
static bool match_cell(const struct gen *g, size_t cell, int8_t *holder, uint64_t *seen)
{
	for (unsigned n = 0; n < g->site->node_count; n++) {
		if (site_has(*seen, n) || !may_go(g, cell, n))
			continue;
		*seen |= UINT64_C(1) << n;
		if (holder[n] < 0 || match_cell(g, (size_t)holder[n], holder, seen)) {
			holder[n] = (int8_t)cell;
			return true;
		}
	}
	return false;
}

/* Is there a node for each of the cells from @first on? Orders are only tried if so. */
static bool can_match(const struct gen *g, size_t first)
{
	int8_t holder[SITE_NODES_MAX];

	memset(holder, -1, sizeof(holder));
	for (size_t k = first; k < g->count; k++) {
		uint64_t seen = 0;

		if (!match_cell(g, k, holder, &seen))
			return false;
	}
	return true;
}

static void choose_nodes(struct gen *g, size_t cell)
{
	unsigned from = 0;

	if (g->error || g->list->cut || !can_match(g, cell))
		return;
	if (cell == g->count) {
		choose_memory(g, 0);
		return;
	}
	if (cell && cells_alike(g, cell - 1, cell))
		from = g->cells[cell - 1].node + 1u;
	for (unsigned n = from; n < g->site->node_count; n++) {
		if (!may_go(g, cell, n) || (g->wants[cell].node == VFCTL_NODE_NONE &&
				has_twin_before(g, n)))
			continue;
		g->cells[cell].node = (uint8_t)n;
		g->used |= UINT64_C(1) << n;
		choose_nodes(g, cell + 1);
		g->used &= ~(UINT64_C(1) << n);
	}
}

/* Shared vCPUs over cells of these sizes, in proportion. */
static void spread_shared(struct gen *g)
{
	uint64_t vcpus = 0, before = 0;

	for (size_t k = 0; k < g->count; k++) {
		vcpus += g->cells[k].vcpus;
		g->cells[k].shared = (uint32_t)(vcpus * g->r->shared_vcpus / g->r->vcpus -
			before);
		before += g->cells[k].shared;
	}
}

/* ---- cells that nobody gave: the guest split over nodes ---- */

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
static bool split_memory(struct gen *g)
{
	uint64_t page = g->page ? g->site->page_bytes[g->page] : UINT64_C(1) << 20;
	uint64_t left = g->r->memory_bytes / page, vcpus = g->r->vcpus, given = 0;

	for (size_t k = 0; k < g->count; k++) {
		struct opt_cell *c = &g->cells[k];
		uint64_t most = g->rooms[c->node].memory[g->page] / page;
		uint64_t pages = (unsigned __int128)g->r->memory_bytes / page * c->vcpus / vcpus;

		if (g->r->memory_affinity != VFCTL_AFFINITY_REQUIRED)
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

		if (g->r->memory_affinity != VFCTL_AFFINITY_REQUIRED)
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
	spread_shared(g);
	for (size_t k = 0; k < g->count; k++)
		if (!cell_fits(g, k, g->cells[k].node))
			return;
	if (!left && split_memory(g))
		choose_memory(g, 0);
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
static void choose_split(struct gen *g, size_t cell, unsigned from, uint32_t unit)
{
	if (g->error || g->list->cut)
		return;
	if (cell == g->count) {
		split_over(g, unit);
		return;
	}
	for (unsigned n = from; n < g->site->node_count; n++) {
		if (!can_hold(g, n) || !most_units(g, n, unit) || has_twin_before(g, n))
			continue;
		g->cells[cell].node = (uint8_t)n;
		g->used |= UINT64_C(1) << n;
		choose_split(g, cell + 1, n + 1, unit);
		g->used &= ~(UINT64_C(1) << n);
	}
}

/* Whole cores to each cell, so that siblings stay together. */
static uint32_t split_unit(const struct gen *g)
{
	uint32_t unit = 1;

	if (g->r->threads == VFCTL_THREADS_ISOLATE || g->r->shared_vcpus)
		return 1;
	for (unsigned c = 0; c < g->site->class_count; c++)
		if (g->r->vcpus % g->site->class_threads[c] == 0)
			unit = g->site->class_threads[c];
	return unit;
}

/* ---- all of it ---- */

static bool page_suits(const struct gen *g, unsigned page)
{
	uint64_t bytes = g->site->page_bytes[page], asked = g->r->page_bytes;

	if (asked != VFCTL_PAGES_AUTO)
		return bytes == asked;
	for (size_t k = 0; page && k < g->r->cell_count; k++)
		if (g->r->cells[k].memory_bytes % bytes)
			return false;
	return !page || g->r->memory_bytes % bytes == 0;
}

static void make_for_page(struct gen *g, size_t cell_count)
{
	const struct vfctl_cell_want one = {.vcpus = g->r->vcpus,
		.memory_bytes = g->r->memory_bytes, .node = g->r->node};

	g->count = cell_count;
	if (!g->r->cell_count && cell_count > 1) {
		choose_split(g, 0, 0, split_unit(g));
		return;
	}
	g->wants = g->r->cell_count ? g->r->cells : &one;
	for (size_t k = 0; k < cell_count; k++)
		g->cells[k] = (struct opt_cell){.vcpus = g->wants[k].vcpus,
			.memory = g->wants[k].memory_bytes};
	spread_shared(g);
	choose_nodes(g, 0);
}

/* Where the guest is: its cores, its memory and its VFs as they are. */
static void make_stay(struct gen *g)
{
	const struct home *h = g->job->home;
	struct option o = {.cell_count = (uint8_t)h->cell_count, .threads = 1, .stay = true,
		.local = true};
	struct vector vectors[VECTORS_MAX];

	g->count = h->cell_count;
	for (size_t k = 0; k < h->cell_count; k++) {
		struct opt_cell *c = &g->cells[k];

		*c = (struct opt_cell){.vcpus = g->r->cells[k].vcpus, .node = h->nodes[k],
			.memory_node = h->memory_nodes[k], .memory = h->memory[k]};
		if (!make_vectors(g, &g->rooms[c->node], c->vcpus, vectors))
			return;
		memcpy(c->cores, vectors[0].cores, sizeof(c->cores));
		o.nodes |= UINT64_C(1) << c->node;
		o.local &= c->node == c->memory_node;
		o.distance += 2 * (uint64_t)c->vcpus *
			(site_distance(g->site, c->node, c->memory_node) - 10);
		for (size_t j = 0; j < k; j++)
			o.distance += site_distance(g->site, c->node, g->cells[j].node) - 10;
	}
	for (unsigned p = 0; p < g->site->page_count; p++)
		if (g->site->page_bytes[p] == g->r->page_bytes)
			o.page = (uint8_t)p;
	for (size_t i = 0; i < h->vf_count; i++)
		o.local &= (g->site->groups[h->groups[i]].local & o.nodes) != 0;
	o.room = room_after(g, &o);
	if (!push(g, &o))
		g->error = -ENOMEM;
}

int options_make(const struct site *site, const struct job *job, const struct room *rooms,
	size_t cell_count, bool last, struct option_list *list)
{
	struct gen g = {.site = site, .job = job, .r = job->request, .rooms = rooms,
		.list = list, .last = last};

	list->count = list->cell_count = 0;
	list->cut = false;
	if (!g.r->emulator_cores && !g.r->has_emulator && !site->has_host_cpus &&
		vfctl_cpuset_empty(&site->model->shared_cpus))
		return 0;
	find_room(&g);
	if (job->home)
		make_stay(&g);
	for (unsigned p = site->page_count; p-- > 0 && !g.error;) {
		g.page = p;
		if (page_suits(&g, p))
			make_for_page(&g, cell_count);
	}
	return g.error;
}

static void take_cores(struct room *room, const uint16_t *cores, const struct site *site)
{
	for (unsigned c = 0; c < site->class_count; c++) {
		uint16_t n = cores[c] < room->cores[c] ? cores[c] : room->cores[c];

		room->cores[c] = (uint16_t)(room->cores[c] - n);
		room->core_count = (uint16_t)(room->core_count - n);
		room->threads -= n * site->class_threads[c];
	}
}

/* Cores of the groups that no vCPU runs on are held as well. */
static void take_whole_l3(const struct site *site, struct room *room,
	const struct opt_cell *cell)
{
	uint32_t rest = (uint32_t)cell->l3 * site->nodes[cell->node].l3_cores - count_cores(cell);
	uint16_t cores[SITE_CLASSES_MAX] = {0};

	for (unsigned c = site->class_count; c-- > 0 && rest;) {
		cores[c] = (uint16_t)(rest < room->cores[c] ? rest : room->cores[c]);
		rest -= cores[c];
	}
	take_cores(room, cores, site);
	room->l3_whole = (uint16_t)(room->l3_whole - cell->l3);
}

void option_take(const struct site *site, const struct job *job, const struct option *o,
	const struct opt_cell *cells, struct room *rooms)
{
	for (size_t k = 0; k < o->cell_count; k++) {
		struct room *room = &rooms[cells[k].node];
		uint64_t *memory = &rooms[cells[k].memory_node].memory[o->page];
		uint16_t size = site->nodes[cells[k].node].l3_cores;

		take_cores(room, cells[k].cores, site);
		take_cores(room, cells[k].extra, site);
		if (cells[k].l3)
			take_whole_l3(site, room, &cells[k]);
		if (job->request->whole_node)
			take_cores(room, room->cores, site);
		if (size && room->core_count / size < room->l3_whole)
			room->l3_whole = (uint16_t)(room->core_count / size);
		room->shared -= cells[k].shared < room->shared ? cells[k].shared : room->shared;
		*memory -= cells[k].memory < *memory ? cells[k].memory : *memory;
		room->touched = true;
		rooms[cells[k].memory_node].touched = true;
	}
}
