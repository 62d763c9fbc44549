/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_POOLS_H
#define VFCTL_IDS_POOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/cleanup.h"
#include "types/hostspec.h"
#include "types/identity.h"

struct vfctl_ctx;
struct vfctl_id_cursor;
struct vfctl_ids;

/**
 * Set the GUID of the PF from which pool number @p pool derives its values. A value consists of the
 * OUI of the GUID with the local bit, its last three bytes, and 0001 to fffe.
 * @return 0; -EINVAL the pool has another source, or @p guid is not valid; -EEXIST its values
 * belong to another pool; -ENOMEM.
 */
int vfctl_host_spec_set_pf_guid(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec,
	size_t pool, uint64_t guid);

/**
 * Read a P_Key as an operator writes it: the name of a partition with optional ":full" or
 * ":limited" (without: the partition's own default), or what vfctl_pkey_parse() reads.
 * @param spec  used to look up names; may be NULL.
 * @return 0; -EINVAL; -ENOENT no partition of that name; the message lists the partitions.
 */
int vfctl_host_spec_pkey(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *text, uint16_t *ret_pkey);

/** "lowest", "hash"; "ranges", "host", "mac"; "leased", "block", "resting",
 * "quarantined"; "guid", "mac". */
const char *vfctl_id_strategy_name(enum vfctl_id_strategy strategy);
const char *vfctl_id_source_name(enum vfctl_id_source source);
const char *vfctl_id_state_name(enum vfctl_id_state state);
const char *vfctl_id_kind_name(enum vfctl_id_kind kind);
/** The GUID that OpenStack derives from a MAC: aa:bb:cc:00:00:dd:ee:ff. */
uint64_t vfctl_guid_from_mac(const struct vfctl_mac *mac);
void vfctl_ids_close(struct vfctl_ids *ids);
DEFINE_FREEP(struct vfctl_ids, vfctl_ids_close)

/** The spec with which it was opened. */
const struct vfctl_host_spec *vfctl_ids_spec(const struct vfctl_ids *ids);
/** The pool of that name; NULL name: the first pool of that kind. NULL if there is none. */
const struct vfctl_id_pool *vfctl_ids_pool(const struct vfctl_ids *ids,
	enum vfctl_id_kind kind, const char *name);

/** The pool whose ranges include the value, or NULL. */
const struct vfctl_id_pool *vfctl_ids_pool_of(const struct vfctl_ids *ids,
	enum vfctl_id_kind kind, uint64_t value);
/**
 * Pools that host.yaml no longer declares but that still have allocated values: only their names
 * and kinds are known. Owned by @p ids.
 */
const struct vfctl_id_pool *vfctl_ids_lost(const struct vfctl_ids *ids, size_t *ret_count);

/**
 * Combine several changes: other processes do not see them before vfctl_ids_end(), and @p keep
 * false undoes them. The fleet's store cannot do that: there each change is visible at once, and
 * undoing it releases what was allocated.
 */
int vfctl_ids_begin(struct vfctl_ids *ids);
int vfctl_ids_end(struct vfctl_ids *ids, bool keep);
int vfctl_ids_stats(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret_stats);

/** Look up a value. -ENOENT: it has no owner. */
int vfctl_ids_find(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret_id);

/**
 * Allocate a value of a pool to an owner. An owner that already has one of this kind gets the same
 * value again (with the new @p pkey), and so does an owner whose value is in its cooldown.
 * @param mac  MAC of the VF; needed by a pool that derives values from it, else NULL.
 * @return 0; -ENOSPC the pool is exhausted; -EEXIST the derived value has another owner, whom the
 * message names; -EHOSTUNREACH the fleet's store cannot be reached and the reserve of this host is
 * empty; -ETIMEDOUT; -EINVAL no @p mac; -ENODATA the pool derives from a PF's GUID that is not
 * known.
 */
int vfctl_ids_take(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner, uint16_t pkey, const struct vfctl_mac *mac,
	struct vfctl_id *ret_id);
/**
 * Propose the value that vfctl_ids_take() would allocate now, without allocating it, for plans. The
 * first process that claims it gets it.
 * @param nth  0 for the first value that it would allocate, 1 for the next one, ...
 */
int vfctl_ids_propose(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner, const struct vfctl_mac *mac, unsigned nth,
	uint64_t *ret_value);
/**
 * Allocate exactly this value, whether it is in a pool or not. Succeeds if @p owner has it already.
 * @return 0; -EEXIST it has another owner, is quarantined, or is in the cooldown of another owner:
 * the message names the owner; -EINVAL it is not a valid identity; -EHOSTUNREACH.
 */
int vfctl_ids_claim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, uint16_t pkey, struct vfctl_id *ret_id);
/**
 * Check whether vfctl_ids_claim() would succeed, for dry runs.
 * @return 0, or as vfctl_ids_claim().
 */
int vfctl_ids_may_claim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner);
/**
 * Release a value.
 * @param owner   NULL: any owner; otherwise only if it belongs to this owner (host and device
 *                are not compared if they are empty).
 * @param unused  it was never written to a device, so it needs no cooldown.
 * @return 0, also if its cooldown has already begun; -ENOENT it has no owner; -EPERM it has another
 * owner.
 */
int vfctl_ids_release(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, bool unused);
/**
 * Quarantine a value that was found in use or in a domain's definition although it has no owner: it
 * is never allocated.
 * @param owner  NULL, or the domain whose definition names it: this domain may claim it.
 * @param note   where it was seen.
 * @return 1 it is now quarantined, 0 it was already known.
 */
int vfctl_ids_quarantine(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, const char *note);
/** Begin a list, ascending by kind and value. It is read step by step, not beforehand. */
int vfctl_ids_list(struct vfctl_ids *ids, const struct vfctl_id_filter *filter,
	struct vfctl_id_cursor **ret_cursor);
/** @return 1 and the next value; 0 if there are no more; a negative errno. */
int vfctl_ids_next(struct vfctl_id_cursor *cursor, struct vfctl_id *ret_id);
void vfctl_ids_list_end(struct vfctl_id_cursor *cursor);
DEFINE_FREEP(struct vfctl_id_cursor, vfctl_ids_list_end)

/**
 * The GUIDs with a P_Key as partitions.conf of opensm: ascending by P_Key, then GUID, so that the
 * same leases always give the same text. Partitions have their names from host.yaml, others are
 * "vfctl_0010". With a fleet's store the text covers the whole fleet.
 * @param pkey  only this partition (without its membership bit); 0: all.
 * @param ret_text  freed by the caller.
 */
int vfctl_ids_partitions(struct vfctl_ids *ids, uint16_t pkey, char **ret_text);

/**
 * Import the values of a vfctl export (JSON or CSV), or the GUIDs in the output of any tool
 * (ibhosts, ibnetdiscover, saquery: each is 0x and sixteen hex digits). Either all are imported or
 * none.
 * @param file  name for messages.
 * @param dry_run  change nothing.
 * @param ret_import  emptied with vfctl_id_import_clear().
 * @return 0; -EINVAL, -EILSEQ the text cannot be read; the message has the line; -EEXIST the value
 * of a row has another owner here, whom the message names; -E2BIG it is too long.
 */
int vfctl_ids_import(struct vfctl_ids *ids, const char *file, const char *text, size_t len,
	bool dry_run, struct vfctl_id_import *ret_import);
void vfctl_id_import_clear(struct vfctl_id_import *import);

#endif
