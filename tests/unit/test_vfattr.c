// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/json.h"

static struct vfctl_ctx *ctx;

static void values_are_read_strictly(void **state)
{
	static const struct {
		const char *key, *value;
		int result;
	} cases[] = {
		{"mac", "02:00:00:00:00:01", 0},
		{"mac", "00:00:00:00:00:00", -EINVAL},
		{"mac", "01:00:5e:00:00:01", -EINVAL},
		{"mac", "ff:ff:ff:ff:ff:ff", -EINVAL},
		{"mac", "auto", -EINVAL},
		{"vlan", "0", 0},
		{"vlan", "4094", 0},
		{"vlan", "4095", -ERANGE},
		{"vlan", "-1", -EINVAL},
		{"vlan", "", -EINVAL},
		{"vlan", "1 ", -EINVAL},
		{"qos", "7", 0},
		{"qos", "8", -ERANGE},
		{"qos", "256", -ERANGE},
		{"proto", "802.1Q", 0},
		{"proto", "802.1AD", 0},
		{"proto", "802.1X", -EINVAL},
		{"min-rate", "4294967295", 0},
		{"max-rate", "4294967296", -ERANGE},
		{"max-rate", "1G", -EINVAL},
		{"spoofchk", "off", 0},
		{"spoofchk", "maybe", -EINVAL},
		{"trust", "on", 0},
		{"link-state", "enable", 0},
		{"link-state", "Up", 0},
		{"link-state", "follow", 0},
		{"link-state", "high", -EINVAL},
		{"guid", "0x0200c90000000001", 0},
		{"port-guid", "0200:c900:0000:0001", 0},
		{"node-guid", "02-00-C9-00-00-00-00-01", 0},
		{"node-guid", "00:00:00:00:00:00:00:00", -EINVAL},
		{"port-guid", "ff:ff:ff:ff:ff:ff:ff:ff", -EINVAL},
		{"port-guid", "03:00:c9:00:00:00:00:01", -EINVAL},
		{"port-guid", "02:00:c9:00:00:01", -EINVAL},
		{"pkey", "0x10", 0},
		{"pkey", "0X1A", 0},
		{"pkey", "0x7fff:limited", 0},
		{"pkey", "0xFFFF", -EINVAL},
		{"pkey", "0x8000", -EINVAL},
		{"pkey", "0x0", -EINVAL},
		{"pkey", "1234", -EINVAL},
		{"pkey", "", -EINVAL},
		{"pkey", "0x10:", -EINVAL},
		{"pkey", "0x10:Full", -EINVAL},
		{"query-rss", "on", 0},
		{"query-rss", "key", -EINVAL},
		{"query_rss", "on", -ENOENT},
		{"msix", "2048", 0},
		{"msix", "2049", -ERANGE},
		{"color", "red", -ENOENT},
		{"VLAN", "1", -ENOENT},
	};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_vf_attrs attrs = {0}, zero = {0};
		int r = vfctl_vf_attrs_parse(ctx, cases[i].key, cases[i].value, &attrs);

		if (r != cases[i].result)
			fail_msg("%s=%s: %d, not %d", cases[i].key, cases[i].value, r,
				cases[i].result);
		if (r < 0) {
			assert_memory_equal(&attrs, &zero, sizeof(zero));
			assert_non_null(strstr(vfctl_ctx_error(ctx), cases[i].key));
		}
	}
}

static void what_is_printed_reads_back(void **state)
{
	static const char *const pairs[][2] = {{"mac", "02:00:00:00:00:01"},
		{"vlan", "100"}, {"qos", "3"}, {"proto", "802.1ad"}, {"min-rate", "10"},
		{"max-rate", "1000"}, {"spoofchk", "on"}, {"trust", "off"},
		{"link-state", "disable"}, {"query-rss", "on"}, {"msix", "16"},
		{"node-guid", "02:00:c9:00:00:00:00:01"},
		{"port-guid", "02:00:c9:00:00:00:00:02"}, {"pkey", "0x0010:limited"}};
	struct vfctl_vf_attrs attrs = {0};
	char value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t n = 0;

	for (size_t i = ARRAY_SIZE(pairs); i-- > 0;)
		assert_int_equal(
			vfctl_vf_attrs_parse(ctx, pairs[i][0], pairs[i][1], &attrs), 0);
	assert_int_equal(vfctl_vf_attrs_check(ctx, &attrs), 0);
	for (size_t i = 0; vfctl_vf_attrs_next(&attrs, &i, &key, value); n++) {
		assert_string_equal(key, pairs[n][0]);
		assert_string_equal(value, pairs[n][1]);
	}
	assert_int_equal(n, ARRAY_SIZE(pairs));
	assert_int_equal(attrs_with(VFCTL_ATTR_HAS_DEFAULT), VFCTL_ATTR_POLICY);
	assert_int_equal(vfctl_vf_attrs_parse(ctx, "vlan", "1", &attrs), -EEXIST);
	assert_int_equal(attrs.vlan, 100);
}

static void rules_span_attributes(void **state)
{
	static const struct {
		const char *text;
		int result;
	} cases[] = {{"vlan=5", 0}, {"qos=3 vlan=5", 0}, {"qos=3", -EINVAL},
		{"vlan=0 qos=3", -EINVAL}, {"proto=802.1Q", -EINVAL},
		{"proto=802.1ad vlan=5", 0}, {"min-rate=10 max-rate=10", 0},
		{"min-rate=11 max-rate=10", -EINVAL}, {"min-rate=11 max-rate=0", 0},
		{"min-rate=11", 0}, {"", 0}};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_vf_attrs attrs = {0};
		char text[64], *save, *word;

		strcpy(text, cases[i].text);
		for (word = strtok_r(text, " ", &save); word;
			word = strtok_r(NULL, " ", &save)) {
			char *equals = strchr(word, '=');

			*equals = '\0';
			assert_int_equal(
				vfctl_vf_attrs_parse(ctx, word, equals + 1, &attrs), 0);
		}
		if (vfctl_vf_attrs_check(ctx, &attrs) != cases[i].result)
			fail_msg("%s", cases[i].text);
	}
}

static void vlan_has_a_protocol(void **state)
{
	struct vfctl_vf_attrs attrs = {0};

	assert_int_equal(vfctl_vf_attrs_parse(ctx, "vlan", "5", &attrs), 0);
	assert_int_equal(attrs.proto, VFCTL_VLAN_8021Q);
	assert_int_equal(attrs.mask, VFCTL_ATTR_VLAN_ID);
	attrs = (struct vfctl_vf_attrs){0};
	assert_int_equal(vfctl_vf_attrs_parse(ctx, "proto", "802.1ad", &attrs), 0);
	assert_int_equal(vfctl_vf_attrs_parse(ctx, "vlan", "5", &attrs), 0);
	assert_int_equal(attrs.proto, VFCTL_VLAN_8021AD);
}

#define EVERY ((VFCTL_ATTR_PKEY << 1) - 1)

/* The state file returns the values that a VF had before its guest, whatever they were. */
static void what_is_kept_comes_back(void **state)
{
	static const struct vfctl_vf_attrs kept[] = {
		{.mask = EVERY, .proto = VFCTL_VLAN_8021Q},
		{.mask = EVERY, .mac = {{0xff, 0xff, 0xff, 0xff, 0xff, 0xff}}, .vlan = 4095,
			.qos = 7, .proto = VFCTL_VLAN_8021AD, .min_rate_mbps = 1,
			.max_rate_mbps = 400000, .spoofchk = true, .trust = true,
			.link_state = VFCTL_LINK_STATE_DISABLE, .node_guid = UINT64_MAX,
			.port_guid = UINT64_C(0x0100000000000000)},
	};

	for (size_t i = 0; i < ARRAY_SIZE(kept); i++) {
		struct vfctl_vf_attrs back = {0};
		_free_ char *text = json_of_attrs(&kept[i]), *again = NULL;

		assert_non_null(text);
		if (json_to_attrs(text, &back) < 0)
			fail_msg("%s", text);
		again = json_of_attrs(&back);
		assert_string_equal(text, again);
	}
}

static int setup(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int teardown(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(values_are_read_strictly),
		cmocka_unit_test(what_is_printed_reads_back),
		cmocka_unit_test(rules_span_attributes),
		cmocka_unit_test(vlan_has_a_protocol),
		cmocka_unit_test(what_is_kept_comes_back),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
