/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_LEASE_H
#define VFCTL_LEASE_LEASE_H

#include "base/ctx.h"
#include "base/util.h"
#include "state/store.h"
#include "core/domain.h"
#include "core/lease.h"

/* What a domain's VF is leased with. */
struct vfctl_lease_vf lease_vf_row(const struct vfctl_domain_vf *vf);
/*
 * What a placement holds, as a lease: cells, CPUs, memory, and the VFs with what they are
 * leased with. Id, domain and QEMU's shared CPUs are the caller's. lease_clear() frees it.
 */
int lease_fill(struct vfctl_ctx *ctx, const struct vfctl_assignment *a,
	const struct vfctl_domain_vf *vfs, size_t vf_count, struct vfctl_lease *io);
/* What lease_fill() made; the name is not the lease's. */
void lease_clear(struct vfctl_lease *lease);

/* The lease of one domain, if it has any; @ret NULL: there is no state file yet. */
int lease_read(struct vfctl_ctx *ctx, const char *uuid, struct vfctl_leases **ret);

/* The one that was read so; NULL: there is none. */
static inline const struct vfctl_lease *lease_of(const struct vfctl_leases *leases)
{
	return leases && leases->count ? &leases->v[0] : NULL;
}
/* The same (NULL: all) to be changed, in the store that stays open. */
int lease_open(struct vfctl_ctx *ctx, const char *uuid, struct store **ret_store,
	struct vfctl_leases **ret);
/* -ENOENT: a change counted on it. */
int fail_no_lease(struct vfctl_ctx *ctx, const char *uuid);

#endif
