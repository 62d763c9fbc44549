/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_SNAPSHOT_H
#define VFCTL_FACTS_SNAPSHOT_SNAPSHOT_H

#include "base/util.h"
#include "core/lease.h"
#include "core/snapshot.h"

/* The boot id of the host; "" if it cannot be read. */
void boot_id_read(struct vfctl_ctx *ctx, char ret[VFCTL_UUID_TEXT]);
/*
 * The administrator named these domains (separated by commas; NULL: none): a VF in the definition
 * of one of them may be removed.
 */
void snapshot_allow(struct vfctl_snapshot *snapshot, const char *domains);

/* For a change: the users of VFs must be known, so that no VF in use is taken. */
/* vfctl_snapshot_read() by inventory_read_with_values(). */
int snapshot_read_with_values(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_snapshot **ret_snapshot);
int snapshot_need_leases(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot);
/*
 * In addition all PFs and VFs must have been read, because the best placement depends on all of
 * them.
 */
int snapshot_need_all(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot);

#endif
