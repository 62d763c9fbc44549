/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_FUTURE_CAPACITY_H
#define VFCTL_PLACEMENT_SEARCH_FUTURE_CAPACITY_H

#include <stddef.h>
#include <stdint.h>

/*
 * The number of guests of typical sizes that still fit, each kind with a price. If only few guests
 * of a kind fit, each is worth more: the price is the kind's share of the expected guests divided
 * by the number that fits now (the slope of its logarithm). Prices are fixed before a search, so
 * that all its plans are rated alike.
 */
#define OUTLOOK_KINDS_MAX 16
#define OUTLOOK_FABRICS_MAX 4 /* the last one represents all others */
/* One more guest of a kind that fits only once has about this value. */
#define OUTLOOK_SCALE 100000

struct capacity;
struct node_free;

struct future_capacity_kind {
	uint32_t threads; /* of each of its cells */
	uint32_t cells;	  /* 1, or 2 for guests on several nodes */
	double share, vf_share; /* share of the expected guests: without a VF, with one */
	uint64_t price;	  /* of one more guest without a VF */
	uint64_t vf_price[OUTLOOK_FABRICS_MAX]; /* of one more guest with a VF of that fabric */
};

struct future_capacity {
	struct future_capacity_kind kinds[OUTLOOK_KINDS_MAX];
	size_t kind_count;
	int fabrics[OUTLOOK_FABRICS_MAX];
	size_t fabric_count;
	/* Price of a thread on a node with VFs, which guests without a VF should not use. */
	uint64_t near_price[OUTLOOK_FABRICS_MAX];
};

/* Free VFs of a node by fabric. */
struct future_capacity_vfs {
	uint32_t of[OUTLOOK_FABRICS_MAX];
};

/*
 * Compute kinds and prices from the capacity's free resources, and number the fabrics of its
 * groups.
 */
void future_capacity_init(struct capacity *capacity);
/* Threads that next guests can use, for each node (at most CAPACITY_NODES_MAX). */
void future_capacity_usable(const struct capacity *s, const struct node_free *rooms, uint32_t *ret);
/* The value of a node with so many usable threads. */
uint64_t future_capacity_node(const struct capacity *s, uint32_t threads,
	const struct future_capacity_vfs *vfs);
/* The value of all nodes together, for guests on several. */
uint64_t future_capacity_pairs(const struct capacity *s, const uint32_t *usable);
/*
 * The value that the last of @vfs free VFs of a fabric adds to a node with so many usable threads.
 */
uint64_t future_capacity_vf_worth(const struct capacity *capacity, uint32_t threads, size_t fabric,
	uint32_t vfs);
/*
 * Upper limit of what a plan can leave that takes so many more threads and VFs; up to @slack of the
 * threads may be ones that next guests could not have used.
 */
uint64_t future_capacity_most(const struct capacity *capacity, const struct node_free *rooms,
	uint64_t threads,
	uint64_t slack, uint64_t vfs);
/* Free VFs of each node at the beginning; the last entry is for unknown nodes. */
void future_capacity_vfs_at_start(const struct capacity *capacity, struct future_capacity_vfs *ret);

#endif
