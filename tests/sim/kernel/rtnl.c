// SPDX-License-Identifier: GPL-2.0-or-later
/* RTM_GETLINK and RTM_SETLINK as net/core/rtnetlink.c answers them; the rest is ethtool.c's. */
#include <errno.h>
#include <linux/if.h>
#include <linux/if_arp.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <stdio.h>

#include "sim.h"


/* ---- writing attributes ---- */

static void put_attr(struct buf *b, uint16_t type, const void *data, size_t len)
{
	static const char zero[4];
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	buf_add(b, &head, sizeof(head));
	buf_add(b, data, len);
	buf_add(b, zero, NLA_ALIGN(len) - len);
}

static size_t nest_start(struct buf *b, uint16_t type)
{
	size_t at = b->len;

	put_attr(b, type, NULL, 0);
	return at;
}

/* nla_nest_end(): the length is cut to 16 bits without a check. */
static void nest_end(struct buf *b, size_t at)
{
	struct nlattr *head = (void *)(b->data + at);

	head->nla_len = (uint16_t)(b->len - at);
}

static void put_vlan_list(struct buf *b, uint32_t index, const struct sim_vf *vf)
{
	struct ifla_vf_vlan_info info = {index, vf->vlan, vf->qos, vf->proto};
	size_t list = nest_start(b, IFLA_VF_VLAN_LIST);

	put_attr(b, IFLA_VF_VLAN_INFO, &info, sizeof(info));
	nest_end(b, list);
}

/* rtnl_fill_vfinfo(): 196 bytes without statistics, 236 with GUIDs. */
static void put_vf(struct buf *b, const struct sim_pf *pf, uint32_t i, const struct sim_vf *vf)
{
	struct ifla_vf_mac mac = {.vf = i};
	struct ifla_vf_broadcast broadcast = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}};
	struct ifla_vf_vlan vlan = {i, vf->vlan, vf->qos};
	struct ifla_vf_rate rate = {i, vf->min_rate, vf->max_rate};
	struct ifla_vf_tx_rate tx_rate = {i, vf->max_rate};
	struct ifla_vf_spoofchk spoofchk = {i, pf->caps & SIM_SPOOFCHK ? vf->spoofchk : ~0u};
	struct ifla_vf_link_state state = {i, vf->link_state};
	struct ifla_vf_rss_query_en rss = {i, pf->caps & SIM_QUERY_RSS ? vf->query_rss : ~0u};
	struct ifla_vf_trust trust = {i, pf->caps & SIM_TRUST ? vf->trust : ~0u};
	size_t nest = nest_start(b, IFLA_VF_INFO);

	memcpy(mac.mac, vf->mac, sizeof(vf->mac));
	put_attr(b, IFLA_VF_MAC, &mac, sizeof(mac));
	put_attr(b, IFLA_VF_BROADCAST, &broadcast, sizeof(broadcast));
	put_attr(b, IFLA_VF_VLAN, &vlan, sizeof(vlan));
	put_attr(b, IFLA_VF_RATE, &rate, sizeof(rate));
	put_attr(b, IFLA_VF_TX_RATE, &tx_rate, sizeof(tx_rate));
	put_attr(b, IFLA_VF_SPOOFCHK, &spoofchk, sizeof(spoofchk));
	put_attr(b, IFLA_VF_LINK_STATE, &state, sizeof(state));
	put_attr(b, IFLA_VF_RSS_QUERY_EN, &rss, sizeof(rss));
	put_attr(b, IFLA_VF_TRUST, &trust, sizeof(trust));
	if (pf->caps & SIM_GUID) {
		struct ifla_vf_guid node = {.vf = i, .guid = vf->node_guid};
		struct ifla_vf_guid port = {.vf = i, .guid = vf->port_guid};

		put_attr(b, IFLA_VF_IB_NODE_GUID, &node, sizeof(node));
		put_attr(b, IFLA_VF_IB_PORT_GUID, &port, sizeof(port));
	}
	put_vlan_list(b, i, vf);
	nest_end(b, nest);
}

static void put_vfs(struct host *h, struct buf *b, const struct sim_pf *pf)
{
	uint32_t number = pf->num_vfs;
	size_t list;

	struct sim_pf told = *pf;

	if (sim_has(h, "/.sim/untold")) /* a driver that takes settings and tells of none */
		told.caps = 0;
	put_attr(b, IFLA_NUM_VF, &number, sizeof(number));
	if (!pf->caps) /* without ndo_get_vf_config there is no list (rtnl_fill_vf()) */
		return;
	list = nest_start(b, IFLA_VFINFO_LIST);
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		struct sim_vf vf;

		if (sim_vf_read(h, &pf->bdf, i, &vf) == 0)
			put_vf(b, &told, i, &vf);
	}
	nest_end(b, list);
}

/* ---- messages ---- */

static size_t begin(struct buf *b, const struct nlmsghdr *rq, uint16_t type, uint16_t flags)
{
	struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_flags = flags,
		.nlmsg_seq = rq->nlmsg_seq};
	size_t at = b->len;

	buf_add(b, &head, sizeof(head));
	return at;
}

static void end(struct buf *b, size_t at)
{
	((struct nlmsghdr *)(void *)(b->data + at))->nlmsg_len = (uint32_t)(b->len - at);
}

static void acknowledge(struct buf *b, const struct nlmsghdr *rq, int error)
{
	struct nlmsgerr body = {.error = error, .msg = *rq};
	size_t at = begin(b, rq, NLMSG_ERROR, sim_text[0] ? NLM_F_CAPPED | NLM_F_ACK_TLVS : NLM_F_CAPPED);

	buf_add(b, &body, sizeof(body));
	if (sim_text[0])
		put_attr(b, NLMSGERR_ATTR_MSG, sim_text, strlen(sim_text) + 1);
	end(b, at);
}

/* "none": as a kernel before 5.6. */
static void put_permanent(struct buf *b, const struct sim_pf *pf, const uint8_t address[20])
{
	struct vfctl_mac mac;

	if (pf->infiniband || str_eq(pf->perm, "none"))
		return;
	if (vfctl_mac_parse(pf->perm, &mac) < 0)
		memcpy(mac.byte, address, sizeof(mac.byte));
	put_attr(b, 54, &mac, sizeof(mac)); /* IFLA_PERM_ADDRESS */
}

static void put_link(struct host *h, struct buf *b, const struct nlmsghdr *rq,
	const struct sim_pf *pf, bool with_vfs)
{
	struct ifinfomsg info = {.ifi_type = pf->infiniband ? ARPHRD_INFINIBAND : ARPHRD_ETHER,
		.ifi_index = (int)pf->ifindex};
	uint8_t address[20] = {0x02, 0x51, 0x13, pf->bdf.bus, pf->bdf.slot, pf->bdf.function};
	size_t at = begin(b, rq, RTM_NEWLINK, rq->nlmsg_flags & NLM_F_DUMP ? NLM_F_MULTI : 0);
	_free_ char *alt = str_format("enx-%s", pf->netdev);
	uint64_t guid = sim_pf_guid(&pf->bdf);
	uint32_t mtu = pf->mtu ? pf->mtu : 1500;
	_buf_ struct buf permanent = {0};
	struct vfctl_mac mac;
	size_t list;

	put_permanent(&permanent, pf, address);
	if (vfctl_mac_parse(pf->mac, &mac) == 0)
		memcpy(address, mac.byte, sizeof(mac.byte));
	/* IPoIB: flags and QPN, then the port's GID. */
	for (int i = 0; pf->infiniband && i < 8; i++)
		address[12 + i] = (uint8_t)(guid >> (56 - 8 * i));
	if (pf->up)
		info.ifi_flags |= IFF_UP;
	if (pf->carrier)
		info.ifi_flags |= IFF_LOWER_UP;
	buf_add(b, &info, sizeof(info));
	put_attr(b, IFLA_IFNAME, pf->netdev, strlen(pf->netdev) + 1);
	put_attr(b, IFLA_ADDRESS, address, pf->infiniband ? 20 : 6);
	put_attr(b, IFLA_MTU, &mtu, sizeof(mtu));
	if (with_vfs)
		put_vfs(h, b, pf);
	buf_add(b, permanent.data, permanent.len);
	list = nest_start(b, 52 | NLA_F_NESTED); /* IFLA_PROP_LIST */
	put_attr(b, 53, alt, strlen(alt) + 1);	 /* IFLA_ALT_IFNAME */
	nest_end(b, list);
	end(b, at);
}

/* The index of another link: 1000 and its place in the list. */
/* The index of such a device: that in sysfs, or one for its place in the list. */
static int other_index(struct host *h, char **names, int i)
{
	_free_ char *text = sim_get(h, "/sys/class/net/%s/ifindex", names[i]);

	return text ? atoi(text) : 1000 + i;
}

static void put_index(struct host *h, struct buf *b, uint16_t type, const char *text, const char *key,
	char **names)
{
	const char *at = strstr(text, key);
	size_t len = at ? strcspn(at + strlen(key), " \n") : 0;

	for (int i = 0; at && names[i]; i++)
		if (strlen(names[i]) == len && str_starts(at + strlen(key), names[i])) {
			int index = other_index(h, names, i);

			put_attr(b, type, &index, sizeof(index));
		}
}

static void put_xdp(struct buf *b)
{
	size_t nest = nest_start(b, IFLA_XDP | NLA_F_NESTED);
	uint8_t mode = XDP_ATTACHED_DRV;

	put_attr(b, IFLA_XDP_ATTACHED, &mode, sizeof(mode));
	nest_end(b, nest);
}

/*
 * Network devices besides those of PFs: .sim/links/NAME holds 1 if it is up, else 0; then may follow
 * " master=NAME", " lower=NAME" and " xdp".
 */
static void put_other_links(struct host *h, struct buf *b, const struct nlmsghdr *rq)
{
	_free_ char *dir = str_format("%s/.sim/links", h->root);
	struct host plain = {.root_fd = -1};
	_strv_ char **names = NULL;

	if (!dir || files_list(&plain, dir, &names) < 0)
		return;
	for (int i = 0; names[i]; i++) {
		_free_ char *text = sim_get(h, "/.sim/links/%s", names[i]);
		struct ifinfomsg info = {.ifi_type = ARPHRD_ETHER, .ifi_index = other_index(h, names, i),
			.ifi_flags = text && *text == '1' ? IFF_UP : 0};
		size_t at = begin(b, rq, RTM_NEWLINK, NLM_F_MULTI);

		buf_add(b, &info, sizeof(info));
		put_attr(b, IFLA_IFNAME, names[i], strlen(names[i]) + 1);
		put_index(h, b, IFLA_MASTER, text ? text : "", " master=", names);
		put_index(h, b, IFLA_LINK, text ? text : "", " lower=", names);
		if (text && strstr(text, " xdp"))
			put_xdp(b);
		end(b, at);
	}
}

/* The name that a request without an index gives; NULL: none. */
static const char *asked_name(const struct nlmsghdr *rq)
{
	const struct rtattr *a = (const void *)((const struct ifinfomsg *)NLMSG_DATA(rq) + 1);
	int left = (int)rq->nlmsg_len - (int)NLMSG_LENGTH(sizeof(struct ifinfomsg));

	for (; RTA_OK(a, left); a = RTA_NEXT(a, left))
		if (a->rta_type == IFLA_IFNAME)
			return RTA_DATA(a);
	return NULL;
}

static int get_link(struct host *h, const struct nlmsghdr *rq, struct buf *b)
{
	const struct ifinfomsg *info = NLMSG_DATA(rq);
	const struct rtattr *mask = (const void *)(info + 1);
	bool with_vfs = rq->nlmsg_len >= NLMSG_LENGTH(sizeof(*info) + 8) &&
		mask->rta_type == IFLA_EXT_MASK &&
		*(const uint32_t *)RTA_DATA(mask) & RTEXT_FILTER_VF;
	struct sim_pf pfs[SIM_PFS_MAX];
	bool dump = (rq->nlmsg_flags & NLM_F_DUMP) == NLM_F_DUMP;
	const char *name = dump || info->ifi_index ? NULL : asked_name(rq);
	size_t count;

	if (dump || name)
		count = sim_pfs_read(h, pfs);
	else
		count = sim_pf_read_index(h, (unsigned)info->ifi_index, pfs) == 0;
	for (size_t i = 0; i < count; i++) {
		if (!pfs[i].ifindex || (name && !str_eq(pfs[i].netdev, name)))
			continue;
		put_link(h, b, rq, &pfs[i], with_vfs);
		if (!dump)
			return 0;
	}
	if (dump) {
		int zero = 0;
		size_t at;

		put_other_links(h, b, rq);
		at = begin(b, rq, NLMSG_DONE, NLM_F_MULTI);

		buf_add(b, &zero, sizeof(zero));
		end(b, at);
		return 0;
	}
	return -ENODEV;
}

/* ---- setting ---- */

struct setter {
	uint16_t type;
	uint16_t size;
	unsigned cap;
	int (*set)(const struct sim_pf *pf, const void *data, struct sim_vf *vf);
};

static int set_mac(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	const struct ifla_vf_mac *mac = data;

	if (mac->mac[0] & 1)
		return -EINVAL;
	memcpy(vf->mac, mac->mac, sizeof(vf->mac));
	return 0;
}

static int set_vlan(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	const struct ifla_vf_vlan *vlan = data;

	if (vlan->vlan > 4095 || vlan->qos > 7)
		return -EINVAL;
	vf->vlan = vlan->vlan;
	vf->qos = vlan->qos;
	vf->proto = 0x0081;
	return 0;
}

static int set_vlan_list(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	const struct nlattr *entry = data;
	const struct ifla_vf_vlan_info *info = (const void *)(entry + 1);

	if (entry->nla_len < NLA_HDRLEN + sizeof(*info))
		return -EINVAL;
	if (info->vlan_proto == 0xa888 && !(pf->caps & SIM_VLAN_AD))
		return -EPROTONOSUPPORT;
	vf->vlan = info->vlan;
	vf->qos = info->qos;
	vf->proto = info->vlan_proto;
	return 0;
}

static int set_rate(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	const struct ifla_vf_rate *rate = data;

	if (rate->max_tx_rate && rate->min_tx_rate > rate->max_tx_rate)
		return -EINVAL;
	if (rate->min_tx_rate && !(pf->caps & SIM_MIN_RATE))
		return -EINVAL;
	if (pf->caps & SIM_RATE_NEEDS_LINK && (!pf->carrier || rate->max_tx_rate > pf->speed))
		return -EINVAL;
	vf->min_rate = rate->min_tx_rate;
	vf->max_rate = rate->max_tx_rate;
	return 0;
}

static int set_spoofchk(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	if (pf->no_spoofchk)
		return -EOPNOTSUPP;
	vf->spoofchk = ((const struct ifla_vf_spoofchk *)data)->setting != 0;
	return 0;
}

static int set_link_state(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	vf->link_state = ((const struct ifla_vf_link_state *)data)->link_state;
	return vf->link_state > 2 ? -EINVAL : 0;
}

static int set_trust(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	vf->trust = ((const struct ifla_vf_trust *)data)->setting != 0;
	return 0;
}

static int set_query_rss(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	vf->query_rss = ((const struct ifla_vf_rss_query_en *)data)->setting != 0;
	return 0;
}

/* Attributes stand at multiples of 4, and the struct has a u64. */
static uint64_t guid_of(const void *data)
{
	struct ifla_vf_guid guid;

	memcpy(&guid, data, sizeof(guid));
	return guid.guid;
}

static int set_node_guid(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	vf->node_guid = guid_of(data);
	return 0;
}

static int set_port_guid(const struct sim_pf *pf, const void *data, struct sim_vf *vf)
{
	vf->port_guid = guid_of(data);
	return 0;
}

/* In the kernel's order (do_setvfinfo); the first failure ends the nest. */
static const struct setter setters[] = {
	{IFLA_VF_MAC, sizeof(struct ifla_vf_mac), SIM_MAC, set_mac},
	{IFLA_VF_VLAN, sizeof(struct ifla_vf_vlan), SIM_VLAN, set_vlan},
	{IFLA_VF_VLAN_LIST, 4, SIM_VLAN, set_vlan_list},
	{IFLA_VF_RATE, sizeof(struct ifla_vf_rate), SIM_RATE, set_rate},
	{IFLA_VF_SPOOFCHK, sizeof(struct ifla_vf_spoofchk), SIM_SPOOFCHK, set_spoofchk},
	{IFLA_VF_LINK_STATE, sizeof(struct ifla_vf_link_state), SIM_LINK_STATE, set_link_state},
	{IFLA_VF_RSS_QUERY_EN, sizeof(struct ifla_vf_rss_query_en), SIM_QUERY_RSS, set_query_rss},
	{IFLA_VF_TRUST, sizeof(struct ifla_vf_trust), SIM_TRUST, set_trust},
	{IFLA_VF_IB_NODE_GUID, sizeof(struct ifla_vf_guid), SIM_GUID, set_node_guid},
	{IFLA_VF_IB_PORT_GUID, sizeof(struct ifla_vf_guid), SIM_GUID, set_port_guid},
};

static const struct nlattr *find_attr(const struct nlattr *nest, uint16_t type)
{
	const char *at = (const char *)nest + NLA_HDRLEN, *stop = (const char *)nest + nest->nla_len;

	while (at + NLA_HDRLEN <= stop) {
		const struct nlattr *attr = (const void *)at;

		if ((attr->nla_type & NLA_TYPE_MASK) == type)
			return attr;
		if (attr->nla_len < NLA_HDRLEN)
			return NULL;
		at += NLA_ALIGN(attr->nla_len);
	}
	return NULL;
}

/* Every attribute starts with the VF's number, but for the VLAN list's entries. */
static uint32_t vf_of(const struct nlattr *attr)
{
	const char *data = (const char *)attr + NLA_HDRLEN;

	if ((attr->nla_type & NLA_TYPE_MASK) == IFLA_VF_VLAN_LIST)
		data += NLA_HDRLEN;
	return *(const uint32_t *)(const void *)data;
}

/*
 * In switchdev mode a VF's policy is its representor's: mlx5 (esw/legacy.c) refuses all of these but
 * VLAN 0; ice refuses trust. Rates are devlink's.
 */
static bool is_legacy_only(struct host *h, const struct sim_pf *pf, uint16_t type, const void *data)
{
	if (sim_eswitch(h, &pf->bdf) != 1)
		return false;
	if (type == IFLA_VF_VLAN)
		return ((const struct ifla_vf_vlan *)data)->vlan;
	if (type == IFLA_VF_VLAN_LIST)
		return ((const struct ifla_vf_vlan_info *)(const void *)((const char *)data + NLA_HDRLEN))->vlan;
	return type == IFLA_VF_RATE || type == IFLA_VF_SPOOFCHK || type == IFLA_VF_TRUST;
}

/* A driver that says the same to everything: .sim/vf-error/BDF. */
static int refuse_all(struct host *h, const struct sim_pf *pf)
{
	char text[VFCTL_BDF_TEXT];
	_free_ char *error = sim_get(h, "/.sim/vf-error/%s", vfctl_bdf_format(&pf->bdf, text));

	return error ? -atoi(error) : 0;
}

static int set_nest(struct host *h, const struct sim_pf *pf, const struct nlattr *nest)
{
	for (size_t i = 0; i < ARRAY_SIZE(setters); i++) {
		const struct nlattr *attr = find_attr(nest, setters[i].type);
		struct sim_vf vf;
		uint32_t index;
		int r;

		if (!attr)
			continue;
		if (attr->nla_len < NLA_HDRLEN + setters[i].size)
			return -ERANGE;
		if (!(pf->caps & setters[i].cap) ||
			is_legacy_only(h, pf, setters[i].type, (const char *)attr + NLA_HDRLEN))
			return -EOPNOTSUPP;
		r = refuse_all(h, pf);
		if (r < 0)
			return r;
		index = vf_of(attr);
		if (index >= pf->num_vfs || sim_vf_read(h, &pf->bdf, index, &vf) < 0)
			return -EINVAL;
		r = setters[i].set(pf, (const char *)attr + NLA_HDRLEN, &vf);
		if (r < 0)
			return r;
		/* A driver that says yes and does nothing. */
		if (!sim_has(h, "/.sim/ignore/%u", setters[i].type))
			sim_vf_write(h, &pf->bdf, index, &vf);
		/* The node GUID branch returns at once: a port GUID behind it is lost. */
		if (setters[i].type == IFLA_VF_IB_NODE_GUID)
			return 0;
	}
	return 0;
}

/* The network device of that number; NULL: there is none. The caller frees it. */
static char *find_netdev(struct host *h, int ifindex)
{
	_strv_ char **names = NULL;

	if (h->ops->list(h, "/sys/class/net", &names) < 0)
		return NULL;
	for (size_t i = 0; names[i]; i++) {
		_free_ char *number = sim_get(h, "/sys/class/net/%s/ifindex", names[i]);

		if (number && atoi(number) == ifindex)
			return strdup(names[i]);
	}
	return NULL;
}

/* IFLA_MASTER: do_set_master() */
static int set_master(struct host *h, int ifindex, int master)
{
	_free_ char *name = find_netdev(h, ifindex), *bridge = master ? find_netdev(h, master) : NULL;
	_free_ char *target = bridge ? str_format("../%s", bridge) : NULL;

	if (!name)
		return -ENODEV;
	sim_remove(h, "/sys/class/net/%s/master", name);
	if (!master)
		return 0;
	if (!bridge)
		return -EINVAL;
	return sim_has(h, "/sys/class/net/%s/bridge", bridge)
		? sim_put_link(h, target, "/sys/class/net/%s/master", name) : -EOPNOTSUPP;
}

static int set_link(struct host *h, const struct nlmsghdr *rq)
{
	const struct ifinfomsg *info = NLMSG_DATA(rq);
	const struct nlattr *list = (const void *)(info + 1);
	const char *at, *stop;
	struct sim_pf pf;
	int r = 0;

	if ((list->nla_type & NLA_TYPE_MASK) == IFLA_MASTER)
		return set_master(h, info->ifi_index, *(const int *)(const void *)(list + 1));
	if (sim_pf_read_index(h, (unsigned)info->ifi_index, &pf) < 0)
		return -ENODEV;
	if ((list->nla_type & NLA_TYPE_MASK) != IFLA_VFINFO_LIST)
		return -EINVAL;
	at = (const char *)list + NLA_HDRLEN;
	stop = (const char *)list + list->nla_len;
	while (r == 0 && at + NLA_HDRLEN <= stop) {
		const struct nlattr *nest = (const void *)at;

		r = set_nest(h, &pf, nest);
		at += NLA_ALIGN(nest->nla_len);
	}
	return r;
}

int sim_exchange(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	const struct nlmsghdr *rq = request;
	int left = (int)len;

	if (protocol != NETLINK_ROUTE && protocol != NETLINK_GENERIC && protocol != NETLINK_RDMA)
		return -EPROTONOSUPPORT;
	for (; left >= (int)sizeof(*rq) && rq->nlmsg_len <= (unsigned)left; rq = NLMSG_NEXT(rq, left)) {
		int r = -EOPNOTSUPP;

		sim_text[0] = '\0';
		if (protocol == NETLINK_GENERIC)
			r = sim_generic(h, rq, ret_reply);
		else if (protocol == NETLINK_RDMA)
			r = sim_nldev(h, rq, ret_reply);
		else if (rq->nlmsg_type == RTM_GETLINK)
			r = get_link(h, rq, ret_reply);
		else if (rq->nlmsg_type == RTM_SETLINK)
			r = set_link(h, rq);
		else if (rq->nlmsg_type >= RTM_NEWNEIGH && rq->nlmsg_type <= RTM_GETNEIGH)
			r = sim_neigh(h, rq, ret_reply);
		if (rq->nlmsg_flags & NLM_F_ACK || r < 0)
			acknowledge(ret_reply, rq, r);
		while (ret_reply->len % 4)
			buf_add(ret_reply, "", 1);
	}
	return ret_reply->failed ? -ENOMEM : 0;
}
