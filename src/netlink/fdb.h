/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_FDB_H
#define VFCTL_NETLINK_FDB_H

#include "netlink/nl.h"

/* An entry of a forwarding table: a MAC and its port. */
struct nl_fdb_entry {
	int ifindex; /* the port, or the device with its own table */
	int master;  /* the bridge; 0: the device's own table (bridge fdb: self) */
	bool local;  /* for a port of a bridge: its own MAC */
	struct vfctl_mac mac;
};

struct nl_fdb {
	struct nl_fdb_entry *v;
	size_t count;
};

/*
 * The entry that a message reports, also of one that was removed (RTM_DELNEIGH); false: the message
 * is about something else, or a group address.
 */
bool nl_fdb_entry_read(const struct nlmsghdr *m, struct nl_fdb_entry *ret);
/* Read all tables of this network namespace, without group addresses. -EROFS on a capture. */
int nl_fdb_read(struct vfctl_ctx *ctx, struct nl_fdb *ret);
void nl_fdb_free(struct nl_fdb *fdb);

/*
 * Add a MAC to a device's own table, like bridge fdb add MAC dev DEVICE self permanent, or remove
 * it. It is not an error if nothing changes. The context's message contains the kernel's.
 */
int nl_fdb_set(struct vfctl_ctx *ctx, int ifindex, const struct vfctl_mac *mac, bool there);

#endif
