/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_MODEL_H
#define VFCTL_WORKFLOW_MODEL_H

#include "vfctl/workflow.h"

#define FABRIC_ETHERNET 1
#define FABRIC_INFINIBAND 2
#define FABRIC_OTHER 3 /* VFs of devices that are no network cards */

/* The host as the planner sees it, with everything it points to. */
struct model {
	struct vfctl_topology *topology;
	struct vfctl_free_vf *vfs;
	size_t vf_count;
	struct vfctl_promise *promises;
	size_t promise_count;
	struct vfctl_host_model host;
};

/* Topology, free VFs, and what leases and other domains hold. */
int model_read(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_place_options *options, struct model *ret_model);
void model_clear(struct model *model);

#endif
