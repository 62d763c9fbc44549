/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_PORT_H
#define VFCTL_LEASE_PORT_H

#include "base/steps.h"
#include "core/inventory.h"
#include "core/lease.h"

/*
 * Which PF a leased VF is of, wherever that is now. A card more in the host, and the firmware numbers
 * the buses anew: then another PF has the address, of the same model mostly, and on another network.
 *
 * op_vf_port  "UUID/ADDRESS"  what the PF of a leased VF is known by (vfctl_pf.port_id)
 */
extern const struct op_type op_vf_port;

/* Fill in what their PFs are known by; where that cannot be told a start notes it. */
void ports_fill(const struct vfctl_inventory *inventory, struct vfctl_lease_vf *io, size_t count);

/*
 * @pf has the address of that VF's PF: is it the one of which the VF was leased?
 * @return 0, also when that was not noted; -ENODEV with words: where that one is, and what helps.
 */
int port_check(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf, const struct vfctl_pf *pf);
/* No PF is at that address any more. -ENODEV with words, as above. */
int port_fail_gone(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf);
/* The step: from now on it is of this PF. */
int port_add_step(struct vfctl_ctx *ctx, const char *domain_uuid, const struct vfctl_lease_vf *vf,
	const struct vfctl_pf *pf, struct steps *steps);

#endif
