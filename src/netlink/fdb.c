// SPDX-License-Identifier: GPL-2.0-or-later
/* Forwarding tables of bridges and of cards: RTM_GETNEIGH and related messages for AF_BRIDGE. */
#include "netlink/fdb.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/neighbour.h>
#include <linux/rtnetlink.h>
#include <sys/socket.h>

#define ROOM 64

bool nl_fdb_entry_read(const struct nlmsghdr *m, struct nl_fdb_entry *ret)
{
	const struct ndmsg *nd = mnl_nlmsg_get_payload(m);
	struct nl_fdb_entry e = {.ifindex = 0};
	const struct nlattr *attr;
	bool found = false;

	if ((m->nlmsg_type != RTM_NEWNEIGH && m->nlmsg_type != RTM_DELNEIGH) ||
		mnl_nlmsg_get_payload_len(m) < sizeof(*nd) || nd->ndm_family != AF_BRIDGE)
		return false;
	e.ifindex = nd->ndm_ifindex;
	e.local = nd->ndm_state & NUD_PERMANENT;
	mnl_attr_for_each(attr, m, sizeof(*nd)) {
		size_t len = mnl_attr_get_payload_len(attr);

		if (mnl_attr_get_type(attr) == NDA_LLADDR && len == sizeof(e.mac.byte)) {
			memcpy(e.mac.byte, mnl_attr_get_payload(attr), len);
			found = true;
		} else if (mnl_attr_get_type(attr) == NDA_MASTER && len >= sizeof(uint32_t) &&
			!(nd->ndm_flags & NTF_SELF)) {
			e.master = (int)mnl_attr_get_u32(attr);
		}
	}
	/* Group addresses are not stations. */
	if (!found || e.mac.byte[0] & 1)
		return false;
	*ret = e;
	return true;
}

int nl_fdb_read(struct vfctl_ctx *ctx, struct nl_fdb *ret)
{
	_cleanup_(nl_fdb_free) struct nl_fdb fdb = {0};
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *dump = nl_begin(&rq, RTM_GETNEIGH, NLM_F_DUMP, ROOM);
	const struct nlmsghdr *m;
	struct nl_fdb_entry e;
	size_t at = 0;
	int r;

	if (!dump)
		return ctx_oom(ctx);
	((struct ndmsg *)mnl_nlmsg_put_extra_header(dump, sizeof(struct ndmsg)))->ndm_family = AF_BRIDGE;
	nl_end(&rq, dump);
	r = nl_talk(ctx, NETLINK_ROUTE, &rq, &reply, &result);
	if (r < 0 || result.error < 0)
		return r < 0 ? r : ctx_fail(ctx, result.error, "read the forwarding tables: %s",
			strerror(-result.error));
	while ((m = nl_next(&reply, &at))) {
		if (!nl_fdb_entry_read(m, &e))
			continue;
		if (!array_grow(fdb.v, fdb.count))
			return ctx_oom(ctx);
		fdb.v[fdb.count++] = e;
	}
	*ret = steal(fdb);
	return 0;
}

void nl_fdb_free(struct nl_fdb *fdb)
{
	free(fdb->v);
	*fdb = (struct nl_fdb){0};
}

int nl_fdb_set(struct vfctl_ctx *ctx, int ifindex, const struct vfctl_mac *mac, bool there)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *m = nl_begin(&rq, there ? RTM_NEWNEIGH : RTM_DELNEIGH,
		there ? NLM_F_CREATE : 0, ROOM);
	struct ndmsg *nd = m ? mnl_nlmsg_put_extra_header(m, sizeof(*nd)) : NULL;
	char text[VFCTL_MAC_TEXT];
	int r;

	if (!nd)
		return ctx_oom(ctx);
	*nd = (struct ndmsg){.ndm_family = AF_BRIDGE, .ndm_ifindex = ifindex, .ndm_flags = NTF_SELF,
		.ndm_state = NUD_PERMANENT | NUD_NOARP};
	mnl_attr_put(m, NDA_LLADDR, sizeof(mac->byte), mac->byte);
	nl_end(&rq, m);
	r = nl_talk(ctx, NETLINK_ROUTE, &rq, &reply, &result);
	if (r < 0 || result.error == 0 || result.error == (there ? -EEXIST : -ENOENT))
		return r;
	return ctx_fail(ctx, result.error, "%s %s %s the card's own forwarding table: %s",
		there ? "add" : "take", vfctl_mac_format(mac, text), there ? "to" : "out of",
		result.text[0] ? result.text : strerror(-result.error));
}
