// SPDX-License-Identifier: GPL-2.0-or-later
/* The table of drivers beside the simulated kernel, value by value, and what a profile comes to. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <errno.h>
#include <ftw.h>
#include <stdio.h>
#include <cmocka.h>

#include "drivers/driver.h"
#include "host/host.h"
#include "netlink/ethtool.h"
#include "sim.h"
#include "tuning/fit.h"

#define BIT VFCTL_COALESCE_BIT

static char root[64];
static struct vfctl_ctx *ctx;
static struct host *h;

static int remove_entry(const char *path, const struct stat *st, int type, struct FTW *ftw)
{
	return remove(path);
}

static int set_up(void **state)
{
	strcpy(root, "/tmp/vfctl-tuning-XXXXXX");
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

/* The only PF, of that driver, as after a probe. */
static void make_pf(const char *driver)
{
	_free_ char *target = str_format("../../../../bus/pci/drivers/%s", driver);

	sim_put(h, "netdev ens1\nifindex 2\nup 1\n", "/.sim/pf/0000:10:00.0");
	sim_remove(h, "/.sim/coalesce/ens1");
	sim_remove(h, "/.sim/coalesce-shown/ens1");
	sim_remove(h, "/.sim/resets/ens1");
	sim_remove(h, "/sys/bus/pci/devices/0000:10:00.0/driver");
	sim_put_link(h, target, "/sys/bus/pci/devices/0000:10:00.0/driver");
}

static struct vfctl_coalesce now(void)
{
	struct nl_coalesce row = {.ifindex = 2};

	assert_int_equal(nl_coalesce_read(ctx, &row, 1), 0);
	assert_int_equal(row.error, 0);
	return row.values;
}

static int set(const struct vfctl_coalesce *c)
{
	struct nl_coalesce row = {.ifindex = 2, .values = *c};

	assert_int_equal(nl_coalesce_write(ctx, &row, 1), 0);
	return row.error;
}

static const char *const known[] = {"igb", "igbvf", "ixgbe", "ixgbevf", "i40e", "iavf", "idpf", "ice", "mlx5_core",
	"mlx4_core", "bnxt_en", "qede", "ionic", "rvu_nicpf", "cxgb4", "cxgb4vf", "be2net", "hinic", "qlcnic",
	"LiquidIO", "funeth", "fsl_enetc", "gve", "virtio_net"};
static const uint32_t tried[] = {0, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 99, 100, 235, 236, 237, 238,
	1021, 1022, 1023, 1024, 4094, 4095, 4096, 8158, 8159, 8160, 8161, 8162, 9999, 10000, 10001,
	65534, 65535, 65536, 1000000, UINT32_MAX - 1, UINT32_MAX};

static void settings_are_those_that_the_driver_has(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		make_pf(known[i]);
		assert_int_equal(now().mask, driver_moderation(known[i], false)->keys);
	}
}

/* A setting alone, with adaptive moderation off, and what the driver keeps; -1: it refuses it. */
static int64_t kept(const char *driver, enum vfctl_coalesce_key key, uint32_t value)
{
	const struct vfctl_coalesce off = {now().mask & (BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_ADAPTIVE_TX)), {0}};
	struct vfctl_coalesce c = {BIT(key), {0}};

	c.values[key] = value;
	/* A request that changes the mode alone ends the mode in each driver. */
	if (off.mask && set(&off) < 0)
		fail_msg("%s does not leave its adaptive mode", driver);
	now();
	if (set(&c) < 0)
		return -1;
	now(); /* be2net shows it with the next answer */
	return now().values[key];
}

/* Settings whose value depends on another one, or on the card: no table can have their limits. */
static bool is_free(const struct driver *d, enum vfctl_coalesce_key key)
{
	static const uint32_t rates = BIT(VFCTL_PKT_RATE_LOW) | BIT(VFCTL_PKT_RATE_HIGH) |
		BIT(VFCTL_SAMPLE_INTERVAL) | BIT(VFCTL_RX_USECS_LOW) | BIT(VFCTL_RX_FRAMES_LOW) |
		BIT(VFCTL_TX_FRAMES_LOW) | BIT(VFCTL_RX_FRAMES_HIGH) | BIT(VFCTL_TX_FRAMES_HIGH);

	return vfctl_coalesce_is_switch(key) || !d->limits || rates & BIT(key) || d->fixed & BIT(key) ||
		(key == VFCTL_RX_USECS_HIGH && d->keys & BIT(VFCTL_RX_USECS_LOW)) ||
		(key == VFCTL_TX_USECS && d->pairing && d->pairing != DRIVER_TX_SHARED);
}

/*
 * What the table calls legal the driver takes and keeps; what it does not, the driver refuses or makes
 * another value of. ice keeps an odd time, and its card does not.
 */
static void limits_are_those_of_the_driver(void **state)
{
	size_t refused = 0;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct driver *d = driver_moderation(known[i], false);

		for (size_t k = 0; k < ARRAY_SIZE(tried) * VFCTL_COALESCE_KEYS; k++) {
			enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)(k % VFCTL_COALESCE_KEYS);
			uint32_t value = tried[k / VFCTL_COALESCE_KEYS];
			bool takes = driver_takes(d, key, value);

			if (!(d->keys & BIT(key)) || is_free(d, key) || (d->frames_at_0 && value == 0) ||
				(str_eq(known[i], "ice") && (value % 2 || value < 8)))
				continue;
			make_pf(known[i]);
			if ((kept(known[i], key, value) == value) != takes)
				fail_msg("%s %s=%u: the table says %s", known[i], vfctl_coalesce_name(key), value,
					takes ? "yes" : "no");
			refused += !takes;
		}
	}
	assert_true(refused > 200);
}

/* Their limits are the card's; LiquidIO reports some settings in one mode only. */
static bool depends_on_card(const char *driver)
{
	return str_eq(driver, "cxgb4") || str_eq(driver, "cxgb4vf") || str_eq(driver, "ionic") ||
		str_eq(driver, "LiquidIO");
}

/* Whatever is wanted, what comes of it is taken by the driver as a whole, and is then as it is. */
static void what_is_fitted_is_taken(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++)
		for (size_t p = 0; p < vfctl_profile_count() + ARRAY_SIZE(tried); p++) {
			struct vfctl_coalesce wanted = {0}, has;
			struct vfctl_tuning_fit fit;

			make_pf(known[i]);
			if (p < vfctl_profile_count()) {
				wanted = vfctl_profile_at(p)->coalesce;
			} else {
				wanted.mask = (UINT32_C(1) << VFCTL_COALESCE_KEYS) - 1;
				for (size_t key = 0; key < VFCTL_COALESCE_KEYS; key++)
					wanted.values[key] = vfctl_coalesce_is_switch((enum vfctl_coalesce_key)key)
						? p % 2 : tried[p - vfctl_profile_count()];
				/* Without a limit of the driver's: any. */
				wanted.mask &= ~(BIT(VFCTL_PKT_RATE_LOW) | BIT(VFCTL_PKT_RATE_HIGH));
			}
			if (depends_on_card(known[i]))
				continue;
			has = now();
			vfctl_tuning_fit(known[i], false, &has, &wanted, &fit);
			assert_true(fit.known && fit.count >= (size_t)__builtin_popcount(wanted.mask));
			if (set(&fit.set) < 0)
				fail_msg("%s refuses what profile or value %zu comes to", known[i], p);
			now(); /* be2net shows it with the next answer */
			has = now();
			vfctl_tuning_fit(known[i], false, &has, &wanted, &fit);
			if (fit.changes)
				fail_msg("%s: profile or value %zu differs again: %s, not %s", known[i], p,
					vfctl_coalesce_format(&has), vfctl_coalesce_format(&fit.set));
		}
}

/* The driver resets the PF when the table says so; with LRO it does so more often. */
static void resets_are_those_of_the_driver(void **state)
{
	const struct driver *d = driver_find("ixgbe");
	static const uint32_t times[] = {0, 1, 2, 6, 7, 9, 10, 11, 500, 1022};
	size_t expected = 0, seen = 0;

	for (size_t k = 0; k < ARRAY_SIZE(times) * ARRAY_SIZE(times) * 2; k++) {
		uint32_t from = times[k / 2 % ARRAY_SIZE(times)], to = times[k / 2 / ARRAY_SIZE(times)];
		struct vfctl_coalesce c = {BIT(VFCTL_RX_USECS), {[VFCTL_RX_USECS] = from}}, has;
		struct vfctl_tuning_fit fit;
		bool reset;

		make_pf("ixgbe");
		if (k % 2)
			sim_put(h, "", "/.sim/lro/ens1");
		else
			sim_remove(h, "/.sim/lro/ens1");
		assert_int_equal(set(&c), 0);
		sim_remove(h, "/.sim/resets/ens1");
		has = now();
		c.values[VFCTL_RX_USECS] = to;
		vfctl_tuning_fit("ixgbe", false, &has, &c, &fit);
		assert_int_equal(set(&c), 0);
		reset = sim_has(h, "/.sim/resets/ens1");
		/* Without LRO one threshold is not the driver's, and vfctl cannot see LRO. */
		if (reset != fit.resets && (reset || k % 2))
			fail_msg("ixgbe, %u to %u us: the driver %s", from, to, reset ? "resets" : "does not reset");
		assert_int_equal(fit.warning != NULL, fit.resets);
		expected += fit.resets;
		seen += reset;
	}
	assert_true(driver_resets(d, 1, 0) && !driver_resets(d, 1, 10) && !driver_resets(d, 0, 6));
	assert_false(driver_resets(driver_find("igb"), 3, 0));
	assert_true(seen > 40 && seen < expected);
}

/* What a value needs besides itself. */
static void values_are_set_with_what_they_need(void **state)
{
	struct vfctl_coalesce has, wanted = {BIT(VFCTL_RX_USECS), {[VFCTL_RX_USECS] = 20}};
	struct vfctl_tuning_fit fit;

	make_pf("ice"); /* it adapts to the load, and rejects times then */
	has = now();
	vfctl_tuning_fit("ice", false, &has, &wanted, &fit);
	assert_int_equal(fit.set.mask, BIT(VFCTL_RX_USECS) | BIT(VFCTL_ADAPTIVE_RX));
	assert_int_equal(fit.set.values[VFCTL_ADAPTIVE_RX], 0);
	make_pf("rvu_nicpf");
	has = now();
	vfctl_tuning_fit("rvu_nicpf", false, &has, &wanted, &fit);
	assert_int_equal(fit.set.values[VFCTL_TX_USECS], 20);
	make_pf("ionic");
	has = now();
	wanted = (struct vfctl_coalesce){BIT(VFCTL_RX_USECS) | BIT(VFCTL_TX_USECS), {[VFCTL_RX_USECS] = 9,
		[VFCTL_TX_USECS] = 9}};
	vfctl_tuning_fit("ionic", false, &has, &wanted, &fit);
	assert_int_equal(fit.set.mask, BIT(VFCTL_RX_USECS));
	assert_int_equal(set(&fit.set), 0);
	assert_int_equal(now().values[VFCTL_TX_USECS], 9);
	make_pf("funeth");
	has = now();
	wanted = (struct vfctl_coalesce){BIT(VFCTL_RX_USECS), {0}};
	vfctl_tuning_fit("funeth", false, &has, &wanted, &fit);
	assert_int_equal(fit.set.values[VFCTL_RX_FRAMES], 1);
	assert_int_equal(set(&fit.set), 0);
	make_pf("i40e"); /* it reports tx-usecs-high, and rejects any other value */
	has = now();
	wanted = (struct vfctl_coalesce){BIT(VFCTL_TX_USECS_HIGH), {[VFCTL_TX_USECS_HIGH] = 40}};
	assert_int_equal(set(&wanted), -EINVAL);
	vfctl_tuning_fit("i40e", false, &has, &wanted, &fit);
	assert_int_equal(fit.set.mask, 0);
	assert_int_equal(fit.rows[0].fit, VFCTL_FIT_LACKS);
	vfctl_tuning_fit("mana", false, NULL, &wanted, &fit);
	assert_true(fit.known && fit.set.mask == 0);
}

static void every_row_is_told_once(void **state)
{
	for (size_t p = 0; p < vfctl_profile_count(); p++) {
		struct vfctl_tuning_fit fit;
		uint32_t told = 0;

		vfctl_tuning_fit("igb", false, NULL, &vfctl_profile_at(p)->coalesce, &fit);
		for (size_t i = 0; i < fit.count; i++) {
			assert_false(told & BIT(fit.rows[i].key));
			told |= BIT(fit.rows[i].key);
		}
		assert_int_equal(vfctl_profile_at(p)->coalesce.mask & ~told, 0);
	}
}

static void ipoib_has_its_own_row(void **state)
{
	struct vfctl_coalesce wanted = {BIT(VFCTL_RX_FRAMES) | BIT(VFCTL_CQE_MODE_RX), {[VFCTL_RX_FRAMES] = 70000}};
	struct vfctl_tuning_fit fit;

	vfctl_tuning_fit("mlx4_core", true, NULL, &wanted, &fit);
	assert_int_equal(fit.set.mask, BIT(VFCTL_RX_FRAMES));
	assert_int_equal(fit.set.values[VFCTL_RX_FRAMES], 65535);
	vfctl_tuning_fit("mlx5_core", true, NULL, &wanted, &fit);
	assert_int_equal(fit.set.mask, BIT(VFCTL_RX_FRAMES));
}

static void candidates_are_legal_and_differ(void **state)
{
	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		struct vfctl_coalesce all[VFCTL_CANDIDATES_MAX], has;
		size_t count;

		make_pf(known[i]);
		has = now();
		count = vfctl_tuning_candidates(known[i], false, &has, all);
		assert_true(count >= 4 && count <= VFCTL_CANDIDATES_MAX);
		for (size_t k = 0; k < count; k++) {
			struct vfctl_tuning_fit fit;

			if (depends_on_card(known[i]))
				continue;
			make_pf(known[i]);
			vfctl_tuning_fit(known[i], false, &has, &all[k], &fit);
			assert_true(fit.changes);
			assert_int_equal(set(&all[k]), 0);
			for (size_t other = 0; other < k; other++)
				assert_memory_not_equal(&all[k], &all[other], sizeof(all[k]));
		}
	}
}

static void texts_come_back(void **state)
{
	struct vfctl_coalesce c = {0}, back;
	_free_ char *text = NULL;

	for (size_t key = 0; key < VFCTL_COALESCE_KEYS; key++) {
		c.mask |= BIT(key);
		c.values[key] = vfctl_coalesce_is_switch((enum vfctl_coalesce_key)key) ? key % 2 : 7 * (uint32_t)key;
	}
	text = vfctl_coalesce_format(&c);
	assert_int_equal(vfctl_coalesce_read(ctx, text, &back), 0);
	assert_memory_equal(&c, &back, sizeof(c));
	assert_int_equal(vfctl_coalesce_read(ctx, "", &back), 0);
	assert_int_equal(back.mask, 0);
	assert_int_equal(vfctl_coalesce_read(ctx, "rx-usecs", &back), -EINVAL);
	assert_int_equal(vfctl_coalesce_read(ctx, "rx-usec=1", &back), -ENOENT);
	assert_int_equal(vfctl_coalesce_read(ctx, "rx-usecs=1.5", &back), -EINVAL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(settings_are_those_that_the_driver_has),
		cmocka_unit_test(limits_are_those_of_the_driver),
		cmocka_unit_test(what_is_fitted_is_taken),
		cmocka_unit_test(resets_are_those_of_the_driver),
		cmocka_unit_test(values_are_set_with_what_they_need),
		cmocka_unit_test(every_row_is_told_once),
		cmocka_unit_test(ipoib_has_its_own_row),
		cmocka_unit_test(candidates_are_legal_and_differ),
		cmocka_unit_test(texts_come_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
