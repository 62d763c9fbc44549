/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_ESWITCH_LAG_H
#define VFCTL_ESWITCH_LAG_H

#include "base/steps.h"
#include "types/inventory.h"

/*
 * op_bond  the bond's name: "MODE PORT PORT", its ports in the order of their names; "-": it does
 * not exist
 * op_miimon the bond's name: interval in ms at which it checks the links of its ports; 0: never
 * op_lag   a PF of it: "active", after a wait; it depends on the bond, so it has no roll-back
 */
extern const struct op_type op_bond, op_lag, op_miimon;

#define LAG_NO_BOND "-"

/* The state of the bond in the form of op_bond. The caller frees it. */
int lag_bond_text(struct vfctl_ctx *ctx, const char *bond, char **ret);

/*
 * Make an existing bond monitor the links of its ports: otherwise VFs stay on a port that has lost
 * its link.
 */
void lag_add_miimon(struct vfctl_ctx *ctx, const char *bond, struct steps *steps);

/*
 * The other PF in the VF-LAG of this one.
 * @return 1; 0 if there is none; negative errno.
 */
int lag_other(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_bdf *ret);

/*
 * -EBUSY: another process uses a VF of another port of the PF's VF-LAG, which is affected by
 * changes of this PF. Without a VF-LAG: 0. The inventory has the VFs of all PFs.
 */
int lag_check_other(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf,
	const char *meanwhile);

#endif
