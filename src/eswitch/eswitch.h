/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_ESWITCH_ESWITCH_H
#define VFCTL_ESWITCH_ESWITCH_H

#include "base/op.h"
#include "base/steps.h"
#include "sriov/eswitch.h"
#include "types/inventory.h"

/*
 * op_eswitch      PF   "legacy" or "switchdev"; refused while a VF of it is in use
 * op_representor  VF   the bridge that its representor is a port of, "-" none; "- down"
 */
extern const struct op_type op_eswitch, op_representor;

/*
 * Whether there must be no VFs when the mode changes. ice: ice_eswitch_mode_set(). Other drivers
 * (mlx5, bnxt_en) accept VFs, which are unbound from their drivers meanwhile.
 */
bool eswitch_needs_no_vfs(const struct vfctl_pf *pf);
/* Whether present VFs are removed for the change, and created again. */
bool eswitch_renews_vfs(const struct vfctl_pf *pf, enum vfctl_eswitch want);

/*
 * Whether the mode must change to be @want; UNKNOWN requests nothing.
 * @return 1, 0; -EPERM it could not be read; -EOPNOTSUPP the driver has no modes.
 */
int eswitch_changes(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, enum vfctl_eswitch want);
/* -EBUSY: a VF of the PF is in use; the message names the user. */
#define ESWITCH_MEANWHILE "the eswitch mode changes"
int eswitch_check_unused(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *meanwhile);
/* Add only the step itself. */
void eswitch_add_step(const struct vfctl_pf *pf, enum vfctl_eswitch want, struct steps *steps);
/*
 * For VFs that exist and are kept: they are unbound from their drivers meanwhile, and their rates
 * are set again afterwards.
 */
int eswitch_add_steps(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, enum vfctl_eswitch want,
	struct steps *steps);

/*
 * The state of a representor in the form of op_representor: its bridge or "-", and " down" unless
 * it is up.
 */
int representor_text(struct vfctl_ctx *ctx, const char *netdev, char **ret);

#endif
