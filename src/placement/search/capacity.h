/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_CAPACITY_H
#define VFCTL_PLACEMENT_SEARCH_CAPACITY_H

#include "base/ctx.h"
#include "base/util.h"
#include "placement/search/future_capacity.h"
#include "types/placement.h"

/*
 * The host in the form that the search needs: the free resources of each node as numbers. Whole
 * cores of one node with the same number of threads are equivalent, and so are the VFs of one PF;
 * the actual cores and VFs are chosen at the end (assign.c).
 */
#define CAPACITY_NODES_MAX VFCTL_MODEL_NODES_MAX
#define CAPACITY_CLASSES_MAX 8 /* classes of cores by their number of threads: SMT has at most 8 */
#define CAPACITY_PAGES_MAX (VFCTL_POOLS_MAX + 1)

#define SEATS_HOST UINT16_MAX

/* Free resources of one node. */
struct node_free {
	uint64_t memory[CAPACITY_PAGES_MAX]; /* bytes, by page size of the capacity */
	uint32_t threads;		 /* of whole free cores */
	uint32_t shared;		 /* shared vCPUs that it can still carry */
	/*
	 * Number of guests for whose QEMU there already are CPUs; SEATS_HOST: the host's own CPUs,
	 * without limit.
	 */
	uint16_t qemu_slots;
	uint16_t cores[CAPACITY_CLASSES_MAX];
	uint16_t core_count;
	uint16_t l3_whole; /* number of L3 groups whose cores are all free */
	bool touched;	   /* a guest of this plan is on it */
	uint16_t entered;  /* page sizes (one bit each) in which a moving guest has memory here */
};

struct capacity_node {
	int id;
	bool has_cpus;
	bool empty;	     /* no guest holds a core of it at the beginning */
	uint16_t l3_cores;   /* number of cores of its L3 groups; 0 without groups */
	uint32_t threads;    /* of all cores that are not reserved */
	uint64_t memory;     /* total */
	uint64_t equal_nodes;	     /* nodes with which it can be exchanged, by index */
	uint64_t neighbours; /* nodes of its packages, including itself */
};

/* Free VFs of one PF on one node. */
struct vf_group {
	struct vfctl_bdf pf;
	int fabric;
	uint32_t port;
	int node;	/* index, or -1: unknown */
	uint64_t local; /* nodes to which it is local, by index; 0: unknown */
	uint64_t socket; /* nodes on the packages of these */
	unsigned home_node; /* the lowest of @local; node_count if there is none */
	uint8_t network; /* number of its fabric in future_capacity */
	uint16_t free;
	size_t *vfs; /* indexes in the model, in the order of the VFs' indexes */
};

/* A core of the topology. Its set of CPUs is long, and nearly empty. */
struct capacity_core {
	uint16_t first_word, end_word; /* words of its set that are not empty */
	uint16_t threads;
	uint16_t qemu_slots; /* number of further guests whose QEMU's threads can share it; 0: it
				is not shared */
	uint8_t class; /* by its number of threads */
	int8_t node;   /* index */
	bool taken;    /* a part of it is not free */
};

struct capacity {
	const struct vfctl_host_model *model;
	size_t node_count;
	struct capacity_node nodes[CAPACITY_NODES_MAX];
	struct node_free start[CAPACITY_NODES_MAX];
	unsigned farthest; /* largest distance in the matrix */
	unsigned class_count;
	uint32_t class_threads[CAPACITY_CLASSES_MAX]; /* ascending */
	struct capacity_core *cores; /* one for each core of the topology */
	uint32_t *core_l3;   /* its L3 group, from 1; 0: none */
	size_t l3_count;
	unsigned page_count;
	uint64_t page_bytes[CAPACITY_PAGES_MAX]; /* base pages first, then ascending */
	struct vf_group *groups;
	size_t group_count;
	size_t *group_vfs;
	struct vfctl_cpuset taken;
	bool has_host_cpus; /* there are reserved CPUs, for QEMU's own threads */
	uint32_t core_count; /* all cores that are not reserved, free or not */
	bool next_share;
	uint64_t thread_bytes; /* memory per thread of the whole host */
	struct future_capacity future_capacity;
};

/*
 * @leave_out: occupants (by index) that are ignored; NULL: none. @next_share: the next guests are
 * expected to have emulator_cores: auto, because some of the planned guests have it.
 */
int capacity_new(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const bool *leave_out, bool next_share, struct capacity **ret);
void capacity_free(struct capacity *capacity);
/* Compute again what depends on the free resources after these changed: equal nodes, and prices. */
void capacity_judge(struct capacity *capacity);
DEFINE_FREEP(struct capacity, capacity_free)

static inline unsigned capacity_distance(const struct capacity *s, unsigned from, unsigned to)
{
	return s->model->topology->distances[from * s->node_count + to];
}
/* Index of a node by its number; -1 if there is none. */
int capacity_node_index(const struct capacity *capacity, int id);
static inline bool capacity_has(uint64_t nodes, unsigned node)
{
	return nodes >> node & 1;
}
/* Distance from a group to the node; the largest one if its place is unknown. */
unsigned capacity_vf_distance(const struct capacity *s, const struct vf_group *group,
	unsigned node);
bool capacity_group_answers(const struct vf_group *group, const struct vfctl_vf_want *want);
/* Threads of a node that next guests can use besides those that QEMU's threads take. */
uint32_t capacity_open_threads(const struct capacity *s, const struct node_free *room);
/* Of these, the threads for which memory is left as well. */
uint32_t capacity_usable_threads(const struct capacity *s, const struct node_free *room);
/* Open threads of all nodes, and at most @slack others. */
uint64_t capacity_threads_within(const struct capacity *s, const struct node_free *rooms,
	uint64_t slack);

/* memory.c: free bytes of a node in pages of one size, before this plan. */
uint64_t memory_free(const struct vfctl_host_model *model, const bool *leave_out,
	const struct vfctl_node *node, uint64_t page_bytes);

#endif
