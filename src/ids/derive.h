/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_DERIVE_H
#define VFCTL_IDS_DERIVE_H

#include "ids/owner.h"
#include "types/identity.h"
#include "types/inventory.h"

/* Access to the rows of the store of identities. Without @find the store counts as empty. */
struct value_rows {
	/* @return 0; -ENOENT without a message: the value has no row. */
	int (*find)(const struct value_rows *rows, enum vfctl_id_kind kind, uint64_t value,
		struct vfctl_id *ret);
	void *store;
};

/*
 * Derive a MAC or GUID for a VF without a requested one. It derives from that of the PF, so it is
 * the same at each boot, and it is the first one that ids/owner.h permits for @domain_uuid (NULL:
 * the domain that the VF is leased to). @facts->row is filled in from @rows.
 * @return 0; -ENODATA the PF's own value is not known; -ENOSPC all derived values are taken.
 */
int identity_derive(struct vfctl_ctx *ctx, struct value_facts *facts,
	const struct value_rows *rows, const char *domain_uuid, enum vfctl_id_kind kind,
	const struct vfctl_pf *pf, uint32_t vf, uint64_t *ret);

/* A stable locally administered MAC for one VF, different for each PF MAC and index. */
struct vfctl_mac mac_derive(const struct vfctl_mac *pf_mac, uint32_t vf, uint32_t salt);

#endif
