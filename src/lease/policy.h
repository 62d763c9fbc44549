/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_POLICY_H
#define VFCTL_LEASE_POLICY_H

#include "base/steps.h"
#include "types/domain.h"
#include "types/lease.h"

typedef char port_id_text[VFCTL_PORT_ID_TEXT];

/*
 * The operations that give VFs the policy of their guest: only the differences from their present
 * state, as a step for each PF. There are no steps if nothing differs. The PFs' locks are held.
 * @leases say of which PF each was leased. @ret_ports (may be NULL): for each VF whose lease lacks
 * the identification of its PF, the present one; else "".
 * @starting (may be NULL): UUID of the domain that libvirt starts now: libvirt, and the QEMU of
 * that domain, may have its VFs open, as with iommufd.
 * @return 0; -ENOENT a VF does not exist (the message has PF and index); -ENODEV another PF has the
 * address of the PF of the lease; -EBUSY another process has it open; -EIO it cannot be read;
 * -ENOMEM.
 */
int policy_plan(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_domain_vf *vfs, size_t count, struct steps *steps,
	port_id_text *ret_ports, const char *starting);

#endif
