/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_GENL_H
#define VFCTL_NETLINK_GENL_H

#include "netlink/nl.h"

struct genlmsghdr;

/*
 * Begin a message for a command of a generic netlink family, like nl_begin(); @room is for its
 * attributes. NULL if memory is exhausted.
 */
struct nlmsghdr *genl_begin(struct nl_request *rq, uint16_t family, uint8_t command, uint16_t flags,
	size_t room);
/* The header of a message of that family; NULL: it belongs to another family, or is too short. */
const struct genlmsghdr *genl_of(const struct nlmsghdr *m, uint16_t family);

/*
 * Find the number of the family on this kernel. @ret: 0 if there is no such family.
 * @return 0; or an error of nl_talk().
 */
int genl_find_family(struct vfctl_ctx *ctx, const char *name, uint16_t *ret);

#endif
