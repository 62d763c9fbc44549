/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MAKE_H
#define VFCTL_PLACEMENT_MAKE_H

#include "placement/explain/reasons.h"
#include "placement/search/assign.h"
#include "placement/search/batch.h"

/* vfctl_plan_make(); @any_place: VFs that cannot be local are a refusal, not an error. */
int plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, bool any_place, struct vfctl_plan **ret);
#endif
