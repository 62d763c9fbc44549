/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LAG_H
#define VFCTL_SRIOV_LAG_H

#include "base/ctx.h"
#include "types/inventory.h"

/* Fill in the bond of a PF, and the state of its VF-LAG. */
void lag_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf);

#endif
