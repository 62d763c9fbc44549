/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_GENL_H
#define VFCTL_NETLINK_GENL_H

#include "netlink/nl.h"

struct genlmsghdr;

/* nl_begin() of a generic netlink family's command; @room is for its attributes. NULL: out of memory. */
struct nlmsghdr *genl_begin(struct nl_request *rq, uint16_t family, uint8_t command, uint16_t flags,
	size_t room);
/* The header of a message of that family; NULL: it is another's, or too short. */
const struct genlmsghdr *genl_of(const struct nlmsghdr *m, uint16_t family);

/*
 * Which number the family has on this kernel. @ret: 0 when it has none of that name. @return 0; what
 * nl_talk() returns.
 */
int genl_find_family(struct vfctl_ctx *ctx, const char *name, uint16_t *ret);

#endif
