/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_SNAPSHOT_H
#define VFCTL_FACTS_SNAPSHOT_SNAPSHOT_H

#include "base/util.h"
#include "core/lease.h"
#include "core/snapshot.h"

/* Which boot of the host this is; "" when that cannot be read. */
void boot_id_read(struct vfctl_ctx *ctx, char ret[VFCTL_UUID_TEXT]);
/*
 * The operator named these domains (by commas; NULL none): that a VF stands in the definition
 * of one of them does not keep it.
 */
void snapshot_allow(struct vfctl_snapshot *snapshot, const char *domains);

/* For a change: who has what must be known, or a VF in someone's hands could be taken. */
int snapshot_need_leases(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot);
/* The same, and all PFs and VFs were read: what is better where depends on each of them. */
int snapshot_need_all(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot);

#endif
