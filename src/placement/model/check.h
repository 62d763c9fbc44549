/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_CHECK_H
#define VFCTL_PLACEMENT_MODEL_CHECK_H

#include "types/topology.h"
#include "vfctl/context.h"

/* Functions that the checks of a model share. Errors begin with the member's path. */

#define SET_TEXT 200

/* "CPU 4", "CPUs 4-7,9"; a long list is truncated. */
const char *check_cpus_text(const struct vfctl_cpuset *set, char buf[SET_TEXT]);
struct vfctl_cpuset check_without(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b);
struct vfctl_cpuset check_common(const struct vfctl_cpuset *a, const struct vfctl_cpuset *b);
/* -EINVAL: @member has CPUs that are not online. */
int check_online_cpus(struct vfctl_ctx *ctx, const struct vfctl_topology *t, const char *member,
	const struct vfctl_cpuset *set);
/* Whether a page may have that size. */
bool check_is_page(uint64_t bytes);

int check_topology_nodes(struct vfctl_ctx *ctx, const struct vfctl_topology *t);
int check_topology_cores(struct vfctl_ctx *ctx, const struct vfctl_topology *t);

#endif
