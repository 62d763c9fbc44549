/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_REBUILD_TRUST_H
#define VFCTL_GUEST_REDEFINE_REBUILD_TRUST_H

#include "base/ctx.h"
#include "types/inventory.h"
#include "types/lease.h"

/*
 * Users who may define domains in libvirt write their metadata, and they need not be administrators
 * of this host (docs/explanation/security.md). Values that only an administrator may grant are
 * removed from @l, a lease that is rebuilt from metadata, with a warning that says how to grant
 * them.
 */
void rebuild_grant_defaults(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct vfctl_lease *l);

/* "VF 0000:11:10.0 with mac=.. vlan=..": each VF of the lease, with all its leased values. */
char *rebuild_vfs_text(const struct vfctl_lease *l);

#endif
