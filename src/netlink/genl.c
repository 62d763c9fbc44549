// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/genl.h"

#include <libmnl/libmnl.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>

#define FAMILY_ROOM 48

struct nlmsghdr *genl_begin(struct nl_request *rq, uint16_t family, uint8_t command, uint16_t flags,
	size_t room)
{
	struct nlmsghdr *m = nl_begin(rq, family, flags, GENL_HDRLEN + room);
	struct genlmsghdr *g = m ? mnl_nlmsg_put_extra_header(m, sizeof(*g)) : NULL;

	if (g)
		*g = (struct genlmsghdr){.cmd = command, .version = 1};
	return m;
}

const struct genlmsghdr *genl_of(const struct nlmsghdr *m, uint16_t family)
{
	return m->nlmsg_type == family && mnl_nlmsg_get_payload_len(m) >= GENL_HDRLEN
		? mnl_nlmsg_get_payload(m) : NULL;
}

static uint16_t family_in(const struct buf *reply)
{
	const struct nlattr *attr;
	const struct nlmsghdr *m;
	size_t at = 0;

	while ((m = nl_next(reply, &at))) {
		if (!genl_of(m, GENL_ID_CTRL))
			continue;
		mnl_attr_for_each(attr, m, GENL_HDRLEN)
			if (mnl_attr_get_type(attr) == CTRL_ATTR_FAMILY_ID &&
				mnl_attr_get_payload_len(attr) >= sizeof(uint16_t))
				return mnl_attr_get_u16(attr);
	}
	return 0;
}

int genl_find_family(struct vfctl_ctx *ctx, const char *name, uint16_t *ret)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *m = genl_begin(&rq, GENL_ID_CTRL, CTRL_CMD_GETFAMILY, 0, FAMILY_ROOM);
	int r;

	if (!m)
		return ctx_oom(ctx);
	mnl_attr_put_strz(m, CTRL_ATTR_FAMILY_NAME, name);
	nl_end(&rq, m);
	r = nl_talk(ctx, NETLINK_GENERIC, &rq, &reply, &result);
	if (r == 0)
		*ret = result.error == 0 ? family_in(&reply) : 0;
	return r;
}
