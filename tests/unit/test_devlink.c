// SPDX-License-Identifier: GPL-2.0-or-later
/* Requests to devlink, byte for byte, and the parsing of valid and damaged answers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <linux/devlink.h>
#include <linux/genetlink.h>
#include <cmocka.h>

#include "host/host.h"
#include "netlink/devlink.h"

#define FAMILY 0x1d

static const struct nl_devlink device = {"pci", "0000:08:00.0"};

static struct vfctl_ctx *ctx;
static struct buf answer, asked; /* to what comes after the question for the family's number */
static int family = FAMILY;

/* ---- messages ---- */

static void put(struct buf *b, uint16_t type, const void *data, size_t len)
{
	static const char zero[4];
	struct nlattr head = {.nla_len = (uint16_t)(NLA_HDRLEN + len), .nla_type = type};

	buf_add(b, &head, sizeof(head));
	buf_add(b, data, len);
	buf_add(b, zero, NLA_ALIGN(len) - len);
}

static void put_text(struct buf *b, uint16_t type, const char *text)
{
	put(b, type, text, strlen(text) + 1);
}

static void put_u8(struct buf *b, uint16_t type, uint8_t v) { put(b, type, &v, sizeof(v)); }
static void put_u16(struct buf *b, uint16_t type, uint16_t v) { put(b, type, &v, sizeof(v)); }
static void put_u32(struct buf *b, uint16_t type, uint32_t v) { put(b, type, &v, sizeof(v)); }
static void put_u64(struct buf *b, uint16_t type, uint64_t v) { put(b, type, &v, sizeof(v)); }

static size_t begin(struct buf *b, uint16_t type, uint16_t flags, uint8_t command, const char *name)
{
	struct nlmsghdr head = {.nlmsg_type = type, .nlmsg_flags = flags, .nlmsg_seq = 1};
	struct genlmsghdr g = {.cmd = command, .version = 1};
	size_t at = b->len;

	buf_add(b, &head, sizeof(head));
	buf_add(b, &g, sizeof(g));
	if (name) {
		put_text(b, DEVLINK_ATTR_BUS_NAME, "pci");
		put_text(b, DEVLINK_ATTR_DEV_NAME, name);
	}
	return at;
}

static void end(struct buf *b, size_t at)
{
	((struct nlmsghdr *)(void *)(b->data + at))->nlmsg_len = (uint32_t)(b->len - at);
}

static void acknowledge(struct buf *b, uint32_t seq, int error, const char *message)
{
	struct nlmsghdr head = {.nlmsg_type = NLMSG_ERROR, .nlmsg_seq = seq,
		.nlmsg_flags = NLM_F_CAPPED | (message ? NLM_F_ACK_TLVS : 0)};
	struct nlmsgerr body = {.error = error};
	size_t at = b->len;

	buf_add(b, &head, sizeof(head));
	buf_add(b, &body, sizeof(body));
	if (message)
		put_text(b, NLMSGERR_ATTR_MSG, message);
	end(b, at);
}

static void done(struct buf *b)
{
	struct nlmsghdr head = {.nlmsg_len = NLMSG_LENGTH(4), .nlmsg_type = NLMSG_DONE, .nlmsg_seq = 1};
	int zero = 0;

	buf_add(b, &head, sizeof(head));
	buf_add(b, &zero, sizeof(zero));
}

/* ---- a kernel ---- */

static int give_answer(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	const struct nlmsghdr *m = request;
	uint16_t id = (uint16_t)family;
	size_t at;

	assert_int_equal(protocol, NETLINK_GENERIC);
	if (m->nlmsg_type != GENL_ID_CTRL) {
		buf_reset(&asked);
		buf_add(&asked, request, len);
		buf_add(ret_reply, answer.data, answer.len);
		return 0;
	}
	if (family) {
		at = begin(ret_reply, GENL_ID_CTRL, 0, CTRL_CMD_NEWFAMILY, NULL);
		put(ret_reply, CTRL_ATTR_FAMILY_ID, &id, sizeof(id));
		put(ret_reply, CTRL_ATTR_FAMILY_NAME, "devlink", 8);
		end(ret_reply, at);
	}
	acknowledge(ret_reply, 1, family ? 0 : -ENOENT, NULL);
	return 0;
}

static void free_nothing(struct host *h)
{
}

static const struct host_ops ops = {.name = "answer", .exchange = give_answer, .free = free_nothing};

static int set_up(void **state)
{
	static struct host host = {.ops = &ops, .root_fd = -1};
	static char nowhere[] = "";

	host.root = nowhere;
	family = FAMILY;
	if (vfctl_ctx_new(&ctx) < 0)
		return -1;
	host_set(ctx, &host);
	buf_reset(&answer);
	return 0;
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	buf_free(&answer);
	buf_free(&asked);
	return 0;
}

/* The request is this command with the device's name and these attributes, and no others. */
static void assert_asked(uint8_t command, uint16_t flags, const struct buf *attrs)
{
	_buf_ struct buf want = {0};
	size_t at = begin(&want, FAMILY, NLM_F_REQUEST | flags, command, device.device);

	if (attrs)
		buf_add(&want, attrs->data, attrs->len);
	end(&want, at);
	assert_int_equal(asked.len, want.len);
	assert_memory_equal(asked.data, want.data, want.len);
}

/* ---- modes ---- */

static void give_mode(const char *name, uint16_t mode)
{
	size_t at = begin(&answer, FAMILY, 0, DEVLINK_CMD_ESWITCH_GET, name);

	put_u16(&answer, DEVLINK_ATTR_ESWITCH_MODE, mode);
	put_u8(&answer, DEVLINK_ATTR_ESWITCH_INLINE_MODE, 0);
	put_u8(&answer, DEVLINK_ATTR_ESWITCH_ENCAP_MODE, 1);
	end(&answer, at);
	acknowledge(&answer, 1, 0, NULL);
}

static void each_mode_is_read(void **state)
{
	for (uint16_t mode = NL_ESWITCH_LEGACY; mode <= NL_ESWITCH_SWITCHDEV_INACTIVE; mode++) {
		uint16_t now = 99;

		buf_reset(&answer);
		give_mode("0000:08:00.0", mode);
		assert_int_equal(nl_eswitch_read(ctx, &device, &now), 0);
		assert_int_equal(now, mode);
		assert_asked(DEVLINK_CMD_ESWITCH_GET, NLM_F_ACK, NULL);
	}
}

static void a_mode_is_set_and_words_with_a_success_are_no_failure(void **state)
{
	_buf_ struct buf attrs = {0};

	acknowledge(&answer, 1, 0, "Changed eswitch mode to switchdev");
	assert_int_equal(nl_eswitch_write(ctx, &device, NL_ESWITCH_SWITCHDEV), 0);
	put_u16(&attrs, DEVLINK_ATTR_ESWITCH_MODE, 1);
	assert_asked(DEVLINK_CMD_ESWITCH_SET, NLM_F_ACK, &attrs);
}

static void the_kernels_words_are_told_with_a_failure(void **state)
{
	uint16_t mode = 99;

	acknowledge(&answer, 1, -EOPNOTSUPP, "Changing eswitch mode is allowed only if there is no VFs created");
	assert_int_equal(nl_eswitch_write(ctx, &device, NL_ESWITCH_SWITCHDEV), -EOPNOTSUPP);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "only if there is no VFs created (EOPNOTSUPP)"));
	buf_reset(&answer);
	acknowledge(&answer, 1, -ENODEV, NULL);
	assert_int_equal(nl_eswitch_read(ctx, &device, &mode), -ENODEV);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "does not support devlink"));
	buf_reset(&answer);
	acknowledge(&answer, 1, -EPERM, NULL);
	assert_int_equal(nl_eswitch_read(ctx, &device, &mode), -EPERM);
	/* A message of another device, or without the mode, is not an answer. */
	buf_reset(&answer);
	give_mode("0000:09:00.0", 1);
	assert_int_equal(nl_eswitch_read(ctx, &device, &mode), -EOPNOTSUPP);
	family = 0;
	assert_int_equal(nl_eswitch_read(ctx, &device, &mode), -EOPNOTSUPP);
	assert_non_null(strstr(vfctl_ctx_error(ctx), "no devlink"));
	assert_int_equal(mode, 99);
}

/* ---- ports ---- */

static void give_vf_port(const char *name, uint32_t index, uint16_t vf, bool external)
{
	static const uint8_t mac[6] = {2, 0, 0, 0, 0, 7};
	_buf_ struct buf function = {0};
	size_t at = begin(&answer, FAMILY, NLM_F_MULTI, DEVLINK_CMD_PORT_NEW, name);

	put_u32(&answer, DEVLINK_ATTR_PORT_INDEX, index);
	put_u16(&answer, DEVLINK_ATTR_PORT_TYPE, DEVLINK_PORT_TYPE_ETH);
	put_u32(&answer, DEVLINK_ATTR_PORT_NETDEV_IFINDEX, 40 + vf);
	put_text(&answer, DEVLINK_ATTR_PORT_NETDEV_NAME, "eth4");
	put_u16(&answer, DEVLINK_ATTR_PORT_FLAVOUR, DEVLINK_PORT_FLAVOUR_PCI_VF);
	put_u32(&answer, DEVLINK_ATTR_PORT_CONTROLLER_NUMBER, external);
	put_u16(&answer, DEVLINK_ATTR_PORT_PCI_PF_NUMBER, 0);
	put_u16(&answer, DEVLINK_ATTR_PORT_PCI_VF_NUMBER, vf);
	put_u8(&answer, DEVLINK_ATTR_PORT_EXTERNAL, external);
	put(&function, DEVLINK_PORT_FUNCTION_ATTR_HW_ADDR, mac, sizeof(mac));
	put_u8(&function, DEVLINK_PORT_FN_ATTR_STATE, DEVLINK_PORT_FN_STATE_ACTIVE);
	put_u8(&function, DEVLINK_PORT_FN_ATTR_OPSTATE, DEVLINK_PORT_FN_OPSTATE_DETACHED);
	put(&function, 4, "\3\0\0\0\3\0\0\0", 8); /* caps: newer than Debian 12's header */
	put(&answer, DEVLINK_ATTR_PORT_FUNCTION | NLA_F_NESTED, function.data, function.len);
	end(&answer, at);
}

static void ports_are_those_of_the_device_asked_for(void **state)
{
	struct nl_ports ports = {0};
	const struct nl_port *port;

	give_vf_port("0000:08:00.1", 5, 3, false);  /* an older kernel answers with all */
	give_vf_port("0000:08:00.0", 6, 3, true);   /* another host's, on a DPU */
	give_vf_port("0000:08:00.0", 65539, 3, false);
	give_vf_port("0000:08:00.0x", 8, 3, false);
	done(&answer);
	assert_int_equal(nl_ports_read(ctx, &device, &ports), 0);
	assert_asked(DEVLINK_CMD_PORT_GET, NLM_F_DUMP, NULL);
	assert_int_equal(ports.count, 2);
	port = nl_ports_find_vf(&ports, 3);
	assert_non_null(port);
	assert_int_equal(port->index, 65539);
	assert_int_equal(port->flavour, NL_FLAVOUR_PCI_VF);
	assert_int_equal(port->ifindex, 43);
	assert_string_equal(port->netdev, "eth4");
	assert_int_equal(port->address_len, 6);
	assert_int_equal(port->address[5], 7);
	assert_true(port->has_state && port->active && !port->attached);
	assert_null(nl_ports_find_vf(&ports, 4));
	nl_ports_free(&ports);
}

/* ---- rates ---- */

static void rates_are_read_of_leaves_and_nodes(void **state)
{
	struct nl_rates rates = {0};
	size_t at = begin(&answer, FAMILY, NLM_F_MULTI, DEVLINK_CMD_RATE_NEW, "0000:08:00.0");

	put_u16(&answer, DEVLINK_ATTR_RATE_TYPE, DEVLINK_RATE_TYPE_LEAF);
	put_u32(&answer, DEVLINK_ATTR_PORT_INDEX, 65539);
	put_u64(&answer, DEVLINK_ATTR_RATE_TX_SHARE, 62500000);
	put_u64(&answer, DEVLINK_ATTR_RATE_TX_MAX, 3125000000);
	put_text(&answer, DEVLINK_ATTR_RATE_PARENT_NODE_NAME, "gold");
	end(&answer, at);
	at = begin(&answer, FAMILY, NLM_F_MULTI, DEVLINK_CMD_RATE_NEW, "0000:08:00.0");
	put_u16(&answer, DEVLINK_ATTR_RATE_TYPE, DEVLINK_RATE_TYPE_NODE);
	put_text(&answer, DEVLINK_ATTR_RATE_NODE_NAME, "gold");
	put_u64(&answer, DEVLINK_ATTR_RATE_TX_MAX, 250000000);
	end(&answer, at);
	done(&answer);
	assert_int_equal(nl_rates_read(ctx, &device, &rates), 0);
	assert_int_equal(rates.count, 2);
	assert_int_equal(rates.v[0].port, 65539);
	assert_string_equal(rates.v[0].node, "");
	assert_string_equal(rates.v[0].parent, "gold");
	assert_true(rates.v[0].tx_max == 3125000000 && rates.v[0].tx_share == 500 * NL_RATE_MBPS);
	assert_string_equal(rates.v[1].node, "gold");
	nl_rates_free(&rates);
}

static void each_rate_is_written_and_has_its_own_outcome(void **state)
{
	struct nl_rate rows[] = {
		{.port = 7, .bits = NL_RATE_MAX | NL_RATE_SHARE, .tx_max = 4 * NL_RATE_MBPS, .tx_share = NL_RATE_MBPS},
		{.node = "gold", .bits = NL_RATE_MAX, .tx_max = 1},
	};
	_buf_ struct buf want = {0};
	size_t at;

	acknowledge(&answer, 1, 0, NULL);
	acknowledge(&answer, 2, -EINVAL, "TX rate not in link speed units of 1Mbps");
	assert_int_equal(nl_rates_write(ctx, &device, rows, 2), 0);
	assert_int_equal(rows[0].error, 0);
	assert_int_equal(rows[1].error, -EINVAL);
	assert_string_equal(rows[1].text, "TX rate not in link speed units of 1Mbps");
	at = begin(&want, FAMILY, NLM_F_REQUEST | NLM_F_ACK, DEVLINK_CMD_RATE_SET, device.device);
	put_u32(&want, DEVLINK_ATTR_PORT_INDEX, 7);
	put_u64(&want, DEVLINK_ATTR_RATE_TX_SHARE, NL_RATE_MBPS);
	put_u64(&want, DEVLINK_ATTR_RATE_TX_MAX, 4 * NL_RATE_MBPS);
	end(&want, at);
	at = begin(&want, FAMILY, NLM_F_REQUEST | NLM_F_ACK, DEVLINK_CMD_RATE_SET, device.device);
	((struct nlmsghdr *)(void *)(want.data + at))->nlmsg_seq = 2;
	put_text(&want, DEVLINK_ATTR_RATE_NODE_NAME, "gold");
	put_u64(&want, DEVLINK_ATTR_RATE_TX_MAX, 1);
	end(&want, at);
	assert_int_equal(asked.len, want.len);
	assert_memory_equal(asked.data, want.data, want.len);
}

/* ---- health ---- */

static void reporters_tell_their_state(void **state)
{
	struct nl_reporters all = {0};
	_buf_ struct buf reporter = {0};
	size_t at = begin(&answer, FAMILY, NLM_F_MULTI, DEVLINK_CMD_HEALTH_REPORTER_GET, "0000:08:00.0");

	put_text(&reporter, DEVLINK_ATTR_HEALTH_REPORTER_NAME, "fw_fatal");
	put_u8(&reporter, DEVLINK_ATTR_HEALTH_REPORTER_STATE, 1);
	put_u64(&reporter, DEVLINK_ATTR_HEALTH_REPORTER_ERR_COUNT, 3);
	put_u64(&reporter, DEVLINK_ATTR_HEALTH_REPORTER_RECOVER_COUNT, 2);
	put(&answer, DEVLINK_ATTR_HEALTH_REPORTER | NLA_F_NESTED, reporter.data, reporter.len);
	end(&answer, at);
	done(&answer);
	assert_int_equal(nl_reporters_read(ctx, &device, &all), 0);
	assert_int_equal(all.count, 1);
	assert_string_equal(all.v[0].name, "fw_fatal");
	assert_true(all.v[0].error && all.v[0].errors == 3 && all.v[0].recoveries == 2);
	nl_reporters_free(&all);
}

/* ---- what no kernel sends ---- */

static void texts_without_an_end_and_numbers_of_no_size(void **state)
{
	struct nl_ports ports = {0};
	struct nl_rates rates = {0};
	char longer[200];
	size_t at = begin(&answer, FAMILY, NLM_F_MULTI, DEVLINK_CMD_PORT_NEW, "0000:08:00.0");

	memset(longer, 'x', sizeof(longer));
	put(&answer, DEVLINK_ATTR_PORT_INDEX, "", 0);
	put(&answer, DEVLINK_ATTR_PORT_NETDEV_NAME, longer, sizeof(longer));
	put(&answer, DEVLINK_ATTR_RATE_NODE_NAME, longer, sizeof(longer));
	put(&answer, DEVLINK_ATTR_PORT_FUNCTION | NLA_F_NESTED, longer, 2);
	end(&answer, at);
	done(&answer);
	assert_int_equal(nl_ports_read(ctx, &device, &ports), 0);
	assert_int_equal(ports.count, 1);
	assert_string_equal(ports.v[0].netdev, "");
	assert_int_equal(ports.v[0].flavour, NL_FLAVOUR_UNKNOWN);
	nl_ports_free(&ports);
	assert_int_equal(nl_rates_read(ctx, &device, &rates), 0);
	assert_string_equal(rates.v[0].node, "");
	nl_rates_free(&rates);
	/* Cut in the middle. */
	answer.len -= 7;
	assert_int_equal(nl_ports_read(ctx, &device, &ports), -EBADMSG);
	assert_null(ports.v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test_setup_teardown(each_mode_is_read, set_up, tear_down),
		cmocka_unit_test_setup_teardown(a_mode_is_set_and_words_with_a_success_are_no_failure, set_up,
			tear_down),
		cmocka_unit_test_setup_teardown(the_kernels_words_are_told_with_a_failure, set_up, tear_down),
		cmocka_unit_test_setup_teardown(ports_are_those_of_the_device_asked_for, set_up, tear_down),
		cmocka_unit_test_setup_teardown(rates_are_read_of_leaves_and_nodes, set_up, tear_down),
		cmocka_unit_test_setup_teardown(each_rate_is_written_and_has_its_own_outcome, set_up, tear_down),
		cmocka_unit_test_setup_teardown(reporters_tell_their_state, set_up, tear_down),
		cmocka_unit_test_setup_teardown(texts_without_an_end_and_numbers_of_no_size, set_up, tear_down),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
