/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_ETHTOOL_H
#define VFCTL_NETLINK_ETHTOOL_H

#include "netlink/nl.h"
#include "core/tuning.h"

/* The interrupt moderation of one network device. */
struct nl_coalesce {
	int ifindex;
	/*
	 * Of a read, out: those that the kernel answers with are those that the driver has (an
	 * attribute is there when the driver supports it, or it is not 0: net/ethtool/coalesce.c).
	 * Of a write, in: what is set; the others stay.
	 */
	struct vfctl_coalesce values;
	int error;	/* out */
	char text[160]; /* out: the kernel's words, or "" */
};

/*
 * Both ask for all rows in one datagram; the outcomes are in the rows. -EOPNOTSUPP there: the driver
 * has no interrupt moderation to set. @return 0 when the kernel answered; -EOPNOTSUPP it has no
 * ethtool netlink (before 5.7); -EROFS on a capture.
 */
int nl_coalesce_read(struct vfctl_ctx *ctx, struct nl_coalesce *rows, size_t count);
/* The kernel takes all of a row or refuses it, but a mode is set before values are. */
int nl_coalesce_write(struct vfctl_ctx *ctx, struct nl_coalesce *rows, size_t count);

#endif
