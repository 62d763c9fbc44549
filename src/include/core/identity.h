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
 * Pools of identities: GUIDs and MACs that are handed out once, to one owner, on one host
 * or in a whole fleet. A value is a number: of a GUID all 64 bits, of a MAC the low 48.
 */
enum vfctl_id_kind { VFCTL_ID_GUID, VFCTL_ID_MAC };

enum vfctl_id_strategy {
	VFCTL_ID_LOWEST, /**< the lowest free value */
	/** Where a hash of the owner points, so that the same owner gets the same value
	 * again, also from a pool that has been lost; else the next free one above. */
	VFCTL_ID_HASH,
};

/** How a pool's values come about. */
enum vfctl_id_source {
	VFCTL_ID_SOURCE_RANGES, /**< given */
	/** From a PF's own GUID (EUI-64): its OUI with the local bit, its last three bytes,
	 * and a 16-bit number. */
	VFCTL_ID_SOURCE_HOST,
	/** From the VF's MAC as OpenStack does: aa:bb:cc:00:00:dd:ee:ff. */
	VFCTL_ID_SOURCE_MAC,
};

struct vfctl_id_range {
	uint64_t first, last; /**< both belong to it */
};

#define VFCTL_ID_NAME_MAX 32
#define VFCTL_ID_NOTE_MAX 127

struct vfctl_id_pool {
	char name[VFCTL_ID_NAME_MAX + 1]; /**< letters, digits, '-', '_', '.' */
	enum vfctl_id_kind kind;
	enum vfctl_id_strategy strategy;
	enum vfctl_id_source source;
	uint32_t rest_s; /**< seconds that a released value waits before it is given again */
	/** Ascending, apart from each other, without a value that is no identity. */
	struct vfctl_id_range *ranges;
	/** 0 for VFCTL_ID_SOURCE_MAC, and for VFCTL_ID_SOURCE_HOST while the PF's GUID is
	 * not known, see vfctl_host_spec_set_pf_guid(). */
	size_t range_count;
};

/** Who holds a value. Strings may be empty where noted. */
struct vfctl_id_owner {
	char host[65];		/**< name of the host, see vfctl_host_spec */
	char domain_uuid[37];	/**< ""; the host's own VF */
	char domain_name[201];	/**< for words only */
	char device[65];	/**< of a domain: "vf0", "vf1", ..; of a host "BDF/INDEX" */
};

enum vfctl_id_state {
	VFCTL_ID_LEASED,      /**< somebody's */
	VFCTL_ID_BLOCK,	      /**< set aside for the host, to be served without the fleet */
	VFCTL_ID_RESTING,     /**< released; free again at @until */
	VFCTL_ID_QUARANTINED, /**< seen live but nobody's: never handed out */
};

struct vfctl_id {
	enum vfctl_id_kind kind;
	uint64_t value;
	char pool[VFCTL_ID_NAME_MAX + 1]; /**< "": in none */
	enum vfctl_id_state state;
	struct vfctl_id_owner owner; /**< of RESTING the last one */
	uint16_t pkey;	/**< 0: none; else as on the wire, bit 15 set: full member */
	int64_t since;	/**< seconds since 1970-01-01 UTC */
	int64_t until;	/**< end of the rest; 0 */
	bool pending;	/**< changed here while the fleet's store could not be reached */
	char note[VFCTL_ID_NOTE_MAX + 1]; /**< of QUARANTINED: where it was seen */
};

/** "lowest", "hash"; "ranges", "host", "mac"; "leased", "block", "resting",
 * "quarantined"; "guid", "mac". */
const char *vfctl_id_strategy_name(enum vfctl_id_strategy strategy);
const char *vfctl_id_source_name(enum vfctl_id_source source);
const char *vfctl_id_state_name(enum vfctl_id_state state);
const char *vfctl_id_kind_name(enum vfctl_id_kind kind);

#define VFCTL_ID_TEXT VFCTL_GUID_TEXT
/** The one spelling of a value of that kind. Returns @p buf. */
char *vfctl_id_format(enum vfctl_id_kind kind, uint64_t value, char buf[VFCTL_ID_TEXT]);
/** The GUID that OpenStack derives from a MAC: aa:bb:cc:00:00:dd:ee:ff. */
uint64_t vfctl_guid_from_mac(const struct vfctl_mac *mac);

struct vfctl_host_spec;

/** The open pools of this host. Used by one thread; closed with vfctl_ids_close(). */
struct vfctl_ids;

/**
 * Open the pools that @p spec declares, on the store it names (SQLite in the context's
 * state file, or etcd).
 * @param spec   outlives the result; see vfctl_host_spec_read().
 * @param write  false: only look; nothing is created, and pools that host.yaml declares
 *               otherwise than they were are refused by the next one that writes.
 * @return 0; -EINVAL pools that contradict each other or what is leased from them (overlap,
 * or shrunk below what they have out: the words name the first value); -EACCES.
 * A fleet store that cannot be reached is no failure here.
 */
int vfctl_ids_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	struct vfctl_ids **ret_ids);
void vfctl_ids_close(struct vfctl_ids *ids);
DEFINE_FREEP(struct vfctl_ids, vfctl_ids_close)

/** The spec it was opened with. */
const struct vfctl_host_spec *vfctl_ids_spec(const struct vfctl_ids *ids);
/** The pool by name; NULL name: the first of that kind. NULL when there is none. */
const struct vfctl_id_pool *vfctl_ids_pool(const struct vfctl_ids *ids,
	enum vfctl_id_kind kind, const char *name);

/** The pool whose ranges hold the value, or NULL. */
const struct vfctl_id_pool *vfctl_ids_pool_of(const struct vfctl_ids *ids,
	enum vfctl_id_kind kind, uint64_t value);
/**
 * Pools that host.yaml declares no more but that have values out still: only their names
 * and kinds are known. Owned by @p ids.
 */
const struct vfctl_id_pool *vfctl_ids_lost(const struct vfctl_ids *ids, size_t *ret_count);

/**
 * Several changes as one: until vfctl_ids_end() nothing is seen by others, and @p keep
 * false undoes them. The fleet's store cannot do that: there each change is seen at once,
 * and undoing gives back what was taken.
 */
int vfctl_ids_begin(struct vfctl_ids *ids);
int vfctl_ids_end(struct vfctl_ids *ids, bool keep);

struct vfctl_id_stats {
	uint64_t size; /**< 0 of a pool without ranges; all GUIDs there are: 2^63 - 1 */
	uint64_t leased, block, resting, quarantined, free;
};
int vfctl_ids_stats(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	struct vfctl_id_stats *ret_stats);

/** Look a value up. -ENOENT: nobody has it. */
int vfctl_ids_find(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	struct vfctl_id *ret_id);

/**
 * Take a value from a pool for an owner. An owner that has one of this kind already gets
 * the same again (with the new @p pkey), and so does one whose value rests still.
 * @param mac  of the VF; needed by a pool that derives from it, else NULL.
 * @return 0; -ENOSPC the pool is exhausted; -EEXIST the derived value is another's, with
 * the holder's name; -EHOSTUNREACH the fleet's store cannot be reached and no block is
 * left here; -ETIMEDOUT; -EINVAL no @p mac; -ENODATA the pool derives from a PF's GUID that
 * is not known.
 */
int vfctl_ids_take(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner, uint16_t pkey, const struct vfctl_mac *mac,
	struct vfctl_id *ret_id);
/**
 * What vfctl_ids_take() would give now, without taking it: for plans. Whoever claims it first
 * has it.
 * @param nth  0 the first value it would give, 1 the one after, ...
 */
int vfctl_ids_propose(struct vfctl_ids *ids, const struct vfctl_id_pool *pool,
	const struct vfctl_id_owner *owner, const struct vfctl_mac *mac, unsigned nth,
	uint64_t *ret_value);
/**
 * Take this very value, in a pool or not. Fine when @p owner has it already.
 * @return 0; -EEXIST it is another's, quarantined or resting for another: the words say
 * whose; -EINVAL it is no identity; -EHOSTUNREACH.
 */
int vfctl_ids_claim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, uint16_t pkey, struct vfctl_id *ret_id);
/**
 * Would vfctl_ids_claim() succeed? For dry runs.
 * @return 0, or as vfctl_ids_claim().
 */
int vfctl_ids_may_claim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner);
/**
 * Give a value back.
 * @param owner   NULL: whoever has it; otherwise only if it is that one's (host and device
 *                are not compared when they are empty).
 * @param unused  it was never written to a device, so it need not rest.
 * @return 0, also for a value that is resting already; -ENOENT nobody has it; -EPERM it is
 * another's.
 */
int vfctl_ids_release(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, bool unused);
/**
 * A value that was seen, live or in a domain's definition, although nobody has it: never hand it out.
 * @param owner  NULL, or the domain whose definition names it: that one may claim it.
 * @param note   where it was seen.
 * @return 1 it is quarantined now, 0 it was known already.
 */
int vfctl_ids_quarantine(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	const struct vfctl_id_owner *owner, const char *note);

/** What to list; zero-initialised: all. */
struct vfctl_id_filter {
	const char *pool;	 /**< NULL any */
	const char *domain_uuid; /**< NULL any */
	const char *host;	 /**< NULL any (of the whole fleet when @p fleet is set) */
	unsigned states;	 /**< bits 1 << VFCTL_ID_..., 0 any */
	bool fleet;		 /**< ask the fleet's store, not what is known here */
};
struct vfctl_id_cursor;
/** Begin a list, ascending by kind and value; it is read as it is walked, not before. */
int vfctl_ids_list(struct vfctl_ids *ids, const struct vfctl_id_filter *filter,
	struct vfctl_id_cursor **ret_cursor);
/** @return 1 and the next; 0 no more; a negative errno. */
int vfctl_ids_next(struct vfctl_id_cursor *cursor, struct vfctl_id *ret_id);
void vfctl_ids_list_end(struct vfctl_id_cursor *cursor);
DEFINE_FREEP(struct vfctl_id_cursor, vfctl_ids_list_end)

/**
 * The GUIDs with a P_Key as partitions.conf of opensm: ascending by P_Key, then GUID, so
 * that the same leases always give the same text. Partitions are named as host.yaml
 * declares them, others "vfctl_0010". With a fleet's store: those of the whole fleet.
 * @param pkey  only this partition (without its membership bit); 0 all.
 * @param ret_text  freed by the caller.
 */
int vfctl_ids_partitions(struct vfctl_ids *ids, uint16_t pkey, char **ret_text);

/** What an import found. */
struct vfctl_id_import {
	size_t found;	    /**< values in the text, each counted once */
	size_t known;	    /**< somebody's already, or resting, or quarantined */
	size_t elsewhere;   /**< in none of our pools, without an owner: left alone */
	size_t restored;    /**< leased again to the owners that the rows name */
	size_t quarantined; /**< in a pool, but nobody's */
	struct vfctl_id *changed; /**< the restored and the quarantined */
	size_t changed_count;
};
/** Bytes of a text that vfctl_ids_import() takes, at most. It takes a million identities. */
#define VFCTL_ID_IMPORT_MAX (256u << 20)

/**
 * Take in what another export of ours says (JSON or CSV), or the GUIDs in the output of any
 * tool (ibhosts, ibnetdiscover, saquery: each 0x and sixteen hex digits). All or nothing.
 * @param file  name for the words.
 * @param dry_run  only look.
 * @param ret_import  emptied with vfctl_id_import_clear().
 * @return 0; -EINVAL, -EILSEQ what cannot be read, with its line; -EEXIST a row's value is
 * another's here: who has it; -E2BIG.
 */
int vfctl_ids_import(struct vfctl_ids *ids, const char *file, const char *text, size_t len,
	bool dry_run, struct vfctl_id_import *ret_import);
void vfctl_id_import_clear(struct vfctl_id_import *import);

#ifdef __cplusplus
}
#endif
#endif
