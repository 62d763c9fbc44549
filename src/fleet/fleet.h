/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FLEET_FLEET_H
#define VFCTL_FLEET_FLEET_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "types/hostspec.h"
#include "types/identity.h"

struct vfctl_ctx;
struct vfctl_ids;

/**
 * Functions for pools of a fleet only (host.yaml: `store: etcd`; docs/explanation/fleet.md). On
 * pools of a single host each of them returns -EOPNOTSUPP.
 *
 * Each call ends within etcd.timeout of host.yaml for each value or host that it concerns. Errors
 * besides those listed: -EHOSTUNREACH, -ETIMEDOUT etcd cannot be reached; -EACCES etcd rejects this
 * host; -EBADMSG the server is not etcd.
 */

struct vfctl_ids_sync {
	size_t pushed;	   /**< changes made here without etcd, now sent to it */
	size_t undone;	   /**< allocations that failed here but succeeded in etcd; released */
	size_t found;	   /**< this host's values in etcd that were unknown here */
	size_t restored;   /**< values known here but missing in etcd (a restored backup?): restored */
	size_t conflicts;  /**< values leased here, but missing in etcd or with another owner there */
	size_t set_aside;  /**< new values in this host's reserve */
	size_t expired;	   /**< values whose cooldown is over: now free */
	size_t hosts;	   /**< registered hosts, including this one */
	size_t hosts_gone; /**< hosts that did not report for longer than etcd.ttl */
	size_t orphans;	   /**< values of those hosts */
	size_t quarantined; /**< quarantined by this host */
	size_t pools_differ; /**< pools declared differently here and in the fleet: no values are
			          taken from them */
};

/**
 * Reconcile this host with the fleet: renew its registration, send the changes made while etcd was
 * unreachable, read the changes of other hosts, and fill the reserve. Run this every few minutes,
 * and much more often than etcd.ttl (vfctl-guid-sync.timer does).
 * @param adopt  the state file of this host was lost: take over the registration of this name in
 *               etcd and its values. Never do this if two hosts have the same name.
 * @return 0, also with conflicts; -EEXIST another machine is registered under this name.
 */
int vfctl_ids_sync(struct vfctl_ids *ids, bool adopt, struct vfctl_ids_sync *ret_sync);

/**
 * Whether a value is leased here while etcd has another owner or none: @p id->note describes it.
 */
bool vfctl_id_in_conflict(const struct vfctl_id *id);

/** The values of hosts that no longer report. @param ret_ids freed by the caller. */
int vfctl_ids_orphans(struct vfctl_ids *ids, struct vfctl_id **ret_ids, size_t *ret_count);

/**
 * Release a value of a lost host: its cooldown begins as after a normal release.
 * @param force  also from a host that still reports: it is informed at its next sync.
 * @return 0; -ENOENT it has no owner; -EBUSY its host reports; -EAGAIN it changed meanwhile.
 */
int vfctl_ids_reclaim(struct vfctl_ids *ids, enum vfctl_id_kind kind, uint64_t value,
	bool force, struct vfctl_id *ret_id);
/**
 * Remove a host that has no values left from the fleet.
 * @return 0; -ENOTEMPTY it still has values; -EBUSY it still reports; -ENOENT no such host.
 */
int vfctl_ids_forget_host(struct vfctl_ids *ids, const char *host, bool force);

/**
 * Publish this host's definitions of its pools as those of the fleet. Hosts with different
 * definitions get no values until their host.yaml agrees.
 * @return 0; -EINVAL an allocated value would be in no pool; the message names it.
 */
int vfctl_ids_publish(struct vfctl_ids *ids, bool dry_run, size_t *ret_changed);

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

#endif
