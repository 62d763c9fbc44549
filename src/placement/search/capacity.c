// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/search/capacity.h"

#include <errno.h>

#include "placement/model/model.h"

int capacity_node_index(const struct capacity *capacity, int id)
{
	for (size_t i = 0; i < capacity->node_count; i++)
		if (capacity->nodes[i].id == id)
			return (int)i;
	return -1;
}

void capacity_free(struct capacity *capacity)
{
	if (!capacity)
		return;
	free(capacity->groups);
	free(capacity->group_vfs);
	free(capacity->cores);
	free(capacity->core_l3);
	free(capacity);
}

/* ---- cores ---- */

/* @message: number of words with online CPUs. */
static void measure_core(const struct vfctl_cpuset *cpus, size_t message, struct capacity_core *ret)
{
	size_t first = 0, end = message;

	while (first < end && !cpus->word[first])
		first++;
	while (end > first && !cpus->word[end - 1])
		end--;
	*ret = (struct capacity_core){.first_word = (uint16_t)first, .end_word = (uint16_t)end};
	for (size_t i = first; i < end; i++)
		for (uint64_t left = cpus->word[i]; left; left &= left - 1)
			ret->threads++;
}

static bool core_meets(const struct capacity *s, size_t number, const struct vfctl_cpuset *set)
{
	const uint64_t *word = s->model->topology->cores[number].cpus.word;
	uint64_t both = 0;

	for (size_t i = s->cores[number].first_word; i < s->cores[number].end_word; i++)
		both |= word[i] & set->word[i];
	return both != 0;
}

static unsigned class_of(struct capacity *s, uint32_t threads)
{
	unsigned at = 0;

	while (at < s->class_count && s->class_threads[at] < threads)
		at++;
	return at;
}

static int add_class(struct vfctl_ctx *ctx, struct capacity *s, uint32_t threads)
{
	unsigned at = class_of(s, threads);

	if (at < s->class_count && s->class_threads[at] == threads)
		return 0;
	if (s->class_count == CAPACITY_CLASSES_MAX)
		return ctx_fail(ctx, -EINVAL, "host model: cores of more than %d different "
			"numbers of threads", CAPACITY_CLASSES_MAX);
	memmove(&s->class_threads[at + 1], &s->class_threads[at],
		(s->class_count - at) * sizeof(s->class_threads[0]));
	s->class_threads[at] = threads;
	s->class_count++;
	return 0;
}

/* Find threads, class and node of each core. */
static int measure_cores(struct vfctl_ctx *ctx, struct capacity *s)
{
	const struct vfctl_topology *t = s->model->topology;
	size_t message = cpuset_text(&t->online);
	int r = 0, node = -1;

	s->cores = calloc(t->core_count + 1, sizeof(*s->cores));
	if (!s->cores)
		return ctx_oom(ctx);
	for (size_t i = 0; i < t->core_count && r == 0; i++) {
		measure_core(&t->cores[i].cpus, message, &s->cores[i]);
		/* Cores of one node are usually adjacent. */
		if (node < 0 || s->nodes[node].id != t->cores[i].node)
			node = capacity_node_index(s, t->cores[i].node);
		s->cores[i].node = (int8_t)node;
		r = add_class(ctx, s, s->cores[i].threads);
	}
	for (size_t i = 0; i < t->core_count; i++)
		s->cores[i].class = (uint8_t)class_of(s, s->cores[i].threads);
	return r;
}

/* @kept: CPUs reserved for the host; they count as taken too. */
static void add_core(struct capacity *s, size_t number, const struct vfctl_cpuset *kept)
{
	struct capacity_core *core = &s->cores[number];
	int at = core->node;
	struct node_free *room;

	core->taken = core_meets(s, number, &s->taken);
	if (at < 0 || (core->taken && core_meets(s, number, kept)))
		return;
	s->nodes[at].threads += core->threads;
	s->core_count++;
	if (core->taken) {
		s->nodes[at].empty = false;
		return;
	}
	room = &s->start[at];
	room->cores[core->class]++;
	room->core_count++;
	room->threads += core->threads;
}

struct l3 {
	int node; /* index; -1: no core seen; -2: cores on several nodes */
	uint16_t all, free;
};

/*
 * Number of completely free L3 groups of a node, of the largest size: groups with offline cores are
 * not complete.
 */
static void count_whole(struct capacity *s, const struct l3 *table, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (table[i].node >= 0 && table[i].all > s->nodes[table[i].node].l3_cores)
			s->nodes[table[i].node].l3_cores = table[i].all;
	for (size_t i = 0; i < count; i++)
		if (table[i].node >= 0 && table[i].free == table[i].all &&
			table[i].all == s->nodes[table[i].node].l3_cores)
			s->start[table[i].node].l3_whole++;
}

static int by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/* Number the groups without gaps. */
static int number_l3(struct vfctl_ctx *ctx, struct capacity *s)
{
	const struct vfctl_topology *t = s->model->topology;
	_free_ int *ids = calloc(t->core_count + 1, sizeof(*ids));
	size_t all = 0;

	s->core_l3 = calloc(t->core_count + 1, sizeof(*s->core_l3));
	if (!ids || !s->core_l3)
		return ctx_oom(ctx);
	for (size_t i = 0; i < t->core_count; i++)
		if (t->cores[i].l3 >= 0)
			ids[all++] = t->cores[i].l3;
	sort_unless_sorted(ids, all, sizeof(*ids), by_number);
	for (size_t i = 0; i < all; i++)
		if (!i || ids[i] != ids[s->l3_count - 1])
			ids[s->l3_count++] = ids[i];
	for (size_t i = 0; i < t->core_count; i++) {
		const int *at = NULL;

		if (i && t->cores[i].l3 == t->cores[i - 1].l3) {
			s->core_l3[i] = s->core_l3[i - 1];
			continue;
		}
		if (t->cores[i].l3 >= 0)
			at = bsearch(&t->cores[i].l3, ids, s->l3_count, sizeof(*ids),
				by_number);
		s->core_l3[i] = at ? (uint32_t)(at - ids) + 1 : 0;
	}
	return 0;
}

static int find_l3(struct vfctl_ctx *ctx, struct capacity *s)
{
	const struct vfctl_topology *t = s->model->topology;
	_free_ struct l3 *table = NULL;
	int r = number_l3(ctx, s);
	size_t count = s->l3_count;

	if (r < 0)
		return r;
	table = calloc(count + 1, sizeof(*table));
	if (!table)
		return ctx_oom(ctx);
	for (size_t i = 0; i < t->core_count; i++) {
		struct l3 *l3 = s->core_l3[i] ? &table[s->core_l3[i] - 1] : NULL;
		int node = s->cores[i].node;

		if (!l3)
			continue;
		l3->node = l3->all && l3->node != node ? -2 : node;
		l3->all++;
		l3->free += !s->cores[i].taken;
	}
	for (size_t i = 0; i < count; i++)
		if (!table[i].all)
			table[i].node = -1;
	count_whole(s, table, count);
	/* If cores differ, groups with equally many cores are not equivalent: none is offered. */
	for (unsigned n = 0; n < s->node_count; n++) {
		unsigned kinds = 0;

		for (unsigned c = 0; c < s->class_count; c++)
			kinds += s->start[n].cores[c] > 0;
		if (kinds > 1)
			s->start[n].l3_whole = 0;
	}
	return 0;
}

static void count_shared(struct capacity *s, const bool *leave_out)
{
	const struct vfctl_host_model *m = s->model;
	uint32_t ratio = m->shared_ratio ? m->shared_ratio : VFCTL_SHARED_RATIO;

	for (size_t i = 0; i < s->node_count; i++) {
		struct vfctl_cpuset cpus = m->topology->nodes[i].cpus;

		vfctl_cpuset_and(&cpus, &m->shared_cpus);
		s->start[i].shared = vfctl_cpuset_count(&cpus) * ratio;
	}
	for (size_t o = 0; o < m->occupant_count; o++)
		for (size_t k = 0; k < m->occupants[o].memory_count; k++) {
			int at = capacity_node_index(s, m->occupants[o].memory[k].node);
			uint32_t used = m->occupants[o].memory[k].shared_vcpus;

			if (at < 0 || (leave_out && leave_out[o]))
				continue;
			if (used || m->occupants[o].memory[k].bytes)
				s->nodes[at].empty = false;
			s->start[at].shared -= used < s->start[at].shared ? used :
				s->start[at].shared;
		}
}

/* A guest that is left out keeps its seat: it may stay, or come back. */
static void count_core_slots(struct capacity *s, size_t number)
{
	const struct vfctl_host_model *m = s->model;
	uint32_t carries = s->cores[number].threads * VFCTL_QEMU_GUESTS_PER_CPU, guests = 0;
	int at = capacity_node_index(s, m->topology->cores[number].node);

	for (size_t o = 0; o < m->occupant_count; o++)
		guests += core_meets(s, number, &m->occupants[o].qemu_cpus);
	if (at < 0 || guests >= carries)
		return;
	s->cores[number].qemu_slots = (uint16_t)(carries - guests);
	s->start[at].qemu_slots = (uint16_t)(s->start[at].qemu_slots + carries - guests);
}

static void count_slots(struct capacity *s)
{
	const struct vfctl_host_model *m = s->model;
	struct vfctl_cpuset shared = {0};

	for (size_t o = 0; o < m->occupant_count; o++)
		vfctl_cpuset_or(&shared, &m->occupants[o].qemu_cpus);
	for (size_t i = 0; !vfctl_cpuset_empty(&shared) && i < m->topology->core_count; i++)
		if (core_meets(s, i, &shared))
			count_core_slots(s, i);
	for (size_t i = 0; i < s->node_count; i++) {
		struct vfctl_cpuset own = m->reserved_cpus;

		vfctl_cpuset_and(&own, &m->topology->nodes[i].cpus);
		if (!vfctl_cpuset_empty(&own))
			s->start[i].qemu_slots = SEATS_HOST;
	}
}

static void find_cores(struct capacity *s, const bool *leave_out)
{
	const struct vfctl_host_model *m = s->model;
	struct vfctl_cpuset kept = m->reserved_cpus;

	s->has_host_cpus = vfctl_cpuset_intersects(&kept, &m->topology->online);
	vfctl_cpuset_or(&kept, &m->shared_cpus);
	s->taken = kept;
	vfctl_cpuset_or(&s->taken, &m->busy_cpus);
	for (size_t i = 0; i < m->occupant_count; i++) {
		vfctl_cpuset_or(&s->taken, &m->occupants[i].qemu_cpus);
		if (!leave_out || !leave_out[i])
			vfctl_cpuset_or(&s->taken, &m->occupants[i].cpus);
	}
	for (size_t i = 0; i < m->topology->core_count; i++)
		add_core(s, i, &kept);
	count_shared(s, leave_out);
	count_slots(s);
}

/* ---- memory ---- */

static bool add_page_size(struct capacity *s, uint64_t bytes)
{
	unsigned at = 1;

	while (at < s->page_count && s->page_bytes[at] < bytes)
		at++;
	if (at < s->page_count && s->page_bytes[at] == bytes)
		return true;
	if (s->page_count == CAPACITY_PAGES_MAX)
		return false;
	memmove(&s->page_bytes[at + 1], &s->page_bytes[at],
		(s->page_count - at) * sizeof(s->page_bytes[0]));
	s->page_bytes[at] = bytes;
	s->page_count++;
	return true;
}

static int find_memory(struct vfctl_ctx *ctx, struct capacity *s, const bool *leave_out)
{
	const struct vfctl_topology *t = s->model->topology;
	uint64_t bytes = 0, threads = 0;

	s->page_count = 1;
	for (size_t i = 0; i < t->node_count; i++)
		for (size_t k = 0; k < t->nodes[i].pool_count; k++)
			if (!add_page_size(s, t->nodes[i].pools[k].page_bytes))
				return ctx_fail(ctx, -EINVAL, "host model: pages of more than %d "
					"sizes", CAPACITY_PAGES_MAX - 1);
	for (size_t i = 0; i < t->node_count; i++) {
		s->nodes[i].memory = t->nodes[i].memory_bytes;
		if (s->nodes[i].has_cpus) {
			bytes += t->nodes[i].memory_bytes >> 10;
			threads += s->nodes[i].threads;
		}
		for (unsigned p = 0; p < s->page_count; p++)
			s->start[i].memory[p] = memory_free(s->model, leave_out,
				&t->nodes[i], s->page_bytes[p]);
	}
	s->thread_bytes = threads ? bytes / threads << 10 : 0;
	return 0;
}

/* ---- VFs ---- */

/* The nodes with CPUs that are nearest to @node. */
static uint64_t nearest_to(const struct capacity *s, unsigned node)
{
	unsigned best = UINT32_MAX;
	uint64_t found = 0;

	if (s->nodes[node].has_cpus)
		return UINT64_C(1) << node;
	for (unsigned i = 0; i < s->node_count; i++) {
		unsigned d = capacity_distance(s, node, i);

		if (!s->nodes[i].has_cpus || d > best)
			continue;
		found = d < best ? UINT64_C(1) << i : found | UINT64_C(1) << i;
		best = d;
	}
	return found;
}

static void locate_group(const struct capacity *s, struct vf_group *g, int node)
{
	uint64_t with_cpus = 0;

	for (unsigned i = 0; i < s->node_count; i++)
		with_cpus |= (uint64_t)s->nodes[i].has_cpus << i;
	g->node = capacity_node_index(s, node);
	/* On a host with one node there is no choice. */
	if (!(with_cpus & (with_cpus - 1)))
		g->local = with_cpus;
	else if (g->node >= 0)
		g->local = nearest_to(s, (unsigned)g->node);
	for (unsigned i = 0; i < s->node_count; i++)
		if (capacity_has(g->local, i))
			g->socket |= s->nodes[i].neighbours;
	g->home_node = g->local ? (unsigned)__builtin_ctzll(g->local) : (unsigned)s->node_count;
}

static struct sort_key key_of(const struct vfctl_free_vf *vf, size_t at)
{
	return (struct sort_key){model_bdf_key(&vf->pf) << 16 | (uint16_t)(vf->node + 1),
		(uint64_t)vf->index << 48 | model_bdf_key(&vf->bdf), at};
}

/* Collect VFs with their indexes in the model. @ret_vfs: the VF at each index. */
static size_t collect_vfs(const struct capacity *s, const bool *leave_out, struct sort_key *ret,
	const struct vfctl_free_vf **ret_vfs)
{
	const struct vfctl_host_model *m = s->model;
	size_t n = 0, at = 0;

	for (size_t i = 0; i < m->vf_count; i++, at++) {
		ret_vfs[at] = &m->vfs[i];
		ret[n++] = key_of(&m->vfs[i], at);
	}
	for (size_t o = 0; o < m->occupant_count; o++)
		for (size_t i = 0; i < m->occupants[o].vf_count; i++, at++) {
			ret_vfs[at] = &m->occupants[o].vfs[i];
			if (leave_out && leave_out[o])
				ret[n++] = key_of(&m->occupants[o].vfs[i], at);
		}
	return n;
}

static int find_vfs(struct vfctl_ctx *ctx, struct capacity *s, const bool *leave_out)
{
	_free_ const struct vfctl_free_vf **vfs = NULL;
	size_t most = s->model->vf_count, count, groups = 0;
	_free_ struct sort_key *keys = NULL;

	for (size_t o = 0; o < s->model->occupant_count; o++)
		most += s->model->occupants[o].vf_count;
	vfs = calloc(most + 1, sizeof(*vfs));
	keys = calloc(most + 1, sizeof(*keys));
	s->group_vfs = calloc(most + 1, sizeof(*s->group_vfs));
	if (!vfs || !keys || !s->group_vfs)
		return ctx_oom(ctx);
	count = collect_vfs(s, leave_out, keys, vfs);
	sort_keys(keys, count);
	for (size_t i = 0; i < count; i++)
		groups += !i || keys[i].major != keys[i - 1].major;
	s->groups = calloc(groups + 1, sizeof(*s->groups));
	if (!s->groups)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_free_vf *vf = vfs[keys[i].at];
		struct vf_group *g = &s->groups[s->group_count];

		s->group_vfs[i] = keys[i].at;
		if (i && keys[i].major == keys[i - 1].major) {
			g[-1].free++;
			continue;
		}
		*g = (struct vf_group){.pf = vf->pf, .fabric = vf->fabric, .port = vf->port,
			.free = 1, .vfs = &s->group_vfs[i]};
		locate_group(s, g, vf->node);
		s->group_count++;
	}
	return 0;
}

unsigned capacity_vf_distance(const struct capacity *s, const struct vf_group *group, unsigned node)
{
	if (capacity_has(group->local, node))
		return group->node < 0 ? 10 : capacity_distance(s, (unsigned)group->node, node);
	return group->node < 0 ? s->farthest : capacity_distance(s, (unsigned)group->node, node);
}

bool capacity_group_answers(const struct vf_group *group, const struct vfctl_vf_want *want)
{
	return (want->any_pf || vfctl_bdf_compare(&group->pf, &want->pf) == 0) &&
		(want->fabric == VFCTL_FABRIC_ANY || want->fabric == group->fabric) &&
		(!want->port || want->port == group->port);
}

/* ---- nodes ---- */

/* Nodes that share a package. A package without a number belongs to a single node. */
static void find_neighbours(struct capacity *s)
{
	const struct vfctl_topology *t = s->model->topology;
	struct {
		int package;
		uint64_t nodes;
	} seen[CAPACITY_NODES_MAX];
	size_t count = 0;

	for (size_t i = 0, at; i < t->core_count; i++) {
		int node = s->cores[i].node;

		if (node < 0 || t->cores[i].package < 0)
			continue;
		for (at = 0; at < count && seen[at].package != t->cores[i].package; at++)
			;
		if (at == CAPACITY_NODES_MAX)
			continue;
		if (at == count) {
			seen[count].package = t->cores[i].package;
			seen[count++].nodes = 0;
		}
		seen[at].nodes |= UINT64_C(1) << node;
	}
	for (unsigned n = 0; n < s->node_count; n++) {
		s->nodes[n].neighbours = UINT64_C(1) << n;
		for (size_t at = 0; at < count; at++)
			if (capacity_has(seen[at].nodes, n))
				s->nodes[n].neighbours |= seen[at].nodes;
	}
}

static bool same_vfs(const struct capacity *s, unsigned a, unsigned b)
{
	for (size_t i = 0; i < s->group_count; i++)
		if (s->groups[i].local & (UINT64_C(1) << a | UINT64_C(1) << b))
			return false;
	return true;
}

/*
 * Whether exchanging two nodes changes nothing: same resources, same distances, no VFs on either.
 */
static bool are_equal(const struct capacity *s, unsigned a, unsigned b)
{
	uint64_t both = UINT64_C(1) << a | UINT64_C(1) << b;

	if (memcmp(&s->start[a], &s->start[b], sizeof(s->start[a])) != 0 ||
		s->nodes[a].threads != s->nodes[b].threads ||
		s->nodes[a].l3_cores != s->nodes[b].l3_cores ||
		s->nodes[a].memory != s->nodes[b].memory ||
		s->nodes[a].has_cpus != s->nodes[b].has_cpus || !same_vfs(s, a, b) ||
		(s->nodes[a].neighbours & ~both) != (s->nodes[b].neighbours & ~both) ||
		capacity_distance(s, a, a) != capacity_distance(s, b, b) ||
		capacity_distance(s, a, b) != capacity_distance(s, b, a))
		return false;
	for (unsigned x = 0; x < s->node_count; x++)
		if (x != a && x != b && (capacity_distance(s, a, x) != capacity_distance(s, b, x) ||
				capacity_distance(s, x, a) != capacity_distance(s, x, b)))
			return false;
	return true;
}

static void find_twins(struct capacity *s)
{
	for (unsigned n = 0; n < s->node_count; n++)
		s->nodes[n].equal_nodes = 0;
	for (unsigned a = 0; a < s->node_count; a++)
		for (unsigned b = a + 1; b < s->node_count; b++)
			if (are_equal(s, a, b)) {
				s->nodes[a].equal_nodes |= UINT64_C(1) << b;
				s->nodes[b].equal_nodes |= UINT64_C(1) << a;
			}
}

void capacity_judge(struct capacity *s)
{
	find_twins(s);
	future_capacity_init(s);
}

static void find_nodes(struct capacity *s)
{
	const struct vfctl_topology *t = s->model->topology;

	s->node_count = t->node_count;
	for (unsigned i = 0; i < s->node_count; i++) {
		s->nodes[i].id = (int)t->nodes[i].id;
		s->nodes[i].has_cpus = !vfctl_cpuset_empty(&t->nodes[i].cpus);
		s->nodes[i].empty = true;
	}
	for (size_t i = 0; i < s->node_count * s->node_count; i++)
		if (t->distances[i] > s->farthest)
			s->farthest = t->distances[i];
}

int capacity_new(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const bool *leave_out, bool next_share, struct capacity **ret)
{
	_cleanup_(capacity_freep) struct capacity *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	s->model = model;
	s->next_share = next_share;
	find_nodes(s);
	r = measure_cores(ctx, s);
	if (r < 0)
		return r;
	find_neighbours(s);
	find_cores(s, leave_out);
	r = find_l3(ctx, s);
	if (r < 0)
		return r;
	r = find_memory(ctx, s, leave_out);
	if (r == 0)
		r = find_vfs(ctx, s, leave_out);
	if (r < 0)
		return r;
	capacity_judge(s);
	*ret = steal(s);
	return 0;
}

/* ---- capacity for the next guests ---- */
