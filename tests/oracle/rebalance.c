// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * oracle-rebalance COUNT [SEED]: moves that are proposed on tiny hosts. Each proposal is checked by
 * itself: memory of each page size, cores and VFs suffice, whoever moves within a node keeps its CPUs.
 * Where it is told as proven, brute force looks for more local guests, and for fewer moves.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

#include "instance.h"
#include "placement/placement.h"

#define R(n) instance_random(in, (n))
#define GUESTS_MAX 4
#define PAGES 2 /* base pages, and huge ones of a GiB */

static struct vfctl_ctx *ctx;
static uint64_t moves_seen, unproven;

/* ---- a host with guests on it ---- */

static struct {
	struct instance in;
	struct vfctl_promise memory[GUESTS_MAX][2];
	struct vfctl_free_vf vfs[GUESTS_MAX][2];
	struct vfctl_vf_want wants[GUESTS_MAX][2];
	unsigned threads, cores[NODES]; /* of each core; of each node */
	const struct vfctl_core *qemu; /* carries QEMU's threads of some guests; NULL: none does */
} host;

static void make_nodes(struct instance *in)
{
	unsigned cpu = 0, n = 1 + R(3);

	host.threads = 1 + R(2);
	in->topology.node_count = n;
	for (unsigned i = 0; i < n; i++) {
		struct vfctl_node *node = &in->nodes[i];

		*node = (struct vfctl_node){.id = i, .memory_bytes = (2 + R(5)) * GIB};
		node->pools[0] = (struct vfctl_page_pool){.page_bytes = GIB, .total = R(6)};
		node->pools[0].free = R(node->pools[0].total + 1u);
		node->pool_count = R(4) > 0;
		node->memory_bytes += node->pools[0].total * GIB;
		host.cores[i] = 1 + R(5);
		for (unsigned c = 0; c < host.cores[i]; c++) {
			struct vfctl_core *core = &in->cores[in->topology.core_count++];

			*core = (struct vfctl_core){.node = (int)i, .package = (int)i, .l3 = (int)i,
				.die = -1};
			for (unsigned t = 0; t < host.threads; t++, cpu++) {
				vfctl_cpuset_add(&core->cpus, cpu);
				vfctl_cpuset_add(&node->cpus, cpu);
				vfctl_cpuset_add(&in->topology.online, cpu);
			}
		}
		for (unsigned k = 0; k <= i; k++)
			in->distances[i * n + k] = in->distances[k * n + i] = i == k ? 10 : 11 + R(12);
	}
}

static void make_vfs(struct instance *in)
{
	unsigned pfs = R(4);

	for (unsigned p = 0; p < pfs; p++) {
		int node = R(8) ? (int)R((uint32_t)in->topology.node_count) : VFCTL_NODE_NONE;
		unsigned count = 1 + R(2);

		for (unsigned i = 0; i < count; i++)
			in->vfs[in->model.vf_count++] = (struct vfctl_free_vf){
				.pf = {.bus = (uint8_t)(16 + p)}, .index = i, .node = node,
				.bdf = {.bus = (uint8_t)(16 + p), .slot = (uint8_t)(1 + i)},
				.fabric = (int)(p % 2), .port = 1, .root = VFCTL_ROOT_UNKNOWN};
	}
}

/* Free cores of one node, or of two. */
static void give_cores(struct instance *in, struct vfctl_occupant *o)
{
	unsigned node = R((uint32_t)in->topology.node_count), count = 1 + R(3);
	bool any = R(8) == 0;

	for (size_t i = 0; i < in->topology.core_count && count; i++) {
		bool taken = &in->cores[i] == host.qemu;

		for (size_t g = 0; g < in->model.occupant_count; g++)
			taken |= vfctl_cpuset_intersects(&in->occupants[g].cpus, &in->cores[i].cpus);
		if (taken || (!any && in->cores[i].node != (int)node) || R(3) == 0)
			continue;
		vfctl_cpuset_or(&o->cpus, &in->cores[i].cpus);
		count--;
	}
}

static void give_vfs(struct instance *in, size_t g, struct vfctl_occupant *o)
{
	bool message = R(2);

	o->vfs = host.vfs[g];
	for (unsigned left = R(3); left && in->model.vf_count; left--) {
		size_t at = R((uint32_t)in->model.vf_count);
		struct vfctl_vf_want *w = &host.wants[g][o->vf_count];

		*w = (struct vfctl_vf_want){.any_pf = R(2), .count = 1, .fabric = VFCTL_FABRIC_ANY,
			.cell = VFCTL_CELL_ANY, .pf = in->vfs[at].pf,
			.affinity = (enum vfctl_affinity[]){VFCTL_AFFINITY_REQUIRED,
				VFCTL_AFFINITY_REQUIRED, VFCTL_AFFINITY_PREFERRED,
				VFCTL_AFFINITY_ANY}[R(4)]};
		host.vfs[g][o->vf_count++] = in->vfs[at];
		in->vfs[at] = in->vfs[--in->model.vf_count];
	}
	o->wants = message ? host.wants[g] : NULL;
	for (size_t v = 0; v < o->vf_count && !message; v++)
		host.wants[g][v] = (struct vfctl_vf_want){.any_pf = true, .count = 1,
			.fabric = o->vfs[v].fabric, .cell = VFCTL_CELL_ANY};
}

static int64_t left_of(const struct instance *in, unsigned node, unsigned page, bool movable_too);
static unsigned node_of(const struct instance *in, const struct vfctl_cpuset *cpus);

static void make_guest(struct instance *in, size_t g)
{
	static char names[GUESTS_MAX][2] = {"a", "b", "c", "d"};
	struct vfctl_occupant *o = &in->occupants[g];
	unsigned node, page = R(2);
	int64_t gib, left;

	*o = (struct vfctl_occupant){.name = names[g], .memory = host.memory[g], .foreign = R(8) == 0,
		.running = R(2)};
	give_cores(in, o);
	if (vfctl_cpuset_empty(&o->cpus))
		return;
	if (host.qemu && R(3) && node_of(in, &o->cpus) == 1u << host.qemu->node)
		o->qemu_cpus = host.qemu->cpus;
	node = R((uint32_t)in->topology.node_count);
	for (unsigned n = 0; n < in->topology.node_count && R(4); n++)
		if (vfctl_cpuset_intersects(&o->cpus, &in->nodes[n].cpus))
			node = n;
	/* Now and then more than there is: the host gave it away since. */
	left = left_of(in, node, page, true) / (int64_t)GIB + (R(6) == 0);
	gib = left > 0 ? 1 + R((uint32_t)left) : 0;
	o->memory[o->memory_count++] = (struct vfctl_promise){.node = (int)node,
		.page_bytes = page ? GIB : 0, .bytes = (uint64_t)gib * GIB, .taken = o->running};
	if (gib > 1 && R(8) == 0) {
		o->memory[0].bytes -= GIB;
		o->memory[o->memory_count++] = (struct vfctl_promise){.taken = o->running,
			.node = (int)R((uint32_t)in->topology.node_count),
			.page_bytes = page ? GIB : 0, .bytes = GIB};
	}
	/* The kernel counts its pages as gone. */
	for (size_t i = 0; i < o->memory_count && page && o->running; i++) {
		struct vfctl_page_pool *pool = &in->nodes[o->memory[i].node].pools[0];
		uint64_t pages = o->memory[i].bytes / GIB;

		pool->free -= pages < pool->free ? pages : pool->free;
	}
	give_vfs(in, g, o);
	in->model.occupant_count++;
}

static struct instance *make_instance(uint64_t seed)
{
	struct instance *in = &host.in;

	memset(&host, 0, sizeof(host));
	in->seed = in->state = seed;
	in->topology = (struct vfctl_topology){.nodes = in->nodes, .distances = in->distances,
		.cores = in->cores};
	in->model = (struct vfctl_host_model){.topology = &in->topology, .vfs = in->vfs,
		.occupants = in->occupants};
	make_nodes(in);
	make_vfs(in);
	if (R(4) == 0)
		host.qemu = &in->cores[R((uint32_t)in->topology.core_count)];
	for (unsigned left = 1 + R(GUESTS_MAX); left; left--)
		make_guest(in, in->model.occupant_count);
	return in;
}

/* ---- what there is ---- */

/* Ours, and with memory: its memory and its CPUs can be asked for again. */
static bool may_move(const struct vfctl_occupant *o)
{
	uint64_t bytes = 0;

	for (size_t i = 0; i < o->memory_count; i++)
		bytes += o->memory[i].bytes;
	return !o->foreign && bytes;
}

/* Bytes of the node that no guest holds; @movable_too: not even guests that may move. */
static int64_t left_of(const struct instance *in, unsigned node, unsigned page, bool movable_too)
{
	const struct vfctl_node *n = &in->nodes[node];
	int64_t pool = n->pool_count ? (int64_t)(n->pools[0].total * GIB) : 0;
	int64_t by_lease = page ? pool : (int64_t)n->memory_bytes - pool;
	int64_t by_kernel = page && n->pool_count ? (int64_t)(n->pools[0].free * GIB) : by_lease;

	for (size_t g = 0; g < in->model.occupant_count; g++)
		for (size_t i = 0; i < in->occupants[g].memory_count; i++) {
			const struct vfctl_promise *p = &in->occupants[g].memory[i];
			bool stays = movable_too || !may_move(&in->occupants[g]);

			if (p->node != (int)node || (p->page_bytes ? 1 : 0) != (int)page)
				continue;
			by_lease -= stays ? (int64_t)p->bytes : 0;
			if (!page)
				by_kernel = by_lease;
			else if (stays && !p->taken)
				by_kernel -= (int64_t)p->bytes;
			else if (!stays && p->taken)
				by_kernel += (int64_t)p->bytes;
		}
	return by_lease < by_kernel ? by_lease : by_kernel;
}

static unsigned node_of(const struct instance *in, const struct vfctl_cpuset *cpus)
{
	unsigned nodes = 0;

	for (unsigned n = 0; n < in->topology.node_count; n++)
		if (vfctl_cpuset_intersects(cpus, &in->nodes[n].cpus))
			nodes |= 1u << n;
	return nodes;
}

static const struct vfctl_assignment *move_of(const struct vfctl_rebalance *r, size_t g)
{
	for (size_t m = 0; m < r->move_count; m++)
		if (r->moves[m].occupant == g)
			return r->moves[m].to;
	return NULL;
}

/* ---- is the proposal sound? ---- */

#define SAY(...) (fprintf(stderr, "seed %" PRIu64 ": ", in->seed), fprintf(stderr, __VA_ARGS__), false)

static bool check_memory(const struct instance *in, const struct vfctl_rebalance *r)
{
	for (unsigned n = 0; n < in->topology.node_count; n++)
		for (unsigned page = 0; page < PAGES; page++) {
			int64_t left = left_of(in, n, page, false), entered = 0;

			for (size_t g = 0; g < in->model.occupant_count; g++) {
				const struct vfctl_occupant *o = &in->occupants[g];
				const struct vfctl_assignment *to = move_of(r, g);

				for (size_t i = 0; !to && may_move(o) && i < o->memory_count; i++)
					if (o->memory[i].node == (int)n &&
						(o->memory[i].page_bytes ? 1 : 0) == (int)page)
						left -= (int64_t)o->memory[i].bytes;
				for (size_t k = 0; to && k < to->cell_count; k++)
					if (to->cells[k].memory_node == (int)n &&
						(to->cells[k].page_bytes ? 1 : 0) == (int)page)
						entered += (int64_t)to->cells[k].memory_bytes;
			}
			if (entered && entered > left)
				return SAY("node %u: %" PRId64 " GiB of pages %u for guests that "
					"move, %" PRId64 " are left\n", n, entered / (int64_t)GIB,
					page, left / (int64_t)GIB);
		}
	return true;
}

static bool check_cpus(const struct instance *in, const struct vfctl_rebalance *r)
{
	struct vfctl_cpuset held = {0};

	for (size_t g = 0; g < in->model.occupant_count; g++) {
		const struct vfctl_occupant *o = &in->occupants[g];
		const struct vfctl_assignment *to = move_of(r, g);
		const struct vfctl_cpuset *cpus = to ? &to->held_cpus : &o->cpus;

		if (vfctl_cpuset_intersects(&held, cpus))
			return SAY("%s gets CPUs of others\n", o->name);
		if (vfctl_cpuset_count(cpus) != vfctl_cpuset_count(&o->cpus))
			return SAY("%s gets another number of CPUs\n", o->name);
		if (to && node_of(in, cpus) == node_of(in, &o->cpus) &&
			to->cell_count == 1 && !vfctl_cpuset_within(cpus, &o->cpus))
			return SAY("%s stays on its node and leaves its CPUs\n", o->name);
		vfctl_cpuset_or(&held, cpus);
	}
	for (size_t m = 0; m < r->move_count; m++) {
		const struct vfctl_occupant *o = &in->occupants[r->moves[m].occupant];
		const struct vfctl_assignment *to = r->moves[m].to;

		if (vfctl_cpuset_empty(&o->qemu_cpus))
			continue;
		if (!to->emulator_shared || vfctl_cpuset_empty(&to->emulator_cpus) ||
			vfctl_cpuset_intersects(&held, &to->emulator_cpus))
			return SAY("%s: QEMU's threads are on no core that guests share\n", o->name);
		if (node_of(in, &to->held_cpus) == node_of(in, &o->cpus) &&
			!vfctl_cpuset_within(&to->emulator_cpus, &o->qemu_cpus))
			return SAY("%s stays on its node, and its QEMU's threads do not\n", o->name);
	}
	return true;
}

static bool check_vfs(const struct instance *in, const struct vfctl_rebalance *r)
{
	struct vfctl_bdf seen[2 * GUESTS_MAX];
	size_t count = 0;

	for (size_t g = 0; g < in->model.occupant_count; g++) {
		const struct vfctl_occupant *o = &in->occupants[g];
		const struct vfctl_assignment *to = move_of(r, g);

		if (to && to->vf_count != o->vf_count)
			return SAY("%s gets another number of VFs\n", o->name);
		for (size_t v = 0; v < o->vf_count; v++) {
			const struct vfctl_free_vf *vf = to ? &to->vfs[v] : &o->vfs[v];

			for (size_t k = 0; k < count; k++)
				if (vfctl_bdf_compare(&seen[k], &vf->bdf) == 0)
					return SAY("two guests get one VF\n");
			seen[count++] = vf->bdf;
		}
	}
	return true;
}

/* ---- brute force ---- */

struct brute {
	const struct instance *in;
	int64_t memory[NODES][PAGES], entered[NODES][PAGES];
	unsigned cores[NODES];
	struct {
		struct vfctl_bdf pf;
		int fabric, node;
		unsigned free, local;
	} group[8];
	unsigned groups;
	unsigned local, moves, best_local, best_moves;
	bool found;
};

static unsigned group_of(struct brute *b, const struct vfctl_free_vf *vf)
{
	unsigned g = 0;

	while (g < b->groups && vfctl_bdf_compare(&b->group[g].pf, &vf->pf) != 0)
		g++;
	if (g == b->groups) {
		b->group[b->groups].pf = vf->pf;
		b->group[b->groups].fabric = vf->fabric;
		b->group[b->groups].node = vf->node;
		b->group[b->groups++].local = local_nodes(b->in, vf->node);
	}
	return g;
}

static void guest(struct brute *b, size_t g);

static bool is_local(struct brute *b, size_t g, const struct vfctl_occupant *o)
{
	unsigned nodes = node_of(b->in, &o->cpus);
	size_t cells = (size_t)__builtin_popcount(nodes);
	unsigned memory = 0;

	for (size_t i = 0; i < o->memory_count; i++)
		memory |= 1u << o->memory[i].node;
	for (size_t v = 0; v < o->vf_count; v++)
		if (host.wants[g][v].affinity != VFCTL_AFFINITY_ANY &&
			!(b->group[group_of(b, &o->vfs[v])].local & nodes))
			return false;
	return cells == 1 ? memory == nodes : o->memory_count == cells && memory == nodes;
}

static void stay(struct brute *b, size_t g, const struct vfctl_occupant *o)
{
	bool local = is_local(b, g, o), vfs = true;

	for (size_t i = 0; i < b->in->topology.core_count; i++)
		b->cores[b->in->cores[i].node] -=
			vfctl_cpuset_intersects(&b->in->cores[i].cpus, &o->cpus);
	for (size_t i = 0; i < o->memory_count; i++)
		b->memory[o->memory[i].node][o->memory[i].page_bytes ? 1 : 0] -=
			(int64_t)o->memory[i].bytes;
	for (size_t v = 0; v < o->vf_count; v++) {
		unsigned q = group_of(b, &o->vfs[v]);

		vfs &= b->group[q].free > 0;
		b->group[q].free--;
	}
	b->local += local;
	if (vfs)
		guest(b, g + 1);
	b->local -= local;
	for (size_t v = 0; v < o->vf_count; v++)
		b->group[group_of(b, &o->vfs[v])].free++;
	for (size_t i = 0; i < o->memory_count; i++)
		b->memory[o->memory[i].node][o->memory[i].page_bytes ? 1 : 0] +=
			(int64_t)o->memory[i].bytes;
	for (size_t i = 0; i < b->in->topology.core_count; i++)
		b->cores[b->in->cores[i].node] +=
			vfctl_cpuset_intersects(&b->in->cores[i].cpus, &o->cpus);
}

static void vfs(struct brute *b, size_t g, unsigned node, size_t v, bool local)
{
	const struct vfctl_occupant *o = &b->in->occupants[g];
	const struct vfctl_vf_want *w = &host.wants[g][v];

	if (v == o->vf_count) {
		b->local += local;
		b->moves++;
		guest(b, g + 1);
		b->moves--;
		b->local -= local;
		return;
	}
	for (unsigned q = 0; q < b->groups; q++) {
		bool near = b->group[q].local >> node & 1;

		if (!b->group[q].free ||
			(!w->any_pf && vfctl_bdf_compare(&w->pf, &b->group[q].pf) != 0) ||
			(w->fabric != VFCTL_FABRIC_ANY && w->fabric != b->group[q].fabric) ||
			(w->affinity == VFCTL_AFFINITY_REQUIRED && b->group[q].local && !near))
			continue;
		b->group[q].free--;
		vfs(b, g, node, v + 1, local && (near || w->affinity == VFCTL_AFFINITY_ANY));
		b->group[q].free++;
	}
}

/* Guests of one node alone: those of two are hardly ever, and only stay. */
static void go(struct brute *b, size_t g, unsigned node)
{
	const struct vfctl_occupant *o = &b->in->occupants[g];
	unsigned cores = vfctl_cpuset_count(&o->cpus) / host.threads;
	unsigned page = o->memory[0].page_bytes ? 1 : 0;
	int64_t bytes = 0;

	for (size_t i = 0; i < o->memory_count; i++)
		bytes += (int64_t)o->memory[i].bytes;
	b->cores[node] -= cores;
	b->entered[node][page] += bytes;
	vfs(b, g, node, 0, true);
	b->entered[node][page] -= bytes;
	b->cores[node] += cores;
}

static void complete(struct brute *b)
{
	for (unsigned n = 0; n < b->in->topology.node_count; n++) {
		if ((int)b->cores[n] < 0)
			return;
		for (unsigned p = 0; p < PAGES; p++)
			if (b->entered[n][p] && b->entered[n][p] > b->memory[n][p])
				return;
	}
	if (b->found && (b->local < b->best_local ||
			(b->local == b->best_local && b->moves >= b->best_moves)))
		return;
	b->found = true;
	b->best_local = b->local;
	b->best_moves = b->moves;
}

static void guest(struct brute *b, size_t g)
{
	const struct vfctl_occupant *o = &b->in->occupants[g];

	if (g == b->in->model.occupant_count) {
		complete(b);
		return;
	}
	if (!may_move(o)) {
		guest(b, g + 1);
		return;
	}
	stay(b, g, o);
	for (unsigned n = 0; n < b->in->topology.node_count &&
		__builtin_popcount(node_of(b->in, &o->cpus)) == 1; n++)
		go(b, g, n);
}

static void solve(const struct instance *in, struct brute *b)
{
	*b = (struct brute){.in = in};
	for (unsigned n = 0; n < in->topology.node_count; n++) {
		b->cores[n] = host.cores[n];
		for (unsigned p = 0; p < PAGES; p++)
			b->memory[n][p] = left_of(in, n, p, false);
	}
	for (size_t i = 0; i < in->model.vf_count; i++)
		b->group[group_of(b, &in->vfs[i])].free++;
	for (size_t g = 0; g < in->model.occupant_count; g++)
		for (size_t v = 0; v < in->occupants[g].vf_count; v++)
			b->group[group_of(b, &in->occupants[g].vfs[v])].free += may_move(&in->occupants[g]);
	for (size_t i = 0; i < in->topology.core_count; i++)
		for (size_t g = 0; g < in->model.occupant_count; g++)
			b->cores[in->cores[i].node] -= !may_move(&in->occupants[g]) &&
				vfctl_cpuset_intersects(&in->cores[i].cpus, &in->occupants[g].cpus);
	guest(b, 0);
}

static bool check_best(const struct instance *in, const struct vfctl_rebalance *r)
{
	static struct brute b;

	if (r->plan->gap_level <= VFCTL_LEVEL_MOVES) {
		unproven++;
		return true;
	}
	/* Brute force does not support guests on two nodes, and cores for QEMU. */
	for (size_t g = 0; g < in->model.occupant_count; g++)
		if (!vfctl_cpuset_empty(&in->occupants[g].qemu_cpus))
			return true;
	for (size_t g = 0; g < in->model.occupant_count; g++)
		if (__builtin_popcount(node_of(in, &in->occupants[g].cpus)) > 1)
			return true;
	solve(in, &b);
	if (b.best_local == r->local_after && b.best_moves == r->move_count)
		return true;
	return SAY("%zu local after %zu moves, brute force %u after %u\n", r->local_after,
		r->move_count, b.best_local, b.best_moves);
}

static bool check_one(uint64_t seed)
{
	const struct vfctl_plan_options options = {.max_steps = 4000000, .timeout_ms = 600000};
	const struct instance *in = make_instance(seed);
	struct vfctl_rebalance *r;
	bool ok;

	if (vfctl_plan_rebalance(ctx, &in->model, &options, &r) < 0)
		return SAY("%s\n", vfctl_ctx_error(ctx));
	moves_seen += r->move_count;
	ok = check_memory(in, r) && check_cpus(in, r) && check_vfs(in, r) && check_best(in, r);
	vfctl_rebalance_free(r);
	return ok;
}

int main(int argc, char **argv)
{
	uint64_t count = argc > 1 ? strtoull(argv[1], NULL, 10) : 0;
	uint64_t seed = argc > 2 ? strtoull(argv[2], NULL, 10) : 1, bad = 0;

	if (!count || vfctl_ctx_new(&ctx) < 0) {
		fprintf(stderr, "usage: oracle-rebalance COUNT [SEED]\n");
		return 2;
	}
	for (uint64_t i = 0; i < count; i++)
		bad += !check_one(seed + i);
	printf("%" PRIu64 " hosts from seed %" PRIu64 ", %" PRIu64 " moves: %" PRIu64 " wrong, %" PRIu64
		" not proven\n", count, seed, moves_seen, bad, unproven);
	vfctl_ctx_free(ctx);
	return bad != 0;
}
