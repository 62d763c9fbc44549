/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_REBUILD_TRUST_H
#define VFCTL_GUEST_REDEFINE_REBUILD_TRUST_H

#include "base/ctx.h"
#include "core/inventory.h"
#include "core/lease.h"

/*
 * Whoever may define domains in libvirt writes their metadata, and that need not be an administrator
 * of this host (docs/security.md). What only such a one may grant is taken out of @l, a lease that
 * is rebuilt from metadata, with a warning that says how to grant it.
 */
void rebuild_grant_defaults(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct vfctl_lease *l);

/* "VF 0000:11:10.0 with mac=.. vlan=..": each VF of the lease, with all that it is leased with. */
char *rebuild_vfs_text(const struct vfctl_lease *l);

#endif
