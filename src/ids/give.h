/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_GIVE_H
#define VFCTL_IDS_GIVE_H

#include "base/buf.h"
#include "base/change.h"
#include "ids/owner.h"
#include "core/domain.h"
#include "core/guest.h"
#include "core/identity.h"
#include "core/inventory.h"
#include "core/lease.h"

struct id_store;

/*
 * The GUIDs, MACs and P_Keys that a domain gets for its VFs: asked for, from a pool, or the
 * VF's own. Planning proposes them, and the change's first step claims them: -EAGAIN there when
 * somebody else claimed one of them meanwhile (a fleet has many hosts), and it is to be planned
 * again.
 */
struct identities {
	struct vfctl_ctx *ctx;
	struct vfctl_ids *ids; /* borrowed; NULL: no pools */
	struct vfctl_id_owner owner; /* without the device */
	bool claim;	/* the first step claims them; else it is a dry run, or a plan alone */
	bool optional;	/* a fleet that cannot be reached is no failure */
	struct value_facts facts; /* for what no pool gives */
	struct vfctl_id *given;
	bool *had; /* of each: its owner has it already */
	size_t count;
};

/* @claim: a change is to have them. */
void identities_open(struct vfctl_ctx *ctx, struct identities *io, struct vfctl_ids *ids,
	const char *domain_uuid, const char *domain_name, bool claim);
void identities_clear(struct identities *io);

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

/* "vf0", "vf1", ...: the first that this domain has no value for, nor is given one. */
int identities_new_device(struct vfctl_ctx *ctx, const struct identities *io, char ret[16]);

/* One that is known: a value for a device of the domain, claimed with the others. */
int identities_add(struct vfctl_ctx *ctx, struct identities *io, enum vfctl_id_kind kind,
	uint64_t value, const char *device, uint16_t pkey);

/*
 * ops.c: the step that claims them, or that gives them back after a rest; none when there
 * are none. @io is empty then.
 */
int identities_add_step(struct vfctl_ctx *ctx, struct identities *io,
	struct vfctl_change *change);
int identities_add_return_step(struct vfctl_ctx *ctx, struct identities *io,
	struct vfctl_change *change);

/* What a domain has, to be given back: all, or that of one VF (@vf not NULL). */
int identities_of_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain_uuid,
	const struct vfctl_vf_attrs *vf, struct identities *ret);
/* The UUID of the domain of that name (or UUID) that has any; "" none. */
int identities_find_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain,
	char ret_uuid[37]);
/* The GUID of that VF rests, or nobody has it: it is the domain's as long as it runs. */
int identities_note_start(struct vfctl_ctx *ctx, const char *domain_uuid,
	const char *domain_name, const struct vfctl_lease_vf *vf);
/* 1: all GUIDs and MACs of @attrs are leased to that domain; 0: some are not. */
int identities_are_of(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs);
/* Leased no more; what sync has told the fleet is given back there by the next one. */
int identity_forget(struct id_store *store, const struct vfctl_id *id, bool used);
/* 1 the value is leased to that domain ("": the host's own VFs); 0 it is not. */
int identity_find_of(struct id_store *store, const char *domain_uuid, enum vfctl_id_kind kind,
	uint64_t value, struct vfctl_id *ret);
/* What a VF that was plugged in for one run had from pools goes back, after a rest. */
int identities_return(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs);

/*
 * A domain that nobody defined with vfctl has ended, or did not start (@used false): what was
 * noted for it is free, in the first case after a rest.
 */
int identities_forget(struct vfctl_ctx *ctx, const char *domain_uuid, bool used);

#endif
