// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/cpuset.h"
#include "base/parse.h"
#include "base/util.h"

static void bdf_reads_and_prints(void **state)
{
	static const struct {
		const char *text, *printed;
	} good[] = {
		{"0000:3b:00.2", "0000:3b:00.2"},
		{"3B:00.2", "0000:3b:00.2"},
		{"10000:01:1f.7", "10000:01:1f.7"},
		{"ffffffff:ff:1f.7", "ffffffff:ff:1f.7"},
		/* as libvirt calls devices */
		{"pci_0000_3b_00_2", "0000:3b:00.2"},
		{"pci_10000_01_1F_7", "10000:01:1f.7"},
	};
	static const char *const bad[] = {"", ":", "3b", "3b:00", "3b:00.8", "3b:20.0",
		"000:3b:00.0", "0000:3b:00.0 ", " 3b:00.0", "0000:3b:00.00", "0000:3b:0.0",
		"0x00:3b:00.0", "1:2:3:4", "0000:3b:00.-1", "100000000:00:00.0", "pci_", "pci_0000_3b_00",
		"pci_0000_3b_00_8", "pci_0000_3b_00_2_0", "pci_0000:3b:00.2", "PCI_0000_3b_00_2",
		"pci_0000_3g_00_2", "pci_100000000_00_00_0"};

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		struct vfctl_bdf bdf;
		char text[VFCTL_BDF_TEXT];

		assert_int_equal(vfctl_bdf_parse(good[i].text, &bdf), 0);
		assert_string_equal(vfctl_bdf_format(&bdf, text), good[i].printed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vfctl_bdf bdf = {.bus = 7};

		assert_int_equal(vfctl_bdf_parse(bad[i], &bdf), -EINVAL);
		assert_int_equal(bdf.bus, 7);
	}
}

static void mac_reads_and_prints(void **state)
{
	static const char *const bad[] = {"", "02:00:00:00:00", "02:00:00:00:00:0",
		"02:00:00:00:00:00:00", "02:00-00:00:00:00", "0200.0000.0000",
		"g2:00:00:00:00:00", "02:00:00:00:00:001", "+2:00:00:00:00:00"};
	struct vfctl_mac mac;
	char text[VFCTL_MAC_TEXT];

	assert_int_equal(vfctl_mac_parse("02:AB-cd:00:00:01", &mac), -EINVAL);
	assert_int_equal(vfctl_mac_parse("02-AB-cd-00-00-01", &mac), 0);
	assert_string_equal(vfctl_mac_format(&mac, text), "02:ab:cd:00:00:01");
	assert_false(vfctl_mac_is_multicast(&mac));
	assert_int_equal(vfctl_mac_parse("01:00:5e:00:00:01", &mac), 0);
	assert_true(vfctl_mac_is_multicast(&mac));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(vfctl_mac_parse(bad[i], &mac), -EINVAL);
}

static void cpusets_read_and_print(void **state)
{
	static const char *const good[] = {"", "0", "0-3,8,10-11", "63-64", "4095"};
	static const char *const bad[] = {"1,", ",1", "3-1", "1 2", "a", "1--2", "-1", "1-"};
	struct vfctl_cpuset set;
	char text[64];

	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(vfctl_cpuset_parse(good[i], &set), 0);
		vfctl_cpuset_format(&set, text, sizeof(text));
		assert_string_equal(text, good[i]);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(vfctl_cpuset_parse(bad[i], &set), -EINVAL);
	assert_int_equal(vfctl_cpuset_parse("4096", &set), -ERANGE);
	assert_int_equal(vfctl_cpuset_parse("0-99999999999", &set), -ERANGE);
	assert_int_equal(vfctl_cpuset_parse(" 0-1\n", &set), 0);
	assert_int_equal(vfctl_cpuset_count(&set), 2);
	assert_int_equal(vfctl_cpuset_format(&set, NULL, 0), 3);
}

static void numbers_are_strict(void **state)
{
	static const char *const bad[] = {"", "-1", "+1", "0x10", "16 ", " 16", "1e3", "1.0"};
	uint16_t small = 5;
	uint64_t bytes;
	int number;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_u16(bad[i], 0, UINT16_MAX, &small), -EINVAL);
	assert_int_equal(parse_u16("65536", 0, UINT16_MAX, &small), -ERANGE);
	assert_int_equal(parse_u16("99999999999999999999999", 0, UINT16_MAX, &small), -ERANGE);
	assert_int_equal(small, 5);
	assert_int_equal(parse_u16("65535", 0, UINT16_MAX, &small), 0);
	assert_int_equal(small, 65535);
	assert_int_equal(parse_int("-1", -1, 1023, &number), 0);
	assert_int_equal(number, -1);
	assert_int_equal(parse_int("--1", -1, 1023, &number), -EINVAL);
	assert_int_equal(parse_size("8GiB", &bytes), 0);
	assert_true(bytes == UINT64_C(8) << 30);
	assert_int_equal(parse_size("8GB", &bytes), -EINVAL);
	assert_int_equal(parse_size("99999999999T", &bytes), -ERANGE);
}

static void seconds_have_units(void **state)
{
	static const struct {
		const char *text;
		uint32_t seconds;
	} good[] = {{"1", 1}, {"90", 90}, {"90s", 90}, {"30m", 1800}, {"1h", 3600}};
	static const char *const bad[] = {"", "s", "1x", "1ms", "1 s", "-1", "+1", "1h30m", "1S"};
	static const char *const outside[] = {"0", "0m", "3601", "61m", "2h", "4294967297",
		"4294967297h", "99999999999999999999s"};
	uint32_t seconds = 7;

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		assert_int_equal(parse_seconds(bad[i], 1, 3600, &seconds), -EINVAL);
	for (size_t i = 0; i < ARRAY_SIZE(outside); i++)
		assert_int_equal(parse_seconds(outside[i], 1, 3600, &seconds), -ERANGE);
	assert_int_equal(seconds, 7);
	for (size_t i = 0; i < ARRAY_SIZE(good); i++) {
		assert_int_equal(parse_seconds(good[i].text, 1, 3600, &seconds), 0);
		assert_int_equal(seconds, good[i].seconds);
	}
}

static void utf8_is_checked(void **state)
{
	assert_true(utf8_valid("h\xc3\xa9", 3));
	assert_false(utf8_valid("\xc0\x80", 2));	 /* overlong NUL */
	assert_false(utf8_valid("\xed\xa0\x80", 3));	 /* surrogate */
	assert_false(utf8_valid("\xf4\x90\x80\x80", 4)); /* past U+10FFFF */
	assert_false(utf8_valid("\xe2\x82", 2));	 /* cut short */
	assert_false(utf8_valid("\xff", 1));
}

static void guid_prints_msb_first(void **state)
{
	char text[VFCTL_GUID_TEXT];

	assert_string_equal(vfctl_guid_format(0x0200000000000001, text),
		"02:00:00:00:00:00:00:01");
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(bdf_reads_and_prints),
		cmocka_unit_test(mac_reads_and_prints),
		cmocka_unit_test(cpusets_read_and_print),
		cmocka_unit_test(numbers_are_strict),
		cmocka_unit_test(seconds_have_units),
		cmocka_unit_test(utf8_is_checked),
		cmocka_unit_test(guid_prints_msb_first),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
