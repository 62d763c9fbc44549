/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_IDENTITY_H
#define VFCTL_CORE_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/context.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Pools of identities: GUIDs and MACs, each given to only one owner on one host or in a whole
 * fleet. A value is a number: all 64 bits of a GUID, the low 48 bits of a MAC.
 */
enum vfctl_id_kind { VFCTL_ID_GUID, VFCTL_ID_MAC };

enum vfctl_id_strategy {
	VFCTL_ID_LOWEST, /**< the lowest free value */
	/**
	 * The value that a hash of the owner selects, or else the next free one above it. So the
	 * same owner gets the same value again, even from a pool that was lost.
	 */
	VFCTL_ID_HASH,
};

/** The source of a pool's values. */
enum vfctl_id_source {
	VFCTL_ID_SOURCE_RANGES, /**< stated ranges */
	/** From a PF's own GUID (EUI-64): its OUI with the local bit, its last three bytes,
	 * and a 16-bit number. */
	VFCTL_ID_SOURCE_HOST,
	/** From the VF's MAC, as OpenStack does: aa:bb:cc:00:00:dd:ee:ff. */
	VFCTL_ID_SOURCE_MAC,
};

struct vfctl_id_range {
	uint64_t first, last; /**< both included */
};

#define VFCTL_ID_NAME_MAX 32
#define VFCTL_ID_NOTE_MAX 127

struct vfctl_id_pool {
	char name[VFCTL_ID_NAME_MAX + 1]; /**< letters, digits, '-', '_', '.' */
	enum vfctl_id_kind kind;
	enum vfctl_id_strategy strategy;
	enum vfctl_id_source source;
	uint32_t rest_s; /**< cooldown, seconds: how long a released value stays unused */
	/** Ascending, without overlaps, and without values that are not valid identities. */
	struct vfctl_id_range *ranges;
	/** 0 for VFCTL_ID_SOURCE_MAC, and for VFCTL_ID_SOURCE_HOST while the PF's GUID is
	 * not known, see vfctl_host_spec_set_pf_guid(). */
	size_t range_count;
};

/** The owner of a value. Strings may be empty where noted. */
struct vfctl_id_owner {
	char host[65];		/**< name of the host, see vfctl_host_spec */
	char domain_uuid[37];	/**< "" for a VF of the host itself */
	char domain_name[201];	/**< only for messages */
	char device[65];	/**< of a domain "vf0", "vf1", ...; of a host "BDF/INDEX" */
};
/** For messages: the domain's name, else its UUID, else the host. */
static inline const char *vfctl_id_owner_name(const struct vfctl_id_owner *owner)
{
	if (owner->domain_name[0])
		return owner->domain_name;
	return owner->domain_uuid[0] ? owner->domain_uuid : owner->host;
}

enum vfctl_id_state {
	VFCTL_ID_LEASED,      /**< it has an owner */
	VFCTL_ID_BLOCK,	      /**< in the reserve of the host, for use without etcd */
	VFCTL_ID_RESTING,     /**< released, in its cooldown; free again at @until */
	VFCTL_ID_QUARANTINED, /**< found in use without an owner: never allocated */
};

struct vfctl_id {
	enum vfctl_id_kind kind;
	uint64_t value;
	char pool[VFCTL_ID_NAME_MAX + 1]; /**< "" if it is in no pool */
	enum vfctl_id_state state;
	struct vfctl_id_owner owner; /**< the last owner if RESTING */
	uint16_t pkey;	/**< 0 if none; else as on the wire, bit 15 set for a full member */
	int64_t since;	/**< seconds since 1970-01-01 UTC */
	int64_t until;	/**< end of the cooldown; 0 if there is none */
	bool pending;	/**< changed here while the fleet's store could not be reached */
	char note[VFCTL_ID_NOTE_MAX + 1]; /**< for QUARANTINED: where it was found */
};

/** "lowest", "hash"; "ranges", "host", "mac"; "leased", "block", "resting",
 * "quarantined"; "guid", "mac". */
const char *vfctl_id_strategy_name(enum vfctl_id_strategy strategy);
const char *vfctl_id_source_name(enum vfctl_id_source source);
const char *vfctl_id_state_name(enum vfctl_id_state state);
const char *vfctl_id_kind_name(enum vfctl_id_kind kind);

#define VFCTL_ID_TEXT VFCTL_GUID_TEXT
/** Print a value of that kind in its canonical form. Returns @p buf. */
char *vfctl_id_format(enum vfctl_id_kind kind, uint64_t value, char buf[VFCTL_ID_TEXT]);
/** The GUID that OpenStack derives from a MAC: aa:bb:cc:00:00:dd:ee:ff. */
uint64_t vfctl_guid_from_mac(const struct vfctl_mac *mac);

struct vfctl_host_spec;

/** The open pools of this host. Used by one thread; closed with vfctl_ids_close(). */
struct vfctl_ids;

/**
 * Open the pools that @p spec declares, in the store that it names (SQLite in the context's state
 * file, or etcd).
 * @param spec   must outlive the result; see vfctl_host_spec_read().
 * @param write  false: read only; nothing is created, and the next writer refuses
 *               changes of pools in host.yaml that are not permitted.
 * @return 0; -EINVAL the pools overlap, or no longer include their leased values (the message names
 * the first one); -EACCES. An unreachable fleet store is not a failure here.
 */
int vfctl_ids_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	struct vfctl_ids **ret_ids);
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

struct vfctl_id_stats {
	uint64_t size; /**< 0 for a pool without ranges; a pool of all GUIDs: 2^63 - 1 */
	uint64_t leased, block, resting, quarantined, free;
};
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

/** Which values to list; zero-initialised: all. */
struct vfctl_id_filter {
	const char *pool;	 /**< NULL: any */
	const char *domain_uuid; /**< NULL: any */
	const char *host;	 /**< NULL: any (of the whole fleet if @p fleet is set) */
	unsigned states;	 /**< bits 1 << VFCTL_ID_..., 0: any */
	bool fleet;		 /**< list the fleet's store, not this host's copy */
};
struct vfctl_id_cursor;
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

/** The result of an import. */
struct vfctl_id_import {
	size_t found;	    /**< values in the text, each counted once */
	size_t known;	    /**< values that have an owner, are in cooldown, or are quarantined */
	size_t elsewhere;   /**< values without an owner that are in no pool: ignored */
	size_t restored;    /**< values leased again to the owners in the rows */
	size_t quarantined; /**< values of pools without an owner */
	struct vfctl_id *changed; /**< all values that were restored or quarantined */
	size_t changed_count;
};
/** Largest text that vfctl_ids_import() reads, in bytes: enough for a million identities. */
#define VFCTL_ID_IMPORT_MAX (256u << 20)

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

#ifdef __cplusplus
}
#endif
#endif
