/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_ESWITCH_LAG_H
#define VFCTL_ESWITCH_LAG_H

#include "base/steps.h"
#include "core/inventory.h"

/*
 * op_bond  the bond's name: "MODE PORT PORT", its ports in the order of their names; "-": there is none
 * op_miimon the bond's name: after how many ms it looks at the links of its ports again; 0: never
 * op_lag   a PF of it: "active", waited for; it goes with the bond, so nothing takes it back
 */
extern const struct op_type op_bond, op_lag, op_miimon;

#define LAG_NO_BOND "-"

/* What the bond is, as op_bond has it. The caller frees it. */
int lag_bond_text(struct vfctl_ctx *ctx, const char *bond, char **ret);

/* A bond that is there and never looks at its ports' links shall: VFs stay on a port without one else. */
void lag_add_miimon(struct vfctl_ctx *ctx, const char *bond, struct steps *steps);

/* The other PF of the VF-LAG that this one is in. @return 1; 0 there is none; negative errno. */
int lag_other(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_bdf *ret);

/*
 * -EBUSY: somebody has a VF of another port of the VF-LAG that the PF is in, and that goes with what is
 * done to this one. Without a VF-LAG: 0. The inventory has the VFs of all PFs.
 */
int lag_check_other(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const struct vfctl_pf *pf,
	const char *meanwhile);

#endif
