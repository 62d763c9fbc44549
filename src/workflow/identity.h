/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_IDENTITY_H
#define VFCTL_WORKFLOW_IDENTITY_H

#include "base/steps.h"
#include "vfctl/domain.h"
#include "vfctl/guest.h"
#include "vfctl/identity.h"
#include "vfctl/inventory.h"
#include "vfctl/lease.h"

/*
 * The GUIDs, MACs and P_Keys that a domain gets for its VFs: asked for, from a pool, or the
 * VF's own. They are taken while the change is planned, for the domain XML holds them, and
 * are given back when the change is not carried out.
 */
struct identities {
	struct vfctl_ctx *ctx;
	struct vfctl_ids *ids; /* borrowed; NULL: no pools, nothing is taken */
	struct vfctl_id_owner owner; /* without the device */
	bool take;	/* false: only say what would be given (dry runs, plans) */
	bool optional;	/* a fleet that cannot be reached is no failure */
	bool kept;	/* the domain has them now */
	struct vfctl_id *given;
	size_t count;
};

void identities_open(struct vfctl_ctx *ctx, struct identities *io, struct vfctl_ids *ids,
	const char *domain_uuid, const char *domain_name, bool take);
/* Gives back what was taken, unless it is kept. */
void identities_clear(struct identities *io);

/* Everything live or leased on this host that a pool could give is never given; new cases
 * are logged. */
int identities_note_live(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const struct vfctl_inventory *inventory, const struct vfctl_leases *leases);

/*
 * Complete @io->attrs. @device names the VF among those of the domain ("vf0").
 * @return 0; -EEXIST asked for and another's; -ENOSPC; -ENOENT no such pool or partition.
 */
int identities_give(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *io);

/*
 * The pool for a PF's own VFs: @name's, or the one that derives from this PF, or NULL (the
 * GUIDs then are derived without being noted).
 */
int identities_find_pool(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *name,
	const struct vfctl_inventory *inventory, const struct vfctl_pf *pf,
	const struct vfctl_id_pool **ret);
/* One value for each VF of the PF; the owner is the host. */
int identities_give_pf(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_id_pool *pool, const struct vfctl_pf *pf, uint32_t count,
	uint16_t pkey, uint64_t *ret_guids);
/* What the PF's own VFs have. */
int identities_of_pf(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const struct vfctl_pf *pf,
	struct identities *ret);

/* "vf0", "vf1", ...: the first that this domain has no value for. */
int identities_new_device(struct vfctl_ctx *ctx, struct vfctl_ids *ids,
	const char *domain_uuid, char ret[16]);

/* The step that keeps them (or gives them back); none when nothing was taken. */
void identities_add_step(struct identities *identities, struct steps *steps);

/* What a domain has, to be given back: all, or that of one VF (@vf not NULL). */
int identities_of_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain_uuid,
	const struct vfctl_vf_attrs *vf, struct identities *ret);
/* The UUID of the domain of that name (or UUID) that has any; "" none. */
int identities_find_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain,
	char ret_uuid[37]);
/* The step that gives them back; none when there is nothing. */
void identities_add_return_step(struct identities *identities, struct steps *steps);

/* Before a guest starts: the GUIDs and MACs that its VFs get are nobody else's in a pool. */
int identities_confirm(struct vfctl_ctx *ctx, const struct vfctl_domain_intent *intent,
	const struct vfctl_domain_vf *vfs, size_t count);
/* 1: all GUIDs and MACs of @attrs are leased to that domain; 0: some are not. */
int identities_are_of(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs);
/* A GUID or MAC that is to be set on a VF by hand is not one that somebody else has. */
int identities_check_set(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_vf_attrs *attrs);

/* What a VF that was plugged in for one run had from pools goes back, after a rest. */
int identities_return(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs);

/*
 * A domain that nobody defined with vfctl has ended, or did not start (@used false): what was
 * noted for it is free, in the first case after a rest.
 */
int identities_forget(struct vfctl_ctx *ctx, const char *domain_uuid, bool used);

#endif
