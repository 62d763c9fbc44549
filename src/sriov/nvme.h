/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_NVME_H
#define VFCTL_SRIOV_NVME_H

#include "base/ctx.h"

/*
 * An NVMe VF is unusable before its queues and interrupt vectors are assigned. If the PF is an NVMe
 * controller that reports VFs without these, log a warning with the remedy.
 */
void nvme_warn_bare(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);
/*
 * Number of its VFs without resources; 0: none, or it is not an NVMe controller, or does not report
 * it.
 */
unsigned nvme_bare_vfs(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);

#endif
