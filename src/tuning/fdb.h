/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_FDB_H
#define VFCTL_TUNING_FDB_H

#include "base/steps.h"
#include "core/inventory.h"

/*
 * A MAC in the own forwarding table of a PF that is a bridge's port: the card's switch then gives
 * what its VFs send to that MAC to the PF. Target: "PF/MAC"; want "self"; before "self" or "".
 */
extern const struct op_type op_fdb;

/*
 * MACs behind the other ports of the PF's bridge that the card does not know.
 * @param ret  free() it; NULL when the PF is no bridge's port, or nothing is missing.
 * @return 0; -EROFS on a capture; -ENOMEM.
 */
int fdb_missing(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_mac **ret,
	size_t *ret_count);
void fdb_add_steps(const struct vfctl_pf *pf, const struct vfctl_mac *macs, size_t count,
	struct steps *steps);

#endif
