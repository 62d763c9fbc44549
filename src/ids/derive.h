/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_DERIVE_H
#define VFCTL_IDS_DERIVE_H

#include "ids/owner.h"
#include "core/inventory.h"

/* What the store of identities has of a value. Without @find nothing was ever given from one. */
struct value_rows {
	/* @return 0; -ENOENT, without words: it has no row. */
	int (*find)(const struct value_rows *rows, enum vfctl_id_kind kind, uint64_t value,
		struct vfctl_id *ret);
	void *store;
};

/*
 * A MAC or GUID for a VF that nobody chose one for: derived from the PF's own, so the same at each
 * boot, and the first that the one answer (ids/owner.h) gives to @domain_uuid (NULL: whoever the VF
 * is leased to).
 * @facts->row is filled in from @rows.
 * @return 0; -ENODATA the PF's own is not known; -ENOSPC all that can be derived are taken.
 */
int identity_derive(struct vfctl_ctx *ctx, struct value_facts *facts,
	const struct value_rows *rows, const char *domain_uuid, enum vfctl_id_kind kind,
	const struct vfctl_pf *pf, uint32_t vf, uint64_t *ret);

/* A stable locally administered MAC for one VF, different for each PF MAC and index. */
struct vfctl_mac mac_derive(const struct vfctl_mac *pf_mac, uint32_t vf, uint32_t salt);

#endif
