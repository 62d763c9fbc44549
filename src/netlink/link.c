// SPDX-License-Identifier: GPL-2.0-or-later
#include "netlink/link.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#ifndef IFLA_PROP_LIST
#define IFLA_PROP_LIST 52
#define IFLA_ALT_IFNAME 53
#endif
#ifndef IFLA_PERM_ADDRESS
#define IFLA_PERM_ADDRESS 54 /* Linux 5.6 */
#endif

#define REQUEST_ROOM 224

/* The kernel terminates its texts with a NUL; a capture need not. */
static char *text_of(const struct nlattr *attr)
{
	return strndup(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr));
}

static bool read_altnames(const struct nlattr *list, struct nl_link *link)
{
	size_t count = link->altnames ? strv_len(link->altnames) : 0;
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, list) {
		if (mnl_attr_get_type(attr) != IFLA_ALT_IFNAME)
			continue;
		if (!array_grow(link->altnames, count) || !array_grow(link->altnames, count + 1))
			return false;
		link->altnames[count] = text_of(attr);
		if (!link->altnames[count])
			return false;
		link->altnames[++count] = NULL;
	}
	return true;
}

static bool read_name(const struct nlattr *attr, struct nl_link *link)
{
	_free_ char *name = text_of(attr);

	if (name)
		str_copy(link->name, sizeof(link->name), name);
	return name != NULL;
}

static void read_mtu(const struct nlattr *attr, struct nl_link *link)
{
	const uint32_t *mtu = nl_payload(attr, sizeof(*mtu));

	if (mtu)
		link->mtu = *mtu;
}

static void read_index(const struct nlattr *attr, int *ret)
{
	const int32_t *index = nl_payload(attr, sizeof(*index));

	if (index)
		*ret = *index;
}

static void read_xdp(const struct nlattr *list, struct nl_link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, list) {
		const uint8_t *mode = nl_payload(attr, sizeof(*mode));

		if (mnl_attr_get_type(attr) == IFLA_XDP_ATTACHED && mode)
			link->xdp = *mode != XDP_ATTACHED_NONE;
	}
}

/* The index of a device in another namespace means nothing here. */
static void forget_foreign_lower(const struct nlmsghdr *m, struct nl_link *link)
{
	const struct nlattr *attr;

	mnl_attr_for_each(attr, m, sizeof(struct ifinfomsg))
		if (mnl_attr_get_type(attr) == IFLA_LINK_NETNSID)
			link->lower = 0;
}

/* The address of an IPoIB device is longer. */
static void read_address(const struct nlattr *attr, struct nl_link *link)
{
	size_t len = mnl_attr_get_payload_len(attr);

	if (len > sizeof(link->address))
		len = sizeof(link->address);
	memcpy(link->address, mnl_attr_get_payload(attr), len);
	link->address_len = (uint8_t)len;
}

bool nl_link_parse(const struct nlmsghdr *m, struct nl_link *link)
{
	const struct ifinfomsg *info = mnl_nlmsg_get_payload(m);
	const struct nlattr *attr;

	link->ifindex = info->ifi_index;
	link->type = info->ifi_type;
	link->up = info->ifi_flags & IFF_UP;
	link->carrier = info->ifi_flags & IFF_LOWER_UP;
	mnl_attr_for_each(attr, m, sizeof(*info)) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_IFNAME:
			if (!read_name(attr, link))
				return false;
			break;
		case IFLA_ADDRESS:
			read_address(attr, link);
			break;
		case IFLA_MTU:
			read_mtu(attr, link);
			break;
		case IFLA_MASTER:
			read_index(attr, &link->master);
			break;
		case IFLA_LINK:
			read_index(attr, &link->lower);
			break;
		case IFLA_XDP:
			read_xdp(attr, link);
			break;
		case IFLA_PERM_ADDRESS:
			nl_read_mac(attr, &link->permanent);
			break;
		case IFLA_PROP_LIST:
			if (!read_altnames(attr, link))
				return false;
			break;
		default:
			break;
		}
	}
	forget_foreign_lower(m, link);
	return true;
}

/* @name NULL: request all devices of this network namespace. */
static int ask_links(struct vfctl_ctx *ctx, const char *name, struct nl_links *ret_links)
{
	_cleanup_(nl_links_free) struct nl_links links = {0};
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *get = nl_begin(&rq, RTM_GETLINK, name ? 0 : NLM_F_DUMP, REQUEST_ROOM);
	const struct nlmsghdr *m;
	size_t at = 0;
	int r;

	if (!get)
		return ctx_oom(ctx);
	nl_put_getlink(get, 0, RTEXT_FILTER_SKIP_STATS);
	/* IFLA_IFNAME finds an alternative name too, but only one of its own length. */
	if (name)
		mnl_attr_put_strz(get, strlen(name) < NL_NAME ? IFLA_IFNAME : IFLA_ALT_IFNAME, name);
	nl_end(&rq, get);
	r = nl_talk(ctx, NETLINK_ROUTE, &rq, &reply, &result);
	if (r < 0 || result.error < 0)
		return r < 0 ? r : ctx_fail(ctx, result.error, "read network device%s%s: %s",
			name ? " " : "s", name ? name : "", strerror(-result.error));
	while ((m = nl_next(&reply, &at))) {
		if (!nl_is_link(m))
			continue;
		if (!array_grow(links.v, links.count))
			return ctx_oom(ctx);
		if (!nl_link_parse(m, &links.v[links.count++]))
			return ctx_oom(ctx);
	}
	*ret_links = steal(links);
	return 0;
}

int nl_links_read(struct vfctl_ctx *ctx, struct nl_links *ret_links)
{
	return ask_links(ctx, NULL, ret_links);
}

int nl_link_read(struct vfctl_ctx *ctx, const char *name, struct nl_links *ret_link)
{
	if (strlen(name) >= NL_ALTNAME)
		return -ENODEV;
	return ask_links(ctx, name, ret_link);
}

void nl_links_free(struct nl_links *links)
{
	for (size_t i = 0; i < links->count; i++)
		strv_free(links->v[i].altnames);
	free(links->v);
	*links = (struct nl_links){0};
}

int nl_link_set_master(struct vfctl_ctx *ctx, int ifindex, int master)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *m = nl_begin(&rq, RTM_SETLINK, 0, REQUEST_ROOM);
	struct ifinfomsg *info = m ? mnl_nlmsg_put_extra_header(m, sizeof(*info)) : NULL;
	int r;

	if (!info)
		return ctx_oom(ctx);
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = ifindex;
	mnl_attr_put_u32(m, IFLA_MASTER, (uint32_t)master);
	nl_end(&rq, m);
	r = nl_talk(ctx, NETLINK_ROUTE, &rq, &reply, &result);
	if (r < 0 || result.error == 0)
		return r;
	return ctx_fail(ctx, result.error, "the kernel rejected it: %s (%s)",
		result.text[0] ? result.text : strerror(-result.error), errno_name(result.error));
}
