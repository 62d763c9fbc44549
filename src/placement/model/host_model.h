/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_HOST_MODEL_H
#define VFCTL_PLACEMENT_MODEL_HOST_MODEL_H

#include <stdint.h>

#include "base/cleanup.h"
#include "base/record.h"
#include "types/placement.h"
#include "vfctl/placement.h"

struct vfctl_ctx;

DEFINE_FREEP(struct vfctl_host_model, vfctl_model_free)

/** The members of a model in JSON. */
extern const struct record vfctl_model_record;
/** Free what an occupant owns. */
void vfctl_occupant_clear(struct vfctl_occupant *occupant);

/**
 * Request one VF of any PF on any fabric, in the best cell. A zeroed struct is not a valid want.
 */
void vfctl_vf_want_init(struct vfctl_vf_want *want);

/**
 * Request a guest on any nodes, with the largest pages that fit and QEMU's threads at their default
 * place. Fill in name, vcpus, memory_bytes and further requests. A zeroed struct would request node
 * 0, and no huge pages.
 */
void vfctl_request_init(struct vfctl_request *request);
/** The name of the root complex in the kernel's device tree, "0000:3a"; "" if unknown. */
char *vfctl_root_format(uint32_t root, char buf[VFCTL_BDF_TEXT]);

/**
 * Check the rules for a model, including those of vfctl_topology_check(). Occupants that vfctl
 * defined (not foreign ones) share no CPU and no VF with each other, except qemu_cpus, which no
 * occupant holds alone; all CPUs are online, all nodes exist.
 * @return 0, or -EINVAL naming the member.
 */
int vfctl_model_check(struct vfctl_ctx *ctx, const struct vfctl_host_model *model);

/** NULL is allowed. */
void vfctl_plan_free(struct vfctl_plan *plan);
DEFINE_FREEP(struct vfctl_plan, vfctl_plan_free)

#endif
