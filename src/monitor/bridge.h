/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MONITOR_BRIDGE_H
#define VFCTL_MONITOR_BRIDGE_H

struct vfctl_ctx;

/** What vfctl_bridge_follow() did with the table of an uplink. */
struct vfctl_bridge_event {
	/**
	 * "added"; "removed"; "left out": it may not be added, or the table is full; "failed". The
	 * first is "watching", without the other members: from then on no change is missed.
	 */
	const char *what;
	const char *uplink; /**< "ens1", "ens1/3" */
	const char *mac;
	const char *port;   /**< port of the bridge or device of the host; "" if it is not known */
	const char *why;    /**< "guest", "learnt", "host", "declared", or a reason */
};

/**
 * Keep the MACs behind the bridges of this host in the tables of the cards, for the PFs with
 * bridge: in host.yaml, until @p stop_fd becomes readable. It follows the kernel's messages: it
 * uses no CPU time in between, and of one MAC the time does not depend on the number of the others.
 * Entries stay while their port belongs to the bridge, however long the station is silent; if the
 * table is full, the longest silent one makes room. Only what it added is removed: at the end, and
 * by the next run after it was killed (the record is /run/vfctl/bridge). A change of host.yaml
 * takes effect at once; while it cannot be read, or is absent, the last one stays in effect.
 * @param host_yaml  see vfctl_host_spec_read().
 * @param tell  called for each event; may be NULL.
 * @return 0 @p stop_fd ended it; -EBUSY it runs already; -ENOENT no PF has bridge:; -EOPNOTSUPP a
 * captured host; errors of the first reading of host.yaml and of the host.
 */
int vfctl_bridge_follow(struct vfctl_ctx *ctx, const char *host_yaml, int stop_fd,
	void (*tell)(void *data, const struct vfctl_bridge_event *event), void *data);

#endif
