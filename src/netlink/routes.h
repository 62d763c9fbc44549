/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_ROUTES_H
#define VFCTL_NETLINK_ROUTES_H

#include "base/ctx.h"

/*
 * The routes of the main table, IPv4 and IPv6, in this network namespace, from /proc/net, which all
 * users can read.
 */
struct route {
	uint8_t prefix[16]; /* in network byte order; for IPv4 the first 4 bytes */
	unsigned bits;	    /* 0: the default route */
	bool ipv6;
	char netdev[16];
};

struct routes {
	struct route *v;
	size_t count;
};

/*
 * Absent files give no routes.
 * @return 0; -ENOMEM.
 */
int routes_read(struct vfctl_ctx *ctx, struct routes *ret);
void routes_clear(struct routes *routes);

/*
 * List a network device and everything on top of it: its VLANs, its bond or bridge, and what is on
 * top of those. The device itself comes first; the caller frees the list.
 */
int routes_devices(struct vfctl_ctx *ctx, const char *netdev, char ***ret_names);
/*
 * The first of @names with a route; NULL if there is none. With @default_only only default routes
 * count.
 */
const char *routes_through(const struct routes *routes, char *const *names, bool default_only);

/*
 * Find a TCP connection of this host through one of @names, by the address of its peer or its own:
 * the device, and the connection's port on this host.
 * @return 1; 0 if there is none; -ENOMEM.
 */
int routes_connection(struct vfctl_ctx *ctx, const struct routes *routes, char *const *names,
	const char **ret_name, unsigned *ret_port);

#endif
