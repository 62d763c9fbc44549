/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_NOTED_H
#define VFCTL_LEASE_NOTED_H

#include "types/identity.h"
#include "vfctl/guest.h"

struct identities;
struct vfctl_ctx;
struct vfctl_ids;
struct vfctl_inventory;
struct vfctl_leases;

/**
 * Call this before a value is allocated by hand: like create, define and attach, it quarantines the
 * values of pools that VFs, leases and definitions of this host already use.
 * @return 0; -EACCES leases or domains cannot be read; or as vfctl_ids_take().
 */
int vfctl_ids_note_host(struct vfctl_ctx *ctx, struct vfctl_ids *ids);
/**
 * Check whether a lease, or the definition of a domain without one, gives a value to another owner.
 * The value may be outside of all pools.
 * @return 0 if none does; -EEXIST, and the message has its name; -EACCES the leases cannot be read.
 */
int vfctl_ids_check_host(struct vfctl_ctx *ctx, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner);

/* Read the owners of values on this host, before identities_give(). @leases are borrowed. */
int identities_look(struct identities *io, const struct vfctl_inventory *inventory,
	const struct vfctl_leases *leases);

/*
 * Quarantine all values that are live, leased, or in the definition of a domain without a lease,
 * and that a pool could allocate. New cases are logged.
 */
int identities_note_live(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct vfctl_inventory *inventory, const struct vfctl_leases *leases);

#endif
