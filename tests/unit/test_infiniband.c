// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <cmocka.h>

#include "base/util.h"
#include "infiniband/gid.h"
#include "infiniband/rdma.h"

static void gids(void **state)
{
	static const char *const bad[] = {"", "fe80::1", "fe80:0000:0000:0000",
		"fe80:0000:0000:0000:0002:c903:00f9:bfa", "fe80:0000:0000:0000:0002:c903:00f9:bfa11",
		"fe80:0000:0000:0000-0002:c903:00f9:bfa1", "fe80:0000:0000:0000:0002:c903:00f9:bfag",
		"fe:80:00:00:00:00:00:00:00:02:c9:03:00:f9:b"};
	uint64_t prefix, guid;

	assert_int_equal(gid_parse("fe80:0000:0000:0000:0002:c903:00f9:bfa1", &prefix, &guid), 0);
	assert_true(prefix == UINT64_C(0xfe80000000000000));
	assert_true(guid == UINT64_C(0x0002c90300f9bfa1));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++)
		if (gid_parse(bad[i], &prefix, &guid) == 0)
			fail_msg("'%s' was read", bad[i]);
}

/* As drivers/infiniband/core/sysfs.c prints them (rate_show()), old kernels included. */
static void rates(void **state)
{
	static const struct {
		const char *text;
		uint32_t mbps;
		uint8_t width;
		const char *speed;
	} cases[] = {
		{"2.5 Gb/sec (1X SDR)", 2500, 1, "SDR"},
		{"10 Gb/sec (4X)", 10000, 4, ""},
		{"20 Gb/sec (4X DDR)", 20000, 4, "DDR"},
		{"40 Gb/sec (4X QDR)", 40000, 4, "QDR"},
		{"40 Gb/sec (4X FDR10)", 40000, 4, "FDR10"},
		{"56 Gb/sec (4X FDR)", 56000, 4, "FDR"},
		{"100 Gb/sec (4X EDR)", 100000, 4, "EDR"},
		{"200 Gb/sec (4X HDR)", 200000, 4, "HDR"},
		{"100 Gb/sec (2X HDR)", 100000, 2, "HDR"},
		{"400 Gb/sec (4X NDR)", 400000, 4, "NDR"},
		{"800 Gb/sec (4X XDR)", 800000, 4, "XDR"},
		{"300 Gb/sec (12X EDR)", 300000, 12, "EDR"},
	};
	static const char *const bad[] = {"", "10", "10 Gb/sec", "x Gb/sec (4X HDR)",
		"10 Gb/sec (HDR)", "10 Gb/sec (400X HDR)", "4294967296 Gb/sec (4X HDR)"};

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		struct vfctl_rdma_port port = {0};

		if (!rdma_parse_rate(cases[i].text, &port))
			fail_msg("'%s' was not read", cases[i].text);
		assert_int_equal(port.rate_mbps, cases[i].mbps);
		assert_int_equal(port.width, cases[i].width);
		assert_string_equal(port.speed, cases[i].speed);
	}
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vfctl_rdma_port port = {0};

		if (rdma_parse_rate(bad[i], &port))
			fail_msg("'%s' was read", bad[i]);
		assert_int_equal(port.rate_mbps, 0);
	}
}

static const char *first_finding(const struct vfctl_rdma_device *d,
	const struct vfctl_rdma_port *p)
{
	static char text[VFCTL_FINDING_TEXT];
	unsigned i = 0;

	return vfctl_rdma_finding(d, p, &i, text) ? text : "";
}

#define assert_says(d, p, message) assert_non_null(strstr(first_finding(d, p), message))

/* The states of a real ConnectX-6 VF before and after its GUID, and others. */
static void findings(void **state)
{
	struct vfctl_rdma_device d = {.node_guid = 1};
	struct vfctl_rdma_port p = {.infiniband = true, .state = VFCTL_PORT_ACTIVE,
		.phys_state = VFCTL_PHYS_LINK_UP, .lid = 5, .sm_lid = 10, .guid = 1};

	assert_string_equal(first_finding(&d, &p), "");
	p.state = VFCTL_PORT_INIT;
	assert_says(&d, &p, "not yet activated it");
	p.sm_lid = 0;
	assert_says(&d, &p, "no subnet manager");
	p = (struct vfctl_rdma_port){.infiniband = true, .state = VFCTL_PORT_DOWN, .guid = 1,
		.phys_state = VFCTL_PHYS_POLLING};
	assert_says(&d, &p, "polling");
	p.phys_state = VFCTL_PHYS_DISABLED;
	assert_says(&d, &p, "disabled");
	d.is_vf = true;
	p.phys_state = VFCTL_PHYS_LINK_UP;
	p.lid = 0xffff;
	p.sm_lid = 10;
	assert_says(&d, &p, "virtualization");
	p.guid = 0;
	assert_says(&d, &p, "GUID is zero");
	d.node_guid = 0;
	p = (struct vfctl_rdma_port){.state = VFCTL_PORT_ACTIVE,
		.phys_state = VFCTL_PHYS_LINK_UP};
	assert_says(&d, &p, "node GUID is zero");
}

static void derived_guids(void **state)
{
	assert_true(vfctl_guid_derive(UINT64_C(0x5c25730300843406), 1) ==
		UINT64_C(0x5e25738434060001));
	/* Two ports of one card, and its vendor's other cards, stay apart. */
	assert_true(vfctl_guid_derive(UINT64_C(0x5c25730300843407), 1) !=
		vfctl_guid_derive(UINT64_C(0x5c25730300843406), 1));
	assert_null(vfctl_guid_fault(vfctl_guid_derive(UINT64_C(0xffffffffffffffff), 0xffff)));
	assert_null(vfctl_guid_fault(vfctl_guid_derive(1, 1)));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(gids),
		cmocka_unit_test(rates),
		cmocka_unit_test(findings),
		cmocka_unit_test(derived_guids),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
