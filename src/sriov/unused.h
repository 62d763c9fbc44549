/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_UNUSED_H
#define VFCTL_SRIOV_UNUSED_H

#include "base/ctx.h"
#include "types/inventory.h"

/*
 * Check that none of the PF's VFs (their users filled in) is in use: -EBUSY, naming the first VF in
 * use, @why (which may be NULL), and what frees the VF.
 */
int pf_check_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *why);

/* -EBUSY: one of @attrs cannot change while the VF is in use. */
#define VF_ATTRS_UNUSED (VFCTL_ATTR_MAC | VFCTL_ATTR_MSIX | VFCTL_ATTR_INFINIBAND)
int vf_check_unused(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs);

#endif
