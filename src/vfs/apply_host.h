/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_APPLY_HOST_H
#define VFCTL_VFS_APPLY_HOST_H

#include "core/apply.h"

/*
 * What differs of the host as a whole, into @all. What cannot be done is an error there: it keeps no PF
 * from being as declared.
 */
int apply_host_compare(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_declared *all);

#endif
