// SPDX-License-Identifier: GPL-2.0-or-later
/* Answers that no kernel sends, as a capture may hold them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <limits.h>
#include <linux/if_link.h>
#include <linux/rtnetlink.h>
#include <cmocka.h>

#include "host/host.h"
#include "netlink/link.h"

#define ALT_IFNAME 53
#define PROP_LIST 52

static struct vfctl_ctx *ctx;
static struct buf answer;

/* A copy of exactly its size: a sanitizer sees each byte that is read behind it. */
static int give_answer(struct host *h, int protocol, const void *request, size_t len,
	unsigned timeout_ms, struct buf *ret_reply)
{
	buf_free(ret_reply);
	ret_reply->data = malloc(answer.len ? answer.len : 1);
	ret_reply->len = ret_reply->room = answer.len;
	if (answer.len)
		memcpy(ret_reply->data, answer.data, answer.len);
	return 0;
}

static void free_nothing(struct host *h)
{
}

static const struct host_ops ops = {.name = "answer", .read_only = true,
	.exchange = give_answer, .free = free_nothing};

static int set_up(void **state)
{
	static struct host host = {.ops = &ops, .root_fd = -1};
	static char nowhere[] = "";

	host.root = nowhere;
	if (vfctl_ctx_new(&ctx) < 0)
		return -1;
	host_set(ctx, &host);
	return 0;
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	buf_free(&answer);
	return 0;
}

static void pad(void)
{
	while (answer.len % 4)
		buf_add(&answer, "", 1);
}

/* A message of a type with @len bytes of payload; its length in the header is the truth. */
static void message(uint16_t type, const void *payload, size_t len)
{
	struct nlmsghdr m = {.nlmsg_len = (uint32_t)(sizeof(m) + len), .nlmsg_type = type,
		.nlmsg_seq = 1};

	buf_add(&answer, &m, sizeof(m));
	buf_add(&answer, payload, len);
	pad();
}

static void attribute(struct buf *b, uint16_t type, const void *data, size_t len)
{
	struct nlattr a = {.nla_len = (uint16_t)(sizeof(a) + len), .nla_type = type};

	buf_add(b, &a, sizeof(a));
	buf_add(b, data, len);
	while (b->len % 4)
		buf_add(b, "", 1);
}

static struct buf link_begin(void)
{
	struct ifinfomsg info = {.ifi_index = 2};
	struct buf b = {0};

	buf_reset(&answer);
	buf_add(&b, &info, sizeof(info));
	return b;
}

static void link_end(struct buf *b)
{
	message(RTM_NEWLINK, b->data, b->len);
	buf_free(b);
}

static void a_length_past_2_31_is_damage(void **state)
{
	static const uint32_t lengths[] = {UINT32_C(1) << 31, UINT32_MAX, UINT32_MAX - 3,
		UINT32_MAX - 15, 4096, 15, 0};
	struct nl_links links = {0};
	struct nl_vfs vfs = {0};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct nlmsghdr m = {.nlmsg_len = lengths[i], .nlmsg_type = RTM_NEWLINK,
			.nlmsg_seq = 1};

		buf_reset(&answer);
		buf_add(&answer, &m, sizeof(m));
		buf_add(&answer, (char[64]){0}, 64);
		assert_int_equal(nl_links_read(ctx, &links), -EBADMSG);
		assert_int_equal(nl_vfs_read(ctx, 2, &vfs), -EBADMSG);
		assert_non_null(strstr(vfctl_ctx_error(ctx), "damaged"));
	}
}

static void a_name_without_its_end_is_cut(void **state)
{
	struct nl_links links = {0};
	struct buf b = link_begin();

	attribute(&b, IFLA_IFNAME, "ens1", 4);
	link_end(&b);
	assert_int_equal(nl_links_read(ctx, &links), 0);
	assert_int_equal(links.count, 1);
	assert_string_equal(links.v[0].name, "ens1");
	nl_links_free(&links);
	b = link_begin();
	attribute(&b, IFLA_IFNAME, "a-name-longer-than-15", 21);
	link_end(&b);
	assert_int_equal(nl_links_read(ctx, &links), 0);
	assert_string_equal(links.v[0].name, "");
	nl_links_free(&links);
}

static void short_numbers_are_not_read(void **state)
{
	struct nl_links links = {0};
	struct nl_vfs vfs = {0};
	struct buf b = link_begin();

	attribute(&b, IFLA_NUM_VF, "", 0);
	attribute(&b, IFLA_MTU, "", 0);
	link_end(&b);
	assert_int_equal(nl_links_read(ctx, &links), 0);
	assert_int_equal(links.v[0].mtu, 0);
	nl_links_free(&links);
	assert_int_equal(nl_vfs_read(ctx, 2, &vfs), 0);
	assert_int_equal(vfs.num_vf, 0);
}

static void a_second_list_of_names_is_added(void **state)
{
	struct nl_links links = {0};
	struct buf b = link_begin();

	for (int i = 0; i < 2; i++) {
		struct buf list = {0};

		attribute(&list, ALT_IFNAME, i ? "two" : "one", 3);
		attribute(&b, PROP_LIST, list.data, list.len);
		buf_free(&list);
	}
	link_end(&b);
	assert_int_equal(nl_links_read(ctx, &links), 0);
	assert_int_equal(strv_len(links.v[0].altnames), 2);
	assert_string_equal(links.v[0].altnames[0], "one");
	assert_string_equal(links.v[0].altnames[1], "two");
	nl_links_free(&links);
}

/* The last VF's length is no multiple of 4, or goes past the end of the message. */
static void a_list_ends_with_its_message(void **state)
{
	static const uint16_t lengths[] = {5, 6, 7, 9, 13, 40, UINT16_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(lengths); i++) {
		struct nlattr list = {.nla_len = 0, .nla_type = IFLA_VFINFO_LIST};
		struct nlattr vf = {.nla_len = lengths[i], .nla_type = IFLA_VF_INFO};
		struct buf b = link_begin();
		struct nl_vfs vfs = {0};
		uint32_t count = 7;

		attribute(&b, IFLA_NUM_VF, &count, sizeof(count));
		buf_add(&b, &list, sizeof(list));
		buf_add(&b, &vf, sizeof(vf));
		buf_add(&b, "x", 1); /* an odd end of the message */
		link_end(&b);
		int r = nl_vfs_read(ctx, 2, &vfs);

		assert_true(r <= 0 && r >= -EBADMSG);
		assert_int_equal(vfs.count, 0);
		nl_vfs_free(&vfs);
	}
}

static void an_attribute_past_the_end_is_damage(void **state)
{
	struct nlattr a = {.nla_len = 8, .nla_type = IFLA_NUM_VF};
	struct buf b = link_begin();
	struct nl_vfs vfs = {0};

	buf_add(&b, &a, sizeof(a));
	link_end(&b);
	assert_int_equal(nl_vfs_read(ctx, 2, &vfs), -EBADMSG);
}

static void errors_that_are_none_are_damage(void **state)
{
	static const int errors[] = {INT_MIN, INT_MIN + 1, -4096, 1, INT_MAX};

	for (size_t i = 0; i < ARRAY_SIZE(errors); i++) {
		struct nlmsgerr e = {.error = errors[i]};
		struct nl_links links = {0};

		buf_reset(&answer);
		message(NLMSG_ERROR, &e, sizeof(e));
		assert_int_equal(nl_links_read(ctx, &links), -EBADMSG);
		buf_reset(&answer);
		message(NLMSG_DONE, &errors[i], sizeof(errors[i]));
		assert_int_equal(nl_links_read(ctx, &links), -EBADMSG);
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_length_past_2_31_is_damage),
		cmocka_unit_test(a_name_without_its_end_is_cut),
		cmocka_unit_test(short_numbers_are_not_read),
		cmocka_unit_test(a_second_list_of_names_is_added),
		cmocka_unit_test(a_list_ends_with_its_message),
		cmocka_unit_test(an_attribute_past_the_end_is_damage),
		cmocka_unit_test(errors_that_are_none_are_damage),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
