/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_PLACEMENT_H
#define VFCTL_PLACEMENT_PLACEMENT_H

#include <stddef.h>

#include "base/cleanup.h"
#include "types/placement.h"
#include "vfctl/placement.h"

struct vfctl_ctx;

/**
 * Place guests on a host. The function is pure: the same input gives the same plan. vCPUs get whole
 * free cores, with one vCPU per hardware thread; a core with a busy or reserved thread is not free.
 * Each cell of a guest is on a different node, and its memory is on that node.
 *
 * The plan is the best possible one by the levels of enum vfctl_plan_level; otherwise it states
 * which level is not proven, and its bound. docs/explanation/placement.md defines each level.
 *
 * A refusal is a result, not an error: check each assignment.
 *
 * @param options  NULL: the defaults.
 * @param ret  receives the plan; free it with vfctl_plan_free().
 * @return 0; -EINVAL for input that is not valid for any host or guest (the message names the
 * member); -EINTR vfctl_ctx_cancel() was called; -ENOMEM.
 */
int vfctl_plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct vfctl_plan **ret);

/**
 * Propose moves. Only guests of vfctl move. A guest keeps its shape (whole cores, memory per cell)
 * and, if they are known (vfctl_model_read_words()), its requests for nodes and VFs; otherwise its
 * VFs stay on the same fabric.
 * @return as vfctl_plan_make().
 */
int vfctl_plan_rebalance(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_plan_options *options, struct vfctl_rebalance **ret);
void vfctl_rebalance_free(struct vfctl_rebalance *rebalance);
DEFINE_FREEP(struct vfctl_rebalance, vfctl_rebalance_free)

/**
 * Explain why the guest is not, or not wholly, on @p node: what is short there or, if it would fit,
 * why the chosen place is better.
 * @param ret_reasons  free each text, then the array.
 * @return 0; -EINVAL no such node, or as vfctl_plan_make().
 */
int vfctl_plan_why_not(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, int node,
	const struct vfctl_plan_options *options, struct vfctl_reason **ret_reasons,
	size_t *ret_count);

#endif
