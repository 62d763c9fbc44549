/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_FLOW_H
#define VFCTL_PLACEMENT_SEARCH_FLOW_H

#include "base/ctx.h"

/*
 * A minimum-cost flow through a small network, which grows while a search descends and is reduced
 * when it returns. At any time the flow has the minimum cost for everything that was sent
 * (successive shortest paths; Ahuja, Magnanti, Orlin, chapter 9).
 */
struct flow {
	int64_t *cost; /* of each edge; its reverse edge has the last bit inverted */
	uint16_t *left; /* remaining capacity */
	uint32_t *to;
	int32_t *next; /* next edge of the same node, -1: none */
	size_t edge_count, edge_room;
	int32_t *first; /* first edge of each node */
	size_t node_count, node_room;
	int64_t total;	/* cost of the whole flow */
	uint64_t work;	/* number of edges visited */
	int64_t *distance; /* of one search, by node */
	int32_t *via;
	uint32_t *queue;
	bool *queued;
};

void flow_clear(struct flow *f);
/* Returns the number of the new node, or -ENOMEM. */
int flow_node(struct flow *f);
/* 0 or -ENOMEM. */
int flow_edge(struct flow *f, unsigned from, unsigned to, uint16_t capacity, int64_t cost);
/* Send @units more. 1 if all were sent, 0 if not (some may have been), or -ENOMEM. */
int flow_send(struct flow *f, unsigned from, unsigned to, uint16_t units);
/* The flow through an edge of that capacity. */
static inline uint16_t flow_used(const struct flow *f, size_t edge)
{
	return f->left[edge ^ 1];
}

/* The state of the network, to be restored later. */
struct flow_mark {
	size_t edge_count, node_count;
	int64_t total;
	uint16_t *left;
	int32_t *first;
};

int flow_mark(const struct flow *f, struct flow_mark *ret);
void flow_return(struct flow *f, const struct flow_mark *mark);
void flow_mark_clear(struct flow_mark *mark);

#endif
