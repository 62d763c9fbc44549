/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_FDB_H
#define VFCTL_TUNING_FDB_H

#include "base/steps.h"
#include "types/uplink.h"

/*
 * A MAC in the own table of a PF or VF through which a bridge reaches the wire: the card then sends
 * packets of its VFs for that MAC to the bridge. Target: "FUNCTION/MAC"; want and before: "self" or
 * "".
 */
extern const struct op_type op_fdb;

/* Add the station of that uplink. */
void fdb_add_step(const struct vfctl_uplink *uplink, const struct vfctl_station *station,
	struct steps *steps);
/*
 * Remove the MAC from the function's own table; it is not an error if it, or the function, is gone.
 */
int fdb_remove(struct vfctl_ctx *ctx, const struct vfctl_bdf *function,
	const struct vfctl_mac *mac);

#endif
