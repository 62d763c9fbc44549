// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Generic netlink's ETHTOOL_MSG_COALESCE_GET and _SET, as net/ethtool/coalesce.c and each driver's
 * set_coalesce() answer them. State: .sim/coalesce/NETDEV, "ATTRIBUTE VALUE" lines;
 * .sim/coalesce-forgets: attributes that are taken and not kept, as netdevsim's CQE mode.
 */
#include <errno.h>
#include <linux/devlink.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>
#include <linux/netlink.h>
#include <stdio.h>

#include "sim.h"

#define FAMILY 0x15
#define ATTRIBUTES 26
#define PFS_MAX 64
#define BIT(a) (1u << (a))

#define RX_USECS BIT(ETHTOOL_A_COALESCE_RX_USECS)
#define TX_USECS BIT(ETHTOOL_A_COALESCE_TX_USECS)
#define RX_FRAMES BIT(ETHTOOL_A_COALESCE_RX_MAX_FRAMES)
#define TX_FRAMES BIT(ETHTOOL_A_COALESCE_TX_MAX_FRAMES)
#define TX_FRAMES_IRQ BIT(ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ)
#define ADAPTIVE_RX BIT(ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX)
#define ADAPTIVE_TX BIT(ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX)
#define RX_HIGH BIT(ETHTOOL_A_COALESCE_RX_USECS_HIGH)
#define TX_HIGH BIT(ETHTOOL_A_COALESCE_TX_USECS_HIGH)
#define RX_LOW BIT(ETHTOOL_A_COALESCE_RX_USECS_LOW)
#define RATES (BIT(ETHTOOL_A_COALESCE_PKT_RATE_LOW) | BIT(ETHTOOL_A_COALESCE_PKT_RATE_HIGH) | \
	BIT(ETHTOOL_A_COALESCE_RATE_SAMPLE_INTERVAL))
#define CQE_MODES (BIT(24) | BIT(25))

typedef uint32_t values[ATTRIBUTES];

/* Of each driver: 0, or what it refuses @want with. @now is what it has. */
static int set_igb(const values now, const values want)
{
	uint32_t rx = want[ETHTOOL_A_COALESCE_RX_USECS];

	if (want[ETHTOOL_A_COALESCE_TX_USECS]) /* its queues are paired */
		return -EINVAL;
	return rx > 10000 || (rx > 3 && rx < 10) || rx == 2 ? -EINVAL : 0;
}

static int set_igbvf(const values now, const values want)
{
	uint32_t rx = want[ETHTOOL_A_COALESCE_RX_USECS];

	return (rx >= 10 && rx <= 10000) || rx == 0 || rx == 2 || rx == 3 ? 0 : -EINVAL;
}

static int set_ixgbe(const values now, const values want)
{
	return want[ETHTOOL_A_COALESCE_RX_USECS] > 1022 || want[ETHTOOL_A_COALESCE_TX_USECS]
		? -EINVAL : 0;
}

static int set_ice(const values now, const values want)
{
	return want[ETHTOOL_A_COALESCE_RX_USECS] > 8160 || want[ETHTOOL_A_COALESCE_TX_USECS] > 8160 ||
			want[ETHTOOL_A_COALESCE_RX_USECS_HIGH] > 236 ? -EINVAL : 0;
}

static int set_i40e(const values now, const values want)
{
	return want[ETHTOOL_A_COALESCE_RX_USECS] > 8160 || want[ETHTOOL_A_COALESCE_TX_USECS] > 8160
		? -EINVAL : 0;
}

static int set_mlx5(const values now, const values want)
{
	return want[ETHTOOL_A_COALESCE_RX_USECS] > 4095 || want[ETHTOOL_A_COALESCE_TX_USECS] > 4095 ||
			want[ETHTOOL_A_COALESCE_RX_MAX_FRAMES] > 65535 ||
			want[ETHTOOL_A_COALESCE_TX_MAX_FRAMES] > 65535 ? -ERANGE : 0;
}

static int set_mlx4(const values now, const values want)
{
	if (!want[ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ])
		return -EINVAL;
	for (int i = ETHTOOL_A_COALESCE_RX_USECS; i <= ETHTOOL_A_COALESCE_TX_MAX_FRAMES; i++)
		if (want[i] > 65535)
			return -ERANGE;
	return 0;
}

/* One that nobody knows. */
static int set_odd(const values now, const values want)
{
	return want[ETHTOOL_A_COALESCE_RX_USECS] % 2 ? 0 : -EINVAL;
}

static const struct driver {
	const char *name;
	uint32_t has;
	values first; /* as after a probe */
	int (*set)(const values now, const values want);
} drivers[] = {
	{"igb", RX_USECS | TX_USECS, {[ETHTOOL_A_COALESCE_RX_USECS] = 3}, set_igb},
	{"igbvf", RX_USECS, {[ETHTOOL_A_COALESCE_RX_USECS] = 3}, set_igbvf},
	{"ixgbe", RX_USECS | TX_USECS, {[ETHTOOL_A_COALESCE_RX_USECS] = 1}, set_ixgbe},
	{"i40e", RX_USECS | TX_USECS | ADAPTIVE_RX | ADAPTIVE_TX | TX_FRAMES_IRQ | RX_HIGH | TX_HIGH,
		{[ETHTOOL_A_COALESCE_RX_USECS] = 50, [ETHTOOL_A_COALESCE_TX_USECS] = 50,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX] = 1,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX] = 1}, set_i40e},
	{"ice", RX_USECS | TX_USECS | ADAPTIVE_RX | ADAPTIVE_TX | RX_HIGH,
		{[ETHTOOL_A_COALESCE_RX_USECS] = 50, [ETHTOOL_A_COALESCE_TX_USECS] = 50,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX] = 1,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX] = 1}, set_ice},
	{"mlx5_core", RX_USECS | TX_USECS | RX_FRAMES | TX_FRAMES | ADAPTIVE_RX | ADAPTIVE_TX | CQE_MODES,
		{[ETHTOOL_A_COALESCE_RX_USECS] = 8, [ETHTOOL_A_COALESCE_TX_USECS] = 16,
			[ETHTOOL_A_COALESCE_RX_MAX_FRAMES] = 128,
			[ETHTOOL_A_COALESCE_TX_MAX_FRAMES] = 128,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX] = 1,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX] = 1}, set_mlx5},
	{"mlx4_core", RX_USECS | TX_USECS | RX_FRAMES | TX_FRAMES | ADAPTIVE_RX | TX_FRAMES_IRQ | RATES |
			RX_LOW | RX_HIGH,
		{[ETHTOOL_A_COALESCE_RX_USECS] = 16, [ETHTOOL_A_COALESCE_TX_USECS] = 16,
			[ETHTOOL_A_COALESCE_RX_MAX_FRAMES] = 44,
			[ETHTOOL_A_COALESCE_TX_MAX_FRAMES] = 16,
			[ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ] = 256,
			[ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX] = 1,
			[ETHTOOL_A_COALESCE_RX_USECS_HIGH] = 128}, set_mlx4},
	{"oddnic", RX_USECS | RX_FRAMES, {[ETHTOOL_A_COALESCE_RX_USECS] = 1}, set_odd},
};

/* The enhanced IPoIB of mlx5 (ipoib/ethtool.c). */
static const struct driver mlx5_ipoib = {"mlx5_core",
	RX_USECS | TX_USECS | RX_FRAMES | TX_FRAMES | ADAPTIVE_RX | ADAPTIVE_TX,
	{[ETHTOOL_A_COALESCE_RX_USECS] = 8, [ETHTOOL_A_COALESCE_TX_USECS] = 16}, set_mlx5};

/* ---- state ---- */

static const struct driver *driver_of(struct host *h, const struct sim_pf *pf)
{
	char path[128], bdf[VFCTL_BDF_TEXT];
	_free_ char *target = NULL;
	const char *name;

	snprintf(path, sizeof(path), "/sys/bus/pci/devices/%s/driver", vfctl_bdf_format(&pf->bdf, bdf));
	if (h->ops->readlink(h, path, &target) < 0)
		return NULL;
	name = strrchr(target, '/') ? strrchr(target, '/') + 1 : target;
	if (pf->infiniband && str_eq(name, mlx5_ipoib.name))
		return &mlx5_ipoib;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].name, name))
			return &drivers[i];
	return NULL;
}

static void load(struct host *h, const struct sim_pf *pf, const struct driver *d, values ret)
{
	_free_ char *text = sim_get(h, "/.sim/coalesce/%s", pf->netdev);
	unsigned attribute, value;
	int used;

	memcpy(ret, d->first, sizeof(values));
	for (const char *at = text; at && sscanf(at, "%u %u\n%n", &attribute, &value, &used) == 2; at += used)
		if (attribute < ATTRIBUTES)
			ret[attribute] = value;
}

static int store(struct host *h, const struct sim_pf *pf, const struct driver *d, const values v)
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
	return BIT(a) & (ADAPTIVE_RX | ADAPTIVE_TX | CQE_MODES);
}

static int get_coalesce(struct host *h, const struct nlmsghdr *rq, const struct sim_pf *pf, struct buf *reply)
{
	const struct driver *d = driver_of(h, pf);
	struct nlattr header = {.nla_len = NLA_HDRLEN + 8, .nla_type = ETHTOOL_A_COALESCE_HEADER | NLA_F_NESTED};
	uint32_t ifindex = pf->ifindex;
	values v;
	size_t at;

	if (!d)
		return -EOPNOTSUPP;
	load(h, pf, d, v);
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

/* Nothing is written when one attribute is not the driver's (ethnl_set_coalesce_validate()). */
static int set_coalesce(struct host *h, const struct sim_pf *pf, const struct nlattr *first, const char *stop)
{
	const struct driver *d = driver_of(h, pf);
	values now, want;
	int r;

	if (!d)
		return -EOPNOTSUPP;
	load(h, pf, d, now);
	memcpy(want, now, sizeof(want));
	for (const char *at = (const char *)first; at + NLA_HDRLEN <= stop;) {
		const struct nlattr *attr = (const void *)at;
		unsigned type = attr->nla_type & NLA_TYPE_MASK;

		if (type != ETHTOOL_A_COALESCE_HEADER) {
			if (type >= ATTRIBUTES || !(d->has & BIT(type)))
				return -EINVAL;
			want[type] = is_mode(type) ? *(const uint8_t *)(at + NLA_HDRLEN)
						   : *(const uint32_t *)(const void *)(at + NLA_HDRLEN);
		}
		at += NLA_ALIGN(attr->nla_len);
	}
	if (memcmp(now, want, sizeof(now)) == 0)
		return 0;
	r = d->set(now, want);
	return r < 0 ? r : store(h, pf, d, want);
}

static int coalesce(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	const struct genlmsghdr *g = NLMSG_DATA(rq);
	const struct nlattr *first = (const void *)((const char *)g + GENL_HDRLEN);
	const char *stop = (const char *)rq + rq->nlmsg_len;
	const struct nlattr *index = (const void *)((const char *)first + NLA_HDRLEN);
	struct sim_pf pfs[PFS_MAX];
	size_t count = sim_pfs_read(h, pfs, PFS_MAX);

	if ((const char *)(index + 1) + 4 > stop || (index->nla_type & NLA_TYPE_MASK) != ETHTOOL_A_HEADER_DEV_INDEX)
		return -EINVAL;
	for (size_t i = 0; i < count; i++) {
		if (pfs[i].ifindex != *(const uint32_t *)(const void *)(index + 1))
			continue;
		if (g->cmd == ETHTOOL_MSG_COALESCE_GET)
			return get_coalesce(h, rq, &pfs[i], reply);
		return g->cmd == ETHTOOL_MSG_COALESCE_SET ? set_coalesce(h, &pfs[i], first, stop) : -EOPNOTSUPP;
	}
	return -ENODEV;
}

int sim_generic(struct host *h, const struct nlmsghdr *rq, struct buf *reply)
{
	if (rq->nlmsg_type == GENL_ID_CTRL)
		return get_family(h, rq, reply);
	if (rq->nlmsg_type == SIM_DEVLINK)
		return sim_devlink(h, rq, reply);
	return rq->nlmsg_type == FAMILY ? coalesce(h, rq, reply) : -ENOENT;
}
