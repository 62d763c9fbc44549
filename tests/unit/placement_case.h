/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_UNIT_PLACEMENT_CASE_H
#define TESTS_UNIT_PLACEMENT_CASE_H

/* Hosts and guests for the planner's tests, in a line each. */
#include <errno.h>
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "placement/placement.h"

#define GIB (UINT64_C(1) << 30)
#define MIB (UINT64_C(1) << 20)
#define NODES_MAX 64
#define CORES_MAX 128

/* A host in one value; tests change what they need. */
struct host_model {
	struct vfctl_node nodes[NODES_MAX];
	unsigned distances[NODES_MAX * NODES_MAX];
	struct vfctl_core cores[CORES_MAX];
	struct vfctl_topology topology;
	struct vfctl_free_vf vfs[32];
	struct vfctl_host_model model;
	unsigned next_cpu;
};

static struct vfctl_ctx *ctx;

static inline void add_core(struct host_model *h, unsigned node, unsigned threads)
{
	struct vfctl_core *core = &h->cores[h->topology.core_count++];

	*core = (struct vfctl_core){
		.node = (int)node, .package = (int)node, .l3 = (int)node};
	for (unsigned t = 0; t < threads; t++, h->next_cpu++) {
		vfctl_cpuset_add(&core->cpus, h->next_cpu);
		vfctl_cpuset_add(&h->nodes[node].cpus, h->next_cpu);
		vfctl_cpuset_add(&h->topology.online, h->next_cpu);
	}
}

/* @nodes nodes of @cores cores of @threads threads, 64 GiB each. */
static inline void make_host(
	struct host_model *h, unsigned nodes, unsigned cores, unsigned threads)
{
	*h = (struct host_model){0};
	for (unsigned i = 0; i < nodes; i++) {
		h->nodes[i] = (struct vfctl_node){.id = i, .memory_bytes = 64 * GIB};
		for (unsigned j = 0; j < nodes; j++)
			h->distances[i * nodes + j] =
				i == j ? 10 : 20 + (i > j ? i - j : j - i);
		for (unsigned c = 0; c < cores; c++)
			add_core(h, i, threads);
	}
	h->topology.nodes = h->nodes;
	h->topology.node_count = nodes;
	h->topology.distances = h->distances;
	h->topology.cores = h->cores;
	h->model.topology = &h->topology;
	h->model.vfs = h->vfs;
}

static inline struct vfctl_bdf bdf(unsigned bus, unsigned function)
{
	return (struct vfctl_bdf){
		.bus = (uint8_t)bus,
		.slot = (uint8_t)(function / 8),
		.function = (uint8_t)(function % 8),
	};
}

/* @count VFs of the PF bus:00.0. */
static inline void add_vfs(
	struct host_model *h, unsigned bus, int node, unsigned count, int fabric)
{
	for (unsigned i = 0; i < count; i++)
		h->vfs[h->model.vf_count++] = (struct vfctl_free_vf){
			.bdf = bdf(bus, i + 1),
			.pf = bdf(bus, 0),
			.index = i,
			.node = node,
			.fabric = fabric,
		};
}

static inline struct vfctl_request guest(uint32_t vcpus, const struct vfctl_vf_want *want)
{
	return (struct vfctl_request){
		.name = "g",
		.vcpus = vcpus,
		.emulator_cores = 1,
		.memory_bytes = 4 * GIB,
		.page_bytes = VFCTL_PAGES_BASE,
		.node = VFCTL_NODE_NONE,
		.wants = want,
		.want_count = want ? 1 : 0,
	};
}

static const struct vfctl_vf_want any_vf __attribute__((unused)) = {
	.any_pf = true, .cell = VFCTL_CELL_ANY, .fabric = VFCTL_FABRIC_ANY, .count = 1};

static inline struct vfctl_plan *make_plan(
	const struct host_model *h, const struct vfctl_request *requests, size_t count)
{
	struct vfctl_plan *plan = NULL;
	int r = vfctl_plan_make(ctx, &h->model, requests, count, NULL, &plan);

	if (r < 0)
		print_error("%s\n", vfctl_ctx_error(ctx));
	assert_int_equal(r, 0);
	assert_int_equal(plan->count, count);
	return plan;
}

static inline const char *cpus_text(const struct vfctl_assignment *a)
{
	static char text[256];
	size_t len = 0;

	text[0] = '\0';
	for (size_t i = 0; i < a->vcpu_count; i++)
		len += (size_t)snprintf(
			text + len, sizeof(text) - len, i ? ",%u" : "%u", a->vcpus[i]);
	return text;
}

static inline const char *set_text(const struct vfctl_cpuset *set)
{
	static char text[256];

	vfctl_cpuset_format(set, text, sizeof(text));
	return text;
}

static inline bool has_reason(
	const struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *part)
{
	for (size_t i = 0; i < a->reason_count; i++)
		if (a->reasons[i].kind == kind && strstr(a->reasons[i].text, part))
			return true;
	for (size_t i = 0; i < a->reason_count; i++)
		print_error("%s: %s\n", vfctl_reason_kind_name(a->reasons[i].kind),
			a->reasons[i].text);
	return false;
}

#endif
