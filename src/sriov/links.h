/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LINKS_H
#define VFCTL_SRIOV_LINKS_H

#include "core/inventory.h"

/*
 * The VFs of a PF by its virtfnN links, ascending; only index and address are filled in.
 * @ret_vfs is freed by the caller. 0, or a negative errno with words.
 */
int links_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf **ret_vfs,
	uint32_t *ret_count);

/* How many there are at this moment, while they come or go; it leaves no doubt and no words. */
uint32_t links_count(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf);

#endif
