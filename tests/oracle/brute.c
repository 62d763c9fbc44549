// SPDX-License-Identifier: GPL-2.0-or-later
/* Every plan of a tiny instance, valued by the definitions of docs/placement.md. */
#include "instance.h"

#define PFS 4

struct brute {
	const struct instance *in;
	unsigned nodes, groups, threads; /* per core: all are alike */
	struct {
		struct vfctl_bdf pf;
		int fabric, node;
		unsigned all, used, local;
	} group[PFS];
	unsigned cores[NODES], all_cores[NODES];
	int64_t memory[NODES][2], thread_bytes;
	bool any_huge, found;
	int64_t best[VFCTL_LEVELS], now[VFCTL_LEVELS];
};

static void read_host(struct brute *b)
{
	int64_t bytes = 0, threads = 0;

	b->threads = vfctl_cpuset_count(&b->in->cores[0].cpus);
	for (size_t i = 0; i < b->in->topology.core_count; i++)
		if (!vfctl_cpuset_intersects(&b->in->cores[i].cpus, &b->in->model.reserved_cpus))
			b->cores[b->in->cores[i].node]++;
	for (unsigned n = 0; n < b->nodes; n++) {
		const struct vfctl_node *node = &b->in->nodes[n];
		int64_t huge = node->pool_count ? (int64_t)node->pools[0].total : 0;

		b->any_huge |= node->pool_count > 0;
		b->all_cores[n] = b->cores[n];
		b->memory[n][1] = huge;
		b->memory[n][0] = (int64_t)(node->memory_bytes / GIB) - huge;
		bytes += (int64_t)(node->memory_bytes >> 10);
		threads += b->cores[n] * b->threads;
	}
	b->thread_bytes = threads ? bytes / threads * 1024 : 0;
	for (size_t i = 0; i < b->in->model.vf_count; i++) {
		const struct vfctl_free_vf *vf = &b->in->vfs[i];
		unsigned g = 0;

		while (g < b->groups && vfctl_bdf_compare(&b->group[g].pf, &vf->pf) != 0)
			g++;
		b->groups += g == b->groups;
		b->group[g].pf = vf->pf;
		b->group[g].fabric = vf->fabric;
		b->group[g].node = vf->node;
		b->group[g].local = local_nodes(b->in, vf->node);
		b->group[g].all++;
	}
}

static int64_t min(int64_t a, int64_t b)
{
	return a < b ? a : b;
}

/* Guests of 1, 2, 4 .. threads, and of the whole node: those with a VF count three times. */
static int64_t room(const struct brute *b)
{
	int64_t sum = 0;

	for (unsigned n = 0; n < b->nodes; n++) {
		int64_t threads = b->cores[n] * b->threads, vfs = 0;
		int64_t all = b->all_cores[n] * b->threads;
		int64_t bytes = (b->memory[n][0] + b->memory[n][1]) * (int64_t)GIB;

		if (b->thread_bytes)
			threads = min(threads, bytes / b->thread_bytes);
		for (unsigned g = 0; g < b->groups; g++)
			if (b->group[g].local &&
				(unsigned)__builtin_ctz(b->group[g].local) == n)
				vfs += b->group[g].all - b->group[g].used;
		for (int64_t size = 1; size < all; size *= 2)
			sum += size * (threads / size + 3 * min(threads / size, vfs));
		if (all && threads >= all)
			sum += all * (1 + 3 * (vfs > 0));
	}
	return sum;
}

static int64_t balance(const struct brute *b)
{
	int64_t sum = 0;

	for (unsigned g = 0; g < b->groups; g++)
		sum += (int64_t)(b->group[g].all - b->group[g].used) *
			(b->group[g].all - b->group[g].used);
	return sum;
}

/* More is better at the first, second and sixth level, less at the others. */
static bool is_better(const int64_t a[VFCTL_LEVELS], const int64_t b[VFCTL_LEVELS])
{
	for (unsigned i = 0; i < VFCTL_LEVELS; i++)
		if (a[i] != b[i])
			return (i == VFCTL_LEVEL_PLACED || i == VFCTL_LEVEL_LOCAL ||
				       i == VFCTL_LEVEL_ROOM) == (a[i] > b[i]);
	return false;
}

static void guest(struct brute *b, size_t g);

static void complete(struct brute *b)
{
	b->now[VFCTL_LEVEL_ROOM] = room(b);
	b->now[VFCTL_LEVEL_BALANCE] = balance(b);
	if (b->found && !is_better(b->now, b->best))
		return;
	memcpy(b->best, b->now, sizeof(b->best));
	b->found = true;
}

/* @left VFs more from the groups from @q on, at @distance and @local so far. */
static void vfs(struct brute *b, size_t g, unsigned node, unsigned q, unsigned left, bool local)
{
	const struct vfctl_request *r = &b->in->requests[g];
	const struct vfctl_vf_want *w = r->wants;
	unsigned d;

	if (!left) {
		b->now[VFCTL_LEVEL_LOCAL] += local;
		guest(b, g + 1);
		b->now[VFCTL_LEVEL_LOCAL] -= local;
		return;
	}
	if (q == b->groups)
		return;
	vfs(b, g, node, q + 1, left, local);
	if (b->group[q].used == b->group[q].all ||
		(!w->any_pf && vfctl_bdf_compare(&w->pf, &b->group[q].pf) != 0) ||
		(w->fabric != VFCTL_FABRIC_ANY && w->fabric != b->group[q].fabric))
		return;
	if (w->affinity == VFCTL_AFFINITY_REQUIRED && b->group[q].local &&
		!(b->group[q].local >> node & 1))
		return;
	d = w->affinity == VFCTL_AFFINITY_ANY ? 0
		: 4 * (b->in->distances[(unsigned)b->group[q].node * b->nodes + node] - 10);
	b->group[q].used++;
	b->now[VFCTL_LEVEL_DISTANCE] += d;
	vfs(b, g, node, q, left - 1, local && (w->affinity == VFCTL_AFFINITY_ANY ||
		b->group[q].local >> node & 1));
	b->now[VFCTL_LEVEL_DISTANCE] -= d;
	b->group[q].used--;
}

static void on_node(struct brute *b, size_t g, unsigned node, unsigned page)
{
	const struct vfctl_request *r = &b->in->requests[g];
	unsigned each = r->threads == VFCTL_THREADS_ISOLATE ? 1 : b->threads;
	unsigned cores = (r->vcpus + each - 1) / each + r->emulator_cores;
	int64_t gib = (int64_t)(r->memory_bytes / GIB);
	int64_t form = r->page_bytes == VFCTL_PAGES_AUTO && b->any_huge && page == 0;

	if (cores > b->cores[node] || gib > b->memory[node][page] ||
		(r->page_bytes != VFCTL_PAGES_AUTO && (r->page_bytes == GIB) != (page == 1)) ||
		(r->node != VFCTL_NODE_NONE && r->node != (int)node))
		return;
	b->cores[node] -= cores;
	b->memory[node][page] -= gib;
	b->now[VFCTL_LEVEL_PLACED]++;
	b->now[VFCTL_LEVEL_FORM] += form;
	vfs(b, g, node, 0, r->want_count ? r->wants[0].count : 0, true);
	b->now[VFCTL_LEVEL_FORM] -= form;
	b->now[VFCTL_LEVEL_PLACED]--;
	b->memory[node][page] += gib;
	b->cores[node] += cores;
}

static void guest(struct brute *b, size_t g)
{
	if (g == b->in->guest_count) {
		complete(b);
		return;
	}
	for (unsigned n = 0; n < b->nodes; n++)
		for (unsigned page = 0; page < 2; page++)
			on_node(b, g, n, page);
	guest(b, g + 1);
}

void brute_solve(const struct instance *in, int64_t ret[VFCTL_LEVELS])
{
	static struct brute b;

	b = (struct brute){.in = in, .nodes = (unsigned)in->topology.node_count};
	read_host(&b);
	guest(&b, 0);
	memcpy(ret, b.best, sizeof(b.best));
}
