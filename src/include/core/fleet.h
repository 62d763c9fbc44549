/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_FLEET_H
#define VFCTL_CORE_FLEET_H

#include "core/identity.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * What only pools of a fleet have (host.yaml: `store: etcd`; docs/fleet.md). On pools of
 * one host each of these is -EOPNOTSUPP.
 *
 * Every call ends within etcd.timeout of host.yaml for each value or host it is about.
 * Besides what is named: -EHOSTUNREACH, -ETIMEDOUT etcd cannot be reached; -EACCES it
 * refuses us; -EBADMSG what answers is not etcd.
 */

struct vfctl_ids_sync {
	size_t pushed;	   /**< changes made here while etcd was away, now there */
	size_t undone;	   /**< takings that had failed here but not there, given back */
	size_t found;	   /**< this host's in etcd, not known here before */
	size_t restored;   /**< known here, lost there (a backup restored?): put back */
	size_t conflicts;  /**< leased here, but not (or to somebody else) there */
	size_t set_aside;  /**< new values in this host's block */
	size_t expired;	   /**< whose rest is over: free now */
	size_t hosts;	   /**< registered, this one too */
	size_t hosts_gone; /**< not heard of for longer than etcd.ttl */
	size_t orphans;	   /**< values of those */
	size_t quarantined; /**< by this host */
	size_t pools_differ; /**< declared here otherwise than in the fleet: nothing is taken from them */
};

/**
 * Reconcile this host with the fleet: renew its presence, tell what was done while etcd was
 * away, see what others did, fill the block. To be run every few minutes, and much more
 * often than etcd.ttl (vfctl-guid-sync.timer does).
 * @param adopt  this host's state file is lost: the registration of this name in etcd,
 *               and what it holds, are this host's. Never with two hosts of one name.
 * @return 0, also with conflicts; -EEXIST another machine is registered by this name.
 */
int vfctl_ids_sync(struct vfctl_ids *ids, bool adopt, struct vfctl_ids_sync *ret_sync);

/** Leased here, while etcd has it as somebody else's or nobody's: @p id->note says what. */
bool vfctl_id_in_conflict(const struct vfctl_id *id);

/** The values of hosts that are gone. @param ret_ids freed by the caller. */
int vfctl_ids_orphans(struct vfctl_ids *ids, struct vfctl_id **ret_ids, size_t *ret_count);

/**
 * Take a value from a host that is gone: it rests as after a release.
 * @param force  also from a host that is there: it finds out at its next sync.
 * @return 0; -ENOENT nobody has it; -EBUSY its host is there; -EAGAIN it changed meanwhile.
 */
int vfctl_ids_reclaim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	bool force, struct vfctl_id *ret_id);
/** Forget a host that has no values left. -ENOTEMPTY it has; -EBUSY it is there; -ENOENT. */
int vfctl_ids_forget_host(struct vfctl_ids *ids, const char *host, bool force);

/**
 * Make this host's definitions of its pools the fleet's. Hosts with others are refused
 * values until their host.yaml says the same.
 * @return 0; -EINVAL a value that is out would lie in none: which.
 */
int vfctl_ids_publish(struct vfctl_ids *ids, bool dry_run, size_t *ret_changed);

#ifdef __cplusplus
}
#endif
#endif
