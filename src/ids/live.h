/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_LIVE_H
#define VFCTL_IDS_LIVE_H

#include "ids/owner.h"
#include "core/inventory.h"

/* From an inventory that was read with the VFs of all PFs. */
int live_from_inventory(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	struct live_values *ret);
/* All that a PF and its VFs have. */
int live_add_pf(struct vfctl_ctx *ctx, struct live_values *io, const struct vfctl_pf *pf);
/* One more: what a VF is to have. */
int live_add_vf(struct vfctl_ctx *ctx, struct live_values *io, const struct vfctl_pf *pf,
	uint32_t vf, const struct vfctl_vf_attrs *attrs);
/* Those of the VFs of that PF go: so do the VFs. */
void live_drop_vfs_of(struct live_values *io, const struct vfctl_bdf *pf);
/*
 * MACs alone, straight from the kernel: for the hook, which has no time for an inventory.
 * One message for all network devices, and one for each PF that has VFs. A PF whose answer
 * cannot be had is an error: what it has must not be taken for free.
 */
int live_macs_read(struct vfctl_ctx *ctx, struct live_values *ret);
void live_values_clear(struct live_values *live);

#endif
