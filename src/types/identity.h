/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_IDENTITY_H
#define VFCTL_TYPES_IDENTITY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"

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
	int64_t until;	/**< end of the cooldown; 0: no cooldown */
	bool pending;	/**< changed here while the fleet's store could not be reached */
	char note[VFCTL_ID_NOTE_MAX + 1]; /**< for QUARANTINED: where it was found */
};

#define VFCTL_ID_TEXT VFCTL_GUID_TEXT
/** Print a value of that kind in its canonical form. Returns @p buf. */
char *vfctl_id_format(enum vfctl_id_kind kind, uint64_t value, char buf[VFCTL_ID_TEXT]);

/** The open pools of this host. Used by one thread; closed with vfctl_ids_close(). */
struct vfctl_ids;

struct vfctl_id_stats {
	uint64_t size; /**< 0 for a pool without ranges; a pool of all GUIDs: 2^63 - 1 */
	uint64_t leased, block, resting, quarantined, free;
};

/** Which values to list; zero-initialised: all. */
struct vfctl_id_filter {
	const char *pool;	 /**< NULL: any */
	const char *domain_uuid; /**< NULL: any */
	const char *host;	 /**< NULL: any (of the whole fleet if @p fleet is set) */
	unsigned states;	 /**< bits 1 << VFCTL_ID_..., 0: any */
	bool fleet;		 /**< list the fleet's store, not this host's copy */
};

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

#endif
