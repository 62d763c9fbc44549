/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_PORT_H
#define VFCTL_LEASE_PORT_H

#include "base/steps.h"
#include "types/inventory.h"
#include "types/lease.h"

/*
 * The PF of a leased VF, wherever that is now. If a card is added, the firmware may number the
 * buses differently: then another PF has the address, often of the same model and on another
 * network.
 *
 * op_vf_port  "UUID/ADDRESS"  identification of the PF of a leased VF (vfctl_pf.port_id)
 */
extern const struct op_type op_vf_port;

/*
 * Fill in the identification of their PFs. If it cannot be determined now, the next start records
 * it.
 */
void ports_fill(const struct vfctl_inventory *inventory, struct vfctl_lease_vf *io, size_t count);

/*
 * Check whether @pf, which has the address of that VF's PF, is the PF of which the VF was leased.
 * @return 0, also if that was not recorded; -ENODEV with a message: where that PF is now, and a
 * remedy.
 */
int port_check(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf, const struct vfctl_pf *pf);
/* There is no PF at that address any more: -ENODEV with a message as above. */
int port_fail_gone(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf);
/* Add the step that records this PF as the VF's. */
int port_add_step(struct vfctl_ctx *ctx, const char *domain_uuid, const struct vfctl_lease_vf *vf,
	const struct vfctl_pf *pf, struct steps *steps);

#endif
