// SPDX-License-Identifier: GPL-2.0-or-later
/* Pools over the host's own store: the rules. */
#include "pools.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "fleet/fleet.h"
#include "ids/pools.h"
#include "state/ids_sqlite.h"
#include "types/idrange.h"

static int release(uint64_t value)
{
	return vfctl_ids_release(ids, VFCTL_ID_GUID, value, NULL, false);
}

static void says(const char *message)
{
	if (!strstr(vfctl_ctx_error(ctx), message))
		fail_msg("'%s' does not say '%s'", vfctl_ctx_error(ctx), message);
}

/* ---- what other tools' tests ask for (facts: peers, section 4) ---- */

/* Cases 5, 7 (the text is refused before), 14. */
static void a_value_outside_the_pool_changes_no_pool(void **state)
{
	open_pools(POOL("0x200..0x2ff", "rest: 0s"));
	assert_int_equal(claim(1, 0x0300), 0);
	assert_int_equal(stats().leased, 0);
	assert_int_equal(claim(2, 0x0300), -EEXIST); /* 14: another's */
	says("guest1");
	assert_int_equal(claim(1, 0x0300), 0); /* 14: its own */
}

/* Case 8. */
static void two_values_come_lowest_first(void **state)
{
	open_pools(POOL("0x200..0x201", "rest: 0s"));
	assert_true(must_take(1) == 0x0200);
	assert_true(must_take(2) == 0x0201);
}

/* Case 10: and nothing is half done. */
static void an_exhausted_pool_works_again_after_a_release(void **state)
{
	uint64_t value = 7;

	open_pools(POOL("0x200..0x200", "rest: 0s"));
	assert_true(must_take(1) == 0x0200);
	assert_int_equal(take(2, &value), -ENOSPC);
	assert_true(value == 7);
	says("pool p is exhausted: of its 1 values 1 are leased");
	assert_int_equal(stats().leased, 1);
	assert_int_equal(release(0x0200), 0);
	assert_true(must_take(2) == 0x0200);
}

/* Case 11. */
static void the_released_one_of_256_is_found_again(void **state)
{
	open_pools(POOL("0x200..0x2ff", "rest: 0s"));
	assert_true(must_take(0x10000) == 0x0200);
	assert_int_equal(release(0x0200), 0);
	for (int n = 0; n < 256; n++)
		assert_true(must_take(n) == 0x0200 + (uint64_t)n);
	assert_int_equal(release(0x0200), 0);
	assert_true(must_take(0x10001) == 0x0200);
	assert_int_equal(stats().free, 0);
}

/* Case 13: a missing P_Key means none, and is not an error. */
static void a_value_without_a_pkey_has_none(void **state)
{
	struct vfctl_id id;

	open_pools(POOL("0x200..0x2ff", "rest: 0s"));
	assert_int_equal(vfctl_ids_find(ids, VFCTL_ID_GUID, 0x0200, &id), -ENOENT);
	must_take(1);
	assert_int_equal(vfctl_ids_find(ids, VFCTL_ID_GUID, 0x0200, &id), 0);
	assert_int_equal(id.pkey, 0);
}

/* Case 16: what cannot be read is no empty pool. */
static void a_store_that_cannot_be_read_is_not_used(void **state)
{
	FILE *file = fopen(pools_path, "we");

	for (int i = 0; i < 100; i++)
		fputs("this is not a database ", file);
	fclose(file);
	assert_int_equal(try_open(POOL("0x200..0x2ff", "rest: 0s"), true), -EBADF);
	assert_null(ids);
	assert_int_equal(try_open(POOL("0x200..0x2ff", "rest: 0s"), false), -EBADF);
}

/* Case 22. */
static void the_same_owner_gets_the_same_value(void **state)
{
	uint64_t value;

	open_pools(POOL("0x200..0x202", "rest: 0s"));
	for (int round = 0; round < 2; round++)
		for (int n = 0; n < 3; n++)
			assert_true(must_take(n) == 0x0200 + (uint64_t)n);
	assert_int_equal(take(3, &value), -ENOSPC);
	assert_int_equal(stats().leased, 3);
}

/* Case 23, 28: no such value, from wherever. */
static void what_is_no_identity_is_refused(void **state)
{
	static const struct {
		uint64_t value;
		const char *message;
	} bad[] = {{0, "is zero"}, {UINT64_MAX, "all ones"},
		{0x0100000000000000, "group bit"}, {0xfffffffffffffffe, "group bit"}};

	open_pools(POOL("0x200..0x2ff", "rest: 0s"));
	for (size_t i = 0; i < ARRAY_SIZE(bad); i++) {
		assert_int_equal(claim(1, bad[i].value), -EINVAL);
		says(bad[i].message);
	}
	assert_int_equal(stats().leased, 0);
}

/* ---- cooldown ---- */

static void a_released_value_rests(void **state)
{
	struct vfctl_id_owner one = owner(1);
	uint64_t value;

	open_pools(POOL("0x200..0x200", "rest: 60s"));
	must_take(1);
	assert_int_equal(release(0x0200), 0);
	assert_int_equal(release(0x0200), 0); /* again is no failure */
	assert_int_equal(stats().resting, 1);
	ids->store->now = NOW + 59;
	assert_int_equal(take(2, &value), -ENOSPC);
	says("the next cooldown ends in 1 s");
	assert_int_equal(claim(2, 0x0200), -EEXIST);
	says("last used by domain guest1 (vf0) on node-1 and stays in its cooldown for another 1 s");
	/* to whom it was, it is no stranger */
	assert_int_equal(vfctl_ids_propose(ids, spec->pools, &one, NULL, 0, &value), 0);
	assert_true(value == 0x0200);
	assert_true(must_take(1) == 0x0200);
	assert_int_equal(release(0x0200), 0);
	ids->store->now = NOW + 59 + 60;
	assert_true(must_take(2) == 0x0200);
	/* what no device ever had need not rest */
	assert_int_equal(vfctl_ids_release(ids, VFCTL_ID_GUID, 0x0200, NULL, true), 0);
	assert_int_equal(stats().free, 1);
	assert_int_equal(release(0x0200), -ENOENT);
}

/* More than one take brings back: all of them, when there is nothing else. */
static void all_rests_end_when_they_must(void **state)
{
	open_pools(POOL("0x200..0x2ff", "rest: 60s"));
	for (int n = 0; n < 256; n++)
		must_take(n);
	for (uint64_t v = 0x0200; v <= 0x02ff; v++)
		assert_int_equal(release(v), 0);
	ids->store->now = NOW + 60;
	for (int n = 0; n < 256; n++)
		must_take(0x1000 + n);
	assert_int_equal(stats().leased, 256);
}

static void only_the_owner_gives_back(void **state)
{
	struct vfctl_id_owner one = owner(1), two = owner(2), any = owner(1);

	open_pools(POOL("0x200..0x200", "rest: 0s"));
	must_take(1);
	assert_int_equal(vfctl_ids_release(ids, VFCTL_ID_GUID, 0x0200, &two, false), -EPERM);
	says("is leased to domain guest1 (vf0)");
	strcpy(one.device, "vf1");
	assert_int_equal(vfctl_ids_release(ids, VFCTL_ID_GUID, 0x0200, &one, false), -EPERM);
	any.device[0] = any.host[0] = '\0';
	assert_int_equal(vfctl_ids_release(ids, VFCTL_ID_GUID, 0x0200, &any, false), 0);
	assert_int_equal(release(0x0200), -ENOENT);
}

/* ---- quarantine ---- */

static void what_was_seen_live_is_not_handed_out(void **state)
{
	uint64_t value;

	open_pools(POOL("0x200..0x201", "rest: 0s"));
	assert_int_equal(vfctl_ids_quarantine(ids, VFCTL_ID_GUID, 0x0200, NULL, "mlx5_0/3"), 1);
	assert_int_equal(vfctl_ids_quarantine(ids, VFCTL_ID_GUID, 0x0200, NULL, "mlx5_0/3"), 0);
	assert_int_equal(vfctl_ids_quarantine(ids, VFCTL_ID_GUID, 0x9999, NULL, "the fabric"), 1);
	assert_true(must_take(1) == 0x0201);
	assert_int_equal(vfctl_ids_quarantine(ids, VFCTL_ID_GUID, 0x0201, NULL, "again"), 0);
	assert_int_equal(take(2, &value), -ENOSPC);
	assert_int_equal(claim(2, 0x0200), -EEXIST);
	says("is quarantined: mlx5_0/3");
	says("vfctl guid release 00:00:00:00:00:00:02:00");
	assert_int_equal(stats().quarantined, 1);
	assert_int_equal(release(0x0200), 0);
	assert_true(must_take(2) == 0x0200);
	assert_int_equal(release(0x9999), 0);
}

/* ---- ranges and their ends ---- */

static void no_value_with_the_group_bit_goes_out(void **state)
{
	static const uint64_t want[] = {0x02fffffffffffffe, 0x02ffffffffffffff,
		0x0400000000000000, 0x0400000000000001};
	uint64_t value;

	open_pools(POOL("02:ff:ff:ff:ff:ff:ff:fe..04:00:00:00:00:00:00:01", "rest: 0s"));
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_true(must_take((int)i) == want[i]);
	assert_int_equal(take(9, &value), -ENOSPC);
	/* and back: they join within their range, not across the gap */
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_int_equal(release(want[i]), 0);
	for (size_t i = 0; i < ARRAY_SIZE(want); i++)
		assert_true(must_take((int)i) == want[i]);
}

static void the_last_guids_there_are_wrap_to_the_pools_begin(void **state)
{
	uint64_t value;

	open_pools(POOL("fe:ff:ff:ff:ff:ff:ff:fe..fe:ff:ff:ff:ff:ff:ff:ff",
		"strategy: hash, rest: 0s"));
	must_take(1);
	must_take(2);
	assert_int_equal(take(3, &value), -ENOSPC);
	assert_int_equal(release(0xfeffffffffffffff), 0);
	assert_true(must_take(4) == 0xfeffffffffffffff);
}

static void a_pool_of_all_guids_counts_right(void **state)
{
	struct vfctl_id_stats n;

	open_pools(POOL("0x1..0xfeffffffffffffff", "strategy: hash, rest: 0s"));
	for (int i = 0; i < 200; i++)
		assert_null(vfctl_guid_fault(must_take(i)));
	n = stats();
	assert_true(n.size == (UINT64_C(1) << 63) - 1);
	assert_true(n.free == n.size - 200);
}

/* ---- strategies ---- */

static void a_hash_finds_the_same_value_in_a_new_pool(void **state)
{
	static const char yaml[] = POOL("02:00:00:00:00:00:00:00..02:00:00:00:ff:ff:ff:ff",
		"strategy: hash, rest: 0s");
	uint64_t first[50];
	int high = 0;

	open_pools(yaml);
	for (int i = 0; i < 50; i++) {
		first[i] = must_take(i);
		high += first[i] >= 0x0200000080000000;
	}
	assert_true(high >= 10 && high <= 40); /* all over the pool */
	close_pools();
	remove(pools_path);
	open_pools(yaml);
	for (int i = 49; i >= 0; i--)
		assert_true(must_take(i) == first[i]);
}

static void a_hash_that_is_taken_goes_to_the_next(void **state)
{
	static const uint64_t all = 0x0200 + 0x0201 + 0x0202;
	uint64_t sum = 0, value;

	open_pools(POOL("0x200..0x202", "strategy: hash, rest: 0s"));
	for (int i = 0; i < 3; i++)
		sum += must_take(i);
	assert_true(sum == all);
	assert_int_equal(take(3, &value), -ENOSPC);
}

static void a_proposal_is_what_comes(void **state)
{
	for (int hash = 0; hash < 2; hash++) {
		uint64_t value;

		open_pools(hash ? POOL("0x200..0x2ff", "strategy: hash, rest: 10s")
				: POOL("0x200..0x2ff", "rest: 10s"));
		for (int i = 0; i < 300; i++) {
			struct vfctl_id_owner o = owner(i * 7 % 101);
			int r = vfctl_ids_propose(ids, spec->pools, &o, NULL, 0, &value);

			ids->store->now++;
			if (r == 0 && i % 3)
				assert_int_equal(vfctl_ids_propose(ids, spec->pools, &o, NULL, 0,
					&value), 0);
			if (i % 3)
				assert_true(must_take(i * 7 % 101) == value);
			else if (r == 0)
				release(value);
		}
		close_pools();
		remove(pools_path);
	}
}

/* ---- derived pools ---- */

static void a_pfs_guid_gives_a_pool(void **state)
{
	static const char yaml[] =
		"guid-pools: [{name: p, derive: host, pf: mlx5_0, rest: 0s}]";
	struct vfctl_id_owner o = owner(1);
	struct vfctl_id id;
	uint64_t value;

	open_pools(yaml);
	assert_int_equal(take(1, &value), -ENODATA);
	says("PF mlx5_0, which is unknown");
	vfctl_ids_close(ids);
	ids = NULL;
	assert_int_equal(vfctl_host_spec_set_pf_guid(ctx, spec, 0, 0), -EINVAL);
	assert_int_equal(vfctl_host_spec_set_pf_guid(ctx, spec, 0, 0x0002c903004708f8), 0);
	assert_int_equal(vfctl_ids_open(ctx, spec, true, &ids), 0);
	/* OUI 00:02:c9 with the local bit, 47:08:f8, and a number from 1 */
	assert_true(must_take(1) == 0x0202c94708f80001);
	assert_int_equal(stats().size, 0xfffe);
	/* not looked at: it keeps what it has */
	open_pools(yaml);
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &o, 0, NULL, &id), 0);
	assert_true(id.value == 0x0202c94708f80001);
	vfctl_ids_lost(ids, &(size_t){0});
	assert_int_equal(ids->lost_count, 0);
}

static void two_pools_of_one_pf_are_refused(void **state)
{
	open_pools("guid-pools: [{name: a, derive: host, pf: x}, {name: b, derive: host, pf: y}]");
	assert_int_equal(vfctl_host_spec_set_pf_guid(ctx, spec, 0, 0x0002c903004708f8), 0);
	assert_int_equal(vfctl_host_spec_set_pf_guid(ctx, spec, 1, 0x0002c903004708f8), -EEXIST);
	says("pools b and a overlap");
	assert_int_equal(vfctl_host_spec_set_pf_guid(ctx, spec, 1, 0x0002c903004708f9), 0);
}

static void a_mac_gives_the_guid_that_openstack_derives(void **state)
{
	struct vfctl_mac mac = {{0xfa, 0x16, 0x3e, 0x12, 0x34, 0x56}}, group = {{0x01}};
	struct vfctl_id_owner o = owner(1), two = owner(2);
	struct vfctl_id id;

	open_pools("guid-pools: [{name: os, derive: mac, rest: 60s}]");
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &o, 0, NULL, &id), -EINVAL);
	says("is not stated");
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &o, 0, &group, &id), -EINVAL);
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &o, 0, &mac, &id), 0);
	assert_true(id.value == 0xfa163e0000123456);
	assert_string_equal(id.pool, "os");
	assert_int_equal(stats().leased, 1);
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &two, 0, &mac, &id), -EEXIST);
	says("belongs to domain guest1");
	assert_int_equal(release(0xfa163e0000123456), 0);
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &two, 0, &mac, &id), -EEXIST);
	assert_int_equal(vfctl_ids_take(ids, spec->pools, &o, 0, &mac, &id), 0);
}

/* ---- another host.yaml ---- */

static void a_pool_cannot_shrink_below_what_it_leased(void **state)
{
	open_pools(POOL("0x200..0x2ff", "rest: 60s"));
	for (int n = 0; n < 4; n++)
		must_take(n);
	assert_int_equal(release(0x0203), 0);
	assert_int_equal(try_open(POOL("0x210..0x2ff", "rest: 60s"), true), -EINVAL);
	says("no longer includes 3 leased values, the first 00:00:00:00:00:00:02:00 (of "
	     "domain guest0)");
	/* looking is no harm */
	assert_int_equal(try_open(POOL("0x210..0x2ff", "rest: 60s"), false), 0);
	assert_int_equal(stats().free, 0xf0);
	/* nothing was changed by it */
	open_pools(POOL("0x200..0x2ff", "rest: 60s"));
	assert_int_equal(stats().leased, 3);
	assert_true(must_take(9) == 0x0204);
	/* cut where nothing is leased: values in their cooldown there are in no pool */
	assert_int_equal(vfctl_ids_release(ids, VFCTL_ID_GUID, 0x0204, NULL, true), 0);
	open_pools(POOL("0x200..0x202", "rest: 60s"));
	assert_int_equal(stats().resting, 0);
	assert_int_equal(claim(9, 0x0203), -EEXIST);
	says("cooldown");
}

static void a_value_moves_with_its_range(void **state)
{
	size_t lost;

	open_pools(POOL("0x200..0x2ff", "rest: 60s"));
	for (int n = 0; n < 8; n++)
		must_take(n);
	/* the pool is cut in two, both under other names */
	open_pools("guid-pools: [{name: high, ranges: ['0x204..0x2ff']}, "
		"{name: low, ranges: ['0x200..0x203'], rest: 0s}]");
	assert_int_equal(stats().leased, 4);
	assert_true(must_take(100) == 0x0208);
	vfctl_ids_lost(ids, &lost);
	assert_int_equal(lost, 0);
	/* and one is forgotten: it keeps what it has out, and is named */
	open_pools("guid-pools: [{name: high, ranges: ['0x204..0x2ff']}]");
	assert_string_equal(vfctl_ids_lost(ids, &lost)->name, "low");
	assert_int_equal(lost, 1);
	assert_int_equal(claim(99, 0x0200), -EEXIST);
	/* with the rest it had */
	for (uint64_t v = 0x0200; v <= 0x0203; v++)
		assert_int_equal(release(v), 0);
	open_pools("guid-pools: [{name: high, ranges: ['0x204..0x2ff']}]");
	vfctl_ids_lost(ids, &lost);
	assert_int_equal(lost, 0);
}

static void a_new_pool_takes_over_what_is_out_already(void **state)
{
	open_pools(POOL("0x200..0x2ff", "rest: 0s"));
	assert_int_equal(claim(1, 0x0501), 0);
	assert_int_equal(vfctl_ids_quarantine(ids, VFCTL_ID_GUID, 0x0500, NULL, "x"), 1);
	open_pools(POOL("0x500..0x502", "rest: 0s"));
	assert_int_equal(stats().leased, 1);
	assert_int_equal(stats().quarantined, 1);
	assert_true(must_take(2) == 0x0502);
}

/* ---- several at once ---- */

static void a_group_is_all_or_nothing(void **state)
{
	uint64_t value;

	open_pools(POOL("0x200..0x202", "rest: 60s"));
	must_take(1);
	assert_int_equal(vfctl_ids_begin(ids), 0);
	must_take(2);
	must_take(3);
	assert_int_equal(take(4, &value), -ENOSPC);
	assert_int_equal(vfctl_ids_end(ids, false), 0);
	says("exhausted"); /* still */
	assert_int_equal(stats().leased, 1);
	assert_int_equal(stats().free, 2);
	assert_int_equal(vfctl_ids_begin(ids), 0);
	must_take(2);
	assert_int_equal(vfctl_ids_end(ids, true), 0);
	assert_int_equal(stats().leased, 2);
}

static void nothing_is_made_by_looking(void **state)
{
	struct vfctl_id_owner o = owner(1);
	uint64_t value;

	assert_int_equal(try_open(POOL("0x200..0x2ff", "rest: 0s"), false), 0);
	assert_int_equal(stats().free, 256);
	assert_int_equal(vfctl_ids_propose(ids, spec->pools, &o, NULL, 3, &value), 0);
	assert_true(value == 0x0203);
	assert_int_equal(access(pools_path, F_OK), -1);
}

static void a_list_is_in_order(void **state)
{
	struct vfctl_id_filter all = {0}, some = {.states = 1u << VFCTL_ID_RESTING};
	struct vfctl_id_cursor *cursor;
	struct vfctl_id id;
	uint64_t before = 0;
	int n = 0;

	open_pools(POOL("0x200..0xfff", "strategy: hash, rest: 60s"));
	for (int i = 0; i < 600; i++)
		must_take(i);
	for (int i = 0; i < 600; i += 3)
		assert_int_equal(release(must_take(i)), 0);
	assert_int_equal(vfctl_ids_list(ids, &all, &cursor), 0);
	for (; vfctl_ids_next(cursor, &id) == 1; n++) {
		assert_true(id.value > before);
		before = id.value;
	}
	vfctl_ids_list_end(cursor);
	assert_int_equal(n, 600);
	assert_int_equal(vfctl_ids_list(ids, &some, &cursor), 0);
	for (n = 0; vfctl_ids_next(cursor, &id) == 1; n++)
		assert_int_equal(id.state, VFCTL_ID_RESTING);
	vfctl_ids_list_end(cursor);
	assert_int_equal(n, 200);
	all.domain_uuid = "00000001-0000-4000-8000-000000000000";
	assert_int_equal(vfctl_ids_list(ids, &all, &cursor), 0);
	assert_int_equal(vfctl_ids_next(cursor, &id), 1);
	assert_string_equal(id.owner.domain_name, "guest1");
	assert_int_equal(vfctl_ids_next(cursor, &id), 0);
	vfctl_ids_list_end(cursor);
}

/* ---- for the fleet's store ---- */

static void what_is_set_aside_serves_this_host(void **state)
{
	struct vfctl_id id = {.kind = VFCTL_ID_GUID, .state = VFCTL_ID_BLOCK, .pool = "p",
		.owner.host = "node-1"}, told;
	struct id_choice choice;

	open_pools(POOL("0x200..0x2ff", "rest: 60s"));
	assert_int_equal(id_sqlite_any_pending(ids->store), 0);
	for (id.value = 0x0210; id.value < 0x0212; id.value++)
		assert_int_equal(id_sqlite_put(ids->store, &id), 0);
	assert_int_equal(stats().block, 2);
	assert_true(must_take(1) == 0x0200); /* not one of these */
	choice = (struct id_choice){.pool = spec->pools, .start = 0x0211};
	for (int n = 2; n < 5; n++) {
		struct vfctl_id io = {.kind = VFCTL_ID_GUID, .owner = owner(n), .pending = true};
		int r = id_sqlite_take_block(ids->store, &choice, &io);

		assert_int_equal(r, n == 4 ? -ENOSPC : 0);
		if (r == 0)
			assert_true(io.value == (n == 2 ? 0x0211 : 0x0210));
	}
	assert_int_equal(stats().block, 0);
	assert_int_equal(id_sqlite_any_pending(ids->store), 1);
	assert_int_equal(vfctl_ids_find(ids, VFCTL_ID_GUID, 0x0210, &told), 0);
	assert_true(told.pending);
	/* what the fleet has not been told of does not end its rest */
	told.state = VFCTL_ID_RESTING;
	told.until = NOW - 1;
	assert_int_equal(id_sqlite_put(ids->store, &told), 0);
	must_take(9);
	assert_int_equal(stats().resting, 1);
	told.pending = false;
	assert_int_equal(id_sqlite_put(ids->store, &told), 0);
	must_take(10);
	assert_int_equal(stats().resting, 0);
	assert_int_equal(id_sqlite_drop(ids->store, VFCTL_ID_GUID, 0x0210), 0);
	assert_int_equal(id_sqlite_drop(ids->store, VFCTL_ID_GUID, 0x0210), 0);
	assert_int_equal(stats().block, 0);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(a_value_outside_the_pool_changes_no_pool),
		TEST(two_values_come_lowest_first),
		TEST(an_exhausted_pool_works_again_after_a_release),
		TEST(the_released_one_of_256_is_found_again),
		TEST(a_value_without_a_pkey_has_none),
		TEST(a_store_that_cannot_be_read_is_not_used),
		TEST(the_same_owner_gets_the_same_value),
		TEST(what_is_no_identity_is_refused),
		TEST(a_released_value_rests),
		TEST(all_rests_end_when_they_must),
		TEST(only_the_owner_gives_back),
		TEST(what_was_seen_live_is_not_handed_out),
		TEST(no_value_with_the_group_bit_goes_out),
		TEST(the_last_guids_there_are_wrap_to_the_pools_begin),
		TEST(a_pool_of_all_guids_counts_right),
		TEST(a_hash_finds_the_same_value_in_a_new_pool),
		TEST(a_hash_that_is_taken_goes_to_the_next),
		TEST(a_proposal_is_what_comes),
		TEST(a_pfs_guid_gives_a_pool),
		TEST(two_pools_of_one_pf_are_refused),
		TEST(a_mac_gives_the_guid_that_openstack_derives),
		TEST(a_pool_cannot_shrink_below_what_it_leased),
		TEST(a_value_moves_with_its_range),
		TEST(a_new_pool_takes_over_what_is_out_already),
		TEST(a_group_is_all_or_nothing),
		TEST(nothing_is_made_by_looking),
		TEST(a_list_is_in_order),
		TEST(what_is_set_aside_serves_this_host),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
