// SPDX-License-Identifier: GPL-2.0-or-later
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <string.h>
#include <cmocka.h>

#include "base/ctx.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"
#include "types/idrange.h"

static struct vfctl_ctx *ctx;

static struct vfctl_host_spec *parse(const char *text)
{
	struct vfctl_host_spec *spec = NULL;

	if (vfctl_host_spec_parse(ctx, "h.yaml", text, strlen(text), &spec) < 0)
		fail_msg("%s", vfctl_ctx_error(ctx));
	return spec;
}

static void every_key_is_read(void **state)
{
	struct vfctl_host_spec *s = parse(
		"host: node-07.example\n"
		"guid-pools:\n"
		"  - name: fabric-a\n"
		"    ranges: ['02:00:00:00:00:00:01:00..0x02000000000001ff',\n"
		"             {first: 0200:0000:0000:0200, last: 02-00-00-00-00-00-02-0F}]\n"
		"    strategy: hash\n"
		"    rest: 7d\n"
		"  - {name: few, values: ['04:00:00:00:00:00:00:01', 0x0400000000000003]}\n"
		"  - {name: own, derive: host, pf: mlx5_0}\n"
		"  - {name: openstack, derive: mac, rest: 0s}\n"
		"mac-pools:\n"
		"  - {name: macs, ranges: ['02:00:00:00:00:01..02:00:00:00:ff:ff']}\n"
		"partitions:\n"
		"  - {name: storage, pkey: 0x0010, membership: limited, ipoib: on}\n"
		"  - {name: mpi, pkey: 0x7FFF}\n"
		"store: etcd\n"
		"etcd:\n"
		"  endpoints: ['https://e1:2379', 'http://[::1]:2379']\n"
		"  prefix: /lab/\n  ca: /ca\n  cert: /cert\n  key: /key\n"
		"  user: u\n  password-file: /pw\n  timeout: 500ms\n  ttl: 2h\n  block: 0\n"
		"after-change:\n  command: [/bin/kill, -HUP, '1']\n  timeout: 5s\n"
		"reserved-cpus: '0-1,64'\nreserved-memory: 2GiB\n"
		"shared-cpus: '2-7'\nshared-ratio: 8\n"
		"typical:\n  - {vcpus: 4, vfs: 1, share: 3}\n  - {vcpus: 64, cells: 2}\n");
	const struct vfctl_id_pool *p = s->pools;

	assert_string_equal(s->host, "node-07.example");
	assert_int_equal(s->pool_count, 5);
	/* the two ranges touch, so they are one */
	assert_int_equal(p[0].range_count, 1);
	assert_true(p[0].ranges[0].first == 0x0200000000000100);
	assert_true(p[0].ranges[0].last == 0x020000000000020f);
	assert_int_equal(p[0].strategy, VFCTL_ID_HASH);
	assert_int_equal(p[0].rest_s, 7 * 86400);
	assert_int_equal(p[1].range_count, 2);
	assert_int_equal(p[1].rest_s, 3600);
	assert_int_equal(p[2].source, VFCTL_ID_SOURCE_HOST);
	assert_string_equal(s->pool_pfs[2], "mlx5_0");
	assert_null(s->pool_pfs[0]);
	assert_int_equal(p[3].source, VFCTL_ID_SOURCE_MAC);
	assert_int_equal(p[3].rest_s, 0);
	assert_int_equal(p[4].kind, VFCTL_ID_MAC);
	assert_true(p[4].ranges[0].last == 0x02000000ffff);
	assert_int_equal(s->partition_count, 2);
	assert_int_equal(s->partitions[0].pkey, 0x10);
	assert_false(s->partitions[0].full);
	assert_true(s->partitions[0].ipoib);
	assert_true(s->partitions[1].full);
	assert_string_equal(s->etcd->endpoints[1], "http://[::1]:2379");
	assert_null(s->etcd->endpoints[2]);
	assert_string_equal(s->etcd->prefix, "/lab/");
	assert_int_equal(s->etcd->timeout_ms, 500);
	assert_int_equal(s->etcd->ttl_s, 7200);
	assert_int_equal(s->etcd->block, 0);
	assert_string_equal(s->after_change[2], "1");
	assert_null(s->after_change[3]);
	assert_int_equal(s->after_change_timeout_ms, 5000);
	assert_true(s->reserved_stated);
	assert_int_equal(vfctl_cpuset_count(&s->reserved_cpus), 3);
	assert_true(vfctl_cpuset_has(&s->reserved_cpus, 64));
	assert_true(s->reserved_memory_bytes == UINT64_C(2) << 30);
	assert_int_equal(vfctl_cpuset_count(&s->shared_cpus), 6);
	assert_int_equal(s->shared_ratio, 8);
	assert_int_equal(s->typical_count, 2);
	assert_int_equal(s->typical[0].vfs, 1);
	assert_int_equal(s->typical[0].share, 3);
	assert_int_equal(s->typical[0].cells, 1);
	assert_int_equal(s->typical[1].cells, 2);
	assert_int_equal(s->typical[1].share, 1);
	vfctl_host_spec_free(s);
}

static void what_is_not_said_has_defaults(void **state)
{
	struct vfctl_host_spec *s = parse("store: etcd\netcd: {endpoints: ['https://a:1']}\n");

	assert_string_equal(s->host, "");
	assert_int_equal(s->pool_count, 0);
	assert_string_equal(s->etcd->prefix, "/vfctl/");
	assert_int_equal(s->etcd->timeout_ms, 5000);
	assert_int_equal(s->etcd->ttl_s, 86400);
	assert_int_equal(s->etcd->block, 16);
	assert_int_equal(s->after_change_timeout_ms, 30000);
	assert_null(s->after_change);
	assert_false(s->reserved_stated);
	assert_int_equal(s->shared_ratio, 0);
	vfctl_host_spec_free(s);
	s = parse("reserved-cpus: none\n"); /* said: the host keeps none for itself */
	assert_true(s->reserved_stated);
	assert_true(vfctl_cpuset_empty(&s->reserved_cpus));
	vfctl_host_spec_free(s);
}

static void eswitches_and_bonds(void **state)
{
	struct vfctl_host_spec *s = parse("pfs:\n"
		"  - {match: a, count: 2, eswitch: switchdev, representors: {bridge: br0}}\n"
		"  - {match: b, eswitch: legacy}\n"
		"  - {match: c}\n"
		"lag:\n"
		"  - {bond: bond0, mode: 802.3ad, pfs: [a, 'b']}\n"
		"  - {bond: bond1, mode: active-backup, pfs: [c, d]}\n");

	assert_int_equal(s->pfs[0].eswitch, VFCTL_ESWITCH_SWITCHDEV);
	assert_string_equal(s->pfs[0].bridge, "br0");
	assert_int_equal(s->pfs[1].eswitch, VFCTL_ESWITCH_LEGACY);
	assert_int_equal(s->pfs[2].eswitch, VFCTL_ESWITCH_UNKNOWN);
	assert_null(s->pfs[2].bridge);
	assert_int_equal(s->lag_count, 2);
	assert_string_equal(s->lags[0].bond, "bond0");
	assert_string_equal(s->lags[0].mode, "802.3ad");
	assert_string_equal(s->lags[0].pfs[1], "b");
	assert_null(s->lags[0].pfs[2]);
	assert_int_equal(s->lags[1].line, 7);
	vfctl_host_spec_free(s);
}

#define POOL(more) "guid-pools: [{name: p, " more "}]\n"
#define RANGE(range) POOL("ranges: ['" range "']")
#define MACS(range) "mac-pools: [{name: m, ranges: ['" range "']}]\n"
#define ETCD(more) "store: etcd\netcd: {endpoints: ['https://a:1'], " more "}\n"

static void errors_say_where_and_what(void **state)
{
	static const struct {
		const char *text, *message;
	} bad[] = {
		{"gid-pools: []", "h.yaml:1:1: gid-pools: no such key; did you mean guid-pools?"},
		{"reserved-cpus: '0-1'\nshared-cpus: '1-4'", "h.yaml:2:14: shared-cpus: CPU 1 is "
			"also in reserved-cpus"},
		{"reserved-cpus: '1-0'", "'1-0' is not allowed; it must be a list of CPUs"},
		{"reserved-cpus: '4096'", "'4096' is not allowed"},
		{"reserved-cpus: ''", "'' is not allowed"},
		{"reserved-cpus: [0, 1]", "must be one value, not a list"},
		{"shared-cpus: '1'\nshared-ratio: 0", "'0' is not allowed; it must be a number from 1"},
		{"shared-cpus: '1'\nshared-ratio: 65", "'65' is not allowed"},
		{"shared-ratio: 4", "it needs shared CPUs"},
		{"pfs: [{match: a, eswitch: on}]", "'on' is not allowed; it must be legacy or switchdev"},
		{"pfs: [{match: a, managed: off, eswitch: legacy}]", "the PF is not managed"},
		{"pfs: [{match: a, eswitch: legacy, representors: {bridge: b}}]", "add eswitch: switchdev"},
		{"pfs: [{match: a, bridge: {macs: ['52:54:00:12:34:56']}}]",
			"pfs[0].bridge.mode: the key is missing; write guests, learnt or off"},
		{"lag: [{bond: b, mode: 802.3ad, pfs: [a, b]}, {bond: b, mode: 802.3ad, pfs: [c, d]}]",
			"the bond is declared twice"},
		{"lag: [{bond: b, mode: 802.3ad, pfs: [a, b, c]}]", "lag[0].pfs"},
		{"lag: [{bond: b, pfs: [a, b]}]", "lag[0].mode: the key is missing"},
		{"typical: always", "it must be a list of guests, or default"},
		{"typical: [{cells: 2}]", "typical[0].vcpus: the key is missing"},
		{"typical: [{vcpus: 3, cells: 2}]", "3 vCPUs cannot be divided equally into 2 cells"},
		{"typical: [{vcpus: 0}]", "'0' is not allowed; it must be a number from 1"},
		{"typical: [{vcpus: 1, share: 0}]", "'0' is not allowed"},
		{"reserved-memory: lots", "'lots' is not allowed; it must be a size such as 2GiB"},
		{"reserved-memory: 17TiB", "at most 16TiB"},
		{"host: 'a b'", "h.yaml:1:7: host: 'a b'"},
		{"host: -a", "begin with a letter"},
		{"guid-pools: {}", "must be a list"},
		{"guid-pools: [x]", "guid-pools[0]: must be keys"},
		{"guid-pools: [{ranges: ['0x1..0x2']}]", "guid-pools[0].name: the key is missing"},
		{POOL("strategy: hash"), "pool p has no values"},
		{POOL("ranges: []"), "pool p has no values"},
		{POOL("rang: []"), "did you mean ranges?"},
		/* ends of ranges */
		{RANGE("00:00:00:00:00:00:00:00..02:00:00:00:00:00:00:ff"), "is zero"},
		{RANGE("02:00:00:00:00:00:00:00..ff:ff:ff:ff:ff:ff:ff:ff"), "all ones"},
		{RANGE("01:00:00:00:00:00:00:00..02:00:00:00:00:00:00:ff"), "group bit"},
		{RANGE("02:00:00:00:00:00:00:00..03:00:00:00:00:00:00:ff"), "group bit"},
		{RANGE("02:00:00:00:00:00:00..02:00:00:00:00:00:00:ff"), "too short"},
		{RANGE("02:00:00:00:00:00:00:00:00..02:00:00:00:00:00:00:ff"), "too long"},
		{RANGE("02:00:00:00:00:01..02:00:00:00:00:ff"), "6 bytes, a MAC"},
		{RANGE("nonsense..02:00:00:00:00:00:00:ff"), "is not a GUID"},
		{RANGE("02:00:00:00:00:00:00:01..nonsense"), "is not a GUID"},
		{RANGE("02:00:00:00:00:00:00:02..02:00:00:00:00:00:00:01"), "swap them"},
		{RANGE("02:00:00:00:00:00:00:01 - 02:00:00:00:00:00:00:02"),
			"write FIRST..LAST"},
		{RANGE("02:00:00:00:00:00:00:01-02:00:00:00:00:00:00:02"), "write FIRST..LAST"},
		{RANGE("02:00:00:00:00:00:00:01"), "single values under values:"},
		{POOL("ranges: [{first: 0x2}]"), "guid-pools[0].ranges[0].last: the key is"},
		{POOL("values: ['00:00:00:00:00:00:00:00']"), "is zero"},
		{POOL("values: [0x2, 0x2]"), "00:00:00:00:00:00:00:02 is in both"},
		{POOL("ranges: ['0x2..0x9', '0x5..0x6']"), "00:00:00:00:00:00:00:05 is in both"},
		{POOL("values: [0x2, 0x4]}, {name: q, ranges: ['0x3..0x9']"),
			"pools p and q overlap: GUID 00:00:00:00:00:00:00:04"},
		{POOL("values: [0x2]}, {name: p, values: [0x4]"), "pool p is declared already"},
		{POOL("values: [0x2]") MACS("02:00:00:00:00:00..01:00:00:00:00:00"), "multicast"},
		{MACS("00:00:00:00:00:00..02:00:00:00:00:00"), "is zero"},
		{MACS("0x2..0x4"), "is not a MAC"},
		{"mac-pools: [{name: m, derive: mac}]", "only pools of GUIDs"},
		{POOL("derive: mac, values: [0x2]"), "the pool derives its values"},
		{POOL("derive: host"), "guid-pools[0].pf: the key is missing"},
		{POOL("pf: mlx5_0, values: [0x2]"), "needs derive: host"},
		{POOL("derive: mac, strategy: hash"), "the MAC determines"},
		{POOL("derive: pci"), "none, host or mac"},
		{POOL("values: [0x2], rest: 10"), "must be a number and its unit"},
		{POOL("values: [0x2], rest: 1w"), "must be a number and its unit"},
		{POOL("values: [0x2], rest: 366d"), "must be 0s to 365d"},
		{POOL("values: [0x2], rest: 99999999999d"), "must be a number and its unit"},
		/* partitions */
		{"partitions: [{name: a, pkey: 0x8010}]", "write 0x0010 with membership: full"},
		{"partitions: [{name: a, pkey: 0xffff}]", "write 0x7fff with membership: full"},
		{"partitions: [{name: a, pkey: 0}]", "is not a P_Key"},
		{"partitions: [{name: a, pkey: 0x0}]", "is not a P_Key"},
		{"partitions: [{name: a, pkey: 1234}]", "is not a P_Key"},
		{"partitions: [{name: a, pkey: ''}]", "is not a P_Key"},
		{"partitions: [{name: a}]", "partitions[0].pkey: the key is missing"},
		{"partitions: [{pkey: 0x1}]", "partitions[0].name: the key is missing"},
		{"partitions: [{name: 'a b', pkey: 0x1}]", "must be letters"},
		{"partitions: [{name: a, pkey: 0x1}, {name: a, pkey: 0x2}]", "partition a is declared already"},
		{"partitions: [{name: a, pkey: 0x1}, {name: b, pkey: 0x01}]", "already belongs to partition a"},
		{"partitions: [{name: a, pkey: 0x1, membership: both}]", "full or limited"},
		/* stores */
		{"store: etcd", "h.yaml:1:8: store: etcd needs its endpoints"},
		{"store: file", "host or etcd"},
		{"etcd: {endpoints: ['https://a:1']}", "it is used only with"},
		{"store: etcd\netcd: {prefix: /x/}", "etcd.endpoints: the key is missing"},
		{"store: etcd\netcd: {endpoints: []}", "etcd.endpoints: is empty"},
		{"store: etcd\netcd: {endpoints: [a:1]}", "https://HOST:PORT"},
		{"store: etcd\netcd: {endpoints: ['https://u@a:1']}", "https://HOST:PORT"},
		{"store: etcd\netcd: {endpoints: ['https://a/v3']}", "without a path"},
		{ETCD("prefix: x"), "begin and end with '/'"},
		{ETCD("cert: /c"), "it also needs key"},
		{ETCD("user: u"), "it also needs password-file"},
		{ETCD("ca: c"), "absolute path"},
		{ETCD("timeout: 50ms"), "must be 100ms to 10m"},
		{ETCD("block: 121"), "from 0 to 120"},
		{"after-change: {command: [reload]}", "must be an absolute path"},
		{"after-change: {command: reload}", "must be a list"},
		{"after-change: {timeout: 1s}", "after-change.command: the key is missing"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		struct vfctl_host_spec *spec = NULL;

		assert_true(vfctl_host_spec_parse(ctx, "h.yaml", bad[i].text, strlen(bad[i].text),
			&spec) < 0);
		assert_null(spec);
		if (!strstr(vfctl_ctx_error(ctx), bad[i].message))
			fail_msg("%s\ngives: %s\nnot:   %s", bad[i].text, vfctl_ctx_error(ctx),
				bad[i].message);
	}
}

/* Values with the group bit lie between the ends; they are no part of the pool. */
static void a_range_is_split_at_the_group_bit(void **state)
{
	struct vfctl_host_spec *s = parse(
		"guid-pools:\n"
		"  - {name: two, ranges: ['02:ff:ff:ff:ff:ff:ff:fe..04:00:00:00:00:00:00:01']}\n"
		"  - {name: end, ranges: ['fe:ff:ff:ff:ff:ff:ff:fe..fe:ff:ff:ff:ff:ff:ff:ff']}\n"
		"mac-pools:\n"
		"  - {name: macs, ranges: ['02:ff:ff:ff:ff:ff..04:00:00:00:00:00']}\n");
	const struct vfctl_id_pool *p = s->pools;

	assert_int_equal(p[0].range_count, 2);
	assert_true(p[0].ranges[0].first == 0x02fffffffffffffe);
	assert_true(p[0].ranges[0].last == 0x02ffffffffffffff);
	assert_true(p[0].ranges[1].first == 0x0400000000000000);
	assert_true(p[0].ranges[1].last == 0x0400000000000001);
	assert_int_equal(idranges_size(p[0].ranges, 2), 4);
	assert_int_equal(p[1].range_count, 1);
	assert_int_equal(idranges_size(p[1].ranges, 1), 2);
	assert_int_equal(p[2].range_count, 2);
	assert_true(p[2].ranges[0].last == 0x02ffffffffff);
	assert_true(p[2].ranges[1].first == 0x040000000000);
	vfctl_host_spec_free(s);
}

static void all_guids_there_are_fit_a_pool(void **state)
{
	struct vfctl_host_spec *s = parse("guid-pools: [{name: all, ranges: "
		"['00:00:00:00:00:00:00:01..fe:ff:ff:ff:ff:ff:ff:ff']}]\n");
	const struct vfctl_id_pool *p = s->pools;
	uint64_t size = idranges_size(p->ranges, p->range_count);

	assert_int_equal(p->range_count, 128);
	assert_true(size == (UINT64_C(1) << 63) - 1);
	assert_true(idranges_at(p->ranges, p->range_count, size - 1) == 0xfeffffffffffffff);
	assert_int_equal(idranges_find(p->ranges, p->range_count, UINT64_MAX), -1);
	assert_int_equal(idranges_find(p->ranges, p->range_count, 0), -1);
	assert_int_equal(idranges_find(p->ranges, p->range_count, 0x0123456789abcdef), -1);
	assert_int_equal(idranges_find(p->ranges, p->range_count, 0xfe00000000000000), 127);
	vfctl_host_spec_free(s);
}

static void a_pkey_is_a_number_or_a_partition(void **state)
{
	static const struct {
		const char *text;
		int pkey; /* below 0: the error */
		const char *message;
	} cases[] = {
		{"0x0010", 0x8010, NULL}, {"0X1A", 0x801a, NULL}, {"0x10:limited", 0x10, NULL},
		{"storage", 0x10, NULL}, {"storage:full", 0x8010, NULL},
		{"mpi", 0x8020, NULL}, {"mpi:limited", 0x20, NULL},
		{"0x8010", -EINVAL, "write 0x0010:full"}, {"0xFFFF", -EINVAL, "write 0x7fff:full"},
		{"0x0", -EINVAL, "is not a P_Key"}, {"0x8000", -EINVAL, "is not a P_Key"},
		{"0x10:both", -EINVAL, "is not a P_Key"},
		{"1234", -ENOENT, "host.yaml has storage, mpi"}, {"", -ENOENT, "partition '' not found"},
		{"mpi:both", -EINVAL, ":full or :limited"}, {"mp", -ENOENT, "partition 'mp' not found"},
	};
	struct vfctl_host_spec *s = parse("partitions:\n"
		"  - {name: storage, pkey: 0x10, membership: limited}\n"
		"  - {name: mpi, pkey: 0x20}\n");

	for (size_t i = 0; i < ARRAY_SIZE(cases); i++) {
		uint16_t pkey = 0xdead;
		int r = vfctl_host_spec_pkey(ctx, s, cases[i].text, &pkey);

		assert_int_equal(r, cases[i].pkey < 0 ? cases[i].pkey : 0);
		assert_int_equal(pkey, cases[i].pkey < 0 ? 0xdead : cases[i].pkey);
		if (cases[i].message)
			assert_non_null(strstr(vfctl_ctx_error(ctx), cases[i].message));
	}
	vfctl_host_spec_free(s);
}

static int set_up(void **state)
{
	return vfctl_ctx_new(&ctx);
}

static int tear_down(void **state)
{
	vfctl_ctx_free(ctx);
	return 0;
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(every_key_is_read),
		cmocka_unit_test(what_is_not_said_has_defaults),
		cmocka_unit_test(eswitches_and_bonds),
		cmocka_unit_test(errors_say_where_and_what),
		cmocka_unit_test(a_range_is_split_at_the_group_bit),
		cmocka_unit_test(all_guids_there_are_fit_a_pool),
		cmocka_unit_test(a_pkey_is_a_number_or_a_partition),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
