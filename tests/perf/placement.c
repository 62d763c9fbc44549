// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * placement [--grow | --worst COUNT [SEED]]: what the planner takes, in microseconds (the
 * median of the runs), with steps of the search and what is proven. --grow: over nodes, guests
 * and VFs, as CSV. --worst: random requests made to be hard, on hosts as large as the bound of
 * a second should do for; CPU time, and the seeds that took longest.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "domain/definition.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

#define GIB (UINT64_C(1) << 30)
#define NODES_MAX 16
#define CORES_MAX 4096
#define GUESTS_MAX 256
#define CELLS_MAX 16
#define WANTS_MAX 4
#define PFS_MAX 64
#define OCCUPANTS_MAX 32
#define WORST_TOLD 5
#define VFS_MAX 1024

static struct vfctl_ctx *ctx;

struct bench {
	struct vfctl_node nodes[NODES_MAX];
	unsigned distances[NODES_MAX * NODES_MAX];
	struct vfctl_core cores[CORES_MAX];
	struct vfctl_topology topology;
	struct vfctl_free_vf vfs[VFS_MAX];
	struct vfctl_host_model model;
	struct vfctl_request requests[GUESTS_MAX];
	struct vfctl_cell_want cells[NODES_MAX];
	size_t guests;
	/* Of --worst. */
	struct vfctl_cell_want cells_of[GUESTS_MAX][CELLS_MAX];
	struct vfctl_vf_want wants_of[GUESTS_MAX][WANTS_MAX];
	struct vfctl_model_pf pfs[PFS_MAX];
	struct vfctl_occupant occupants[OCCUPANTS_MAX];
	struct vfctl_promise memory[OCCUPANTS_MAX];
};

static struct bench b;

/* Two threads to a core, L3 groups of 8 cores, sockets of half the nodes. */
static void make_host(unsigned nodes, unsigned cores, unsigned vfs)
{
	b = (struct bench){.guests = 0};
	b.topology = (struct vfctl_topology){.nodes = b.nodes, .node_count = nodes,
		.distances = b.distances, .cores = b.cores};
	b.model.topology = &b.topology;
	b.model.vfs = b.vfs;
	for (unsigned n = 0; n < nodes; n++) {
		b.nodes[n] = (struct vfctl_node){.id = n, .memory_bytes = 256 * GIB};
		for (unsigned k = 0; k < nodes; k++)
			b.distances[n * nodes + k] = n == k ? 10
				: n / ((nodes + 1) / 2) == k / ((nodes + 1) / 2) ? 12 : 32;
		for (unsigned c = 0; c < cores; c++) {
			unsigned number = n * cores + c;
			struct vfctl_core *core = &b.cores[b.topology.core_count++];

			*core = (struct vfctl_core){.node = (int)n, .package = (int)(n * 2 / nodes),
				.die = -1, .l3 = (int)(number / 8)};
			for (unsigned t = 0; t < 2; t++) {
				vfctl_cpuset_add(&core->cpus, number + t * nodes * cores);
				vfctl_cpuset_add(&b.nodes[n].cpus, number + t * nodes * cores);
				vfctl_cpuset_add(&b.topology.online, number + t * nodes * cores);
			}
		}
	}
	for (unsigned i = 0; i < vfs; i++) {
		unsigned pf = i % nodes;

		b.vfs[b.model.vf_count++] = (struct vfctl_free_vf){
			.pf = {.bus = (uint8_t)(16 + pf)}, .index = i / nodes, .node = (int)pf,
			.bdf = {.bus = (uint8_t)(16 + pf), .slot = (uint8_t)(1 + i / nodes / 8),
				.function = (uint8_t)(i / nodes % 8)},
			.port = 1, .root = pf};
	}
}

static const struct vfctl_vf_want one_vf = {.any_pf = true, .fabric = VFCTL_FABRIC_ANY,
	.count = 1, .cell = VFCTL_CELL_ANY};
static const struct vfctl_vf_want each_vf = {.any_pf = true, .fabric = VFCTL_FABRIC_ANY,
	.count = 1, .cell = VFCTL_CELL_EACH};

static void add_guest(uint32_t vcpus, const struct vfctl_vf_want *want)
{
	b.requests[b.guests++] = (struct vfctl_request){.name = "g", .vcpus = vcpus,
		.emulator_cores = 1, .memory_bytes = vcpus * GIB, .page_bytes = VFCTL_PAGES_AUTO,
		.node = VFCTL_NODE_NONE, .wants = want, .want_count = want ? 1 : 0};
}

static double now_us(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e6 + (double)t.tv_nsec / 1e3;
}

static int by_value(const void *x, const void *y)
{
	double d = *(const double *)x - *(const double *)y;

	return d < 0 ? -1 : d > 0;
}

/* Runs for about @budget_us, 3 times at least; the last plan is kept in @ret. */
static double measure(double budget_us, struct vfctl_plan **ret)
{
	static double times[2000];
	double end = now_us() + budget_us;
	size_t n = 0;

	*ret = NULL;
	while (n < 2000 && (n < 3 || now_us() < end)) {
		double start = now_us();

		vfctl_plan_free(*ret);
		if (vfctl_plan_make(ctx, &b.model, b.requests, b.guests, NULL, ret) < 0) {
			fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
			exit(1);
		}
		times[n++] = now_us() - start;
	}
	qsort(times, n, sizeof(times[0]), by_value);
	return times[n / 2];
}

static void report(const char *what)
{
	struct vfctl_plan *plan;
	double us = measure(500000, &plan);
	enum vfctl_plan_level gap = plan->gap_level;

	printf("%-44s %10.1f us  %7" PRIu64 " steps  %3" PRIu64 " of %3zu placed, %3" PRIu64
		" local", what, us, plan->steps, plan->value[VFCTL_LEVEL_PLACED], plan->count,
		plan->value[VFCTL_LEVEL_LOCAL]);
	if (gap == VFCTL_LEVELS)
		printf("  proven\n");
	else
		printf("  proven up to %s: %" PRIu64 ", bound %" PRIu64 "\n",
			vfctl_plan_level_name(gap), plan->value[gap], plan->bound[gap]);
	vfctl_plan_free(plan);
}

static void mixed_queue(size_t count)
{
	static const uint32_t sizes[] = {2, 4, 4, 8, 8, 16, 2, 4};

	for (size_t i = 0; i < count; i++)
		add_guest(sizes[i % 8], i % 4 ? &one_vf : NULL);
}

static void fixed_cases(void)
{
	make_host(2, 32, 16);
	add_guest(8, &one_vf);
	report("one guest and a VF, 2 nodes x 32 cores");
	make_host(8, 32, 127);
	add_guest(8, &one_vf);
	report("one guest and a VF, 8 nodes x 32 cores");
	make_host(8, 32, 127);
	mixed_queue(64);
	report("64 guests, 8 nodes x 32 cores, 127 VFs");
	make_host(8, 32, 127);
	for (int i = 0; i < 64; i++)
		add_guest((uint32_t[]){8, 14, 6, 12}[i % 4], i % 4 ? &one_vf : NULL);
	report("64 guests, more than there is room for");
	make_host(8, 32, 127);
	add_guest(64, &each_vf);
	for (unsigned k = 0; k < 8; k++)
		b.cells[k] = (struct vfctl_cell_want){.vcpus = 8, .memory_bytes = 8 * GIB,
			.node = VFCTL_NODE_NONE};
	b.requests[0].cells = b.cells;
	b.requests[0].cell_count = 8;
	report("8 cells with a VF each on 8 nodes, fits");
	for (unsigned c = 0; c < 31; c++)
		vfctl_cpuset_add(&b.model.busy_cpus, 7 * 32 + c);
	report("the same with one node full: a refusal");
	for (unsigned k = 0; k < 8; k++)
		b.cells[k].vcpus = 4 + k;
	b.requests[0].vcpus = 60;
	report("8 cells that differ, one node full: a refusal");
}

/* 1,000 domain XMLs of the guests of one batch. */
static void write_xml(void)
{
	static const char text[] = "name: g\nvcpus: 4\nmemory: 4GiB\nvfs:\n  - pf: any\n";
	struct vfctl_domain_vf vf = {.attrs = {.mask = VFCTL_ATTR_MAC}};
	struct vfctl_guest *guest;
	struct vfctl_plan *plan;
	size_t bytes = 0;
	double start;

	make_host(8, 32, 127);
	for (int i = 0; i < 64; i++)
		add_guest(4, &one_vf);
	if (vfctl_guest_parse(ctx, "guest", text, strlen(text), &guest) < 0 ||
		vfctl_plan_make(ctx, &b.model, b.requests, b.guests, NULL, &plan) < 0)
		exit(1);
	start = now_us();
	for (size_t i = 0; i < 1000; i++) {
		struct vfctl_domain_request request = {.guest = guest, .lease_id = "lease",
			.assignment = &plan->assignments[i % plan->count], .vfs = &vf,
			.vf_count = 1};
		char *xml;

		vf.bdf = request.assignment->vfs[0].bdf;
		vf.pf = request.assignment->vfs[0].pf;
		if (vfctl_domain_render(ctx, &request, &xml) < 0) {
			fprintf(stderr, "%s\n", vfctl_ctx_error(ctx));
			exit(1);
		}
		bytes += strlen(xml);
		free(xml);
	}
	printf("%-44s %10.1f us  %zu bytes each\n", "1,000 domain XMLs of one batch",
		now_us() - start, bytes / 1000);
	vfctl_plan_free(plan);
	vfctl_guest_free(guest);
}

static void grow(void)
{
	printf("nodes,guests,vfs,us,steps,gap\n");
	for (unsigned nodes = 1; nodes <= 16; nodes *= 2)
		for (size_t guests = 1; guests <= 128; guests *= 4)
			for (unsigned vfs = 16; vfs <= 512; vfs *= 4) {
				struct vfctl_plan *plan;
				double us;

				make_host(nodes, 32, vfs);
				mixed_queue(guests);
				us = measure(100000, &plan);
				printf("%u,%zu,%u,%.1f,%" PRIu64 ",%s\n", nodes, guests, vfs, us,
					plan->steps, plan->gap_level == VFCTL_LEVELS ? "-" :
					vfctl_plan_level_name(plan->gap_level));
				vfctl_plan_free(plan);
			}
}

/* ---- requests made to be hard ---- */

static uint64_t state;

static uint32_t R(uint32_t below)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return (uint32_t)((state >> 32) % below);
}

/* Cores of @kinds sizes on each node; 256 CPUs to a node at most. */
static void hard_cores(unsigned nodes, unsigned kinds)
{
	static const unsigned sizes[] = {2, 1, 4, 8};
	unsigned cpu = 0, per_node = R(2) ? 256 : 32 + R(225);

	for (unsigned n = 0; n < nodes; n++)
		for (unsigned left = per_node; left;) {
			struct vfctl_core *core = &b.cores[b.topology.core_count++];
			unsigned threads = sizes[R(kinds)];

			threads = threads < left ? threads : left;
			*core = (struct vfctl_core){.node = (int)n, .package = (int)(n / 2),
				.die = -1, .l3 = (int)(n * 64 + left / 32)};
			for (left -= threads; threads; threads--, cpu++) {
				vfctl_cpuset_add(&core->cpus, cpu);
				vfctl_cpuset_add(&b.nodes[n].cpus, cpu);
				vfctl_cpuset_add(&b.topology.online, cpu);
			}
		}
}

static void hard_nodes(unsigned nodes)
{
	bool uneven = R(2);

	for (unsigned n = 0; n < nodes; n++) {
		struct vfctl_node *node = &b.nodes[n];
		uint64_t gib = uneven ? 32 + R(480) : 256;

		*node = (struct vfctl_node){.id = n, .memory_bytes = gib * GIB};
		if (R(2)) {
			node->pools[node->pool_count++] = (struct vfctl_page_pool){
				.page_bytes = GIB / 512, .total = R((uint32_t)gib) * 128,
				.free = VFCTL_COUNT_UNKNOWN};
			node->pools[node->pool_count++] = (struct vfctl_page_pool){
				.page_bytes = GIB, .total = R((uint32_t)gib) / 2,
				.free = VFCTL_COUNT_UNKNOWN};
		}
		for (unsigned k = 0; k < nodes; k++)
			b.distances[n * nodes + k] = n == k ? 10 : n / 2 == k / 2 ? 12 :
				uneven ? 20 + (n ^ k) : 32;
	}
}

static void hard_vfs(unsigned nodes, unsigned pfs, unsigned vfs)
{
	for (unsigned p = 0; p < pfs; p++)
		b.pfs[b.model.pf_count++] = (struct vfctl_model_pf){.bdf = {.bus = (uint8_t)p},
			.node = R(8) ? (int)R(nodes) : VFCTL_NODE_NONE, .fabric = (int)(p % 3),
			.port = 1 + p % 2, .num_vfs = 64, .max_vfs = 128};
	for (unsigned i = 0; i < vfs; i++) {
		const struct vfctl_model_pf *pf = &b.pfs[R(pfs)];
		unsigned index = i / 256 * 8 + i % 8, slot = 1 + i / 8 % 31;

		b.vfs[b.model.vf_count++] = (struct vfctl_free_vf){.pf = pf->bdf,
			.node = pf->node, .fabric = pf->fabric, .port = pf->port, .index = index,
			.bdf = {.domain = 1 + i / 248, .bus = pf->bdf.bus,
				.slot = (uint8_t)slot, .function = (uint8_t)(i % 8)}};
	}
	b.model.pfs = b.pfs;
}

/* Guests of ours on one core in @every of each node: what is left is in pieces. */
static void hard_occupants(unsigned count, unsigned every)
{
	for (unsigned i = 0; i < count; i++) {
		struct vfctl_occupant *o = &b.occupants[b.model.occupant_count];
		int node = (int)(i % b.topology.node_count);

		*o = (struct vfctl_occupant){.name = "o", .memory = &b.memory[i],
			.memory_count = 1};
		b.memory[i] = (struct vfctl_promise){.node = node, .bytes = GIB};
		for (size_t c = i; c < b.topology.core_count; c += every)
			if (b.topology.cores[c].node == node &&
				!vfctl_cpuset_intersects(&b.model.busy_cpus,
					&b.topology.cores[c].cpus)) {
				vfctl_cpuset_or(&o->cpus, &b.topology.cores[c].cpus);
				vfctl_cpuset_or(&b.model.busy_cpus, &b.topology.cores[c].cpus);
			}
		b.model.occupant_count += !vfctl_cpuset_empty(&o->cpus);
	}
	b.model.occupants = b.occupants;
	b.model.busy_cpus = (struct vfctl_cpuset){0};
}

static void hard_want(struct vfctl_vf_want *w, size_t cells, unsigned most)
{
	*w = (struct vfctl_vf_want){.any_pf = R(4), .count = 1 + R(most),
		.fabric = R(2) ? VFCTL_FABRIC_ANY : (int)R(3), .cell = VFCTL_CELL_ANY,
		.affinity = R(2) ? VFCTL_AFFINITY_REQUIRED : (enum vfctl_affinity)R(4)};
	if (!w->any_pf && b.model.pf_count)
		w->pf = b.pfs[R((uint32_t)b.model.pf_count)].bdf;
	else
		w->any_pf = true;
	if (w->any_pf)
		w->anti_affinity = R(3);
	if (cells && R(2))
		w->cell = R(2) ? VFCTL_CELL_EACH : (int)R((uint32_t)cells);
	if (w->cell == VFCTL_CELL_EACH)
		w->count = 1;
}

static void hard_cells(struct vfctl_request *r, struct vfctl_cell_want *cells, unsigned nodes)
{
	bool alike = R(2), given = !R(8);
	uint32_t count = 1 + R(nodes);

	r->vcpus = 0;
	r->memory_bytes = 0;
	for (uint32_t k = 0; k < count; k++) {
		uint32_t size = 1 + (alike ? 4 : R(32));

		cells[k] = (struct vfctl_cell_want){.vcpus = size, .memory_bytes = size * GIB,
			.node = given && !R(4) ? (int)k : VFCTL_NODE_NONE};
		r->vcpus += size;
		r->memory_bytes += size * GIB;
	}
	r->cells = cells;
	r->cell_count = count;
}

/* @scale: the largest guests, in vCPUs. */
static void hard_guest(size_t g, unsigned nodes, uint32_t scale, unsigned wants)
{
	struct vfctl_request *r = &b.requests[g];

	*r = (struct vfctl_request){.name = "g", .vcpus = 1 + R(scale),
		.threads = (enum vfctl_threads)R(4), .emulator_cores = R(3),
		.memory_bytes = (1 + R(2 * scale)) * GIB / (R(3) ? 1 : 2),
		.page_bytes = R(3) ? VFCTL_PAGES_AUTO : VFCTL_PAGES_BASE,
		.node = R(16) ? VFCTL_NODE_NONE : (int)R(nodes),
		.memory_affinity = R(3) ? VFCTL_AFFINITY_REQUIRED : VFCTL_AFFINITY_PREFERRED,
		.whole_node = !R(24), .whole_l3 = !R(16), .max_distance = R(8) ? 0 : 12 + R(20),
		.wants = b.wants_of[g], .want_count = R(wants + 1)};
	if (!R(8))
		r->iothreads = r->iothread_cores = 1;
	if (r->threads == VFCTL_THREADS_REQUIRE)
		r->vcpus = (r->vcpus + 7) / 8 * 8;
	else if (r->node == VFCTL_NODE_NONE && !R(3))
		hard_cells(r, b.cells_of[g], nodes);
	for (size_t i = 0; i < r->want_count; i++)
		hard_want(&b.wants_of[g][i], r->cell_count, R(4) ? 2 : 12);
	b.guests++;
}

static void make_hard(uint64_t seed)
{
	static const unsigned node_counts[] = {16, 16, 16, 8, 4};
	static const size_t guest_counts[] = {1, 2, 12, 64, 64, 64};
	unsigned nodes = node_counts[seed % 5], pfs;
	uint32_t scale;

	state = seed * UINT64_C(0x9e3779b97f4a7c15) + 1;
	b = (struct bench){.topology = {.nodes = b.nodes, .node_count = nodes,
		.distances = b.distances, .cores = b.cores}};
	b.model.topology = &b.topology;
	b.model.vfs = b.vfs;
	hard_nodes(nodes);
	hard_cores(nodes, R(2) ? 1 : 1 + R(4));
	pfs = R(3) ? nodes : 1 + R(PFS_MAX);
	hard_vfs(nodes, pfs, R(3) ? 1000 : R(64));
	if (R(2))
		vfctl_cpuset_or(&b.model.reserved_cpus, &b.cores[0].cpus);
	if (R(3) == 0)
		hard_occupants(1 + R(OCCUPANTS_MAX), 3 + R(5));
	scale = (uint32_t[]){16, 64, 256, 2048}[R(4)];
	for (size_t g = 0, n = guest_counts[seed / 5 % 6], wants = R(WANTS_MAX + 1); g < n; g++)
		hard_guest(g, nodes, scale, (unsigned)wants);
}

static double cpu_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec * 1e3 + (double)t.tv_nsec / 1e6;
}

static void worst(uint64_t count, uint64_t seed)
{
	double *times = calloc(count + 1, sizeof(*times)), longest[WORST_TOLD] = {0};
	uint64_t seeds[WORST_TOLD] = {0}, planned = 0, refused = 0;

	for (uint64_t i = 0; times && i < count; i++) {
		struct vfctl_plan *plan = NULL;
		double ms = cpu_ms();
		unsigned at = WORST_TOLD;

		make_hard(seed + i);
		if (vfctl_plan_make(ctx, &b.model, b.requests, b.guests, NULL, &plan) < 0)
			continue; /* it contradicts itself */
		refused += plan->count - plan->value[VFCTL_LEVEL_PLACED];
		vfctl_plan_free(plan);
		times[planned++] = ms = cpu_ms() - ms;
		for (; at && ms > longest[at - 1]; at--)
			if (at < WORST_TOLD) {
				longest[at] = longest[at - 1];
				seeds[at] = seeds[at - 1];
			}
		if (at < WORST_TOLD) {
			longest[at] = ms;
			seeds[at] = seed + i;
		}
	}
	qsort(times, planned, sizeof(*times), by_value);
	printf("%" PRIu64 " plans, %" PRIu64 " guests refused; ms: median %.1f, 90 %% %.1f, 99 %% "
		"%.1f, most", planned, refused, times[planned / 2], times[planned * 9 / 10],
		times[planned * 99 / 100]);
	for (unsigned i = 0; i < WORST_TOLD; i++)
		printf(" %.1f (seed %" PRIu64 ")", longest[i], seeds[i]);
	printf("\n");
	free(times);
}

int main(int argc, char **argv)
{
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "--grow") == 0)
		grow();
	else if (argc > 2 && strcmp(argv[1], "--worst") == 0)
		worst(strtoull(argv[2], NULL, 10), argc > 3 ? strtoull(argv[3], NULL, 10) : 1);
	else {
		fixed_cases();
		write_xml();
	}
	vfctl_ctx_free(ctx);
	return 0;
}
