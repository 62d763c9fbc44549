/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_EXPLAIN_REFUSE_H
#define VFCTL_PLACEMENT_EXPLAIN_REFUSE_H

#include "placement/explain/change.h"

/* Steps that all refusals of one plan share to find reasons and remedies. */
#define REFUSAL_STEPS 100000

/* What is short on one node, without its number: nodes alike are told in one line. */
struct shortage {
	char *text;
	uint64_t nodes;
};

/* A plan that has no place for some of its guests. */
struct refused_plan {
	const struct capacity *capacity;  /* before the plan */
	const struct capacity *after; /* as its guests leave it */
	const struct vfctl_request *requests;
	size_t count;
	size_t placed;
	const struct vfctl_assignment *assignments;
	const struct chosen *chosen;
	size_t left;	/* guests that are still to be told of */
	uint64_t steps; /* left for their reasons and remedies */
	uint64_t deadline_ms; /* of search_now_ms() */
	bool clock;	/* it came before the steps were used */
};

/* One of these guests. */
struct refusal {
	struct vfctl_ctx *ctx;
	struct refused_plan *plan;
	size_t index; /* in the plan */
	const struct vfctl_request *request;
	struct vfctl_assignment *a;
	const struct capacity *capacity; /* of which the reasons are */
	struct shortage shortages[CAPACITY_NODES_MAX];
	size_t shortage_count;
	size_t remedies;
	uint64_t steps; /* its share of the plan's */
	int error;
};

/* refuse.c: did what was said get its memory? */
void refusal_say(struct refusal *f, bool ok);
/* "node 1", "nodes 0-3" */
void refusal_nodes(const struct capacity *capacity, uint64_t nodes, char buf[128]);

/*
 * attempt.c: would it fit, were it asked so? None of them tells why. All count their steps, and
 * say no when there are none left.
 */
/* Alone on @capacity. */
bool refusal_fits_on(struct refusal *f, const struct capacity *capacity,
	const struct vfctl_request *changed);
/* In what the others leave: what is worth to be confirmed. */
bool refusal_may_fit(struct refusal *f, const struct vfctl_request *changed);
/* With all the others of the plan, none of whom loses its place; @ret_nodes: where. */
bool refusal_fits(struct refusal *f, const struct vfctl_host_model *model,
	const struct vfctl_request *changed, uint64_t *ret_nodes);
/* Beside the others of the plan but the one @without. */
bool refusal_fits_without(struct refusal *f, size_t without, uint64_t *ret_nodes);
/* Beside an occupant that moves; @ret_nodes: where that goes. */
bool refusal_fits_beside(struct refusal *f, const bool *gone,
	const struct vfctl_request *resident, uint64_t *ret_nodes);

/* shortage.c: what is short, node by node, or cell by cell. */
void tell_shortages(struct refusal *f);
/* remedies.c: changes that would make it fit, each of them tried. */
void tell_remedies(struct refusal *f);

#endif
