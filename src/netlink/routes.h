/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_ROUTES_H
#define VFCTL_NETLINK_ROUTES_H

#include "base/ctx.h"

/* Of the main table, IPv4 and IPv6, in this network namespace: what /proc/net tells everybody. */
struct route {
	uint8_t prefix[16]; /* in network order; of IPv4 the first 4 bytes */
	unsigned bits;	    /* 0: the default route */
	bool ipv6;
	char netdev[16];
};

struct routes {
	struct route *v;
	size_t count;
};

/* What is not there gives none. @return 0; -ENOMEM. */
int routes_read(struct vfctl_ctx *ctx, struct routes *ret);
void routes_clear(struct routes *routes);

/*
 * A network device, and all that stands on it: its VLANs, the bond or bridge that it is a port of, what
 * stands on those. The device itself comes first; the caller frees the list.
 */
int routes_devices(struct vfctl_ctx *ctx, const char *netdev, char ***ret_names);
/* The first of @names that a route goes through; NULL: none. With @default_only a default route. */
const char *routes_through(const struct routes *routes, char *const *names, bool default_only);

/*
 * A TCP connection of this host that goes through one of @names, be it by its peer's address or by its
 * own: which, and its port on this host. @return 1; 0 there is none; -ENOMEM.
 */
int routes_connection(struct vfctl_ctx *ctx, const struct routes *routes, char *const *names,
	const char **ret_name, unsigned *ret_port);

#endif
