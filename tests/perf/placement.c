// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * placement [--grow]: what the planner takes, in microseconds (the median of the runs), with
 * steps of the search and what is proven. --grow: over nodes, guests and VFs, as CSV.
 */
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/ctx.h"
#include "vfctl/domain.h"
#include "vfctl/placement.h"

#define GIB (UINT64_C(1) << 30)
#define NODES_MAX 16
#define CORES_MAX 1024
#define GUESTS_MAX 256
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

int main(int argc, char **argv)
{
	if (vfctl_ctx_new(&ctx) < 0)
		return 1;
	if (argc > 1 && strcmp(argv[1], "--grow") == 0)
		grow();
	else {
		fixed_cases();
		write_xml();
	}
	vfctl_ctx_free(ctx);
	return 0;
}
