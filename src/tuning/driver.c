// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each driver takes of interrupt moderation. Sources: supported_coalesce_params and
 * set_coalesce() in each driver's ethtool file of Linux 7.0 (drivers/net/ethernet/ and, for
 * IPoIB, drivers/infiniband/ulp/ipoib/ipoib_ethtool.c). The kernel's own answer goes before it.
 */
#include "tuning/driver.h"

#include "base/util.h"

#define BIT VFCTL_COALESCE_BIT
#define USECS (BIT(VFCTL_RX_USECS) | BIT(VFCTL_TX_USECS))
#define FRAMES (BIT(VFCTL_RX_FRAMES) | BIT(VFCTL_TX_FRAMES))
#define ADAPTIVE (BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_ADAPTIVE_TX))
#define CQE_MODE (BIT(VFCTL_CQE_MODE_RX) | BIT(VFCTL_CQE_MODE_TX))
#define PACKET_RATES (BIT(VFCTL_PKT_RATE_LOW) | BIT(VFCTL_PKT_RATE_HIGH) | \
	BIT(VFCTL_RX_USECS_LOW) | BIT(VFCTL_RX_USECS_HIGH) | BIT(VFCTL_SAMPLE_INTERVAL))

#define RANGES(...) ((const struct tuning_range[]){__VA_ARGS__, {0, 0, 0}})
#define MODES(...) ((const uint32_t[]){__VA_ARGS__, 0})
#define LIMITS(...) ((const struct tuning_limit[]){__VA_ARGS__, {0, NULL, NULL}})
#define UP_TO(key, high)                       \
	{                                      \
		key, RANGES({0, high, 1}), NULL \
	}

#define MLX_LIMITS(usecs) LIMITS(UP_TO(VFCTL_RX_USECS, usecs), UP_TO(VFCTL_TX_USECS, usecs), \
	UP_TO(VFCTL_RX_FRAMES, 65535), UP_TO(VFCTL_TX_FRAMES, 65535))

static const struct tuning_driver drivers[] = {
	/* en_ethtool.c: beyond it -ERANGE. */
	{.name = "mlx5_core", .keys = USECS | FRAMES | ADAPTIVE | CQE_MODE, .limits = MLX_LIMITS(4095)},
	/* en_ethtool.c: 0 of tx-frames-irq is refused; 0xffff is the driver's default. */
	{.name = "mlx4_core",
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_TX_FRAMES_IRQ) | PACKET_RATES,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 65535), UP_TO(VFCTL_TX_USECS, 65535),
			UP_TO(VFCTL_RX_FRAMES, 65535), UP_TO(VFCTL_TX_FRAMES, 65535),
			{VFCTL_TX_FRAMES_IRQ, RANGES({1, 65535, 1}), NULL},
			UP_TO(VFCTL_RX_USECS_LOW, 65535), UP_TO(VFCTL_RX_USECS_HIGH, 65535))},
	/* igb_ethtool.c: 1 and 3 are modes ("dynamic", "dynamic conservative"). */
	{.name = "igb", .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)}),
		.dynamic = 3, .paired = true},
	/* igbvf/ethtool.c: 2 and 3 are modes, 1 is refused, and 0 is a rate of about 1 us. */
	{.name = "igbvf", .keys = BIT(VFCTL_RX_USECS),
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(2, 3)}),
		.dynamic = 3},
	/* ixgbe_ethtool.c: 1 is a mode; the limit is IXGBE_MAX_EITR >> 2. */
	{.name = "ixgbe", .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)}),
		.dynamic = 1, .paired = true,
		.warning = "with LRO on, ixgbe resets the PF when rx-usecs crosses its threshold for it: "
			"the link of the PF and of all VFs goes down for a moment"},
	{.name = "ixgbevf", .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)}),
		.dynamic = 1, .paired = true},
	/* i40e_ethtool.c: registers count in units of 2 us. */
	{.name = "i40e",
		.keys = USECS | ADAPTIVE | BIT(VFCTL_TX_FRAMES_IRQ) | BIT(VFCTL_RX_USECS_HIGH) |
			BIT(VFCTL_TX_USECS_HIGH),
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 8160, 2}), NULL},
			{VFCTL_TX_USECS, RANGES({0, 8160, 2}), NULL})},
	{.name = "iavf", .keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8160), UP_TO(VFCTL_TX_USECS, 8160))},
	{.name = "idpf", .keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8160), UP_TO(VFCTL_TX_USECS, 8160))},
	{.name = "fm10k", .keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 4095), UP_TO(VFCTL_TX_USECS, 4095))},
	/* ice_ethtool.c: rx-usecs-high is a limit of the interrupt rate (ICE_MAX_INTRL). */
	{.name = "ice", .keys = USECS | ADAPTIVE | BIT(VFCTL_RX_USECS_HIGH),
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8160), UP_TO(VFCTL_TX_USECS, 8160),
			UP_TO(VFCTL_RX_USECS_HIGH, 236))},
	{.name = "bnxt_en",
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_USECS_IRQ) |
			BIT(VFCTL_TX_USECS_IRQ) | BIT(VFCTL_RX_FRAMES_IRQ) | BIT(VFCTL_TX_FRAMES_IRQ) |
			BIT(VFCTL_STATS_BLOCK_USECS) | CQE_MODE,
		.warning = "bnxt_en closes and opens the interface when stats-block-usecs changes"},
	{.name = "ena", .keys = USECS | BIT(VFCTL_ADAPTIVE_RX)},
	{.name = "hns3",
		.keys = USECS | FRAMES | ADAPTIVE | BIT(VFCTL_RX_USECS_HIGH) | BIT(VFCTL_TX_USECS_HIGH) |
			CQE_MODE},
	{.name = "qede", .keys = USECS | BIT(VFCTL_STATS_BLOCK_USECS)},
	{.name = "ionic", .keys = USECS | ADAPTIVE},
	{.name = "nfp", .keys = USECS | FRAMES | ADAPTIVE},
	{.name = "rvu_nicpf", .keys = USECS | FRAMES | ADAPTIVE},
	{.name = "rvu_nicvf", .keys = USECS | FRAMES | ADAPTIVE},
	{.name = "cxgb4", .keys = BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES) | BIT(VFCTL_ADAPTIVE_RX)},
	{.name = "enic", .keys = USECS | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_USECS_LOW) |
		BIT(VFCTL_RX_USECS_HIGH)},
	{.name = "sfc", .keys = USECS | BIT(VFCTL_RX_USECS_IRQ) | BIT(VFCTL_TX_USECS_IRQ) |
		BIT(VFCTL_ADAPTIVE_RX)},
	{.name = "gve", .keys = USECS},
	{.name = "bnx2x", .keys = USECS},
	{.name = "igc", .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)}),
		.dynamic = 3},
	{.name = "virtio_net", .keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX)},
	{.name = "netdevsim", .keys = (UINT32_C(1) << VFCTL_COALESCE_KEYS) - 1},
};

/* Of IPoIB: the enhanced one of mlx5, and that of all others (recv CQ alone). */
static const struct tuning_driver enhanced_ipoib = {.name = "mlx5_core",
	.keys = USECS | FRAMES | ADAPTIVE, .limits = MLX_LIMITS(4095)};
static const struct tuning_driver generic_ipoib = {.name = "ib_ipoib",
	.keys = BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES), .limits = MLX_LIMITS(65535)};

const struct tuning_driver *tuning_driver_find(const char *name, bool infiniband)
{
	if (infiniband)
		return str_eq(name, "mlx5_core") ? &enhanced_ipoib : &generic_ipoib;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].name, name))
			return &drivers[i];
	return NULL;
}

static const struct tuning_limit *limit_of(const struct tuning_driver *d, enum vfctl_coalesce_key key)
{
	for (const struct tuning_limit *l = d ? d->limits : NULL; l && l->ranges; l++)
		if (l->key == key)
			return l;
	return NULL;
}

bool tuning_driver_takes(const struct tuning_driver *d, enum vfctl_coalesce_key key, uint32_t value)
{
	const struct tuning_limit *l = limit_of(d, key);

	for (const uint32_t *m = l ? l->modes : NULL; m && *m; m++)
		if (*m == value)
			return true;
	return !l || tuning_driver_nearest(d, key, value) == value;
}

/* Within one range. */
static uint32_t nearest_in(const struct tuning_range *r, uint32_t value)
{
	uint32_t down;

	if (value <= r->low)
		return r->low;
	if (value >= r->high)
		return r->high;
	down = value - (value - r->low) % r->step;
	return value - down <= r->step / 2 ? down : down + r->step;
}

uint32_t tuning_driver_nearest(const struct tuning_driver *d, enum vfctl_coalesce_key key,
	uint32_t value)
{
	const struct tuning_limit *l = limit_of(d, key);
	uint32_t best = value, far = UINT32_MAX;

	for (const struct tuning_range *r = l ? l->ranges : NULL; r && r->step; r++) {
		uint32_t near = nearest_in(r, value);
		uint32_t distance = near > value ? near - value : value - near;

		if (distance < far) {
			best = near;
			far = distance;
		}
	}
	return best;
}
