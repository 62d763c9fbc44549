// SPDX-License-Identifier: GPL-2.0-or-later
/* The options for placing one guest on free resources: nodes, cores by class, pages, memory. */
#include "placement/search/options.h"

#include <errno.h>

/* Largest number of options for one guest. */
#define OPTIONS_MAX 20000
/* Limit of the work for finding them, most of which may be fruitless. */
#define OPTIONS_WORK_MAX 100000
/*
 * Up to this number of cells, QEMU's and I/O threads are also tried at two different cells, even if
 * one has space for both.
 */
#define CELLS_IN_PAIRS 4

void options_clear(struct option_list *list)
{
	free(list->v);
	free(list->cells);
	*list = (struct option_list){0};
}

/* False after an error, and at the limit of options: the result then counts as not proven. */
bool option_go_on(struct gen *g)
{
	struct option_list *l = g->list;

	l->work++;
	if (++g->work > OPTIONS_WORK_MAX || (l->max_work && l->work > l->max_work) ||
		(l->limit && (l->limit->reached ||
			(g->work % 256 == 0 && limit_reached(l->limit)))))
		l->cut = true;
	return !g->error && !l->cut && (!l->enough || l->count < l->enough);
}

/* ---- a finished option ---- */

static bool push(struct gen *g, const struct option *o)
{
	struct option_list *l = g->list;

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

/* Rank of the largest page size that was possible for the memory on this host. */
static uint32_t page_rank(const struct gen *g, uint64_t memory)
{
	uint32_t rank = 0;

	if (g->r->page_bytes != VFCTL_PAGES_AUTO)
		return 0;
	for (unsigned p = g->capacity->page_count - 1; p > g->page; p--)
		rank += memory % g->capacity->page_bytes[p] == 0;
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
	for (unsigned c = 0; c < g->capacity->class_count; c++)
		if (g->r->vcpus % g->capacity->class_threads[c] == 0)
			best = g->capacity->class_threads[c];
	if (g->r->threads == VFCTL_THREADS_PREFER && g->threads < best)
		form++;
	return g->demand->request->cell_count ? form : form + most - least;
}

static void find_room(struct gen *g)
{
	future_capacity_vfs_at_start(g->capacity, g->node_vfs);
	future_capacity_usable(g->capacity, g->rooms, g->node_threads);
	g->room = 0;
	for (unsigned n = 0; n < g->capacity->node_count; n++) {
		g->node_room[n] = future_capacity_node(g->capacity, g->node_threads[n], &g->node_vfs[n]);
		g->room += g->node_room[n];
	}
}

/*
 * Remaining resources if all its VFs were on its own nodes: exact enough to decide what to try
 * first.
 */
static uint64_t room_after(const struct gen *g, const struct option *o)
{
	uint64_t sum = g->room, nodes = o->nodes;
	struct node_free rooms[CAPACITY_NODES_MAX];
	uint32_t usable[CAPACITY_NODES_MAX];

	memcpy(usable, g->node_threads, g->capacity->node_count * sizeof(*usable));
	for (size_t k = 0; k < o->cell_count; k++)
		nodes |= UINT64_C(1) << g->cells[k].memory_node;
	for (unsigned n = 0; o->stay && n < g->capacity->node_count; n++)
		nodes |= (uint64_t)(g->demand->current->held[n] > 0) << n;
	for (uint64_t left = nodes; left; left &= left - 1)
		rooms[__builtin_ctzll(left)] = g->rooms[__builtin_ctzll(left)];
	option_take(g->capacity, g->demand, o, g->cells, rooms);
	for (uint64_t left = nodes; left; left &= left - 1) {
		unsigned n = (unsigned)__builtin_ctzll(left);
		struct future_capacity_vfs vfs = g->node_vfs[n];

		for (size_t f = 0; capacity_has(o->nodes, n) && f < OUTLOOK_FABRICS_MAX; f++)
			vfs.of[f] -= vfs.of[f] < g->demand->vfs ? vfs.of[f] : g->demand->vfs;
		usable[n] = capacity_usable_threads(g->capacity, &rooms[n]);
		sum -= g->node_room[n];
		sum += future_capacity_node(g->capacity, usable[n], &vfs);
	}
	return sum + future_capacity_pairs(g->capacity, usable);
}

static void finish_as(struct gen *g, struct option *o, bool local)
{
	o->local = local;
	g->list->work += 4 + 2 * g->count + g->r->want_count * (1 + g->capacity->group_count / 8) +
		g->capacity->node_count / 4;
	if (!match_floor(g->capacity, g->demand, o, g->cells, &o->vf_distance))
		return;
	o->room = g->list->enough ? 0 : room_after(g, o);
	if (!push(g, o))
		g->error = -ENOMEM;
}

/* Whether VFs need not be local; otherwise there is only one option. */
static bool has_loose_wants(const struct gen *g)
{
	bool unknown = false;

	for (size_t i = 0; i < g->capacity->group_count; i++)
		unknown |= !g->capacity->groups[i].local;
	for (size_t i = 0; i < g->r->want_count; i++)
		if (g->r->wants[i].affinity == VFCTL_AFFINITY_PREFERRED ||
			g->r->wants[i].affinity == VFCTL_AFFINITY_SOCKET ||
			(g->r->wants[i].affinity == VFCTL_AFFINITY_REQUIRED && unknown))
			return true;
	return false;
}

static void finish_options(struct gen *g)
{
	struct option o = {.cell_count = (uint8_t)g->count, .page = (uint8_t)g->page,
		.threads = (uint8_t)(g->threads ? g->threads : 1), .nodes = g->used,
		.form = form_of(g)};
	bool local = true;

	for (size_t i = 0; i < g->count; i++) {
		const struct opt_cell *c = &g->cells[i];

		local &= c->memory_node == c->node;
		o.distance += 2 * (uint64_t)c->vcpus *
			(capacity_distance(g->capacity, c->node, c->memory_node) - 10);
		for (size_t k = 0; k < i; k++)
			o.distance += capacity_distance(g->capacity, c->node, g->cells[k].node) - 10;
	}
	if (local)
		finish_as(g, &o, true);
	if (!local || has_loose_wants(g))
		finish_as(g, &o, false);
}

/* ---- cores of all cells, after their nodes are known ---- */

static void choose_cores(struct gen *g, size_t done);

/* Cells with cores for QEMU come first: if these are not available, the others do not matter. */
static size_t cell_at(const struct gen *g, size_t done)
{
	size_t first = g->qemu < g->extra ? g->qemu : g->extra, cell;
	size_t second = g->qemu < g->extra ? g->extra : g->qemu;

	if (first == g->count)
		return done;
	if (done == 0)
		return first;
	if (second == first || second == g->count)
		return done <= first ? done - 1 : done;
	if (done == 1)
		return second;
	cell = done - 2;
	cell += cell >= first;
	return cell + (cell >= second);
}

static void with_vector(struct gen *g, size_t done, const struct vector *v)
{
	size_t cell = cell_at(g, done);
	struct opt_cell *c = &g->cells[cell];
	uint32_t before = g->threads;

	memcpy(c->cores, v->cores, sizeof(c->cores));
	if (!option_extra(g, cell) || !option_l3(g, c))
		return;
	if (c->vcpus > c->shared)
		g->threads = !before || before == v->threads ? v->threads : 1;
	if (c->shared)
		g->threads = 1;
	if (g->threads > 1 || g->r->threads != VFCTL_THREADS_REQUIRE)
		choose_cores(g, done + 1);
	g->threads = before;
}

static void choose_cores(struct gen *g, size_t done)
{
	struct vector vectors[VECTORS_MAX];
	const struct opt_cell *c;
	size_t count;

	if (!option_go_on(g))
		return;
	if (done == g->count) {
		if (g->qemu < g->count || !request_has_auto(g->r) || option_fills_host(g))
			finish_options(g);
		return;
	}
	c = &g->cells[cell_at(g, done)];
	count = option_vectors(g, &g->rooms[c->node], c->vcpus - c->shared, vectors);
	for (size_t i = 0; i < count; i++)
		with_vector(g, done, &vectors[i]);
}

static void choose_beside(struct gen *g, size_t qemu, size_t extra)
{
	g->qemu = qemu;
	g->extra = extra;
	choose_cores(g, 0);
}

/* Two cells: one for QEMU's threads, one for the cores of I/O threads. */
static void choose_pairs(struct gen *g)
{
	for (size_t q = 0; q < g->count; q++)
		for (size_t e = 0; e < g->count; e++)
			if (q != e)
				choose_beside(g, q, e);
}

/*
 * With emulator_cores: auto, the host's CPUs are preferred for QEMU's threads. Otherwise QEMU's
 * threads, and dedicated cores in any case, are tried at each cell in turn; at none for a guest
 * that takes the whole host.
 */
void option_place_cores(struct gen *g)
{
	bool share = request_has_auto(g->r), own = request_extra_cores(g->r) > 0;
	size_t before = g->list->count, host = share ? option_host_cell(g) : g->count;

	g->threads = 0;
	if (!own && (!share || host < g->count)) {
		choose_beside(g, host, g->count);
		return;
	}
	for (size_t k = 0; k < g->count; k++)
		choose_beside(g, host < g->count ? host : share ? k : g->count, own ? k : g->count);
	if (host < g->count || !share)
		return;
	if (own && (g->count <= CELLS_IN_PAIRS || g->list->count == before))
		choose_pairs(g);
	if (!own && g->list->count == before)
		choose_beside(g, g->count, g->count);
}

/* ---- nodes ---- */

bool option_can_hold(const struct gen *g, unsigned node)
{
	const struct node_free *room = &g->rooms[node];

	if (!g->capacity->nodes[node].has_cpus || capacity_has(g->used, node) ||
		(g->r->node != VFCTL_NODE_NONE && g->capacity->nodes[node].id != g->r->node))
		return false;
	if (g->r->whole_node && (!g->capacity->nodes[node].empty || room->touched))
		return false;
	for (unsigned n = 0; g->r->max_distance && n < g->capacity->node_count; n++)
		if (capacity_has(g->used, n) &&
			(capacity_distance(g->capacity, node, n) > g->r->max_distance ||
				capacity_distance(g->capacity, n, node) > g->r->max_distance))
			return false;
	return true;
}

bool option_has_equal(const struct gen *g, unsigned node)
{
	uint64_t equal_nodes = g->capacity->nodes[node].equal_nodes &
		((UINT64_C(1) << node) - 1) & ~g->used;

	if (g->rooms[node].touched || g->demand->current || g->demand->none_equal)
		return false;
	for (; equal_nodes; equal_nodes &= equal_nodes - 1)
		if (!g->rooms[__builtin_ctzll(equal_nodes)].touched)
			return true;
	return false;
}

bool option_cell_fits(const struct gen *g, size_t cell, unsigned node)
{
	const struct opt_cell *c = &g->cells[cell];
	const struct node_free *room = &g->rooms[node];
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
	return option_can_hold(g, node) && option_cell_fits(g, cell, node) &&
		(g->wants[cell].node == VFCTL_NODE_NONE ||
			g->wants[cell].node == g->capacity->nodes[node].id) &&
		(g->r->memory_affinity != VFCTL_AFFINITY_REQUIRED ||
			g->rooms[node].memory[g->page] >= g->cells[cell].memory);
}

/* Assign a node to one more cell; other cells change theirs if necessary (Kuhn's matching). */
static bool match_cell(const struct gen *g, size_t cell, int8_t *holder, uint64_t *seen)
{
	for (unsigned n = 0; n < g->capacity->node_count; n++) {
		if (capacity_has(*seen, n) || !may_go(g, cell, n))
			continue;
		*seen |= UINT64_C(1) << n;
		if (holder[n] < 0 || match_cell(g, (size_t)holder[n], holder, seen)) {
			holder[n] = (int8_t)cell;
			return true;
		}
	}
	return false;
}

/* Whether there is a node for each cell from @first on; otherwise orders are not tried. */
static bool can_match(const struct gen *g, size_t first)
{
	int8_t holder[CAPACITY_NODES_MAX];

	memset(holder, -1, sizeof(holder));
	for (size_t k = first; k < g->count; k++) {
		uint64_t seen = 0;

		if (!match_cell(g, k, holder, &seen))
			return false;
	}
	return true;
}

/* Of equal cells, the later one is on the higher node. */
static unsigned lowest_node(const struct gen *g, size_t cell)
{
	for (size_t k = cell; k-- > 0;)
		if (cells_alike(g, k, cell))
			return g->cells[k].node + 1u;
	return 0;
}

/*
 * Whether there are enough nodes from @from on for the cells equal to this one, including itself.
 */
static bool enough_for_alike(const struct gen *g, size_t cell, unsigned from)
{
	size_t nodes = 0, cells = 0;

	for (unsigned n = from; n < g->capacity->node_count; n++)
		nodes += may_go(g, cell, n);
	for (size_t k = cell; k < g->count; k++)
		cells += cells_alike(g, cell, k);
	return nodes >= cells;
}

static void choose_nodes(struct gen *g, size_t cell)
{
	unsigned from;

	g->work += (g->count - cell) * g->capacity->node_count / 16;
	g->list->work += (g->count - cell) * g->capacity->node_count / 16;
	if (!option_go_on(g) || !can_match(g, cell))
		return;
	if (cell == g->count) {
		option_memory(g, 0);
		return;
	}
	from = lowest_node(g, cell);
	for (unsigned n = from; n < g->capacity->node_count; n++) {
		if (!may_go(g, cell, n) || (g->wants[cell].node == VFCTL_NODE_NONE &&
				option_has_equal(g, n)))
			continue;
		if (!enough_for_alike(g, cell, n))
			return;
		g->cells[cell].node = (uint8_t)n;
		g->used |= UINT64_C(1) << n;
		choose_nodes(g, cell + 1);
		g->used &= ~(UINT64_C(1) << n);
	}
}

/* ---- all options ---- */

static bool page_suits(const struct gen *g, unsigned page)
{
	uint64_t bytes = g->capacity->page_bytes[page], asked = g->r->page_bytes;

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
		option_split(g, 0, 0);
		return;
	}
	g->wants = g->r->cell_count ? g->r->cells : &one;
	for (size_t k = 0; k < cell_count; k++)
		g->cells[k] = (struct opt_cell){.vcpus = g->wants[k].vcpus,
			.memory = g->wants[k].memory_bytes};
	option_spread_shared(g);
	choose_nodes(g, 0);
}

/*
 * No moving guest may hold its resources. Memory may be short even without a move, if the host used
 * some of it since: that is not a reason to move the guest.
 */
static bool may_stay(const struct gen *g)
{
	const struct current_place *h = g->demand->current;

	for (size_t k = 0; k < h->cell_count; k++)
		for (unsigned c = 0; c < g->capacity->class_count; c++)
			if (h->cores[k][c] > g->rooms[h->nodes[k]].cores[c])
				return false;
	for (unsigned n = 0; h->page >= 0 && n < g->capacity->node_count; n++)
		if (h->held[n] > g->rooms[n].memory[h->page] && g->rooms[n].entered >> h->page & 1)
			return false;
	return true;
}

/* The present place of the guest, with its cores, memory and VFs. */
static void make_stay(struct gen *g)
{
	const struct current_place *h = g->demand->current;
	struct option o = {.cell_count = (uint8_t)h->cell_count, .threads = 1, .stay = true,
		.local = true, .page = (uint8_t)(h->page < 0 ? 0 : h->page)};

	if (!may_stay(g))
		return;
	g->count = h->cell_count;
	for (size_t k = 0; k < h->cell_count; k++) {
		struct opt_cell *c = &g->cells[k];

		*c = (struct opt_cell){.vcpus = g->r->cells[k].vcpus, .node = h->nodes[k],
			.memory_node = h->memory_nodes[k]};
		memcpy(c->cores, h->cores[k], sizeof(c->cores));
		o.nodes |= UINT64_C(1) << c->node;
		o.local &= c->node == c->memory_node;
		o.distance += 2 * (uint64_t)c->vcpus *
			(capacity_distance(g->capacity, c->node, c->memory_node) - 10);
		for (size_t j = 0; j < k; j++)
			o.distance += capacity_distance(g->capacity, c->node, g->cells[j].node) - 10;
	}
	for (size_t i = 0; i < h->vf_count; i++)
		o.local &= g->r->wants[i].affinity == VFCTL_AFFINITY_ANY ||
			(g->capacity->groups[h->groups[i]].local & o.nodes) != 0;
	o.room = room_after(g, &o);
	if (!push(g, &o))
		g->error = -ENOMEM;
}

int options_make(const struct capacity *capacity, const struct demand *demand,
	const struct node_free *rooms,
	size_t cell_count, bool last, struct option_list *list)
{
	struct gen g = {.capacity = capacity, .demand = demand, .r = demand->request, .rooms = rooms,
		.list = list, .last = last};

	list->count = list->cell_count = 0;
	list->cut = list->partial = false;
	find_room(&g);
	if (demand->current)
		make_stay(&g);
	for (unsigned p = capacity->page_count; p-- > 0 && !g.error;) {
		g.page = p;
		if (page_suits(&g, p))
			make_for_page(&g, cell_count);
	}
	return g.error;
}
