/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_CAPACITY_H
#define VFCTL_PLACEMENT_SEARCH_CAPACITY_H

#include "base/ctx.h"
#include "base/util.h"
#include "placement/search/outlook.h"
#include "core/placement.h"

/*
 * The host as the search sees it: what is free of each node as numbers, since whole cores
 * of one node with the same threads are alike, and so are the VFs of one PF. Which core
 * and which VF it is, is decided at the end (assign.c).
 */
#define CAPACITY_NODES_MAX VFCTL_MODEL_NODES_MAX
#define CAPACITY_CLASSES_MAX 8 /* of cores by their number of threads: SMT has 8 at most */
#define CAPACITY_PAGES_MAX (VFCTL_POOLS_MAX + 1)

#define SEATS_HOST UINT16_MAX

/* Free on one node. */
struct node_free {
	uint64_t memory[CAPACITY_PAGES_MAX]; /* bytes, by the capacity's page sizes */
	uint32_t threads;		 /* of whole free cores */
	uint32_t shared;		 /* shared vCPUs it can still carry */
	/* Guests for whose QEMU there are CPUs already; SEATS_HOST: the host's own, without end. */
	uint16_t seats;
	uint16_t cores[CAPACITY_CLASSES_MAX];
	uint16_t core_count;
	uint16_t l3_whole; /* L3 groups all of whose cores are free */
	bool touched;	   /* a guest of this plan is here */
	uint16_t entered;  /* page sizes (a bit each) of which a guest that moves has memory here */
};

struct capacity_node {
	int id;
	bool has_cpus;
	bool empty;	     /* no guest holds a core here at the beginning */
	uint16_t l3_cores;   /* cores of its L3 groups; 0 where it has none */
	uint32_t threads;    /* of all cores that are not the host's */
	uint64_t memory;     /* of all */
	uint64_t twins;	     /* nodes this one can be exchanged with, by their index */
	uint64_t neighbours; /* nodes of its packages, itself included */
};

/* Free VFs of one PF on one node. */
struct vf_group {
	struct vfctl_bdf pf;
	int fabric;
	uint32_t port;
	int node;	/* index, or -1: unknown */
	uint64_t local; /* nodes it is local to, by index; 0 unknown */
	uint64_t socket; /* nodes on the packages of those */
	unsigned home_node; /* the lowest of @local; node_count for none */
	uint8_t network; /* number of its fabric in the outlook */
	uint16_t free;
	size_t *vfs; /* indexes in the model, by the VFs' index */
};

/* A core of the topology. Its set of CPUs is long, and nearly empty. */
struct capacity_core {
	uint16_t first_word, end_word; /* of its set; the rest of it is empty */
	uint16_t threads;
	uint16_t seats; /* guests more whose QEMU's threads can share it; 0: it is not shared */
	uint8_t class; /* by its threads */
	int8_t node;   /* index */
	bool taken;    /* some of it is not free */
};

struct capacity {
	const struct vfctl_host_model *model;
	size_t node_count;
	struct capacity_node nodes[CAPACITY_NODES_MAX];
	struct node_free start[CAPACITY_NODES_MAX];
	unsigned farthest; /* distance in the matrix */
	unsigned class_count;
	uint32_t class_threads[CAPACITY_CLASSES_MAX]; /* ascending */
	struct capacity_core *cores; /* of the topology */
	uint32_t *core_l3;   /* its L3 group, counted from 1; 0: it has none */
	size_t l3_count;
	unsigned page_count;
	uint64_t page_bytes[CAPACITY_PAGES_MAX]; /* base first, then ascending */
	struct vf_group *groups;
	size_t group_count;
	size_t *group_vfs;
	struct vfctl_cpuset taken;
	bool has_host_cpus; /* reserved ones, for QEMU's own threads */
	uint32_t core_count; /* all that are not the host's, free or not */
	bool next_share;
	uint64_t thread_bytes; /* memory per thread of the whole host */
	struct outlook outlook;
};

/*
 * @leave_out: occupants (by index) that count as gone; NULL none. @next_share: the next guests
 * are expected to have emulator_cores: auto, as some of those that are planned have.
 */
int capacity_new(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const bool *leave_out, bool next_share, struct capacity **ret);
void capacity_free(struct capacity *capacity);
/* What is judged by what is free, after that has changed: which nodes are alike, and the prices. */
void capacity_judge(struct capacity *capacity);
DEFINE_FREEP(struct capacity, capacity_free)

static inline unsigned capacity_distance(const struct capacity *s, unsigned from, unsigned to)
{
	return s->model->topology->distances[from * s->node_count + to];
}
/* Index of a node by its number; -1 when there is none. */
int capacity_node_index(const struct capacity *capacity, int id);
static inline bool capacity_has(uint64_t nodes, unsigned node)
{
	return nodes >> node & 1;
}
/* From a group to the node; the farthest there is when its place is unknown. */
unsigned capacity_vf_distance(const struct capacity *s, const struct vf_group *group, unsigned node);
bool capacity_group_answers(const struct vf_group *group, const struct vfctl_vf_want *want);
/* Threads of a node that next guests can have beside what QEMU's threads take of it. */
uint32_t capacity_open_threads(const struct capacity *s, const struct node_free *room);
/* Of these, what memory is left for as well. */
uint32_t capacity_usable_threads(const struct capacity *s, const struct node_free *room);
/* Open threads of all nodes, and of the others @slack at most. */
uint64_t capacity_threads_within(const struct capacity *s, const struct node_free *rooms, uint64_t slack);

/* memory.c: free bytes of a node in pages of one size, before this plan. */
uint64_t memory_free(const struct vfctl_host_model *model, const bool *leave_out,
	const struct vfctl_node *node, uint64_t page_bytes);
/* "16GiB", "1536MiB": the largest unit that keeps the number whole. */
char *memory_text(uint64_t bytes, char buf[32]);

#endif
