/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SNAPSHOT_H
#define VFCTL_SNAPSHOT_H

#include "vfctl/inventory.h"
#include "vfctl/lease.h"

#ifdef __cplusplus
extern "C" {
#endif

/** The host's SR-IOV devices and who holds them, read in one pass. Immutable. */
struct vfctl_snapshot {
	struct vfctl_inventory *inventory; /**< holders say the domain where one is known */
	struct vfctl_leases *leases;
	/** NULL, or why the leases could not be read (they are then not in the holders). */
	char *leases_error;
};

/**
 * Read inventory and leases. Leases that cannot be read do not fail it: what can be shown
 * is shown. A captured host has no leases.
 * @param only  as for vfctl_inventory_read().
 * @param ret_snapshot  freed with vfctl_snapshot_free().
 */
int vfctl_snapshot_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_snapshot **ret_snapshot);
void vfctl_snapshot_free(struct vfctl_snapshot *snapshot);

#ifdef __cplusplus
}
#endif
#endif
