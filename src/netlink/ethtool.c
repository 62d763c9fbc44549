// SPDX-License-Identifier: GPL-2.0-or-later
/* ETHTOOL_MSG_COALESCE_GET and _SET (Documentation/networking/ethtool-netlink.rst). */
#include "netlink/ethtool.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/ethtool_netlink.h>
#include <linux/genetlink.h>

#include "netlink/genl.h"

/* Linux 5.15: newer than some headers. */
#define A_USE_CQE_MODE_TX 24
#define A_USE_CQE_MODE_RX 25

#define ROW_ROOM (16 + VFCTL_COALESCE_KEYS * 8)

static const uint16_t attributes[VFCTL_COALESCE_KEYS] = {
	[VFCTL_RX_USECS] = ETHTOOL_A_COALESCE_RX_USECS,
	[VFCTL_RX_FRAMES] = ETHTOOL_A_COALESCE_RX_MAX_FRAMES,
	[VFCTL_RX_USECS_IRQ] = ETHTOOL_A_COALESCE_RX_USECS_IRQ,
	[VFCTL_RX_FRAMES_IRQ] = ETHTOOL_A_COALESCE_RX_MAX_FRAMES_IRQ,
	[VFCTL_TX_USECS] = ETHTOOL_A_COALESCE_TX_USECS,
	[VFCTL_TX_FRAMES] = ETHTOOL_A_COALESCE_TX_MAX_FRAMES,
	[VFCTL_TX_USECS_IRQ] = ETHTOOL_A_COALESCE_TX_USECS_IRQ,
	[VFCTL_TX_FRAMES_IRQ] = ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ,
	[VFCTL_STATS_BLOCK_USECS] = ETHTOOL_A_COALESCE_STATS_BLOCK_USECS,
	[VFCTL_ADAPTIVE_RX] = ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX,
	[VFCTL_ADAPTIVE_TX] = ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX,
	[VFCTL_PKT_RATE_LOW] = ETHTOOL_A_COALESCE_PKT_RATE_LOW,
	[VFCTL_RX_USECS_LOW] = ETHTOOL_A_COALESCE_RX_USECS_LOW,
	[VFCTL_RX_FRAMES_LOW] = ETHTOOL_A_COALESCE_RX_MAX_FRAMES_LOW,
	[VFCTL_TX_USECS_LOW] = ETHTOOL_A_COALESCE_TX_USECS_LOW,
	[VFCTL_TX_FRAMES_LOW] = ETHTOOL_A_COALESCE_TX_MAX_FRAMES_LOW,
	[VFCTL_PKT_RATE_HIGH] = ETHTOOL_A_COALESCE_PKT_RATE_HIGH,
	[VFCTL_RX_USECS_HIGH] = ETHTOOL_A_COALESCE_RX_USECS_HIGH,
	[VFCTL_RX_FRAMES_HIGH] = ETHTOOL_A_COALESCE_RX_MAX_FRAMES_HIGH,
	[VFCTL_TX_USECS_HIGH] = ETHTOOL_A_COALESCE_TX_USECS_HIGH,
	[VFCTL_TX_FRAMES_HIGH] = ETHTOOL_A_COALESCE_TX_MAX_FRAMES_HIGH,
	[VFCTL_SAMPLE_INTERVAL] = ETHTOOL_A_COALESCE_RATE_SAMPLE_INTERVAL,
	[VFCTL_CQE_MODE_TX] = A_USE_CQE_MODE_TX,
	[VFCTL_CQE_MODE_RX] = A_USE_CQE_MODE_RX,
};

static int find_family(struct vfctl_ctx *ctx, uint16_t *ret)
{
	int r = genl_find_family(ctx, ETHTOOL_GENL_NAME, ret);

	if (r < 0)
		return r;
	return *ret ? 0 : ctx_fail(ctx, -EOPNOTSUPP, "this kernel has no ethtool netlink (it needs "
		"Linux 5.7), so interrupt moderation can be neither read nor set");
}

/* ---- reading ---- */

static int ifindex_in(const struct nlattr *header)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, header)
		if (mnl_attr_get_type(attr) == ETHTOOL_A_HEADER_DEV_INDEX &&
			mnl_attr_get_payload_len(attr) >= sizeof(uint32_t))
			return (int)mnl_attr_get_u32(attr);
	return 0;
}

static void read_value(const struct nlattr *attr, struct vfctl_coalesce *c)
{
	size_t size = mnl_attr_get_payload_len(attr);

	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		bool is_switch = vfctl_coalesce_is_switch((enum vfctl_coalesce_key)i);

		if (mnl_attr_get_type(attr) != attributes[i] ||
			size < (is_switch ? sizeof(uint8_t) : sizeof(uint32_t)))
			continue;
		c->values[i] = is_switch ? !!mnl_attr_get_u8(attr) : mnl_attr_get_u32(attr);
		c->mask |= VFCTL_COALESCE_BIT(i);
	}
}

static void read_message(const struct nlmsghdr *m, struct nl_coalesce *rows, size_t count)
{
	struct vfctl_coalesce c = {0};
	const struct nlattr *attr;
	int ifindex = 0;

	mnl_attr_for_each(attr, m, GENL_HDRLEN) {
		if (mnl_attr_get_type(attr) == ETHTOOL_A_COALESCE_HEADER)
			ifindex = ifindex_in(attr);
		else
			read_value(attr, &c);
	}
	for (size_t i = 0; i < count; i++)
		if (rows[i].ifindex == ifindex)
			rows[i].values = c;
}

/* ---- one datagram for all rows ---- */

static bool put_row(struct nl_request *rq, uint16_t family, bool write,
	const struct nl_coalesce *row)
{
	struct nlmsghdr *m = genl_begin(rq, family,
		write ? ETHTOOL_MSG_COALESCE_SET : ETHTOOL_MSG_COALESCE_GET, 0, ROW_ROOM);
	struct nlattr *header;

	if (!m)
		return false;
	header = mnl_attr_nest_start(m, ETHTOOL_A_COALESCE_HEADER);
	mnl_attr_put_u32(m, ETHTOOL_A_HEADER_DEV_INDEX, (uint32_t)row->ifindex);
	mnl_attr_nest_end(m, header);
	for (size_t i = 0; write && i < VFCTL_COALESCE_KEYS; i++) {
		if (!(row->values.mask & VFCTL_COALESCE_BIT(i)))
			continue;
		if (vfctl_coalesce_is_switch((enum vfctl_coalesce_key)i))
			mnl_attr_put_u8(m, attributes[i], row->values.values[i] != 0);
		else
			mnl_attr_put_u32(m, attributes[i], row->values.values[i]);
	}
	nl_end(rq, m);
	return true;
}

static int talk(struct vfctl_ctx *ctx, bool write, struct nl_coalesce *rows, size_t count,
	uint16_t family, struct buf *reply)
{
	_free_ struct nl_result *results = calloc(count + 1, sizeof(*results));
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	int r;

	for (size_t i = 0; i < count; i++)
		if (!results || !put_row(&rq, family, write, &rows[i]))
			return ctx_oom(ctx);
	r = nl_talk(ctx, NETLINK_GENERIC, &rq, reply, results);
	for (size_t i = 0; i < count && r == 0; i++) {
		rows[i].error = results[i].error;
		str_copy(rows[i].text, sizeof(rows[i].text), results[i].text);
	}
	return r;
}

int nl_coalesce_read(struct vfctl_ctx *ctx, struct nl_coalesce *rows, size_t count)
{
	_buf_ struct buf reply = {0};
	const struct nlmsghdr *m;
	uint16_t family = 0;
	size_t at = 0;
	int r = count ? find_family(ctx, &family) : 0;

	if (r < 0 || !count)
		return r;
	for (size_t i = 0; i < count; i++)
		rows[i].values.mask = 0;
	r = talk(ctx, false, rows, count, family, &reply);
	while (r == 0 && (m = nl_next(&reply, &at)))
		if (genl_of(m, family))
			read_message(m, rows, count);
	return r;
}

int nl_coalesce_write(struct vfctl_ctx *ctx, struct nl_coalesce *rows, size_t count)
{
	_buf_ struct buf reply = {0};
	uint16_t family = 0;
	int r = count ? find_family(ctx, &family) : 0;

	return r < 0 || !count ? r : talk(ctx, true, rows, count, family, &reply);
}
