/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LAG_H
#define VFCTL_SRIOV_LAG_H

#include "base/op.h"
#include "vfctl/inventory.h"

/*
 * op_bond  the bond's name: "MODE PORT PORT", its ports in the order of their names; "-": there is none
 * op_lag   a PF of it: "active", waited for; it goes with the bond, so nothing takes it back
 */
extern const struct op_type op_bond, op_lag;

#define LAG_NO_BOND "-"

/* What the bond is, as op_bond has it. The caller frees it. */
int lag_bond_text(struct vfctl_ctx *ctx, const char *bond, char **ret);

/* Fill in the bond that a PF is a port of, and the state of its VF-LAG. */
void lag_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf);

/* The other PF of the VF-LAG that this one is in. @return 1; 0 there is none; negative errno. */
int lag_other(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_bdf *ret);

#endif
