/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_MODPARAM_H
#define VFCTL_SRIOV_MODPARAM_H

#include "base/planning.h"
#include "types/inventory.h"

/* Whether this PF's driver creates VFs only when its module is loaded (mlx4). */
bool modparam_is_needed(const struct vfctl_pf *pf);

/*
 * Plan to set the module's options such that it creates @count VFs from its next load on. The
 * module is not reloaded: every port of every adapter it drives would go down; the change reports
 * it.
 * @probe  the host's own driver takes the VFs.
 * @return 0; -ERANGE more than the driver can create; -EEXIST another file of modprobe.d sets the
 * same options; the message has its line.
 */
int modparam_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf, uint32_t count, bool probe,
	struct vfctl_change **ret_change);

#endif
