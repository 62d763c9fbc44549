/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef TESTS_ORACLE_INSTANCE_H
#define TESTS_ORACLE_INSTANCE_H

#include "base/ctx.h"
#include "types/placement.h"

#define NODES 4
#define GUESTS 6
#define CORES 64
#define WANTS 2 /* of a guest */
#define CARRIED 32 /* guests that are there, whose QEMU's threads share a core */
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
	struct vfctl_occupant occupants[CARRIED];
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

/* Some core that carries QEMU's threads of guests already, mostly nearly as many as it can. */
void instance_add_qemu_core(struct instance *in);
#define SEATS_OF_HOST 1000000
/* Guests whose QEMU has CPUs there already: SEATS_OF_HOST where the host has its own. */
unsigned instance_slots(const struct instance *in, unsigned node);
bool instance_core_is_free(const struct instance *in, size_t core);
/* Is every core of the host free but for the host's own, and those that vCPUs share? */
bool instance_is_empty(const struct instance *in);
/* Do so many vCPUs take each core of the node, and could none of them be spared? */
bool instance_fills(const struct instance *in, const struct vfctl_request *r, unsigned node,
	uint32_t vcpus);

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
