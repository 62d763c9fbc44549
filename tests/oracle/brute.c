// SPDX-License-Identifier: GPL-2.0-or-later
/* Every plan of a tiny instance, valued by the definitions of docs/explanation/placement.md. */
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
	unsigned cores[NODES], all_cores[NODES], qemu_slots[NODES];
	int64_t memory[NODES][2], thread_bytes;
	bool any_huge, any_auto, found;
	struct {
		int64_t threads, cells, price, vf_price[PFS];
	} kind[16];
	int kinds, fabrics;
	int fabric[PFS];
	int64_t near_price[PFS];
	int64_t best[VFCTL_LEVELS], now[VFCTL_LEVELS];
};

static void read_host(struct brute *b)
{
	int64_t bytes = 0, threads = 0;

	b->threads = vfctl_cpuset_count(&b->in->cores[0].cpus);
	for (size_t g = 0; g < b->in->guest_count; g++)
		b->any_auto |= b->in->requests[g].emulator_cores == VFCTL_EMULATOR_AUTO;
	for (size_t i = 0; i < b->in->topology.core_count; i++)
		if (!vfctl_cpuset_intersects(&b->in->cores[i].cpus, &b->in->model.reserved_cpus)) {
			b->all_cores[b->in->cores[i].node]++;
			b->cores[b->in->cores[i].node] += instance_core_is_free(b->in, i);
		}
	for (unsigned n = 0; n < b->nodes; n++) {
		const struct vfctl_node *node = &b->in->nodes[n];
		int64_t huge = node->pool_count ? (int64_t)node->pools[0].total : 0;

		b->any_huge |= node->pool_count > 0;
		b->qemu_slots[n] = instance_slots(b->in, n);
		b->memory[n][1] = huge;
		b->memory[n][0] = (int64_t)(node->memory_bytes / GIB) - huge;
		bytes += (int64_t)(node->memory_bytes >> 10);
		threads += b->all_cores[n] * b->threads;
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

static int64_t usable(const struct brute *b, unsigned n)
{
	/* A core is for QEMU where none is yet, if the next guests are such that share one. */
	unsigned qemu = b->any_auto && b->cores[n] && !b->qemu_slots[n];
	int64_t threads = (b->cores[n] - qemu) * b->threads;
	int64_t bytes = (b->memory[n][0] + b->memory[n][1]) * (int64_t)GIB;

	return b->thread_bytes ? min(threads, bytes / b->thread_bytes) : threads;
}

static int64_t vfs_left(const struct brute *b, unsigned n, int fabric)
{
	int64_t vfs = 0;

	for (unsigned g = 0; g < b->groups; g++)
		if (b->group[g].local && (unsigned)__builtin_ctz(b->group[g].local) == n &&
			b->group[g].fabric == fabric)
			vfs += b->group[g].all - b->group[g].used;
	return vfs;
}

/* Guests of @threads a cell that fit; @fabric: with a VF each; two cells on two nodes. */
static int64_t fitting(const struct brute *b, int64_t threads, int64_t cells, int fabric)
{
	int64_t sum = 0, most = 0;

	for (unsigned n = 0; n < b->nodes; n++) {
		int64_t here = usable(b, n) / threads;

		if (fabric >= 0)
			here = min(here, vfs_left(b, n, fabric));
		sum += here;
		most = here > most ? here : most;
	}
	return cells == 1 ? sum : min(sum / 2, sum - most);
}

static int64_t near(const struct brute *b, int fabric)
{
	int64_t sum = 0;

	for (unsigned n = 0; n < b->nodes; n++)
		sum += vfs_left(b, n, fabric) ? usable(b, n) : 0;
	return sum;
}

static int64_t price(double share, int64_t count)
{
	double p = 100000 * share / ((double)count + 0.5);

	return p < 1 ? 1 : (int64_t)(p + 0.5);
}

/* Sizes 1 to 16 and pairs of 8 to 32 come alike, as far as the largest node has so many. */
static void set_prices(struct brute *b)
{
	int64_t largest = 0, sizes = 0, pairs = 0;

	for (unsigned n = 0; n < b->nodes; n++)
		largest = b->all_cores[n] * b->threads > largest ? b->all_cores[n] * b->threads
								 : largest;
	for (unsigned g = 0; g < b->groups; g++) {
		int f = 0;

		while (f < b->fabrics && b->fabric[f] != b->group[g].fabric)
			f++;
		if (f == b->fabrics)
			b->fabric[b->fabrics++] = b->group[g].fabric;
	}
	for (int64_t t = 1; t <= 16 && t <= largest; t *= 2)
		sizes++;
	for (int64_t t = 8; t <= 32 && t <= largest; t *= 2)
		pairs++;
	for (int64_t t = 1; t <= 16 && t <= largest; t *= 2) {
		b->kind[b->kinds].threads = t;
		b->kind[b->kinds].cells = 1;
		b->kind[b->kinds].price = price(0.5 / (double)(sizes + 1), fitting(b, t, 1, -1));
		for (int f = 0; f < b->fabrics; f++)
			b->kind[b->kinds].vf_price[f] = price(0.5 / (double)(sizes + 1) / b->fabrics,
				fitting(b, t, 1, b->fabric[f]));
		b->kinds++;
	}
	for (int64_t t = pairs ? 8 : largest; t && t <= 32 && t <= largest; t *= 2) {
		b->kind[b->kinds].threads = t;
		b->kind[b->kinds].cells = 2;
		b->kind[b->kinds++].price = price(1.0 / (double)(pairs ? pairs : 1) /
			(double)(sizes + 1), fitting(b, t, 2, -1));
	}
	for (int f = 0; f < b->fabrics; f++)
		b->near_price[f] = price(2.0 / b->fabrics, near(b, b->fabric[f]));
}

static int64_t room(const struct brute *b)
{
	int64_t sum = 0;

	for (int k = 0; k < b->kinds; k++) {
		sum += b->kind[k].price * fitting(b, b->kind[k].threads, b->kind[k].cells, -1);
		for (int f = 0; f < b->fabrics && b->kind[k].cells == 1; f++)
			sum += b->kind[k].vf_price[f] *
				fitting(b, b->kind[k].threads, 1, b->fabric[f]);
	}
	for (int f = 0; f < b->fabrics; f++)
		sum += b->near_price[f] * near(b, b->fabric[f]);
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

/* Cores for QEMU; with auto it gets a seat of @io_slots, that of a new core if need be. */
static unsigned qemu_cores(const struct brute *b, const struct vfctl_request *r, unsigned node,
	unsigned *io_slots)
{
	bool fills = instance_is_empty(b->in);

	if (r->emulator_cores != VFCTL_EMULATOR_AUTO)
		return r->emulator_cores;
	for (unsigned n = 0; n < b->nodes; n++)
		fills &= instance_fills(b->in, r, n, n == node ? r->vcpus : 0);
	if (fills && !*io_slots)
		return 0;
	if (*io_slots) {
		*io_slots -= 1;
		return 0;
	}
	*io_slots = b->threads * VFCTL_QEMU_GUESTS_PER_CPU - 1;
	return 1;
}

static void on_node(struct brute *b, size_t g, unsigned node, unsigned page)
{
	const struct vfctl_request *r = &b->in->requests[g];
	unsigned each = r->threads == VFCTL_THREADS_ISOLATE ? 1 : b->threads;
	unsigned qemu_slots = b->qemu_slots[node], qemu = qemu_cores(b, r, node, &qemu_slots);
	unsigned cores = (r->vcpus + each - 1) / each + qemu, before = b->qemu_slots[node];
	int64_t gib = (int64_t)(r->memory_bytes / GIB);
	int64_t form = r->page_bytes == VFCTL_PAGES_AUTO && b->any_huge && page == 0;

	if (cores > b->cores[node] || gib > b->memory[node][page] ||
		(r->page_bytes != VFCTL_PAGES_AUTO && (r->page_bytes == GIB) != (page == 1)) ||
		(r->node != VFCTL_NODE_NONE && r->node != (int)node))
		return;
	b->cores[node] -= cores;
	b->qemu_slots[node] = qemu_slots;
	b->memory[node][page] -= gib;
	b->now[VFCTL_LEVEL_PLACED]++;
	b->now[VFCTL_LEVEL_FORM] += form;
	vfs(b, g, node, 0, r->want_count ? r->wants[0].count : 0, true);
	b->now[VFCTL_LEVEL_FORM] -= form;
	b->now[VFCTL_LEVEL_PLACED]--;
	b->memory[node][page] += gib;
	b->qemu_slots[node] = before;
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
	set_prices(&b);
	guest(&b, 0);
	memcpy(ret, b.best, sizeof(b.best));
}
