/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_BATCH_H
#define VFCTL_PLACEMENT_SEARCH_BATCH_H

#include "placement/search/search.h"

/* Find the best placement of one or several guests. */
int plan_search(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret);
/* Limit the bound to the guests that fit somewhere alone. */
int plan_tighten_bound(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, uint64_t deadline_ms,
	struct search_result *result);
/*
 * one_by_one.c: plan the guests one after the other. @ret: the choice for each, and the steps; to
 * be cleared after an error too.
 */
int plan_one_by_one(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret);
/* The result of a plan without reasons. */
struct tried {
	bool fits;	/* the guest in question fits */
	size_t placed;	/* number of all placed guests */
	uint64_t nodes; /* nodes of that guest, as a bit set */
	uint64_t steps;
};
/* The free resources after it; none if it is not placed. */
void plan_take(const struct capacity *capacity, const struct vfctl_request *request,
	const struct chosen *chosen, struct capacity *after);
/*
 * Place requests on the free resources of the capacity, as an attempt. @about: index of the guest
 * in question.
 */
int plan_try(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, size_t about,
	const struct search_limits *limits, struct tried *ret);

#endif
