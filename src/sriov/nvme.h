/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_NVME_H
#define VFCTL_SRIOV_NVME_H

#include "base/ctx.h"
#include "core/types.h"

/*
 * An NVMe VF is of no use before its queues and interrupt vectors are assigned: when the PF
 * is an NVMe controller that says that VFs are without, warn of it and name the remedy.
 */
void nvme_warn_bare(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);
/* How many of its VFs are so; 0: none, or it is no NVMe controller, or does not say. */
unsigned nvme_bare_vfs(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);

#endif
