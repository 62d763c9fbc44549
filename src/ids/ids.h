/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_IDS_H
#define VFCTL_IDS_IDS_H

#include "ids/store.h"
#include "core/hostspec.h"

struct vfctl_ids {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_spec *spec;
	struct id_store *store;
	struct vfctl_id_pool *lost;
	size_t lost_count;
	/* Between begin and end, of a store without transactions: what to give back. */
	bool grouped;
	struct vfctl_id *taken;
	size_t taken_count;
};

/* Opens the fleet's store that @spec names; it owns @local once it is open. */
typedef int (*ids_open_fleet_fn)(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	struct id_store *local, struct id_store **ret);
/* vfctl_ids_open(), whose code is in fleet/: a program without a fleet has no code for one. */
int ids_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	ids_open_fleet_fn open, struct vfctl_ids **ret_ids);

/* The values a PF's GUID stands for: its OUI with the local bit, its last three bytes,
 * and 0001 to fffe. */
struct vfctl_id_range id_range_of_guid(uint64_t pf_guid);
/* Where in the pool to look first for this owner (strategy). */
uint64_t id_choose_start(const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner);
/* -EEXIST, in words: @held is whose, or what. */
int ids_fail_held(struct vfctl_ids *ids, const struct vfctl_id *held);

#endif
