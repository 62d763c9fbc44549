/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_GIVE_H
#define VFCTL_IDS_GIVE_H

#include "base/buf.h"
#include "base/planning.h"
#include "ids/owner.h"
#include "types/domain.h"
#include "types/lease.h"

struct id_store;

/*
 * The GUIDs, MACs and P_Keys that a domain gets for its VFs: requested, from a pool, or the VF's
 * own. Planning proposes them, and the first step of the change claims them: It fails with -EAGAIN
 * if another process or host claimed one of them meanwhile; then plan again.
 */
struct identities {
	struct vfctl_ctx *ctx;
	struct vfctl_ids *ids; /* borrowed; NULL if there are no pools */
	struct vfctl_id_owner owner; /* without the device */
	bool claim;	/* the first step claims them; else it is a dry run or only a plan */
	bool optional;	/* an unreachable fleet is not an error */
	struct value_facts facts; /* for values that do not come from a pool */
	struct vfctl_id *given;
	bool *had; /* for each value: its owner already has it */
	size_t count;
};

/* @claim: the values are for a change, not for a dry run. */
void identities_open(struct vfctl_ctx *ctx, struct identities *io, struct vfctl_ids *ids,
	const char *domain_uuid, const char *domain_name, bool claim);
void identities_clear(struct identities *io);

/*
 * Complete the attributes of a VF. @device is its name in the domain ("vf0").
 * @return 0; -EEXIST a requested value has another owner; -ENOSPC; -ENOENT no such pool or
 * partition.
 */
int identities_give(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_identity_want *want, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const char *device, struct vfctl_domain_vf *io);

/*
 * The pool for a PF's own VFs: the named one, or the one that derives from this PF, or NULL (the
 * GUIDs are then derived and not recorded).
 */
int identities_find_pool(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *name,
	const struct vfctl_inventory *inventory, const struct vfctl_pf *pf,
	const struct vfctl_id_pool **ret);
/* Assign one value to each VF of the PF; the owner is the host. */
int identities_give_pf(struct vfctl_ctx *ctx, struct identities *identities,
	const struct vfctl_id_pool *pool, const struct vfctl_pf *pf, uint32_t count,
	uint16_t pkey, uint64_t *ret_guids);
/* The values of the PF's own VFs. */
int identities_of_pf(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const struct vfctl_pf *pf,
	struct identities *ret);

/*
 * "vf0", "vf1", ...: the first name for which the domain has no value and is not being assigned
 * one.
 */
int identities_new_device(struct vfctl_ctx *ctx, const struct identities *io, char ret[16]);

/* Add a known value for a device of the domain; it is claimed with the others. */
int identities_add(struct vfctl_ctx *ctx, struct identities *io, enum vfctl_id_kind kind,
	uint64_t value, const char *device, uint16_t pkey);

/*
 * ops.c: add the step that claims the values, or that releases them with a cooldown; no step if
 * there are none. @io is then empty.
 */
int identities_add_step(struct vfctl_ctx *ctx, struct identities *io,
	struct vfctl_change *change);
int identities_add_return_step(struct vfctl_ctx *ctx, struct identities *io,
	struct vfctl_change *change);

/* The values of a domain that are to be released: all, or those of one VF (@vf not NULL). */
int identities_of_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain_uuid,
	const struct vfctl_vf_attrs *vf, struct identities *ret);
/* The UUID of the domain with that name (or UUID) that has any values; "" if there is none. */
int identities_find_domain(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *domain,
	char ret_uuid[37]);
/* The GUID of that VF is in its cooldown or has no owner: the domain owns it while it runs. */
int identities_note_start(struct vfctl_ctx *ctx, const char *domain_uuid,
	const char *domain_name, const struct vfctl_lease_vf *vf);
/* 1: all GUIDs and MACs of @attrs are leased to that domain; 0: some are not. */
int identities_are_of(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs);
/*
 * Delete the lease of a value here. If a sync has reported it to the fleet, the next sync releases
 * it there.
 */
int identity_forget(struct id_store *store, const struct vfctl_id *id, bool used);
/* 1: the value is leased to that domain ("": to the host's own VFs); 0: it is not. */
int identity_find_of(struct id_store *store, const char *domain_uuid, enum vfctl_id_kind kind,
	uint64_t value, struct vfctl_id *ret);
/* Release the values of a VF that was plugged in for one run, with a cooldown. */
int identities_return(struct vfctl_ctx *ctx, const char *domain_uuid,
	const struct vfctl_vf_attrs *attrs);

/*
 * A domain that vfctl did not define has ended, or did not start (@used false): release its
 * recorded values, in the first case with a cooldown.
 */
int identities_forget(struct vfctl_ctx *ctx, const char *domain_uuid, bool used);

#endif
