/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_FDB_H
#define VFCTL_NETLINK_FDB_H

#include "netlink/nl.h"
#include "core/types.h"

/* An entry of a forwarding table: where a MAC is. */
struct nl_fdb_entry {
	int ifindex; /* the port, or the device whose own table it is */
	int master;  /* the bridge; 0: it is the device's own (bridge fdb: self) */
	bool local;  /* of a bridge's port: the port's own MAC */
	struct vfctl_mac mac;
};

struct nl_fdb {
	struct nl_fdb_entry *v;
	size_t count;
};

/* All tables of this network namespace: MACs of single stations alone. -EROFS on a capture. */
int nl_fdb_read(struct vfctl_ctx *ctx, struct nl_fdb *ret);
void nl_fdb_free(struct nl_fdb *fdb);

/*
 * Add a MAC to a device's own table, as bridge fdb add MAC dev DEVICE self permanent, or take it out.
 * One that is there, or is not, is fine. The kernel's words are in the context's.
 */
int nl_fdb_set(struct vfctl_ctx *ctx, int ifindex, const struct vfctl_mac *mac, bool there);

#endif
