/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_EXPLAIN_REFUSE_H
#define VFCTL_PLACEMENT_EXPLAIN_REFUSE_H

#include "placement/explain/change.h"

/* Steps for the reasons and remedies of all refusals of one plan together. */
#define REFUSAL_STEPS 100000

/* The shortage on one node, without the node's number: equal nodes are reported in one line. */
struct shortage {
	char *text;
	uint64_t nodes;
};

/* A plan without a place for some of its guests. */
struct refused_plan {
	const struct capacity *capacity;  /* before the plan */
	const struct capacity *after; /* with the guests of the plan */
	const struct vfctl_request *requests;
	size_t count;
	size_t placed;
	const struct vfctl_assignment *assignments;
	const struct chosen *chosen;
	size_t left;	/* number of guests that are still to be reported */
	uint64_t steps; /* steps left for reasons and remedies */
	uint64_t deadline_ms; /* in the time of now_ms() */
	bool clock;	/* the deadline expired before the steps were used */
};

/* One guest that is refused. */
struct refusal {
	struct vfctl_ctx *ctx;
	struct refused_plan *plan;
	size_t index; /* index in the plan */
	const struct vfctl_request *request;
	struct vfctl_assignment *a;
	const struct capacity *capacity; /* the capacity to which the reasons refer */
	struct shortage shortages[CAPACITY_NODES_MAX];
	size_t shortage_count;
	size_t remedies;
	uint64_t steps; /* its share of the plan's steps */
	int error;
};

/* refuse.c: record a failed allocation of the text. */
void refusal_say(struct refusal *f, bool ok);
/* "node 1", "nodes 0-3" */
void refusal_nodes(const struct capacity *capacity, uint64_t nodes, char buf[128]);

/*
 * attempt.c: whether it would fit with this request. These add no reasons. All count their steps,
 * and return false if none are left.
 */
/* Alone on @capacity. */
bool refusal_fits_on(struct refusal *f, const struct capacity *capacity,
	const struct vfctl_request *changed);
/* On the resources that the others leave: a quick test before refusal_fits(). */
bool refusal_may_fit(struct refusal *f, const struct vfctl_request *changed);
/* With all other guests of the plan, none of which may lose its place; @ret_nodes: the nodes. */
bool refusal_fits(struct refusal *f, const struct vfctl_host_model *model,
	const struct vfctl_request *changed, uint64_t *ret_nodes);
/* With the other guests of the plan except @without. */
bool refusal_fits_without(struct refusal *f, size_t without, uint64_t *ret_nodes);
/* With an occupant that moves; @ret_nodes: its new nodes. */
bool refusal_fits_beside(struct refusal *f, const bool *gone,
	const struct vfctl_request *resident, uint64_t *ret_nodes);

/* shortage.c: report what is short, by node or by cell. */
void tell_shortages(struct refusal *f);
/* remedies.c: report changes that would help; each was tried. */
void tell_remedies(struct refusal *f);

#endif
