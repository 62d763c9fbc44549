/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_ESWITCH_ESWITCH_H
#define VFCTL_ESWITCH_ESWITCH_H

#include "base/op.h"
#include "base/steps.h"
#include "sriov/eswitch.h"

/*
 * op_eswitch      PF   "legacy" or "switchdev"; refused while a VF of it is in use
 * op_representor  VF   the bridge that its representor is a port of, "-" none; "- down"
 */
extern const struct op_type op_eswitch, op_representor;

/*
 * Must there be no VFs when the mode changes? ice: ice_eswitch_mode_set(). Others (mlx5, bnxt_en)
 * take it with VFs there, and their drivers let go of them meanwhile.
 */
bool eswitch_needs_no_vfs(const struct vfctl_pf *pf);
/* Will VFs that are there go for that, and be made again? */
bool eswitch_renews_vfs(const struct vfctl_pf *pf, enum vfctl_eswitch want);

/*
 * Must the mode change to be @want? UNKNOWN wants nothing. @return 1, 0; -EPERM it could not be read;
 * -EOPNOTSUPP the driver has none.
 */
int eswitch_changes(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, enum vfctl_eswitch want);
/* -EBUSY: a VF of the PF is in use; the message names the user. */
#define ESWITCH_MEANWHILE "the eswitch changes its mode"
int eswitch_check_unused(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *meanwhile);
/* The step alone. */
void eswitch_add_step(const struct vfctl_pf *pf, enum vfctl_eswitch want, struct steps *steps);
/* With VFs that are there and stay: their drivers let go of them meanwhile, and their rates come again. */
int eswitch_add_steps(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, enum vfctl_eswitch want,
	struct steps *steps);

/* As op_representor has it: the bridge that it is a port of, or "-", and " down" unless it is up. */
int representor_text(struct vfctl_ctx *ctx, const char *netdev, char **ret);

#endif
