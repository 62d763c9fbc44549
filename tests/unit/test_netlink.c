// SPDX-License-Identifier: GPL-2.0-or-later
/* Lists of VFs longer than their own 16-bit length, as the kernel sends them. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <cmocka.h>

#include "host/host.h"
#include "netlink/link.h"
#include "sim.h"

static char root[64];
static struct vfctl_ctx *ctx;
static struct host *h;
static const struct vfctl_bdf pf = {.bus = 0x10};

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int set_up(void **state)
{
	strcpy(root, "/tmp/vfctl-netlink-XXXXXX");
	if (!mkdtemp(root) || vfctl_ctx_new(&ctx) < 0 || sim_host_new(root, &h) < 0)
		return -1;
	host_set(ctx, h);
	return 0;
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return nftw(root, remove_entry, 16, FTW_DEPTH | FTW_PHYS);
}

/* A PF with @count VFs; each one's VLAN is its index (mod 4096), its rate tells more. */
static void make_vfs(uint32_t count, unsigned caps, bool infiniband)
{
	char text[128];

	snprintf(text, sizeof(text), "netdev ens1\nifindex 2\ncaps %u\ninfiniband %d\n", caps,
		infiniband);
	sim_put(h, text, "/.sim/pf/0000:10:00.0");
	snprintf(text, sizeof(text), "%u\n", count);
	sim_put(h, text, "/sys/bus/pci/devices/0000:10:00.0/sriov_numvfs");
	sim_remove(h, "/.sim/vf");
	for (uint32_t i = 0; i < count; i++) {
		struct sim_vf vf = {.mac = {2, 0, 0, 0, (uint8_t)(i >> 8), (uint8_t)i},
			.vlan = i % 4096, .proto = 0x0081, .max_rate = 1000 + i,
			.node_guid = UINT64_C(0x1100000000000000) + i,
			.port_guid = UINT64_C(0x2200000000000000) + i};

		sim_vf_write(h, &pf, i, &vf);
	}
}

static void check_vf(const struct nl_vf *vf, uint32_t i, bool guids)
{
	assert_non_null(vf);
	assert_int_equal(vf->vf, i);
	assert_int_equal(vf->attrs.vlan, i % 4096);
	assert_int_equal(vf->attrs.max_rate_mbps, 1000 + i);
	assert_int_equal(vf->attrs.mac.byte[4] << 8 | vf->attrs.mac.byte[5], i);
	assert_int_equal((vf->attrs.mask & VFCTL_ATTR_GUIDS) == VFCTL_ATTR_GUIDS, guids);
	if (guids) {
		assert_true(vf->attrs.node_guid == UINT64_C(0x1100000000000000) + i);
		assert_true(vf->attrs.port_guid == UINT64_C(0x2200000000000000) + i);
	}
}

/* Around each wrap: 196 bytes for a VF without statistics, 236 with GUIDs. */
static void every_vf_is_read_however_long_the_list(void **state)
{
	static const uint32_t counts[] = {0, 1, 2, 221, 222, 277, 278, 333, 334, 335, 500, 555,
		556, 668, 669, 700, 1500};

	for (int guids = 0; guids < 2; guids++)
		for (size_t c = 0; c < ARRAY_SIZE(counts); c++) {
			struct nl_vfs vfs = {0};

			make_vfs(counts[c], guids ? SIM_GUID : SIM_SPOOFCHK | SIM_TRUST, guids);
			assert_int_equal(nl_vfs_read(ctx, 2, &vfs), 0);
			assert_int_equal(vfs.num_vf, counts[c]);
			assert_int_equal(vfs.count, counts[c]);
			for (uint32_t i = 0; i < counts[c]; i++)
				check_vf(nl_vfs_find(&vfs, i), i, guids);
			assert_null(nl_vfs_find(&vfs, counts[c]));
			/* It comes after the list; IPoIB has another one. */
			assert_int_equal(vfs.permanent.byte[1], guids ? 0 : 0x51);
			nl_vfs_free(&vfs);
		}
}

/* The kernel leaves a VF out when its driver fails for it. */
static void a_missing_vf_does_not_shift_the_others(void **state)
{
	static const struct {
		uint32_t count, missing;
	} cases[] = {{1, 0}, {7, 3}, {335, 334}, {335, 0}, {336, 100}, {500, 499}, {700, 333}};

	for (size_t c = 0; c < ARRAY_SIZE(cases); c++) {
		struct nl_vfs vfs = {0};

		make_vfs(cases[c].count, SIM_TRUST, false);
		sim_remove(h, "/.sim/vf/0000:10:00.0.%u", cases[c].missing);
		assert_int_equal(nl_vfs_read(ctx, 2, &vfs), 0);
		assert_int_equal(vfs.count, cases[c].count - 1);
		for (uint32_t i = 0; i < cases[c].count; i++) {
			if (i == cases[c].missing)
				assert_null(nl_vfs_find(&vfs, i));
			else
				check_vf(nl_vfs_find(&vfs, i), i, false);
		}
		nl_vfs_free(&vfs);
	}
}

/* Three-state settings, and what a driver does not know. */
static void unknown_is_not_off(void **state)
{
	struct nl_vfs vfs = {0};

	make_vfs(1, SIM_SPOOFCHK, false);
	assert_int_equal(nl_vfs_read(ctx, 2, &vfs), 0);
	assert_true(vfs.v[0].attrs.mask & VFCTL_ATTR_SPOOFCHK);
	assert_false(vfs.v[0].attrs.mask & VFCTL_ATTR_TRUST);
	assert_false(vfs.v[0].attrs.mask & VFCTL_ATTR_QUERY_RSS);
	nl_vfs_free(&vfs);
	assert_int_equal(nl_vfs_read(ctx, 99, &vfs), -ENODEV);
}

/* Each row has its own errno; the others are carried out, over several datagrams too. */
static void rows_succeed_and_fail_one_by_one(void **state)
{
	struct nl_vf_set rows[300] = {0};
	struct nl_vfs vfs = {0};

	make_vfs(300, SIM_VLAN | SIM_TRUST, false);
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++)
		rows[i] = (struct nl_vf_set){.vf = i % 7 == 6 ? 1000 + i : i,
			.bits = i % 5 == 4 ? VFCTL_ATTR_SPOOFCHK : VFCTL_ATTR_VLAN,
			.attrs = {.vlan = (uint16_t)(4000 - i), .proto = VFCTL_VLAN_8021Q}};
	assert_int_equal(nl_vfs_write(ctx, 2, rows, ARRAY_SIZE(rows)), 0);
	assert_int_equal(nl_vfs_read(ctx, 2, &vfs), 0);
	for (uint32_t i = 0; i < ARRAY_SIZE(rows); i++) {
		int expected = i % 5 == 4 ? -EOPNOTSUPP : i % 7 == 6 ? -EINVAL : 0;

		assert_int_equal(rows[i].error, expected);
		assert_int_equal(vfs.v[i].attrs.vlan, expected ? i : 4000 - i);
	}
	nl_vfs_free(&vfs);
}

/* A driver that keeps it says so for each VF (IFLA_VF_RSS_QUERY_EN). */
static void rss_queries_are_set_and_read(void **state)
{
	struct nl_vf_set row = {.vf = 1, .bits = VFCTL_ATTR_QUERY_RSS, .attrs = {.query_rss = true}};
	struct nl_vfs vfs = {0};

	make_vfs(2, SIM_QUERY_RSS, false);
	assert_int_equal(nl_vfs_write(ctx, 2, &row, 1), 0);
	assert_int_equal(row.error, 0);
	assert_int_equal(nl_vfs_read(ctx, 2, &vfs), 0);
	for (uint32_t i = 0; i < 2; i++) {
		assert_true(vfs.v[i].attrs.mask & VFCTL_ATTR_QUERY_RSS);
		assert_int_equal(vfs.v[i].attrs.query_rss, i == 1);
	}
	nl_vfs_free(&vfs);
	make_vfs(2, SIM_TRUST, false);
	assert_int_equal(nl_vfs_write(ctx, 2, &row, 1), 0);
	assert_int_equal(row.error, -EOPNOTSUPP);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_vf_is_read_however_long_the_list),
		cmocka_unit_test(a_missing_vf_does_not_shift_the_others),
		cmocka_unit_test(unknown_is_not_off),
		cmocka_unit_test(rss_queries_are_set_and_read),
		cmocka_unit_test(rows_succeed_and_fail_one_by_one),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
