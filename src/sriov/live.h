/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_LIVE_H
#define VFCTL_SRIOV_LIVE_H

#include "vfctl/identity.h"
#include "vfctl/inventory.h"

#define LIVE_OF_PF UINT32_MAX

/* A MAC or GUID that a function of this host has now. */
struct live_value {
	enum vfctl_id_kind kind;
	uint64_t value;
	struct vfctl_bdf pf;
	uint32_t vf;		 /* index, or LIVE_OF_PF: the PF's own */
	char name[64]; /* of the PF, as a person calls it */
};

struct live_values {
	struct live_value *v;
	size_t count;
};

/* From an inventory that was read with the VFs of all PFs. */
int live_from_inventory(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	struct live_values *ret);
/*
 * MACs alone, straight from the kernel: for the hook, which has no time for an inventory.
 * One message for all network devices, and one for each PF that has VFs. A PF whose answer
 * cannot be had is an error: what it has must not be taken for free.
 */
int live_macs_read(struct vfctl_ctx *ctx, struct live_values *ret);
/*
 * For the hook as well: the GUIDs, of nodes and ports, that InfiniBand PFs and their VFs have.
 * A PF that cannot be read is passed over: the others of the fabric stop no guest.
 */
int live_guids_add(struct vfctl_ctx *ctx, struct live_values *io);
void live_values_clear(struct live_values *live);
#define _live_ _cleanup_(live_values_clear)

/* A MAC as the number that the identity store keeps. */
uint64_t mac_number(const struct vfctl_mac *mac);
struct vfctl_mac mac_of_number(uint64_t number);

#endif
