/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LINKS_H
#define VFCTL_SRIOV_LINKS_H

#include "types/inventory.h"

/*
 * Read the VFs of a PF from its virtfnN links, ascending; only index and address are filled in.
 * @ret_vfs is freed by the caller. 0, or a negative errno with a message.
 */
int links_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf **ret_vfs,
	uint32_t *ret_count);

/*
 * The present number of VFs, while they are being created or removed; without a message, and not
 * recorded as unread.
 */
uint32_t links_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);

#endif
