/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_ETHTOOL_H
#define VFCTL_NETLINK_ETHTOOL_H

#include "netlink/nl.h"
#include "types/tuning.h"

/* The interrupt moderation of one network device. */
struct nl_coalesce {
	int ifindex;
	/*
	 * Result of a read: the settings that the driver has (the kernel includes an attribute if
	 * the driver supports it or if it is not 0: net/ethtool/coalesce.c). Input of a write: the
	 * settings to change.
	 */
	struct vfctl_coalesce values;
	int error;	/* out */
	char text[160]; /* result: the kernel's message, or "" */
};

/*
 * Both calls send all rows in one datagram; the results are in the rows. -EOPNOTSUPP in a row: the
 * driver has no interrupt moderation. @return 0 if the kernel answered; -EOPNOTSUPP it has no
 * ethtool netlink (before 5.7); -EROFS on a capture.
 */
int nl_coalesce_read(struct vfctl_ctx *ctx, struct nl_coalesce *rows, size_t count);
/*
 * The kernel accepts or rejects a row as a whole, but it sets a mode before it checks the values.
 */
int nl_coalesce_write(struct vfctl_ctx *ctx, struct nl_coalesce *rows, size_t count);

#endif
