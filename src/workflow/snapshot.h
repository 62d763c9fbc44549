/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_SNAPSHOT_H
#define VFCTL_WORKFLOW_SNAPSHOT_H

#include "base/util.h"
#include "vfctl/snapshot.h"

static inline void snapshot_freep(struct vfctl_snapshot **snapshot)
{
	vfctl_snapshot_free(*snapshot);
}
#define _snapshot_ _cleanup_(snapshot_freep)

/* For a change: leases must be known, or a VF in someone's hands could be taken. */
int snapshot_need_leases(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot);

#endif
