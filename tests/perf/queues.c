// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * queues [--each N] [--batch] [--preferred] [TRACE.csv...]: guests come one after
 * the other until the first that does not fit; how many does each planner place? TRACE.csv has lines
 * "vcpus,GiB,cells,..." in the order they came (the first line is the heading); without any,
 * queues are drawn at random. Every second guest, by chance, wants a VF. --batch: also what
 * the planner places of a queue that it knows whole, at most.
 *
 * The small planners are written from what is published of others: first-fit; best-fit and
 * worst-fit by free cores; aware, best-fit that keeps nodes with free VFs for guests that want
 * one; spread and pack, which sort the nodes by free VFs (most first for a guest with a VF,
 * fewest first for one without), then by free cores and memory, and take the first that fits.
 *
 * QEMU's threads run on a reserved core of the host. Where nothing is reserved, they share a core
 * of each node (emulator_cores: auto), or have one for each guest ("a core each"); the small
 * planners let them run on the guest's own vCPUs there, so that they have all cores.
 */
#include <getopt.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

#define GIB (UINT64_C(1) << 30)
#define NODES 8
#define NODE_CORES 32
#define NODE_GIB 256
#define NIC_VFS 16
#define GUESTS_MAX 512
#define ROWS_MAX 20000
#define STRIDE 61 /* rows from the start of one queue to that of the next */

struct guest {
	unsigned vcpus, gib, cells;
	bool vf;
};

/* The resources of one guest. */
struct place {
	unsigned nodes[2], count;
	int vf; /* node it is from; -1 none */
	struct vfctl_cpuset cpus, qemu; /* its own; shared with others by QEMU's threads */
	struct vfctl_free_vf given;
};

struct host {
	unsigned nodes, cores[NODES], vfs[NODES], gib[NODES];
	enum { OF_NODE_0, OF_EACH_NODE, NOTHING } reserved; /* a core, for the host and QEMU */
};

static struct vfctl_ctx *ctx;
static struct guest rows[ROWS_MAX];
static size_t row_count;
static bool preferred;
static uint64_t state;

static uint32_t random_number(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % below);
}

/* ---- the small planners ---- */

static unsigned cores_of(const struct guest *g) { return (g->vcpus / g->cells + 1) / 2; }

static bool cell_fits(const struct host *h, const struct guest *g, unsigned node)
{
	return h->cores[node] >= cores_of(g) && h->gib[node] >= g->gib / g->cells;
}

/* Ways to place the guest; @near: only those with the VF on a node of its own. */
static size_t list_ways(const struct host *h, const struct guest *g, bool near,
	struct place ret[NODES * NODES * NODES])
{
	size_t n = 0;

	for (unsigned a = 0; a < h->nodes; a++)
		for (unsigned b = g->cells == 2 ? a + 1 : 0; b < (g->cells == 2 ? h->nodes : 1); b++) {
			struct place p = {.nodes = {a, b}, .count = g->cells, .vf = -1};

			if (!cell_fits(h, g, a) || (g->cells == 2 && !cell_fits(h, g, b)))
				continue;
			if (!g->vf)
				ret[n++] = p;
			for (unsigned v = 0; g->vf && v < h->nodes; v++)
				if (h->vfs[v] && (!near || v == a || (g->cells == 2 && v == b))) {
					p.vf = (int)v;
					ret[n++] = p;
				}
		}
	return n;
}

static void take(struct host *h, const struct guest *g, const struct place *p, int sign)
{
	for (unsigned k = 0; k < p->count; k++) {
		h->cores[p->nodes[k]] -= (unsigned)sign * cores_of(g);
		h->gib[p->nodes[k]] -= (unsigned)sign * (g->gib / g->cells);
	}
	if (p->vf >= 0)
		h->vfs[p->vf] -= (unsigned)sign;
}

enum planner { FIRST, BEST, WORST, AWARE, SPREAD, PACK, OURS, OWN_CORES, PLANNERS };

static const char *const names[] = {"first-fit", "best-fit", "worst-fit", "aware", "spread",
	"pack", "vfctl", "a core each"};

static long left_on(const struct host *h, const struct place *p)
{
	long sum = 0;

	for (unsigned k = 0; k < p->count; k++)
		sum += h->cores[p->nodes[k]];
	return sum;
}

/* Less comes first. */
static long rank_node(const struct host *h, const struct guest *g, enum planner planner,
	unsigned node)
{
	long vfs = h->vfs[node], cores = h->cores[node], gib = h->gib[node];

	return (g->vf ? -vfs : vfs) * 1000000 +
		(planner == SPREAD ? -1 : 1) * (cores * 1000 + gib);
}

static long rank(const struct host *h, const struct guest *g, enum planner planner,
	const struct place *p, long at)
{
	long with_vfs = 0, left = left_on(h, p);

	for (unsigned k = 0; k < p->count; k++)
		with_vfs += h->vfs[p->nodes[k]] > 0;
	switch (planner) {
	case BEST:
		return left;
	case WORST:
		return -left;
	case AWARE:
		return left + (g->vf ? 0 : 1000 * with_vfs);
	default:
		return at;
	}
}

/* By the order of the nodes: the first node as far in front as can be, then the second. */
static bool comes_first(const struct host *h, const struct guest *g, enum planner planner,
	const struct place *a, const struct place *b)
{
	long x[2], y[2];

	if (h->nodes == g->cells)
		return false;
	for (unsigned k = 0; k < 2; k++) {
		x[k] = rank_node(h, g, planner, a->nodes[a->count == 2 ? k : 0]);
		y[k] = rank_node(h, g, planner, b->nodes[b->count == 2 ? k : 0]);
	}
	if ((x[0] < x[1] ? x[0] : x[1]) != (y[0] < y[1] ? y[0] : y[1]))
		return (x[0] < x[1] ? x[0] : x[1]) < (y[0] < y[1] ? y[0] : y[1]);
	return x[0] + x[1] < y[0] + y[1];
}

static bool choose(struct host *h, const struct guest *g, enum planner planner,
	struct place *ret)
{
	static struct place ways[NODES * NODES * NODES];
	size_t n = list_ways(h, g, true, ways), best = 0;

	if (!n && preferred)
		n = list_ways(h, g, false, ways);
	for (size_t i = 1; i < n; i++)
		if (planner == SPREAD || planner == PACK
				? comes_first(h, g, planner, &ways[i], &ways[best])
				: rank(h, g, planner, &ways[i], (long)i) <
					rank(h, g, planner, &ways[best], (long)best))
			best = i;
	*ret = ways[best];
	return n > 0;
}

/* ---- ours ---- */

struct model {
	struct vfctl_node nodes[NODES];
	unsigned distances[NODES * NODES];
	struct vfctl_core cores[NODES * NODE_CORES];
	struct vfctl_topology topology;
	struct vfctl_free_vf vfs[NODES * NIC_VFS];
	struct vfctl_promise promises[NODES];
	struct vfctl_occupant sharers[GUESTS_MAX];
	struct vfctl_host_model model;
	uint32_t emulator_cores;
	struct vfctl_request requests[GUESTS_MAX];
	struct vfctl_cell_want cells[GUESTS_MAX][2];
};

static struct model m;
static const struct vfctl_vf_want want_near = {.any_pf = true, .fabric = VFCTL_FABRIC_ANY,
	.count = 1, .cell = VFCTL_CELL_ANY};
static const struct vfctl_vf_want want_any = {.any_pf = true, .fabric = VFCTL_FABRIC_ANY,
	.count = 1, .cell = VFCTL_CELL_ANY, .affinity = VFCTL_AFFINITY_PREFERRED};

static void add_core(unsigned node, unsigned number, unsigned all)
{
	struct vfctl_core *core = &m.cores[m.topology.core_count++];

	*core = (struct vfctl_core){.node = (int)node, .package = (int)node, .die = -1,
		.l3 = (int)(number / 8)};
	for (unsigned t = 0; t < 2; t++) {
		vfctl_cpuset_add(&core->cpus, number + t * all);
		vfctl_cpuset_add(&m.nodes[node].cpus, number + t * all);
		vfctl_cpuset_add(&m.topology.online, number + t * all);
	}
}

static bool has_reserved(const struct host *h, unsigned node)
{
	return h->reserved == OF_EACH_NODE || (h->reserved == OF_NODE_0 && node == 0);
}

static void make_model(const struct host *h)
{
	unsigned all = h->nodes * NODE_CORES;

	memset(&m, 0, sizeof(m));
	m.topology = (struct vfctl_topology){.nodes = m.nodes, .node_count = h->nodes,
		.distances = m.distances, .cores = m.cores};
	m.model = (struct vfctl_host_model){.topology = &m.topology, .vfs = m.vfs,
		.promises = m.promises, .promise_count = h->nodes, .occupants = m.sharers};
	m.emulator_cores = h->reserved == NOTHING ? VFCTL_EMULATOR_AUTO : 0;
	for (unsigned n = 0; n < h->nodes; n++) {
		m.nodes[n] = (struct vfctl_node){.id = n, .memory_bytes = NODE_GIB * GIB};
		m.promises[n] = (struct vfctl_promise){.node = (int)n};
		for (unsigned k = 0; k < h->nodes; k++)
			m.distances[n * h->nodes + k] = n == k ? 10 : 21;
		for (unsigned c = 0; c < NODE_CORES; c++)
			add_core(n, n * NODE_CORES + c, all);
		for (unsigned i = 0; i < h->vfs[n]; i++)
			m.vfs[m.model.vf_count++] = (struct vfctl_free_vf){
				.pf = {.bus = (uint8_t)(16 + n)}, .index = i, .node = (int)n,
				.bdf = {.bus = (uint8_t)(16 + n), .slot = (uint8_t)(1 + i / 8),
					.function = (uint8_t)(i % 8)}, .port = 1, .root = n};
	}
	for (unsigned n = 0; n < h->nodes; n++)
		if (has_reserved(h, n)) /* as in the hosts of the others */
			vfctl_cpuset_or(&m.model.reserved_cpus, &m.cores[n * NODE_CORES].cpus);
}

static struct vfctl_request *ask(size_t at, const struct guest *g)
{
	struct vfctl_request *r = &m.requests[at];

	*r = (struct vfctl_request){.name = "g", .vcpus = g->vcpus, .node = VFCTL_NODE_NONE,
		.emulator_cores = m.emulator_cores, .memory_bytes = g->gib * GIB, .wants = preferred ? &want_any : &want_near,
		.want_count = g->vf};
	if (g->cells == 2) {
		for (unsigned k = 0; k < 2; k++)
			m.cells[at][k] = (struct vfctl_cell_want){.node = VFCTL_NODE_NONE,
				.vcpus = g->vcpus / 2, .memory_bytes = g->gib * GIB / 2};
		r->cells = m.cells[at];
		r->cell_count = 2;
	} else {
		r->cells_max = 1;
	}
	return r;
}

static struct vfctl_plan *plan(size_t count)
{
	struct vfctl_plan *p;

	if (vfctl_plan_make(ctx, &m.model, m.requests, count, NULL, &p) < 0) {
		fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
		exit(1);
	}
	return p;
}

static bool choose_ours(const struct guest *g, struct place *ret)
{
	struct vfctl_plan *p;
	bool placed;

	ask(0, g);
	p = plan(1);
	placed = p->assignments[0].refusal == VFCTL_REFUSAL_NONE;
	*ret = (struct place){.vf = -1};
	if (placed) {
		const struct vfctl_assignment *a = &p->assignments[0];

		ret->cpus = a->held_cpus;
		if (a->emulator_shared)
			ret->qemu = a->emulator_cpus;
		ret->count = (unsigned)a->cell_count;
		for (unsigned k = 0; k < a->cell_count; k++)
			ret->nodes[k] = (unsigned)a->cells[k].node;
		if (a->vf_count) {
			ret->given = a->vfs[0];
			ret->vf = a->vfs[0].node;
		}
	}
	vfctl_plan_free(p);
	return placed;
}

/* One guest more, or less, on a core that carries QEMU's threads. */
static void share(const struct vfctl_cpuset *cpus, bool back)
{
	static char name[] = "g";
	size_t i = 0;

	if (vfctl_cpuset_empty(cpus))
		return;
	if (!back) {
		m.sharers[m.model.occupant_count++] =
			(struct vfctl_occupant){.name = name, .qemu_cpus = *cpus};
		return;
	}
	while (memcmp(&m.sharers[i].qemu_cpus, cpus, sizeof(*cpus)))
		i++;
	m.sharers[i] = m.sharers[--m.model.occupant_count];
}

static void take_ours(const struct guest *g, const struct place *p, bool back)
{
	uint64_t bytes = g->gib / g->cells * GIB;

	share(&p->qemu, back);
	for (unsigned k = 0; k < p->count; k++)
		m.promises[p->nodes[k]].bytes += back ? -bytes : bytes;
	if (back)
		vfctl_cpuset_andnot(&m.model.busy_cpus, &p->cpus);
	else
		vfctl_cpuset_or(&m.model.busy_cpus, &p->cpus);
	if (p->vf < 0)
		return;
	if (back) {
		m.vfs[m.model.vf_count++] = p->given;
		return;
	}
	for (size_t i = 0; i < m.model.vf_count; i++)
		if (vfctl_bdf_compare(&m.vfs[i].bdf, &p->given.bdf) == 0) {
			m.vfs[i] = m.vfs[--m.model.vf_count];
			return;
		}
}

/* ---- queues ---- */

static struct guest next_guest(size_t at)
{
	struct guest g = rows[at % row_count];

	g.vf = random_number(2);
	return g;
}

/* Guests placed before the first that was not; @leaving: percent that one leaves after. */
static unsigned run(enum planner planner, struct host h, size_t start, uint64_t seed,
	unsigned leaving)
{
	static struct guest guests[GUESTS_MAX];
	static struct place places[GUESTS_MAX];
	bool ours = planner >= OURS;
	unsigned in = 0, placed = 0;

	state = seed * 2654435761u + 88172645463325252u;
	if (ours)
		make_model(&h);
	if (planner == OWN_CORES)
		m.emulator_cores = 1;
	for (; placed < GUESTS_MAX; placed++) {
		struct guest g = next_guest(start + placed);
		uint32_t leaves = random_number(100), who = random_number(1000000);

		if (ours ? !choose_ours(&g, &places[in])
			 : !choose(&h, &g, planner, &places[in]))
			break;
		guests[in] = g;
		if (ours)
			take_ours(&g, &places[in], false);
		else
			take(&h, &g, &places[in], 1);
		in++;
		if (leaves >= leaving)
			continue;
		who %= in;
		if (ours)
			take_ours(&guests[who], &places[who], true);
		else
			take(&h, &guests[who], &places[who], -1);
		in--;
		guests[who] = guests[in];
		places[who] = places[in];
	}
	return placed;
}

/* The longest beginning of the queue of which all are placed, known as a whole. */
static unsigned run_batch(const struct host *h, size_t start, uint64_t seed, unsigned from)
{
	unsigned placed = from;

	make_model(h);
	state = seed * 2654435761u + 88172645463325252u;
	for (size_t i = 0; i < GUESTS_MAX; i++) {
		struct guest g = next_guest(start + i);
		struct vfctl_plan *p;
		bool all;

		random_number(100); /* as run() draws them */
		random_number(1000000);
		ask(i, &g);
		if (i < from)
			continue;
		p = plan(i + 1);
		all = p->value[VFCTL_LEVEL_PLACED] == i + 1;
		vfctl_plan_free(p);
		if (!all)
			break;
		placed = (unsigned)i + 1;
	}
	return placed;
}

static const struct {
	const char *name;
	struct host host;
} hosts[] = {
	{"2 nodes with a NIC on each", {.nodes = 2, .vfs = {16, 16}}},
	{"2 nodes and one NIC", {.nodes = 2, .vfs = {16}}},
	{"2 nodes with 12 + 4 VFs", {.nodes = 2, .vfs = {12, 4}}},
	{"4 nodes with a NIC on 2", {.nodes = 4, .vfs = {16, 0, 16}}},
	{"8 nodes with a NIC on 4", {.nodes = 8, .vfs = {16, 0, 16, 0, 16, 0, 16}}},
	{"8 nodes with a NIC on each", {.nodes = 8, .vfs = {16, 16, 16, 16, 16, 16, 16, 16}}},
	{"2 nodes with a NIC on each; a core of each node reserved",
		{.nodes = 2, .vfs = {16, 16}, .reserved = OF_EACH_NODE}},
	{"2 nodes with a NIC on each; nothing reserved",
		{.nodes = 2, .vfs = {16, 16}, .reserved = NOTHING}},
	{"2 nodes and one NIC; a core of each node reserved",
		{.nodes = 2, .vfs = {16}, .reserved = OF_EACH_NODE}},
	{"2 nodes and one NIC; nothing reserved",
		{.nodes = 2, .vfs = {16}, .reserved = NOTHING}},
	{"4 nodes with a NIC on 2; a core of each node reserved",
		{.nodes = 4, .vfs = {16, 0, 16}, .reserved = OF_EACH_NODE}},
	{"4 nodes with a NIC on 2; nothing reserved",
		{.nodes = 4, .vfs = {16, 0, 16}, .reserved = NOTHING}},
};

static void compare(size_t which, size_t queues, unsigned leaving, bool batch)
{
	struct host h = hosts[which].host;
	unsigned sum[PLANNERS] = {0}, more = 0, fewer = 0, known = 0;

	for (unsigned n = 0; n < h.nodes; n++) {
		h.cores[n] = NODE_CORES - has_reserved(&h, n);
		h.gib[n] = NODE_GIB;
	}
	for (size_t q = 0; q < queues; q++) {
		unsigned placed[PLANNERS], best = 0;

		for (enum planner p = 0; p < PLANNERS; p++) {
			placed[p] = p == OWN_CORES && h.reserved != NOTHING ? 0 :
				run(p, h, q * STRIDE, q + 1, leaving);
			sum[p] += placed[p];
			if (p < OURS && placed[p] > best)
				best = placed[p];
		}
		more += placed[OURS] > best;
		fewer += placed[OURS] < best;
		if (batch && !leaving)
			known += run_batch(&h, q * STRIDE, q + 1,
				best > placed[OURS] && h.reserved != NOTHING ? best : placed[OURS]);
	}
	printf("%s%s", hosts[which].name, leaving ? " with departures" : "");
	for (enum planner p = 0; p <= OURS; p++)
		printf(",%.2f", (double)sum[p] / (double)queues);
	if (h.reserved == NOTHING)
		printf(",%.2f", (double)sum[OWN_CORES] / (double)queues);
	else
		printf(",");
	if (known)
		printf(",%.2f,%.1f", (double)known / (double)queues, 100.0 * sum[OURS] / known);
	else
		printf(",,");
	printf(",%u,%u\n", more, fewer);
	fflush(stdout);
}

/* ---- what is asked ---- */

static int read_trace(const char *path)
{
	FILE *f = fopen(path, "re");
	char line[256];

	if (!f) {
		perror(path);
		return -1;
	}
	while (row_count < ROWS_MAX && fgets(line, sizeof(line), f)) {
		struct guest g;

		if (sscanf(line, "%u,%u,%u", &g.vcpus, &g.gib, &g.cells) == 3 && g.vcpus && g.cells &&
			g.cells <= 2)
			rows[row_count++] = g;
	}
	fclose(f);
	return 0;
}

/* Small guests mostly, a few of two cells; 2 or 4 GiB to a vCPU. */
static void draw_rows(void)
{
	static const unsigned sizes[] = {1, 2, 2, 2, 4, 4, 4, 4, 8, 8, 8, 16, 16, 32, 32, 64};

	state = 20261122;
	while (row_count < 5000) {
		struct guest g = {.vcpus = sizes[random_number(ARRAY_SIZE(sizes))]};

		g.cells = g.vcpus >= 32 ? 2 : 1;
		g.gib = g.vcpus * (random_number(3) ? 2 : 4);
		rows[row_count++] = g;
	}
}

static void usage(FILE *out)
{
	fputs("usage: queues [--each N] [--batch] [--preferred] [TRACE.csv...]\n", out);
}

int main(int argc, char **argv)
{
	static const struct option options[] = {{"each", required_argument, NULL, 'e'},
		{"batch", no_argument, NULL, 'b'}, {"preferred", no_argument, NULL, 'p'},
		{"help", no_argument, NULL, 'h'}, {0}};
	size_t each = 100;
	bool batch = false;

	for (int c; (c = getopt_long(argc, argv, "h", options, NULL)) != -1;)
		switch (c) {
		case 'e':
			each = strtoul(optarg, NULL, 10);
			break;
		case 'b':
			batch = true;
			break;
		case 'p':
			preferred = true;
			break;
		default:
			usage(c == 'h' ? stdout : stderr);
			return c == 'h' ? 0 : 2;
		}
	for (; optind < argc; optind++)
		if (read_trace(argv[optind]) < 0)
			return 1;
	if (!row_count)
		draw_rows();
	if (!each || vfctl_ctx_new(&ctx) < 0) {
		usage(stderr);
		return 2;
	}
	printf("host");
	for (enum planner p = 0; p < PLANNERS; p++)
		printf(",%s", names[p]);
	printf(",known whole,percent of it,more than the best other,fewer\n");
	for (size_t i = 0; i < ARRAY_SIZE(hosts); i++)
		for (unsigned leaving = 0; leaving <= 30; leaving += 30)
			compare(i, each, leaving, batch);
	vfctl_ctx_free(ctx);
	return 0;
}
