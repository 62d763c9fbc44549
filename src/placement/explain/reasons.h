/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_EXPLAIN_REASONS_H
#define VFCTL_PLACEMENT_EXPLAIN_REASONS_H

#include "placement/model/assignment.h"
#include "placement/model/request.h"
#include "placement/search/search.h"
#include "types/placement.h"

/* False if memory is exhausted. */
bool explain_choice(struct vfctl_assignment *a, const struct capacity *capacity,
	const struct vfctl_request *request, const struct node_free *left);
/* After some of its VFs were exchanged: correct their reasons. False if memory is exhausted. */
bool explain_other_vfs(struct vfctl_assignment *a, const struct vfctl_host_model *model,
	const struct vfctl_request *request);
/* refuse.c: for each guest without a place, what is short, and what would help. */
struct refused_plan;
int explain_refusals(struct vfctl_ctx *ctx, struct refused_plan *plan,
	struct vfctl_assignment *assignments);

#endif
