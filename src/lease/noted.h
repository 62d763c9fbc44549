/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_NOTED_H
#define VFCTL_LEASE_NOTED_H

#include "ids/give.h"

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
