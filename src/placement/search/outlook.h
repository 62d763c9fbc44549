/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_OUTLOOK_H
#define VFCTL_PLACEMENT_SEARCH_OUTLOOK_H

#include <stddef.h>
#include <stdint.h>

/*
 * What a host still has room for: guests of typical sizes, each kind with a price. A guest of
 * a kind that only few more of fit is worth more than one of which many do: the price is the
 * kind's share of the guests that come, over how many fit now (the slope of its logarithm). It
 * is fixed before a search, so that all plans of the search are judged alike.
 */
#define OUTLOOK_KINDS_MAX 16
#define OUTLOOK_FABRICS_MAX 4 /* the last one stands for all others */
/* A whole kind of which one more fits is worth about this. */
#define OUTLOOK_SCALE 100000

struct capacity;
struct node_free;

struct outlook_kind {
	uint32_t threads; /* of each of its cells */
	uint32_t cells;	  /* 1, or 2 for guests over several nodes */
	double share, vf_share; /* of the guests that come: without a VF, with one */
	uint64_t price;	  /* of one more without a VF */
	uint64_t vf_price[OUTLOOK_FABRICS_MAX]; /* of one more with a VF of that fabric */
};

struct outlook {
	struct outlook_kind kinds[OUTLOOK_KINDS_MAX];
	size_t kind_count;
	int fabrics[OUTLOOK_FABRICS_MAX];
	size_t fabric_count;
	/* Of a thread on a node that has VFs: what guests without one should leave alone. */
	uint64_t near_price[OUTLOOK_FABRICS_MAX];
};

/* Free VFs of a node by fabric. */
struct outlook_vfs {
	uint32_t of[OUTLOOK_FABRICS_MAX];
};

/* Decide kinds and prices by what the capacity has free; its groups get their fabric's number. */
void outlook_init(struct capacity *capacity);
/* Threads that next guests can have, of each node (CAPACITY_NODES_MAX at most). */
void outlook_usable(const struct capacity *s, const struct node_free *rooms, uint32_t *ret);
/* What a node of so many usable threads is worth by itself. */
uint64_t outlook_node(const struct capacity *s, uint32_t threads, const struct outlook_vfs *vfs);
/* What all nodes are worth together, for guests over several. */
uint64_t outlook_pairs(const struct capacity *s, const uint32_t *usable);
/* What the last of @vfs free VFs of a fabric adds to a node of so many usable threads. */
uint64_t outlook_vf_worth(const struct capacity *capacity, uint32_t threads, size_t fabric,
	uint32_t vfs);
/*
 * More than this no plan can leave that takes so many threads and VFs more; of the threads
 * @slack may be such that the next guests could not have had.
 */
uint64_t outlook_most(const struct capacity *capacity, const struct node_free *rooms, uint64_t threads,
	uint64_t slack, uint64_t vfs);
/* Free VFs of each node at the beginning; the last entry: of unknown place. */
void outlook_vfs_at_start(const struct capacity *capacity, struct outlook_vfs *ret);

#endif
