/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_MODPARAM_H
#define VFCTL_SRIOV_MODPARAM_H

#include "base/change.h"
#include "core/inventory.h"

/* Does this PF's driver make VFs when its module is loaded, and never later (mlx4)? */
bool modparam_is_needed(const struct vfctl_pf *pf);

/*
 * Plan: the module's options ask for @count VFs from its next load on. The module is not
 * reloaded: every port of every adapter it drives would go down; the change says so.
 * @probe  the host's own driver takes the VFs.
 * @return 0; -ERANGE more than the driver can make; -EEXIST another file of modprobe.d sets
 * the same options, named with its line.
 */
int modparam_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, uint32_t count, bool probe,
	struct vfctl_change **ret_change);

#endif
