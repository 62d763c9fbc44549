/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_IDS_H
#define VFCTL_IDS_IDS_H

#include "ids/store.h"
#include "types/hostspec.h"

struct vfctl_ids {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_spec *spec;
	struct id_store *store;
	struct vfctl_id_pool *lost;
	size_t lost_count;
	/*
	 * Between begin and end, for a store without transactions: the values to release if the
	 * changes are undone.
	 */
	bool grouped;
	struct vfctl_id *taken;
	size_t taken_count;
};

/* Open the fleet's store that @spec names; on success it owns @local. */
typedef int (*ids_open_fleet_fn)(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	bool write,
	struct id_store *local, struct id_store **ret);
/*
 * vfctl_ids_open() with the fleet's code as a parameter: a program without a fleet does not link
 * it.
 */
int ids_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	ids_open_fleet_fn open, struct vfctl_ids **ret_ids);

/*
 * The values that derive from a PF's GUID: its OUI with the local bit, its last three bytes, and
 * 0001 to fffe.
 */
struct vfctl_id_range id_range_of_guid(uint64_t pf_guid);
/* The position in the pool at which the search for this owner begins (strategy). */
uint64_t id_choose_start(const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner);
/* -EEXIST with a message: @held has the owner, or the state. */
int ids_fail_held(struct vfctl_ids *ids, const struct vfctl_id *held);

#endif
