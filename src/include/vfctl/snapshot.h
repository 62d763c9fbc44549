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
	/** NULL, or why the leases could not be read (the VFs then show none). */
	char *leases_error;
	/** NULL, or what of libvirt's files could not be read: domains may have VFs that is
	 * not shown. */
	char *domains_error;
};

/**
 * Read inventory, leases, and which domains have VFs (from libvirt's own files, so that a
 * busy daemon is not waited for). What of the latter two cannot be read does not fail it:
 * what can be shown is shown. A captured host has no leases.
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
