/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_LEASE_H
#define VFCTL_LEASE_LEASE_H

#include "base/ctx.h"
#include "base/util.h"
#include "state/store.h"
#include "types/domain.h"
#include "types/lease.h"

/* The values with which a domain's VF is leased. */
struct vfctl_lease_vf lease_vf_row(const struct vfctl_domain_vf *vf);
/*
 * Convert a placement to a lease: cells, CPUs, memory, and the VFs with their values. The caller
 * sets id, domain and QEMU's shared CPUs. lease_clear() frees it.
 */
int lease_fill(struct vfctl_ctx *ctx, const struct vfctl_assignment *a,
	const struct vfctl_domain_vf *vfs, size_t vf_count, struct vfctl_lease *io);
/* Free what lease_fill() allocated; the name does not belong to the lease. */
void lease_clear(struct vfctl_lease *lease);

/* Read the lease of one domain; @ret is NULL if there is no state file yet. */
int lease_read(struct vfctl_ctx *ctx, const char *uuid, struct vfctl_leases **ret);

/* The lease that was read this way; NULL if there is none. */
static inline const struct vfctl_lease *lease_of(const struct vfctl_leases *leases)
{
	return leases && leases->count ? &leases->v[0] : NULL;
}
/* Read it (@uuid NULL: all) for a change, in a store that stays open. */
int lease_open(struct vfctl_ctx *ctx, const char *uuid, struct store **ret_store,
	struct vfctl_leases **ret);
/* -ENOENT: a change requires the lease. */
int fail_no_lease(struct vfctl_ctx *ctx, const char *uuid);

#endif
