// SPDX-License-Identifier: GPL-2.0-or-later
/* The VFs of a PF's network device: IFLA_VFINFO_LIST, read and written. */
#include "netlink/link.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>

#ifndef IFLA_PERM_ADDRESS
#define IFLA_PERM_ADDRESS 54 /* Linux 5.6 */
#endif

#define REQUEST_ROOM 224

/* ---- reading ---- */

static void read_vlan_list(const struct nlattr *list, struct vfctl_vf_attrs *a)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, list) {
		const struct ifla_vf_vlan_info *info = nl_payload(attr, sizeof(*info));

		if (!info || mnl_attr_get_type(attr) != IFLA_VF_VLAN_INFO)
			continue;
		a->vlan = (uint16_t)info->vlan;
		a->qos = (uint8_t)info->qos;
		a->proto = info->vlan_proto ? __builtin_bswap16(info->vlan_proto)
					    : VFCTL_VLAN_8021Q;
		a->mask |= VFCTL_ATTR_VLAN;
	}
}

/* Switches: struct ifla_vf_spoofchk, _trust and _rss_query_en have the same two members. */
static const struct {
	uint16_t type;
	uint32_t bit;
	size_t member; /* a bool */
} settings[] = {
	{IFLA_VF_SPOOFCHK, VFCTL_ATTR_SPOOFCHK, offsetof(struct vfctl_vf_attrs, spoofchk)},
	{IFLA_VF_TRUST, VFCTL_ATTR_TRUST, offsetof(struct vfctl_vf_attrs, trust)},
	{IFLA_VF_RSS_QUERY_EN, VFCTL_ATTR_QUERY_RSS, offsetof(struct vfctl_vf_attrs, query_rss)},
};

/* The value that a driver reports if it does not know. */
#define SETTING_UNKNOWN UINT32_MAX

static void read_setting(const struct nlattr *attr, struct vfctl_vf_attrs *a)
{
	const struct ifla_vf_spoofchk *s = nl_payload(attr, sizeof(*s));

	for (size_t i = 0; s && s->setting != SETTING_UNKNOWN && i < ARRAY_SIZE(settings); i++)
		if (mnl_attr_get_type(attr) == settings[i].type) {
			*(bool *)((char *)a + settings[i].member) = s->setting;
			a->mask |= settings[i].bit;
		}
}

static void read_mac(const struct nlattr *attr, struct nl_vf *vf)
{
	const struct ifla_vf_mac *mac = nl_payload(attr, sizeof(*mac));

	if (!mac)
		return;
	vf->vf = mac->vf;
	memcpy(vf->attrs.mac.byte, mac->mac, sizeof(vf->attrs.mac.byte));
	vf->attrs.mask |= VFCTL_ATTR_MAC;
}

static void read_rate(const struct nlattr *attr, struct vfctl_vf_attrs *a)
{
	const struct ifla_vf_rate *rate = nl_payload(attr, sizeof(*rate));

	if (!rate)
		return;
	a->min_rate_mbps = rate->min_tx_rate;
	a->max_rate_mbps = rate->max_tx_rate;
	a->mask |= VFCTL_ATTR_RATE;
}

static void read_link_state(const struct nlattr *attr, struct vfctl_vf_attrs *a)
{
	const struct ifla_vf_link_state *state = nl_payload(attr, sizeof(*state));

	if (!state || state->link_state > VFCTL_LINK_STATE_DISABLE)
		return;
	a->link_state = (enum vfctl_link_state)state->link_state;
	a->mask |= VFCTL_ATTR_LINK_STATE;
}

static void read_guid(const struct nlattr *attr, uint64_t *guid, uint32_t bit, uint32_t *mask)
{
	const char *g = nl_payload(attr, sizeof(struct ifla_vf_guid));

	if (!g)
		return;
	/* Attributes are aligned to 4 bytes only, so the struct's u64 may not be aligned. */
	memcpy(guid, g + offsetof(struct ifla_vf_guid, guid), sizeof(*guid));
	*mask |= bit;
}

static void read_vf(const struct nlattr *nest, struct nl_vf *vf)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case IFLA_VF_MAC:
			read_mac(attr, vf);
			break;
		case IFLA_VF_VLAN_LIST:
			read_vlan_list(attr, &vf->attrs);
			break;
		case IFLA_VF_RATE:
			read_rate(attr, &vf->attrs);
			break;
		case IFLA_VF_LINK_STATE:
			read_link_state(attr, &vf->attrs);
			break;
		case IFLA_VF_IB_NODE_GUID:
			read_guid(attr, &vf->attrs.node_guid, VFCTL_ATTR_NODE_GUID,
				&vf->attrs.mask);
			break;
		case IFLA_VF_IB_PORT_GUID:
			read_guid(attr, &vf->attrs.port_guid, VFCTL_ATTR_PORT_GUID,
				&vf->attrs.mask);
			break;
		default:
			read_setting(attr, &vf->attrs);
			break;
		}
	}
}

/*
 * Walk IFLA_VF_INFO nests from @start and count them up to a length that is congruent to the list's
 * wrapped 16-bit length and does not pass @end. If one such length contains @num_vf nests, that is
 * the list. A driver that fails for a VF leaves it out, so if none has them all, the longest
 * congruent length is used.
 */
static size_t true_list_length(const char *start, const char *end, uint16_t wrapped,
	uint32_t num_vf)
{
	size_t length = 0, best = 0;
	uint32_t count = 0;

	for (;;) {
		size_t left = (size_t)(end - start) - length;
		const struct nlattr *attr = (const void *)(start + length);

		if ((uint16_t)(length + NLA_HDRLEN) == wrapped) {
			best = length;
			if (count == num_vf)
				return best;
		}
		if (left < NLA_HDRLEN || attr->nla_len < NLA_HDRLEN ||
			NLA_ALIGN((size_t)attr->nla_len) > left ||
			(attr->nla_type & NLA_TYPE_MASK) != IFLA_VF_INFO || count == num_vf)
			return best;
		length += NLA_ALIGN(attr->nla_len);
		count++;
	}
}

static int read_vf_list(const char *start, size_t length, struct nl_vfs *vfs)
{
	for (size_t at = 0; at + NLA_HDRLEN <= length;) {
		const struct nlattr *attr = (const void *)(start + at);

		if (!array_grow(vfs->v, vfs->count))
			return -ENOMEM;
		vfs->v[vfs->count] = (struct nl_vf){.vf = UINT32_MAX};
		read_vf(attr, &vfs->v[vfs->count]);
		if (vfs->v[vfs->count].vf != UINT32_MAX)
			vfs->count++;
		at += NLA_ALIGN(attr->nla_len);
	}
	return 0;
}

/*
 * Read the attributes of a link message without libmnl: after a list whose length wrapped,
 * attribute lengths alone cannot be followed.
 */
static int read_vfs_message(const struct nlmsghdr *m, struct nl_vfs *vfs)
{
	const char *at = mnl_nlmsg_get_payload_offset(m, sizeof(struct ifinfomsg));
	const char *end = (const char *)m + NLMSG_ALIGN(m->nlmsg_len);
	bool listed = false;

	while (end - at >= NLA_HDRLEN) {
		const struct nlattr *attr = (const void *)at;
		const uint32_t *count;

		if ((attr->nla_type & NLA_TYPE_MASK) == IFLA_VFINFO_LIST && !listed) {
			size_t length = true_list_length(at + NLA_HDRLEN, end, attr->nla_len,
				vfs->num_vf);

			if (read_vf_list(at + NLA_HDRLEN, length, vfs) < 0)
				return -ENOMEM;
			listed = true;
			at += NLA_HDRLEN + length;
			continue;
		}
		if (attr->nla_len < NLA_HDRLEN || NLA_ALIGN(attr->nla_len) > end - at)
			return listed ? 0 : -EBADMSG;
		if ((attr->nla_type & NLA_TYPE_MASK) == IFLA_PERM_ADDRESS)
			nl_read_mac(attr, &vfs->permanent);
		if ((attr->nla_type & NLA_TYPE_MASK) == IFLA_NUM_VF &&
			(count = nl_payload(attr, sizeof(*count))))
			vfs->num_vf = *count;
		at += NLA_ALIGN(attr->nla_len);
	}
	return 0;
}

int nl_vfs_read(struct vfctl_ctx *ctx, int ifindex, struct nl_vfs *ret_vfs)
{
	_cleanup_(nl_vfs_free) struct nl_vfs vfs = {0};
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *get = nl_begin(&rq, RTM_GETLINK, 0, REQUEST_ROOM);
	const struct nlmsghdr *m;
	size_t at = 0;
	int r;

	if (!get)
		return ctx_oom(ctx);
	nl_put_getlink(get, ifindex, RTEXT_FILTER_VF | RTEXT_FILTER_SKIP_STATS);
	nl_end(&rq, get);
	r = nl_talk(ctx, NETLINK_ROUTE, &rq, &reply, &result);
	if (r < 0 || result.error < 0)
		return r < 0 ? r : ctx_fail(ctx, result.error, "read the VFs of interface %d: %s",
			ifindex, strerror(-result.error));
	while ((m = nl_next(&reply, &at))) {
		r = nl_is_link(m) ? read_vfs_message(m, &vfs) : 0;
		if (r < 0)
			return ctx_fail(ctx, r, "read the VFs of interface %d: %s", ifindex,
				strerror(-r));
	}
	*ret_vfs = steal(vfs);
	return 0;
}

void nl_vfs_free(struct nl_vfs *vfs)
{
	free(vfs->v);
	*vfs = (struct nl_vfs){0};
}

const struct nl_vf *nl_vfs_find(const struct nl_vfs *vfs, uint32_t vf)
{
	size_t low = 0, high = vfs->count;

	/* It is nearly always v[vf]; if an index is missing, it is before that. */
	if (vf < vfs->count && vfs->v[vf].vf == vf)
		return &vfs->v[vf];
	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (vfs->v[middle].vf == vf)
			return &vfs->v[middle];
		if (vfs->v[middle].vf < vf)
			low = middle + 1;
		else
			high = middle;
	}
	return NULL;
}

/* ---- setting ---- */

static void put_mac(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a)
{
	struct ifla_vf_mac mac = {.vf = vf};

	memcpy(mac.mac, a->mac.byte, sizeof(a->mac.byte));
	mnl_attr_put(m, IFLA_VF_MAC, sizeof(mac), &mac);
}

/*
 * 802.1Q uses the older attribute, which every driver supports; only 802.1ad needs the list form.
 * Its entry must have 16 bytes: a shorter one is EINVAL.
 */
static void put_vlan(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a)
{
	struct ifla_vf_vlan vlan = {vf, a->vlan, a->qos};
	struct ifla_vf_vlan_info info = {.vf = vf, .vlan = a->vlan, .qos = a->qos,
		.vlan_proto = __builtin_bswap16(a->proto)};
	struct nlattr *list;

	if (a->proto != VFCTL_VLAN_8021AD) {
		mnl_attr_put(m, IFLA_VF_VLAN, sizeof(vlan), &vlan);
		return;
	}
	list = mnl_attr_nest_start(m, IFLA_VF_VLAN_LIST);
	mnl_attr_put(m, IFLA_VF_VLAN_INFO, sizeof(info), &info);
	mnl_attr_nest_end(m, list);
}

static void put_rate(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a)
{
	struct ifla_vf_rate rate = {vf, a->min_rate_mbps, a->max_rate_mbps};

	mnl_attr_put(m, IFLA_VF_RATE, sizeof(rate), &rate);
}

static void put_link_state(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a)
{
	struct ifla_vf_link_state s = {vf, a->link_state};

	mnl_attr_put(m, IFLA_VF_LINK_STATE, sizeof(s), &s);
}

/* In host byte order (rtnetlink uses a plain u64; iproute2's get_guid() does the same). */
static void put_node_guid(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a)
{
	struct ifla_vf_guid guid = {.vf = vf, .guid = a->node_guid};

	mnl_attr_put(m, IFLA_VF_IB_NODE_GUID, sizeof(guid), &guid);
}

static void put_port_guid(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a)
{
	struct ifla_vf_guid guid = {.vf = vf, .guid = a->port_guid};

	mnl_attr_put(m, IFLA_VF_IB_PORT_GUID, sizeof(guid), &guid);
}

static const struct {
	uint32_t bits;
	void (*put)(struct nlmsghdr *m, uint32_t vf, const struct vfctl_vf_attrs *a);
} classes[] = {
	{VFCTL_ATTR_MAC, put_mac},
	{VFCTL_ATTR_VLAN, put_vlan},
	{VFCTL_ATTR_RATE, put_rate},
	{VFCTL_ATTR_LINK_STATE, put_link_state},
	{VFCTL_ATTR_NODE_GUID, put_node_guid},
	{VFCTL_ATTR_PORT_GUID, put_port_guid},
};

static void put_settings(struct nlmsghdr *m, const struct nl_vf_set *row)
{
	for (size_t i = 0; i < ARRAY_SIZE(settings); i++) {
		const char *member = (const char *)&row->attrs + settings[i].member;
		struct ifla_vf_spoofchk s = {row->vf, *(const bool *)member};

		if (row->bits & settings[i].bit)
			mnl_attr_put(m, settings[i].type, sizeof(s), &s);
	}
}

static int put_row(struct nl_request *rq, int ifindex, const struct nl_vf_set *row)
{
	struct nlmsghdr *m = nl_begin(rq, RTM_SETLINK, 0, 128);
	struct nlattr *list, *nest;
	struct ifinfomsg *info;

	if (!m)
		return -ENOMEM;
	info = mnl_nlmsg_put_extra_header(m, sizeof(*info));
	info->ifi_family = AF_UNSPEC;
	info->ifi_index = ifindex;
	list = mnl_attr_nest_start(m, IFLA_VFINFO_LIST);
	nest = mnl_attr_nest_start(m, IFLA_VF_INFO);
	for (size_t i = 0; i < ARRAY_SIZE(classes); i++)
		if (row->bits & classes[i].bits)
			classes[i].put(m, row->vf, &row->attrs);
	put_settings(m, row);
	mnl_attr_nest_end(m, nest);
	mnl_attr_nest_end(m, list);
	nl_end(rq, m);
	return 0;
}

/* Answers wait in the socket's buffer: a limited number of them cannot overflow it. */
#define BATCH 128

int nl_vfs_write(struct vfctl_ctx *ctx, int ifindex, struct nl_vf_set *rows, size_t count)
{
	for (size_t done = 0; done < count;) {
		size_t batch = count - done < BATCH ? count - done : BATCH;
		struct nl_result results[BATCH];
		_cleanup_(nl_request_free) struct nl_request rq = {0};
		_buf_ struct buf reply = {0};
		int r = 0;

		for (size_t i = 0; i < batch && r == 0; i++)
			r = put_row(&rq, ifindex, &rows[done + i]);
		if (r < 0)
			return ctx_oom(ctx);
		r = nl_talk(ctx, NETLINK_ROUTE, &rq, &reply, results);
		if (r < 0)
			return r;
		for (size_t i = 0; i < batch; i++) {
			rows[done + i].error = results[i].error;
			memcpy(rows[done + i].text, results[i].text, sizeof(results[i].text));
		}
		done += batch;
	}
	return 0;
}
