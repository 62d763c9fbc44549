/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_POLICY_H
#define VFCTL_LEASE_POLICY_H

#include "base/steps.h"
#include "core/domain.h"
#include "core/lease.h"

typedef char port_id_text[VFCTL_PORT_ID_TEXT];

/*
 * What VFs need for the policy that their guest asks for, as operations: what differs from how
 * they are now, a step for each PF. None when nothing differs. The PFs' locks are held.
 * @leases say of which PF each was leased. @ret_ports (NULL: not asked for): for each that has a lease
 * that does not say it, what its PF is known by now; else "".
 * @return 0; -ENOENT a VF is not there (PF and index in the words); -ENODEV another PF has the address
 * of the one that was leased; -EBUSY another process has it open; -EIO it cannot be read; -ENOMEM.
 */
int policy_plan(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_domain_vf *vfs, size_t count, struct steps *steps,
	port_id_text *ret_ports);

#endif
