/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_LIVE_H
#define VFCTL_IDS_LIVE_H

#include "ids/owner.h"
#include "types/inventory.h"

/* Collect the values of an inventory that was read with the VFs of all PFs. */
int live_from_inventory(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	struct live_values *ret);
/* Add all values of a PF and its VFs. */
int live_add_pf(struct vfctl_ctx *ctx, struct live_values *io, const struct vfctl_pf *pf);
/* Add the values that a VF is to have. */
int live_add_vf(struct vfctl_ctx *ctx, struct live_values *io, const struct vfctl_pf *pf,
	uint32_t vf, const struct vfctl_vf_attrs *attrs);
/* Remove the values of the VFs of that PF, because the VFs are removed. */
void live_drop_vfs_of(struct live_values *io, const struct vfctl_bdf *pf);
/*
 * Read only MACs, directly from the kernel: for the hook, which has no time for an inventory. It
 * takes one message for all network devices, and one for each PF with VFs. A PF that cannot be read
 * is an error, because its values must not count as free.
 */
int live_macs_read(struct vfctl_ctx *ctx, struct live_values *ret);
void live_values_clear(struct live_values *live);

#endif
