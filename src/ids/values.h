/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_VALUES_H
#define VFCTL_IDS_VALUES_H

#include "ids/derive.h"
#include "ids/live.h"
#include "core/domain.h"
#include "core/snapshot.h"

/* On which road values are given: what each may pass by differs. */
enum value_road {
	ROAD_GUEST, /* define and attach: the pools say themselves what they give */
	ROAD_ADOPT, /* what a domain has already: seen live, it was its own */
	ROAD_SET,   /* a value chosen by hand, for a VF */
	ROAD_START, /* the hook: what rests or was seen live may be the guest's own */
};

/*
 * May each VF have its MAC and GUIDs? They are nobody else's (ids/owner.h), and no two of
 * these VFs share one. Of @facts the row is looked up here, in the host's own store.
 * @domain_uuid: whose they will be; "" the host's own. @ret_note (NULL: nothing is noted): one
 * for each VF; its GUID is nobody's, and must be the domain's for as long as it runs.
 * @return 0; -EEXIST with words that name who has the value, and where.
 */
int values_check(struct vfctl_ctx *ctx, enum value_road road, const struct value_facts *facts,
	const char *domain_uuid, const struct vfctl_domain_vf *vfs, size_t count,
	bool *ret_note);
/* With what the host and its leases say (ROAD_GUEST, ROAD_ADOPT); the VFs give up what they have now. */
int values_check_guest(struct vfctl_ctx *ctx, enum value_road road,
	const struct vfctl_snapshot *snapshot, const char *domain_uuid,
	const struct vfctl_domain_vf *vfs, size_t count);
/* The last of these alone: no two of them share a value. */
int values_check_twins(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vfs, size_t count);

/* The host's own store of identities; the caller closes it. */
int value_rows_open(struct vfctl_ctx *ctx, struct value_rows *ret);
void value_rows_close(struct value_rows *rows);

/*
 * What a VF gets for a domain when nobody chose anything: @own, the value that it has (0: none),
 * when the domain may have that; else the first derived one that it may.
 */
int values_choose(struct vfctl_ctx *ctx, const struct value_facts *facts, const char *domain_uuid,
	enum vfctl_id_kind kind, uint64_t own, const struct vfctl_pf *pf, uint32_t vf,
	uint64_t *ret);
/*
 * Values of its own for a VF: the MAC or the GUIDs that @mask names, derived and nobody's. Nothing
 * else of @io changes.
 */
int values_renew(struct vfctl_ctx *ctx, const struct value_facts *facts, uint32_t mask,
	const struct vfctl_pf *pf, uint32_t vf, struct vfctl_vf_attrs *io);

#endif
