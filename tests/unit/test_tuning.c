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

#include "host/host.h"
#include "netlink/ethtool.h"
#include "sim.h"
#include "drivers/driver.h"

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

	sim_put(h, "netdev ens1\nifindex 2\n", "/.sim/pf/0000:10:00.0");
	sim_remove(h, "/.sim/coalesce/ens1");
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

static const char *const known[] = {"igb", "igbvf", "ixgbe", "i40e", "ice", "mlx5_core", "mlx4_core"};
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

/* What the table calls legal the driver takes; what it does not, the driver refuses. */
static void limits_are_those_of_the_driver(void **state)
{
	size_t refused = 0;

	for (size_t i = 0; i < ARRAY_SIZE(known); i++) {
		const struct driver *d = driver_moderation(known[i], false);

		for (size_t key = 0; key < VFCTL_COALESCE_KEYS; key++)
			for (size_t k = 0; k < ARRAY_SIZE(tried) && d->keys & BIT(key); k++) {
				struct vfctl_coalesce c = {BIT(key), {0}};
				bool takes = driver_takes(d, (enum vfctl_coalesce_key)key, tried[k]);

				if (vfctl_coalesce_is_switch((enum vfctl_coalesce_key)key) ||
					(key == VFCTL_TX_USECS && d->paired) || !d->limits ||
					/* no limit is known, and none is checked by the driver */
					key == VFCTL_PKT_RATE_LOW || key == VFCTL_PKT_RATE_HIGH ||
					key == VFCTL_SAMPLE_INTERVAL || key == VFCTL_RX_USECS_LOW ||
					key == VFCTL_RX_USECS_HIGH || key == VFCTL_TX_USECS_HIGH ||
					key == VFCTL_TX_FRAMES_IRQ || (d->keys & BIT(VFCTL_TX_USECS_HIGH) &&
						tried[k] % 2))
					continue;
				make_pf(known[i]);
				c.values[key] = tried[k];
				if ((set(&c) == 0) != takes)
					fail_msg("%s %s=%u: the table says %s", known[i],
						vfctl_coalesce_name((enum vfctl_coalesce_key)key), tried[k],
						takes ? "yes" : "no");
				refused += !takes;
			}
	}
	assert_true(refused > 50);
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
			has = now();
			vfctl_tuning_fit(known[i], false, &has, &wanted, &fit);
			assert_true(fit.known && fit.count >= (size_t)__builtin_popcount(wanted.mask));
			if (set(&fit.set) < 0)
				fail_msg("%s refuses what profile or value %zu comes to", known[i], p);
			has = now();
			vfctl_tuning_fit(known[i], false, &has, &wanted, &fit);
			if (fit.changes)
				fail_msg("%s: profile or value %zu differs again", known[i], p);
		}
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
		cmocka_unit_test(every_row_is_told_once),
		cmocka_unit_test(ipoib_has_its_own_row),
		cmocka_unit_test(candidates_are_legal_and_differ),
		cmocka_unit_test(texts_come_back),
	};

	return cmocka_run_group_tests(tests, set_up, tear_down);
}
