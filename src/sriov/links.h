/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LINKS_H
#define VFCTL_SRIOV_LINKS_H

#include "vfctl/inventory.h"

/*
 * The VFs of a PF by its virtfnN links, ascending; only index and address are filled in.
 * @ret_vfs is freed by the caller. 0, or a negative errno with words.
 */
int links_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, struct vfctl_vf **ret_vfs,
	uint32_t *ret_count);

#endif
