/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_VF_OP_H
#define VFCTL_SRIOV_VF_OP_H

#include "base/op.h"
#include "types/inventory.h"

/* Functions that operations on PFs and VFs share: their targets are "PF" or "PF/INDEX". */

/* The PF of the target; -EBADMSG: it names none. */
int vf_op_pf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_bdf *ret);
/* The number of the VF among those of its PF. */
int vf_op_index(struct vfctl_ctx *ctx, const struct op *op, uint32_t *ret);
/* inventory_read_values() of the PF of these ops. @ret_pf belongs to the inventory. */
int vf_op_read_values(struct vfctl_ctx *ctx, const struct op *ops,
	struct vfctl_inventory **ret_inventory, const struct vfctl_pf **ret_pf);
/* The VF of that PF; NULL: it does not exist. */
int vf_op_find(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_pf *pf,
	const struct vfctl_vf **ret);
/* The same if a process or a running guest uses it; otherwise NULL. @pf: with its users. */
const struct vfctl_vf *vf_op_in_use(const struct op *op, const struct vfctl_pf *pf);
/* -ENOENT with a message: its VF no longer exists. */
int vf_op_fail_gone(struct vfctl_ctx *ctx, const struct op *op);

#endif
