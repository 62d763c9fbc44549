/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_FDB_H
#define VFCTL_TUNING_FDB_H

#include "base/steps.h"
#include "core/inventory.h"

/*
 * A MAC in the forwarding table of a PF that is a port of a bridge: the card then forwards packets
 * of its VFs for that MAC to the PF. Target: "PF/MAC"; want "self"; before "self" or "".
 */
extern const struct op_type op_fdb;

/*
 * MACs behind the other ports of the PF's bridge that are missing in the card's table.
 * @param ret  free() it; NULL if the PF is not a port of a bridge, or if nothing is missing.
 * @return 0; -EROFS on a capture; -ENOMEM.
 */
int fdb_missing(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_mac **ret,
	size_t *ret_count);
void fdb_add_steps(const struct vfctl_pf *pf, const struct vfctl_mac *macs, size_t count,
	struct steps *steps);

#endif
