// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generic netlink's ETHTOOL_MSG_COALESCE_GET and _SET, as net/ethtool/coalesce.c and each driver's
 * set_coalesce() (moderation.c) answer them. State: .sim/coalesce/NETDEV, "ATTRIBUTE VALUE" lines;
 * .sim/coalesce-forgets: attributes that are taken and not kept, as netdevsim's CQE mode;
 * .sim/coalesce-shown/NETDEV: the rx-usecs that the next answer still shows; .sim/one-call: a request
 * calls the driver once, as in Linux 6.1, and not twice; .sim/lro/NETDEV: it has LRO on;
 * .sim/resets/NETDEV: how many resets of the PF a change of its moderation has caused.
 */
#include <errno.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>

#include "moderation.h"
#include "sim.h"

#define FAMILY 0x15
#define BIT(a) (1u << (a))

#define MODES (BIT(ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX) | BIT(ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX) | \
	BIT(24) | BIT(25)) /* CQE modes */

typedef uint32_t values[ATTRIBUTES];

/* ---- state ---- */

static const struct sim_driver *driver_of(struct host *h, const struct sim_pf *pf)
{
	char path[128], bdf[VFCTL_BDF_TEXT];
	_free_ char *target = NULL;
	const char *name;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", vfctl_bdf_format(&pf->bdf, bdf));
	if (h->ops->readlink(h, path, &target) < 0)
		return NULL;
	name = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	return sim_driver_find(name, pf->infiniband);
}

static void load(struct host *h, const struct sim_pf *pf, const struct sim_driver *d, values ret)
{
	_free_ char *text = sim_get(h, "/.sim/coalesce/%s", pf->netdev);
	unsigned attribute, value;
	int used;

	memcpy(ret, d->first, sizeof(values));
	for (const char *at = text; at && sscanf(at, "%u %u\n%n", &attribute, &value, &used) == 2; at += used)
		if (attribute < ATTRIBUTES)
			ret[attribute] = value;
}

static int store(struct host *h, const struct sim_pf *pf, const struct sim_driver *d, const values v)
{
	_free_ char *forgets = sim_get(h, "/.sim/coalesce-forgets");
	_buf_ struct buf text = {0};
	unsigned forgotten = 0;

	if (forgets)
		sscanf(forgets, "%u", &forgotten);
	for (unsigned i = 0; i < ATTRIBUTES; i++)
		if (d->has & BIT(i) && (i != forgotten || !forgotten))
			buf_printf(&text, "%u %u\n", i, v[i]);
	return text.failed ? -ENOMEM : sim_put(h, text.data ? text.data : "", "/.sim/coalesce/%s", pf->netdev);
}

/* ---- messages ---- */

static void put(struct buf *b, uint16_t type, const void *data, size_t len)
{
	static const char zero[4];
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	buf_add(b, &head, sizeof(head));
	buf_add(b, data, len);
	buf_add(b, zero, NLA_ALIGN(len) - len);
}

static size_t begin(struct buf *b, const struct nlmsghdr *rq, uint16_t type, uint8_t command)
{
	struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_seq = rq->nlmsg_seq};
	struct genlmsghdr g = {.cmd = command, .version = 1};
	size_t at = b->len;

	buf_add(b, &head, sizeof(head));
	buf_add(b, &g, sizeof(g));
	return at;
}

static void end(struct buf *b, size_t at)
{
	if (!b->failed)
		((struct nlmsghdr *)(void *)(b->data + at))->nlmsg_len = (uint32_t)(b->len - at);
}

static int get_family(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	const char *name = (const char *)NLMSG_DATA(rq) + GENL_HDRLEN + NLA_HDRLEN;
	uint16_t id = FAMILY;
	size_t at;

	if (rq->nlmsg_len < NLMSG_LENGTH(GENL_HDRLEN + NLA_HDRLEN + sizeof(ETHTOOL_GENL_NAME)))
		return -ENOENT;
	if (str_eq(name, DEVLINK_GENL_NAME) && !sim_has(h, "/.sim/no-devlink"))
		id = SIM_DEVLINK;
	else if (!str_eq(name, ETHTOOL_GENL_NAME))
		return -ENOENT;
	at = begin(reply, rq, GENL_ID_CTRL, CTRL_CMD_NEWFAMILY);
	put(reply, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
	end(reply, at);
	return 0;
}

static bool is_mode(unsigned a)
{
	return BIT(a) & MODES;
}

/* A driver whose worker applies a time later still reports the former one. */
static void show_former(struct host *h, const struct sim_pf *pf, values v)
{
	_free_ char *shown = sim_get(h, "/.sim/coalesce-shown/%s", pf->netdev);
	unsigned usecs;

	if (!shown || sscanf(shown, "%u", &usecs) != 1)
		return;
	v[ETHTOOL_A_COALESCE_RX_USECS] = v[ETHTOOL_A_COALESCE_TX_USECS] = usecs;
	sim_remove(h, "/.sim/coalesce-shown/%s", pf->netdev);
}

static int get_coalesce(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf, struct buf *reply)
{
	const struct sim_driver *d = driver_of(h, pf);
	struct nlattr header = {.nla_len = NLA_HDRLEN + 8, .nla_type = ETHTOOL_A_COALESCE_HEADER | NLA_F_NESTED};
	uint32_t ifindex = pf->ifindex;
	values v;
	size_t at;

	if (!d || !d->has)
		return -EOPNOTSUPP;
	load(h, pf, d, v);
	show_former(h, pf, v);
	at = begin(reply, rq, FAMILY, ETHTOOL_MSG_COALESCE_GET_REPLY);
	buf_add(reply, &header, sizeof(header));
	put(reply, ETHTOOL_A_HEADER_DEV_INDEX, &ifindex, sizeof(ifindex));
	for (unsigned i = 2; i < ATTRIBUTES; i++) {
		uint8_t on = v[i] != 0;

		if (!(d->has & BIT(i)) && !v[i])
			continue;
		if (is_mode(i))
			put(reply, (uint16_t)i, &on, sizeof(on));
		else
			put(reply, (uint16_t)i, &v[i], sizeof(v[i]));
	}
	end(reply, at);
	return 0;
}

/* The request's values over @io; the kinds of what differs. */
static void take_values(const struct nlattr *first, const char *stop, values io, bool *ret_mode, bool *ret_value)
{
	for (const char *at = (const char *)first; at + NLA_HDRLEN <= stop;) {
		const struct nlattr *attr = (const void *)at;
		unsigned type = attr->nla_type & NLA_TYPE_MASK;
		uint32_t value = 0;

		if (type != ETHTOOL_A_COALESCE_HEADER) {
			value = is_mode(type) ? *(const uint8_t *)(at + NLA_HDRLEN)
					      : *(const uint32_t *)(const void *)(at + NLA_HDRLEN);
			*(is_mode(type) ? ret_mode : ret_value) |= io[type] != value;
			io[type] = value;
		}
		at += NLA_ALIGN(attr->nla_len);
	}
}

static bool driver_has_all(const struct sim_driver *d, const struct nlattr *first, const char *stop)
{
	for (const char *at = (const char *)first; at + NLA_HDRLEN <= stop;) {
		const struct nlattr *attr = (const void *)at;
		unsigned type = attr->nla_type & NLA_TYPE_MASK;

		if (type != ETHTOOL_A_COALESCE_HEADER && (type >= ATTRIBUTES || !(d->has & BIT(type))))
			return false;
		at += NLA_ALIGN(attr->nla_len);
	}
	return true;
}

static void count_reset(struct host *h, const struct sim_pf *pf)
{
	_free_ char *count = sim_get(h, "/.sim/resets/%s", pf->netdev);
	unsigned resets = 0;
	char text[16];

	if (count)
		sscanf(count, "%u", &resets);
	snprintf(text, sizeof(text), "%u\n", resets + 1);
	sim_put(h, text, "/.sim/resets/%s", pf->netdev);
}

static int call_driver(struct host *h, const struct sim_pf *pf, const struct sim_driver *d, const struct nlattr *first,
	const char *stop, bool *ret_both)
{
	struct moderation m = {.up = pf->up, .lro = sim_has(h, "/.sim/lro/%s", pf->netdev)};
	bool mode = false, value = false;
	char shown[16];
	int r;

	load(h, pf, d, m.now);
	memcpy(m.want, m.now, sizeof(m.want));
	take_values(first, stop, m.want, &mode, &value);
	*ret_both = mode && value;
	if (!mode && !value)
		return 0;
	r = d->set(&m);
	if (r < 0)
		return r;
	if (m.reset)
		count_reset(h, pf);
	if (d->late && m.want[ETHTOOL_A_COALESCE_RX_USECS] != m.now[ETHTOOL_A_COALESCE_RX_USECS]) {
		snprintf(shown, sizeof(shown), "%u\n", m.now[ETHTOOL_A_COALESCE_RX_USECS]);
		sim_put(h, shown, "/.sim/coalesce-shown/%s", pf->netdev);
	}
	return store(h, pf, d, m.want);
}

/*
 * Nothing is written when one attribute is not the driver's. A request for both a mode and a value calls
 * the driver twice (ethnl_set_coalesce()).
 */
static int set_coalesce(struct host *h, const struct sim_pf *pf, const struct nlattr *first, const char *stop)
{
	const struct sim_driver *d = driver_of(h, pf);
	bool both = false;
	int r;

	if (!d || !d->has)
		return -EOPNOTSUPP;
	if (!driver_has_all(d, first, stop))
		return -EINVAL;
	r = call_driver(h, pf, d, first, stop, &both);
	return r == 0 && both && !sim_has(h, "/.sim/one-call") ? call_driver(h, pf, d, first, stop, &both) : r;
}

static int coalesce(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	const struct genlmsghdr *g = NLMSG_DATA(rq);
	const struct nlattr *first = (const void *)((const char *)g + GENL_HDRLEN);
	const char *stop = (const char *)rq + rq->nlmsg_len;
	const struct nlattr *index = (const void *)((const char *)first + NLA_HDRLEN);
	struct sim_pf pf;

	if ((const char *)(index + 1) + 4 > stop || (index->nla_type & NLA_TYPE_MASK) != ETHTOOL_A_HEADER_DEV_INDEX)
		return -EINVAL;
	if (sim_pf_read_index(h, *(const uint32_t *)(const void *)(index + 1), &pf) < 0)
		return -ENODEV;
	if (g->cmd == ETHTOOL_MSG_COALESCE_GET)
		return get_coalesce(h, rq, &pf, reply);
	return g->cmd == ETHTOOL_MSG_COALESCE_SET ? set_coalesce(h, &pf, first, stop) : -EOPNOTSUPP;
}

int sim_generic(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	if (rq->nlmsg_type == GENL_ID_CTRL)
		return get_family(h, rq, reply);
	if (rq->nlmsg_type == SIM_DEVLINK)
		return sim_devlink(h, rq, reply);
	return rq->nlmsg_type == FAMILY ? coalesce(h, rq, reply) : -ENOENT;
}
