/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_APPLY_HOST_H
#define VFCTL_VFS_APPLY_HOST_H

#include "vfs/apply.h"

/*
 * Store the differences of the host as a whole in @all. What cannot be done is an error there,
 * which does not affect the PFs.
 */
int apply_host_compare(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct vfctl_declared *all);

#endif
