/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_VALUES_H
#define VFCTL_IDS_VALUES_H

#include "ids/derive.h"
#include "ids/live.h"
#include "types/snapshot.h"

/* The operation that assigns values; each accepts different states of a value. */
enum value_check {
	ROAD_GUEST, /* define and attach: the pools check what they allocate */
	ROAD_ADOPT, /* values that a domain already has: found live, they are its own */
	ROAD_SET,   /* a value chosen by hand, for a VF */
	ROAD_START, /* the hook: a value in its cooldown or found live may be the guest's own */
};

/*
 * Check whether each VF may have its MAC and GUIDs: they have no other owner (ids/owner.h), and no
 * two of these VFs share one, but for the MAC of the ports of a bond in the guest: VFs of different
 * PFs that are declared (ROAD_GUEST), or that the domain has already (ROAD_ADOPT, ROAD_START). The
 * row of
 * @facts is looked up here, in the host's own store.
 * @domain_uuid: the future owner; "" the host. @ret_note (NULL: nothing is noted): one for each VF;
 * its GUID has no owner, and must belong to the domain while it runs.
 * @return 0; -EEXIST with a message that names the owner of the value, and the place.
 */
int values_check(struct vfctl_ctx *ctx, enum value_check road, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vfs, size_t count,
	bool *ret_note);
/*
 * The same with the host's values and leases (ROAD_GUEST, ROAD_ADOPT); the VFs give up their
 * present values.
 */
int values_check_guest(struct vfctl_ctx *ctx, enum value_check road,
	const struct vfctl_snapshot *snapshot, const char *domain_uuid,
	const struct vfctl_domain_vf *vfs, size_t count);
/* Only the last of these checks: no two of these VFs share a value. */
int values_check_twins(struct vfctl_ctx *ctx, enum value_check road,
	const struct vfctl_domain_vf *vfs, size_t count);

/* Open the host's own store of identities; the caller closes it. */
int value_rows_open(struct vfctl_ctx *ctx, struct value_rows *ret);
void value_rows_close(struct value_rows *rows);

/*
 * Choose the value of a VF for a domain that requests none: @own, the present value (0: none), if
 * the domain may have it; else the first derived value that it may have.
 */
int values_choose(struct vfctl_ctx *ctx, const struct value_facts *facts, const char *domain_uuid,
	enum vfctl_id_kind kind, uint64_t own, const struct vfctl_pf *pf, uint32_t vf,
	uint64_t *ret);
/*
 * Give a VF its own values: derive the MAC or the GUIDs that @mask names, without an owner. The
 * rest of @io is not changed.
 */
int values_renew(struct vfctl_ctx *ctx, const struct value_facts *facts, uint32_t mask,
	const struct vfctl_pf *pf, uint32_t vf, struct vfctl_vf_attrs *io);

#endif
