// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/site.h"

#include <errno.h>

int site_node_index(const struct site *site, int id)
{
	for (size_t i = 0; i < site->node_count; i++)
		if (site->nodes[i].id == id)
			return (int)i;
	return -1;
}

void site_free(struct site *site)
{
	if (!site)
		return;
	free(site->groups);
	free(site->group_vfs);
	free(site->cores);
	free(site->core_l3);
	free(site);
}

/* ---- cores ---- */

static void measure_core(const struct vfctl_cpuset *cpus, struct site_core *ret)
{
	size_t first = 0, end = ARRAY_SIZE(cpus->word);

	while (first < end && !cpus->word[first])
		first++;
	while (end > first && !cpus->word[end - 1])
		end--;
	*ret = (struct site_core){.first_word = (uint16_t)first, .end_word = (uint16_t)end};
	for (size_t i = first; i < end; i++)
		for (uint64_t left = cpus->word[i]; left; left &= left - 1)
			ret->threads++;
}

static bool core_meets(const struct site *s, size_t number, const struct vfctl_cpuset *set)
{
	const uint64_t *word = s->model->topology->cores[number].cpus.word;
	uint64_t both = 0;

	for (size_t i = s->cores[number].first_word; i < s->cores[number].end_word; i++)
		both |= word[i] & set->word[i];
	return both != 0;
}

static unsigned class_of(struct site *s, uint32_t threads)
{
	unsigned at = 0;

	while (at < s->class_count && s->class_threads[at] < threads)
		at++;
	return at;
}

/* The thread counts that cores of this host have. */
static int find_classes(struct vfctl_ctx *ctx, struct site *s)
{
	const struct vfctl_topology *t = s->model->topology;

	s->cores = calloc(t->core_count + 1, sizeof(*s->cores));
	if (!s->cores)
		return ctx_oom(ctx);
	for (size_t i = 0; i < t->core_count; i++) {
		unsigned at;

		measure_core(&t->cores[i].cpus, &s->cores[i]);
		at = class_of(s, s->cores[i].threads);
		if (at < s->class_count && s->class_threads[at] == s->cores[i].threads)
			continue;
		if (s->class_count == SITE_CLASSES_MAX)
			return ctx_fail(ctx, -EINVAL, "host model: cores of more than %d different "
				"numbers of threads", SITE_CLASSES_MAX);
		memmove(&s->class_threads[at + 1], &s->class_threads[at],
			(s->class_count - at) * sizeof(s->class_threads[0]));
		s->class_threads[at] = s->cores[i].threads;
		s->class_count++;
	}
	for (size_t i = 0; i < t->core_count; i++)
		s->cores[i].class = (uint8_t)class_of(s, s->cores[i].threads);
	return 0;
}

static void add_core(struct site *s, size_t number, const struct vfctl_cpuset *kept)
{
	struct site_core *core = &s->cores[number];
	int at = site_node_index(s, s->model->topology->cores[number].node);
	struct room *room;

	core->taken = core_meets(s, number, &s->taken);
	if (at < 0 || core_meets(s, number, kept))
		return;
	s->nodes[at].threads += core->threads;
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
	int node; /* index; -1 no core seen; -2 in several nodes */
	uint16_t all, free;
};

/*
 * L3 groups of a node that are wholly free, of the largest size it has: groups cut short
 * by offline cores are no whole ones.
 */
static void count_whole(struct site *s, const struct l3 *table, size_t count)
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

/* Whatever numbers the groups have, count them without holes. */
static int number_l3(struct vfctl_ctx *ctx, struct site *s)
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
	qsort(ids, all, sizeof(*ids), by_number);
	for (size_t i = 0; i < all; i++)
		if (!i || ids[i] != ids[s->l3_count - 1])
			ids[s->l3_count++] = ids[i];
	for (size_t i = 0; i < t->core_count; i++) {
		const int *at = t->cores[i].l3 < 0 ? NULL : bsearch(&t->cores[i].l3, ids,
			s->l3_count, sizeof(*ids), by_number);

		s->core_l3[i] = at ? (uint32_t)(at - ids) + 1 : 0;
	}
	return 0;
}

static int find_l3(struct vfctl_ctx *ctx, struct site *s)
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
		const struct vfctl_core *core = &t->cores[i];
		int node = site_node_index(s, core->node);
		struct l3 *l3 = s->core_l3[i] ? &table[s->core_l3[i] - 1] : NULL;

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
	/* Where cores differ, groups of as many cores are not alike: none is offered. */
	for (unsigned n = 0; n < s->node_count; n++) {
		unsigned kinds = 0;

		for (unsigned c = 0; c < s->class_count; c++)
			kinds += s->start[n].cores[c] > 0;
		if (kinds > 1)
			s->start[n].l3_whole = 0;
	}
	return 0;
}

static void count_shared(struct site *s, const bool *leave_out)
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
			int at = site_node_index(s, m->occupants[o].memory[k].node);
			uint32_t used = m->occupants[o].shared_vcpus ?
				m->occupants[o].shared_vcpus[k] : 0;

			if (at < 0 || (leave_out && leave_out[o]))
				continue;
			if (used || m->occupants[o].memory[k].bytes)
				s->nodes[at].empty = false;
			s->start[at].shared -= used < s->start[at].shared ? used :
				s->start[at].shared;
		}
}

static void find_cores(struct site *s, const bool *leave_out)
{
	const struct vfctl_host_model *m = s->model;
	struct vfctl_cpuset kept = m->reserved_cpus;

	s->has_host_cpus = vfctl_cpuset_intersects(&kept, &m->topology->online);
	vfctl_cpuset_or(&kept, &m->shared_cpus);
	s->taken = kept;
	vfctl_cpuset_or(&s->taken, &m->busy_cpus);
	for (size_t i = 0; i < m->occupant_count; i++)
		if (!leave_out || !leave_out[i])
			vfctl_cpuset_or(&s->taken, &m->occupants[i].cpus);
	for (size_t i = 0; i < m->topology->core_count; i++)
		add_core(s, i, &kept);
	count_shared(s, leave_out);
}

/* ---- memory ---- */

static bool add_page_size(struct site *s, uint64_t bytes)
{
	unsigned at = 1;

	while (at < s->page_count && s->page_bytes[at] < bytes)
		at++;
	if (at < s->page_count && s->page_bytes[at] == bytes)
		return true;
	if (s->page_count == SITE_PAGES_MAX)
		return false;
	memmove(&s->page_bytes[at + 1], &s->page_bytes[at],
		(s->page_count - at) * sizeof(s->page_bytes[0]));
	s->page_bytes[at] = bytes;
	s->page_count++;
	return true;
}

static int find_memory(struct vfctl_ctx *ctx, struct site *s, const bool *leave_out)
{
	const struct vfctl_topology *t = s->model->topology;
	uint64_t bytes = 0, threads = 0;

	s->page_count = 1;
	for (size_t i = 0; i < t->node_count; i++)
		for (size_t k = 0; k < t->nodes[i].pool_count; k++)
			if (!add_page_size(s, t->nodes[i].pools[k].page_bytes))
				return ctx_fail(ctx, -EINVAL, "host model: pages of more than %d "
					"sizes", SITE_PAGES_MAX - 1);
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

/* Nodes with CPUs than which none is nearer to @node. */
static uint64_t nearest_to(const struct site *s, unsigned node)
{
	unsigned best = UINT32_MAX;
	uint64_t found = 0;

	if (s->nodes[node].has_cpus)
		return UINT64_C(1) << node;
	for (unsigned i = 0; i < s->node_count; i++) {
		unsigned d = site_distance(s, node, i);

		if (!s->nodes[i].has_cpus || d > best)
			continue;
		found = d < best ? UINT64_C(1) << i : found | UINT64_C(1) << i;
		best = d;
	}
	return found;
}

static void locate_group(const struct site *s, struct vf_group *g, int node)
{
	uint64_t with_cpus = 0;

	for (unsigned i = 0; i < s->node_count; i++)
		with_cpus |= (uint64_t)s->nodes[i].has_cpus << i;
	g->node = site_node_index(s, node);
	/* On a host of one node there is no question. */
	if (!(with_cpus & (with_cpus - 1)))
		g->local = with_cpus;
	else if (g->node >= 0)
		g->local = nearest_to(s, (unsigned)g->node);
	for (unsigned i = 0; i < s->node_count; i++)
		if (site_has(g->local, i))
			g->socket |= s->nodes[i].neighbours;
	g->home = g->local ? (unsigned)__builtin_ctzll(g->local) : (unsigned)s->node_count;
}

struct by_group {
	const struct vfctl_free_vf *vf;
	size_t index;
};

static int compare_group(const struct vfctl_free_vf *a, const struct vfctl_free_vf *b)
{
	int order = vfctl_bdf_compare(&a->pf, &b->pf);

	return order ? order : a->node - b->node;
}

static int in_groups(const void *a, const void *b)
{
	const struct by_group *x = a, *y = b;
	int order = compare_group(x->vf, y->vf);

	if (order)
		return order;
	if (x->vf->index != y->vf->index)
		return x->vf->index < y->vf->index ? -1 : 1;
	return vfctl_bdf_compare(&x->vf->bdf, &y->vf->bdf);
}

static size_t collect_vfs(const struct site *s, const bool *leave_out, struct by_group *ret)
{
	const struct vfctl_host_model *m = s->model;
	size_t n = 0;

	for (size_t i = 0; i < m->vf_count; i++)
		ret[n++] = (struct by_group){&m->vfs[i], i};
	for (size_t o = 0, at = m->vf_count; o < m->occupant_count; o++)
		for (size_t i = 0; i < m->occupants[o].vf_count; i++, at++)
			if (leave_out && leave_out[o])
				ret[n++] = (struct by_group){&m->occupants[o].vfs[i], at};
	return n;
}

static int find_vfs(struct vfctl_ctx *ctx, struct site *s, const bool *leave_out)
{
	size_t most = s->model->vf_count, count;
	_free_ struct by_group *vfs = NULL;

	for (size_t o = 0; o < s->model->occupant_count; o++)
		most += s->model->occupants[o].vf_count;
	vfs = calloc(most + 1, sizeof(*vfs));
	s->groups = calloc(most + 1, sizeof(*s->groups));
	s->group_vfs = calloc(most + 1, sizeof(*s->group_vfs));
	if (!vfs || !s->groups || !s->group_vfs)
		return ctx_oom(ctx);
	count = collect_vfs(s, leave_out, vfs);
	sort_unless_sorted(vfs, count, sizeof(*vfs), in_groups);
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_free_vf *vf = vfs[i].vf;
		struct vf_group *g = &s->groups[s->group_count];

		s->group_vfs[i] = vfs[i].index;
		if (i && compare_group(vfs[i - 1].vf, vf) == 0) {
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

unsigned site_vf_distance(const struct site *s, const struct vf_group *group, unsigned node)
{
	if (site_has(group->local, node))
		return group->node < 0 ? 10 : site_distance(s, (unsigned)group->node, node);
	return group->node < 0 ? s->farthest : site_distance(s, (unsigned)group->node, node);
}

bool site_group_answers(const struct vf_group *group, const struct vfctl_vf_want *want)
{
	return (want->any_pf || vfctl_bdf_compare(&group->pf, &want->pf) == 0) &&
		(want->fabric == VFCTL_FABRIC_ANY || want->fabric == group->fabric) &&
		(!want->port || want->port == group->port);
}

/* ---- nodes ---- */

/* Nodes that share a package. A package without number is of one node alone. */
static void find_neighbours(struct site *s)
{
	const struct vfctl_topology *t = s->model->topology;
	struct {
		int package;
		uint64_t nodes;
	} seen[SITE_NODES_MAX];
	size_t count = 0;

	for (size_t i = 0, at; i < t->core_count; i++) {
		int node = site_node_index(s, t->cores[i].node);

		if (node < 0 || t->cores[i].package < 0)
			continue;
		for (at = 0; at < count && seen[at].package != t->cores[i].package; at++)
			;
		if (at == SITE_NODES_MAX)
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
			if (site_has(seen[at].nodes, n))
				s->nodes[n].neighbours |= seen[at].nodes;
	}
}

static bool same_vfs(const struct site *s, unsigned a, unsigned b)
{
	for (size_t i = 0; i < s->group_count; i++)
		if (s->groups[i].local & (UINT64_C(1) << a | UINT64_C(1) << b))
			return false;
	return true;
}

/* Exchanging two nodes changes nothing: same room, same distances, no VFs on either. */
static bool are_twins(const struct site *s, unsigned a, unsigned b)
{
	uint64_t both = UINT64_C(1) << a | UINT64_C(1) << b;

	if (memcmp(&s->start[a], &s->start[b], sizeof(s->start[a])) != 0 ||
		s->nodes[a].threads != s->nodes[b].threads ||
		s->nodes[a].l3_cores != s->nodes[b].l3_cores ||
		s->nodes[a].memory != s->nodes[b].memory ||
		s->nodes[a].has_cpus != s->nodes[b].has_cpus || !same_vfs(s, a, b) ||
		(s->nodes[a].neighbours & ~both) != (s->nodes[b].neighbours & ~both) ||
		site_distance(s, a, a) != site_distance(s, b, b) ||
		site_distance(s, a, b) != site_distance(s, b, a))
		return false;
	for (unsigned x = 0; x < s->node_count; x++)
		if (x != a && x != b && (site_distance(s, a, x) != site_distance(s, b, x) ||
				site_distance(s, x, a) != site_distance(s, x, b)))
			return false;
	return true;
}

static void find_twins(struct site *s)
{
	for (unsigned a = 0; a < s->node_count; a++)
		for (unsigned b = a + 1; b < s->node_count; b++)
			if (are_twins(s, a, b)) {
				s->nodes[a].twins |= UINT64_C(1) << b;
				s->nodes[b].twins |= UINT64_C(1) << a;
			}
}

static void find_nodes(struct site *s)
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

int site_new(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const bool *leave_out, struct site **ret)
{
	_site_ struct site *s = calloc(1, sizeof(*s));
	int r;

	if (!s)
		return ctx_oom(ctx);
	s->model = model;
	find_nodes(s);
	find_neighbours(s);
	r = find_classes(ctx, s);
	if (r < 0)
		return r;
	find_cores(s, leave_out);
	r = find_l3(ctx, s);
	if (r < 0)
		return r;
	r = find_memory(ctx, s, leave_out);
	if (r == 0)
		r = find_vfs(ctx, s, leave_out);
	if (r < 0)
		return r;
	find_twins(s);
	outlook_init(s);
	*ret = steal(s);
	return 0;
}

/* ---- room for the next guests ---- */

uint32_t site_usable_threads(const struct site *s, const struct room *room)
{
	uint64_t bytes = 0, threads;

	for (unsigned p = 0; p < s->page_count; p++)
		bytes += room->memory[p];
	threads = s->thread_bytes ? bytes / s->thread_bytes : room->threads;
	return threads < room->threads ? (uint32_t)threads : room->threads;
}
