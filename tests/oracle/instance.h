/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_ORACLE_INSTANCE_H
#define TESTS_ORACLE_INSTANCE_H

#include "base/ctx.h"
#include "vfctl/placement.h"

#define NODES 4
#define GUESTS 6
#define CORES 64
#define WANTS 2 /* of a guest */
#ifndef GIB
#define GIB (UINT64_C(1) << 30)
#endif

/* A small host and some guests, made from a seed: the same seed, the same instance. */
struct instance {
	uint64_t seed, state;
	struct vfctl_node nodes[NODES];
	unsigned distances[NODES * NODES];
	struct vfctl_core cores[CORES];
	struct vfctl_topology topology;
	struct vfctl_free_vf vfs[32];
	struct vfctl_host_model model;
	struct vfctl_request requests[GUESTS];
	struct vfctl_cell_want cells[GUESTS][3];
	struct vfctl_vf_want wants[GUESTS][WANTS];
	size_t guest_count;
};

/* @tiny: for brute force: two nodes, three guests of one cell, cores that are alike. */
void instance_make(struct instance *in, uint64_t seed, bool tiny);
/* A number below @n. */
uint32_t instance_random(struct instance *in, uint32_t n);

/* Nodes (a bit each, by index) that are local to one: those with CPUs, none nearer. */
unsigned local_nodes(const struct instance *in, int node);

/* Nodes that share a package with one of @nodes. */
unsigned socket_nodes(const struct instance *in, unsigned nodes);

/* Placed, local, distance: what the planner should reach. */
struct oracle_value {
	int64_t placed, local, distance;
};

/* -1 when the solver gave up, which it says. */
int milp_solve(const struct instance *in, struct oracle_value *ret);

/* All levels, on a tiny instance. */
void brute_solve(const struct instance *in, int64_t ret[VFCTL_LEVELS]);

/* Does the plan keep all the rules? Says what it breaks. */
bool plan_is_sound(const struct vfctl_host_model *model, const struct vfctl_request *requests,
	const struct vfctl_plan *plan);

#endif
