/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_BATCH_H
#define VFCTL_PLACEMENT_SEARCH_BATCH_H

#include "placement/search/search.h"

/* The best placement of one guest, or of several. */
int plan_search(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret);
/* No more guests can be placed than those that fit somewhere by themselves. */
int plan_tighten_bound(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, uint64_t deadline_ms,
	struct search_result *result);
/*
 * one_by_one.c: plan the guests one after the other. @ret: what was chosen for each, and the steps; to be
 * cleared after an error too.
 */
int plan_one_by_one(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret);
/* What came of a plan without words. */
struct tried {
	bool fits;	/* the guest that it is about */
	size_t placed;	/* of all */
	uint64_t nodes; /* of that guest, as a bit set */
	uint64_t steps;
};
/* What is free after it; nothing when it is not placed. */
void plan_take(const struct capacity *capacity, const struct vfctl_request *request,
	const struct chosen *chosen, struct capacity *after);
/* Place some requests in what is free on the capacity: for "what if". @about: index of a guest. */
int plan_try(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, size_t about,
	const struct search_limits *limits, struct tried *ret);

#endif
