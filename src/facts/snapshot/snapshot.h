/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_SNAPSHOT_H
#define VFCTL_FACTS_SNAPSHOT_SNAPSHOT_H

#include "base/cleanup.h"
#include "types/inventory.h"
#include "types/snapshot.h"
#include "vfctl/host.h"

struct vfctl_ctx;

DEFINE_FREEP(struct vfctl_snapshot, vfctl_snapshot_free)

/**
 * Check whether it is safe to give a VF to a guest. Its group and its reset method are read now.
 * What the kernel does not report (on a captured host) counts as safe; a missing IOMMU is not
 * considered here.
 * @param ret_text  NULL, or receives the reason and the remedy ("" if it is safe); freed by
 * the caller.
 * @return enum vfctl_exposure bits.
 */
unsigned vfctl_vf_exposure(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, char **ret_text);
/** "group", "acs", "reset" for a single bit. */
const char *vfctl_exposure_name(enum vfctl_exposure bit);

/**
 * Check whether a VF may be given to a guest: it is not in use, no lease and no definition names
 * it, an IOMMU isolates it, and vfctl_vf_exposure() finds nothing. A lease or domain that the
 * snapshot could not read (leases_error, domains_error) may nevertheless hold it.
 * @param allowed  enum vfctl_exposure bits that are accepted (vfs_allowed of struct
 * vfctl_host_spec).
 */
bool vfctl_vf_can_be_given(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, unsigned allowed);

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
