// SPDX-License-Identifier: GPL-2.0-or-later
/* DEVLINK_CMD_* (include/uapi/linux/devlink.h). */
#include "netlink/devlink.h"

#include <errno.h>
#include <libmnl/libmnl.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>

#include "netlink/genl.h"

/* Attributes with higher numbers are not read. */
#define ATTRS (DEVLINK_ATTR_RATE_PARENT_NODE_NAME + 1)
#define DEVICE_ROOM 64
#define ROW_ROOM (DEVICE_ROOM + NL_RATE_NAME + 48)

/* A message's attributes by their number; NULL if it is absent. */
typedef const struct nlattr *attrs[ATTRS];

static void index_attrs(const struct nlmsghdr *m, attrs ret)
{
	const struct nlattr *attr;

	memset(ret, 0, sizeof(attrs));
	mnl_attr_for_each(attr, m, GENL_HDRLEN)
		if (mnl_attr_get_type(attr) < ATTRS)
			ret[mnl_attr_get_type(attr)] = attr;
}

static uint64_t number_devlink(const struct nlattr *attr, uint64_t missing)
{
	size_t size = attr ? mnl_attr_get_payload_len(attr) : 0;

	if (size >= sizeof(uint64_t))
		return mnl_attr_get_u64(attr);
	if (size >= sizeof(uint32_t))
		return mnl_attr_get_u32(attr);
	if (size >= sizeof(uint16_t))
		return mnl_attr_get_u16(attr);
	return size ? mnl_attr_get_u8(attr) : missing;
}

/*
 * The kernel terminates its texts with a NUL; a capture need not. A text that is too long becomes
 * "".
 */
static void copy_text(const struct nlattr *attr, char *ret, size_t size)
{
	size_t len = attr ? strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)) : 0;

	if (len >= size)
		len = 0;
	if (len)
		memcpy(ret, mnl_attr_get_payload(attr), len);
	ret[len] = '\0';
}

static bool is_text(const struct nlattr *attr, const char *text)
{
	size_t len = strlen(text);

	return attr && mnl_attr_get_payload_len(attr) >= len &&
		strnlen(mnl_attr_get_payload(attr), mnl_attr_get_payload_len(attr)) == len &&
		memcmp(mnl_attr_get_payload(attr), text, len) == 0;
}

/* ---- requests ---- */

static int find_family(struct vfctl_ctx *ctx, uint16_t *ret)
{
	int r = genl_find_family(ctx, DEVLINK_GENL_NAME, ret);

	if (r < 0)
		return r;
	return *ret ? 0 : ctx_fail(ctx, -EOPNOTSUPP, "this kernel has no devlink, or this capture does "
		"not contain its answers");
}

static struct nlmsghdr *begin_devlink(struct nl_request *rq, uint16_t family, uint8_t command,
	uint16_t flags,
	const struct nl_devlink *d, size_t room)
{
	struct nlmsghdr *m = genl_begin(rq, family, command, flags, room + DEVICE_ROOM);

	if (m && mnl_attr_put_strz_check(m, room + DEVICE_ROOM, DEVLINK_ATTR_BUS_NAME, d->bus) &&
		mnl_attr_put_strz_check(m, room + DEVICE_ROOM, DEVLINK_ATTR_DEV_NAME, d->device))
		return m;
	return NULL;
}

static int fail_answer(struct vfctl_ctx *ctx, const struct nl_devlink *d, const char *what,
	const struct nl_result *result)
{
	const char *message = result->text[0] ? result->text : strerror(-result->error);

	if (result->error == -ENODEV)
		return ctx_fail(ctx, -ENODEV, "%s of %s: its driver does not support "
			"devlink", what, d->device);
	return ctx_fail(ctx, result->error, "%s of %s: the kernel rejected it: %s (%s)", what, d->device,
		message, errno_name(result->error));
}

/* Append one message: the device, and the requested mode, or NULL. */
static int ask_card(struct vfctl_ctx *ctx, const struct nl_devlink *d, uint8_t command,
	uint16_t flags,
	const char *what, const uint16_t *mode, struct buf *ret_reply, uint16_t *ret_family)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	struct nl_result result;
	struct nlmsghdr *m;
	int r = find_family(ctx, ret_family);

	if (r < 0)
		return r;
	m = begin_devlink(&rq, *ret_family, command, flags, d, 16);
	if (!m)
		return ctx_oom(ctx);
	if (mode)
		mnl_attr_put_u16(m, DEVLINK_ATTR_ESWITCH_MODE, *mode);
	nl_end(&rq, m);
	r = nl_talk(ctx, NETLINK_GENERIC, &rq, ret_reply, &result);
	return r == 0 && result.error < 0 ? fail_answer(ctx, d, what, &result) : r;
}

/*
 * Find the next message of a dump that concerns @d: kernels before 6.6 answer with the messages of
 * all devices (net/devlink/netlink.c, devlink_nl_dumpit()).
 */
static bool next_about(const struct buf *reply, size_t *at, uint16_t family,
	const struct nl_devlink *d, attrs ret)
{
	const struct nlmsghdr *m;

	while ((m = nl_next(reply, at))) {
		if (!genl_of(m, family))
			continue;
		index_attrs(m, ret);
		if (is_text(ret[DEVLINK_ATTR_BUS_NAME], d->bus) &&
			is_text(ret[DEVLINK_ATTR_DEV_NAME], d->device))
			return true;
	}
	return false;
}

/* ---- eswitch mode ---- */

int nl_eswitch_read(struct vfctl_ctx *ctx, const struct nl_devlink *d, uint16_t *ret_mode)
{
	_buf_ struct buf reply = {0};
	uint16_t family;
	size_t at = 0;
	attrs a;
	int r = ask_card(ctx, d, DEVLINK_CMD_ESWITCH_GET, 0, "read the eswitch mode", NULL, &reply,
		&family);

	if (r < 0)
		return r;
	while (next_about(&reply, &at, family, d, a))
		if (a[DEVLINK_ATTR_ESWITCH_MODE]) {
			*ret_mode = (uint16_t)number_devlink(a[DEVLINK_ATTR_ESWITCH_MODE], 0);
			return 0;
		}
	return ctx_fail(ctx, -EOPNOTSUPP, "the driver of %s has no eswitch modes", d->device);
}

int nl_eswitch_write(struct vfctl_ctx *ctx, const struct nl_devlink *d, uint16_t mode)
{
	_buf_ struct buf reply = {0};
	uint16_t family;

	return ask_card(ctx, d, DEVLINK_CMD_ESWITCH_SET, 0, "set the eswitch mode", &mode, &reply,
		&family);
}

/* ---- parameters ---- */

/* Read the value within DEVLINK_ATTR_PARAM; false: it has no value of 32 bits. */
static bool read_param(const struct nlattr *param, uint32_t *ret)
{
	const struct nlattr *list, *value, *attr;

	mnl_attr_for_each_nested(list, param) {
		if (mnl_attr_get_type(list) != DEVLINK_ATTR_PARAM_VALUES_LIST)
			continue;
		mnl_attr_for_each_nested(value, list)
			mnl_attr_for_each_nested(attr, value)
				if (mnl_attr_get_type(attr) == DEVLINK_ATTR_PARAM_VALUE_DATA &&
					mnl_attr_get_payload_len(attr) == sizeof(*ret)) {
					*ret = mnl_attr_get_u32(attr);
					return true;
				}
	}
	return false;
}

int nl_param_read(struct vfctl_ctx *ctx, const struct nl_devlink *d, const char *name,
	uint32_t *ret)
{
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	struct nl_result result;
	struct nlmsghdr *m;
	uint16_t family;
	size_t at = 0;
	attrs a;
	int r = find_family(ctx, &family);

	if (r < 0)
		return r;
	m = begin_devlink(&rq, family, DEVLINK_CMD_PARAM_GET, 0, d, strlen(name) + 16);
	if (!m)
		return ctx_oom(ctx);
	mnl_attr_put_strz(m, DEVLINK_ATTR_PARAM_NAME, name);
	nl_end(&rq, m);
	r = nl_talk(ctx, NETLINK_GENERIC, &rq, &reply, &result);
	if (r < 0 || result.error < 0)
		return r < 0 ? r : fail_answer(ctx, d, "read a parameter", &result);
	while (next_about(&reply, &at, family, d, a))
		if (a[DEVLINK_ATTR_PARAM] && read_param(a[DEVLINK_ATTR_PARAM], ret))
			return 0;
	return ctx_fail(ctx, -EOPNOTSUPP, "the driver of %s has no parameter %s", d->device, name);
}

/* ---- ports ---- */

static void read_function(const struct nlattr *nest, struct nl_port *port)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		size_t len = mnl_attr_get_payload_len(attr);

		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_PORT_FUNCTION_ATTR_HW_ADDR:
			port->address_len = (uint8_t)(len < NL_ADDRESS ? len : NL_ADDRESS);
			memcpy(port->address, mnl_attr_get_payload(attr), port->address_len);
			break;
		case DEVLINK_PORT_FN_ATTR_STATE:
			port->has_state = true;
			port->active = number_devlink(attr, 0) == DEVLINK_PORT_FN_STATE_ACTIVE;
			break;
		case DEVLINK_PORT_FN_ATTR_OPSTATE:
			port->attached = number_devlink(attr, 0) == DEVLINK_PORT_FN_OPSTATE_ATTACHED;
			break;
		default:
			break;
		}
	}
}

static void read_port(attrs a, struct nl_port *ret)
{
	*ret = (struct nl_port){
		.index = (uint32_t)number_devlink(a[DEVLINK_ATTR_PORT_INDEX], UINT32_MAX),
		.flavour = (uint16_t)number_devlink(a[DEVLINK_ATTR_PORT_FLAVOUR], NL_FLAVOUR_UNKNOWN),
		.external = number_devlink(a[DEVLINK_ATTR_PORT_EXTERNAL], 0) != 0,
		.controller = (uint32_t)number_devlink(a[DEVLINK_ATTR_PORT_CONTROLLER_NUMBER], 0),
		.pf = (uint16_t)number_devlink(a[DEVLINK_ATTR_PORT_PCI_PF_NUMBER], 0),
		.vf = (uint16_t)number_devlink(a[DEVLINK_ATTR_PORT_PCI_VF_NUMBER], UINT16_MAX),
		.sf = (uint32_t)number_devlink(a[DEVLINK_ATTR_PORT_PCI_SF_NUMBER], 0),
		.ifindex = (int)number_devlink(a[DEVLINK_ATTR_PORT_NETDEV_IFINDEX], 0),
	};
	copy_text(a[DEVLINK_ATTR_PORT_NETDEV_NAME], ret->netdev, sizeof(ret->netdev));
	if (a[DEVLINK_ATTR_PORT_FUNCTION])
		read_function(a[DEVLINK_ATTR_PORT_FUNCTION], ret);
}

int nl_ports_read(struct vfctl_ctx *ctx, const struct nl_devlink *d, struct nl_ports *ret)
{
	_cleanup_(nl_ports_free) struct nl_ports ports = {0};
	_buf_ struct buf reply = {0};
	uint16_t family;
	size_t at = 0;
	attrs a;
	int r = ask_card(ctx, d, DEVLINK_CMD_PORT_GET, NLM_F_DUMP, "list the ports", NULL, &reply,
		&family);

	while (r == 0 && next_about(&reply, &at, family, d, a)) {
		if (!a[DEVLINK_ATTR_PORT_INDEX])
			continue;
		if (!array_grow(ports.v, ports.count))
			return ctx_oom(ctx);
		read_port(a, &ports.v[ports.count++]);
	}
	if (r < 0)
		return r;
	*ret = steal(ports);
	return 0;
}

void nl_ports_free(struct nl_ports *ports)
{
	free(ports->v);
	*ports = (struct nl_ports){0};
}

const struct nl_port *nl_ports_find_vf(const struct nl_ports *ports, uint32_t vf)
{
	for (size_t i = 0; i < ports->count; i++)
		if (ports->v[i].flavour == NL_FLAVOUR_PCI_VF && !ports->v[i].external &&
			ports->v[i].vf == vf)
			return &ports->v[i];
	return NULL;
}

/* ---- rates ---- */

int nl_rates_read(struct vfctl_ctx *ctx, const struct nl_devlink *d, struct nl_rates *ret)
{
	_cleanup_(nl_rates_free) struct nl_rates rates = {0};
	_buf_ struct buf reply = {0};
	uint16_t family;
	size_t at = 0;
	attrs a;
	int r = ask_card(ctx, d, DEVLINK_CMD_RATE_GET, NLM_F_DUMP, "read the rates", NULL, &reply,
		&family);

	while (r == 0 && next_about(&reply, &at, family, d, a)) {
		struct nl_rate *rate;

		if (!a[DEVLINK_ATTR_PORT_INDEX] && !a[DEVLINK_ATTR_RATE_NODE_NAME])
			continue;
		if (!array_grow(rates.v, rates.count))
			return ctx_oom(ctx);
		rate = &rates.v[rates.count++];
		rate->port = (uint32_t)number_devlink(a[DEVLINK_ATTR_PORT_INDEX], UINT32_MAX);
		rate->tx_max = number_devlink(a[DEVLINK_ATTR_RATE_TX_MAX], 0);
		rate->tx_share = number_devlink(a[DEVLINK_ATTR_RATE_TX_SHARE], 0);
		copy_text(a[DEVLINK_ATTR_RATE_NODE_NAME], rate->node, sizeof(rate->node));
		copy_text(a[DEVLINK_ATTR_RATE_PARENT_NODE_NAME], rate->parent, sizeof(rate->parent));
	}
	if (r < 0)
		return r;
	*ret = steal(rates);
	return 0;
}

void nl_rates_free(struct nl_rates *rates)
{
	free(rates->v);
	*rates = (struct nl_rates){0};
}

static bool put_rate(struct nl_request *rq, uint16_t family, const struct nl_devlink *d,
	const struct nl_rate *row)
{
	struct nlmsghdr *m = begin_devlink(rq, family, DEVLINK_CMD_RATE_SET, 0, d, ROW_ROOM);

	if (!m)
		return false;
	if (row->node[0])
		mnl_attr_put_strz(m, DEVLINK_ATTR_RATE_NODE_NAME, row->node);
	else
		mnl_attr_put_u32(m, DEVLINK_ATTR_PORT_INDEX, row->port);
	if (row->bits & NL_RATE_SHARE)
		mnl_attr_put_u64(m, DEVLINK_ATTR_RATE_TX_SHARE, row->tx_share);
	if (row->bits & NL_RATE_MAX)
		mnl_attr_put_u64(m, DEVLINK_ATTR_RATE_TX_MAX, row->tx_max);
	nl_end(rq, m);
	return true;
}

#define BATCH 128 /* acknowledgements of more requests would not fit into the socket's buffer */

static int write_batch(struct vfctl_ctx *ctx, uint16_t family, const struct nl_devlink *d,
	struct nl_rate *rows, size_t count)
{
	struct nl_result results[BATCH];
	_cleanup_(nl_request_free) struct nl_request rq = {0};
	_buf_ struct buf reply = {0};
	int r;

	for (size_t i = 0; i < count; i++)
		if (!put_rate(&rq, family, d, &rows[i]))
			return ctx_oom(ctx);
	r = nl_talk(ctx, NETLINK_GENERIC, &rq, &reply, results);
	for (size_t i = 0; i < count && r == 0; i++) {
		rows[i].error = results[i].error;
		str_copy(rows[i].text, sizeof(rows[i].text), results[i].text);
	}
	return r;
}

int nl_rates_write(struct vfctl_ctx *ctx, const struct nl_devlink *d, struct nl_rate *rows,
	size_t count)
{
	uint16_t family;
	int r = count ? find_family(ctx, &family) : 0;

	for (size_t done = 0; done < count && r == 0; done += BATCH)
		r = write_batch(ctx, family, d, rows + done, count - done < BATCH ? count - done : BATCH);
	return r;
}

/* ---- health ---- */

static void read_reporter(const struct nlattr *nest, struct nl_reporter *ret)
{
	const struct nlattr *attr;

	mnl_attr_for_each_nested(attr, nest) {
		switch (mnl_attr_get_type(attr)) {
		case DEVLINK_ATTR_HEALTH_REPORTER_NAME:
			copy_text(attr, ret->name, sizeof(ret->name));
			break;
		case DEVLINK_ATTR_HEALTH_REPORTER_STATE: /* DEVLINK_HEALTH_REPORTER_STATE_ERROR is 1 */
			ret->error = number_devlink(attr, 0) == 1;
			break;
		case DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT:
			ret->errors = number_devlink(attr, 0);
			break;
		case DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT:
			ret->recoveries = number_devlink(attr, 0);
			break;
		default:
			break;
		}
	}
}

int nl_reporters_read(struct vfctl_ctx *ctx, const struct nl_devlink *d, struct nl_reporters *ret)
{
	_cleanup_(nl_reporters_free) struct nl_reporters all = {0};
	_buf_ struct buf reply = {0};
	uint16_t family;
	size_t at = 0;
	attrs a;
	int r = ask_card(ctx, d, DEVLINK_CMD_HEALTH_REPORTER_GET, NLM_F_DUMP, "read the health reporters",
		NULL, &reply, &family);

	while (r == 0 && next_about(&reply, &at, family, d, a)) {
		if (!a[DEVLINK_ATTR_HEALTH_REPORTER])
			continue;
		if (!array_grow(all.v, all.count))
			return ctx_oom(ctx);
		read_reporter(a[DEVLINK_ATTR_HEALTH_REPORTER], &all.v[all.count++]);
	}
	if (r < 0)
		return r;
	*ret = steal(all);
	return 0;
}

void nl_reporters_free(struct nl_reporters *reporters)
{
	free(reporters->v);
	*reporters = (struct nl_reporters){0};
}
