// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of drivers: one row holds all that vfctl knows about a driver. Sources, in Linux 7.0:
 * ndo_set_vf_* for VF attributes, supported_coalesce_params and set_coalesce() for moderation (both in
 * drivers/net/ethernet/; for IPoIB drivers/infiniband/ulp/ipoib/ipoib_ethtool.c). The kernel's own
 * answer takes precedence.
 */
#include "drivers/driver.h"

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

#define COMMON_ATTRS (VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_MAX_RATE | \
	VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST)
#define NO_ATTRS (VFCTL_ATTR_MAC | (VFCTL_ATTR_POLICY & ~VFCTL_ATTR_MSIX))
#define MESSAGES(...) ((const struct driver_message[]){__VA_ARGS__, {NULL, {NULL, NULL}, false}})

static const struct driver drivers[] = {
	/*
	 * en_main.c: a minimum rate and 802.1ad are capabilities of the firmware. en_ethtool.c: values
	 * beyond the limits give -ERANGE.
	 */
	{.name = "mlx5_core", .log_word = "mlx5",
		.flags = DRIVER_ALWAYS_SRIOV | DRIVER_SRIOV_IN_FIRMWARE | DRIVER_LARGE_READS,
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_LINK_STATE, .vf_lacks = VFCTL_ATTR_QUERY_RSS,
		.lag = DRIVER_LAG_ALL_PORTS,
		.messages = MESSAGES({"log-vectors", {"failed to set MSI-X vector counts VF", NULL},
			true}, /* sriov.c */
			{"log-lag", {"Make sure all VFs are unbound", "LAG"}, true}, /* lag/lag.c */
			{"log-device", {"health compromised", NULL}, true}), /* health.c */
		.keys = USECS | FRAMES | ADAPTIVE | CQE_MODE, .limits = MLX_LIMITS(4095)},
	/* en_ethtool.c: 0 of tx-frames-irq is refused; 0xffff is the driver's default. */
	{.name = "mlx4_core", .log_word = "mlx4", .guest = "mlx4_en", .guest_row = "mlx4_core",
		.flags = DRIVER_NO_ESWITCH | DRIVER_VFS_AT_LOAD | DRIVER_VF_GUIDS_IN_SYSFS,
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_TX_FRAMES_IRQ) | PACKET_RATES,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 65535), UP_TO(VFCTL_TX_USECS, 65535),
			UP_TO(VFCTL_RX_FRAMES, 65535), UP_TO(VFCTL_TX_FRAMES, 65535),
			{VFCTL_TX_FRAMES_IRQ, RANGES({1, 65535, 1}), NULL},
			UP_TO(VFCTL_RX_USECS_LOW, 65535), UP_TO(VFCTL_RX_USECS_HIGH, 65535))},
	/* igb_main.c: no ndo_set_vf_link_state; igb_ndo_set_vf_bw() refuses a minimum rate. */
	/* igb_ethtool.c: 1 and 3 are modes ("dynamic", "dynamic conservative"). */
	{.name = "igb", .flags = DRIVER_NO_ESWITCH | DRIVER_VFS_NEED_PF_UP, .guest = "igbvf",
		.vf_has = COMMON_ATTRS, .vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO |
			VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS,
		.messages = MESSAGES({"log-spoof", {"Spoof event(s) detected on VF", NULL}, false}),
		.keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)}),
		.dynamic = 3, .paired = true},
	/* igbvf/ethtool.c: 2 and 3 are modes, 1 is refused, and 0 is IGBVF_70K_ITR, about 1 us. */
	{.name = "igbvf", .rx_usecs_0 = "igbvf with rx-usecs 0 still waits about 1 us; it has nothing less",
		.keys = BIT(VFCTL_RX_USECS),
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(2, 3)}),
		.dynamic = 3},
	/*
	 * ixgbe_sriov.c; its link state came with 6.0, and only the 82599 and X540 answer RSS queries.
	 * ixgbe_ethtool.c: 1 is a mode; the limit is IXGBE_MAX_EITR >> 2.
	 */
	{.name = "ixgbe", .flags = DRIVER_NO_ESWITCH | DRIVER_VFS_NEED_PF_UP, .guest = "ixgbevf",
		.vf_has = COMMON_ATTRS, .vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO,
		/* igb says the same at each start of a VF's driver, of the same MAC as well. */
		.messages = MESSAGES({"log-trust", {"attempted to override administratively set MAC",
			"ixgbe"}, true},
			{"log-spoof", {"poofed packets detected", NULL}, false}, /* igb as well */
			{"log-pf-reset", {"PF still in reset state", NULL}, true}), /* ixgbevf, igbvf */
		.keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)}),
		.dynamic = 1, .paired = true,
		.warning = "with LRO on, ixgbe resets the PF when rx-usecs crosses its threshold for it: "
			"the link of the PF and of all VFs goes down for a moment"},
	{.name = "ixgbevf", .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)}),
		.dynamic = 1, .paired = true},
	/* i40e_virtchnl_pf.c. i40e_ethtool.c: registers count in units of 2 us. */
	{.name = "i40e", .flags = DRIVER_NO_ESWITCH | DRIVER_ALWAYS_SRIOV, .guest = "iavf",
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_LINK_STATE,
		.vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_QUERY_RSS,
		.messages = MESSAGES({"log-trust", {"is not trusted", "VF"}, true}, /* ice, ixgbe as well */
			{"log-trust", {"attempting to override administratively set MAC", NULL}, true}),
		.keys = USECS | ADAPTIVE | BIT(VFCTL_TX_FRAMES_IRQ) | BIT(VFCTL_RX_USECS_HIGH) |
			BIT(VFCTL_TX_USECS_HIGH),
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 8160, 2}), NULL},
			{VFCTL_TX_USECS, RANGES({0, 8160, 2}), NULL})},
	{.name = "iavf",
		.messages = MESSAGES({"log-vf-lost", {"Failed to communicate with PF", NULL}, true},
			{"log-vf-lost", {"Unable to communicate with the PF", NULL}, true}),
		.keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8160), UP_TO(VFCTL_TX_USECS, 8160))},
	{.name = "idpf", .keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8160), UP_TO(VFCTL_TX_USECS, 8160))},
	{.name = "fm10k", .keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 4095), UP_TO(VFCTL_TX_USECS, 4095))},
	/*
	 * ice_sriov.c; 802.1ad only in double VLAN mode, a minimum rate depends on the firmware.
	 * ice_ethtool.c: rx-usecs-high is a limit of the interrupt rate (ICE_MAX_INTRL).
	 */
	{.name = "ice", .log_word = "ice ", .flags = DRIVER_ESWITCH_WITHOUT_VFS | DRIVER_ALWAYS_SRIOV,
		.guest = "iavf", .lag = DRIVER_LAG_ACTIVE_BACKUP,
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_LINK_STATE, .vf_lacks = VFCTL_ATTR_QUERY_RSS,
		.messages = MESSAGES({"log-vectors", {"MSI-X interrupts available for SR-IOV", NULL}, true},
			/* before 5.18 */
			{"log-vectors", {"Not enough vectors to support", "VFs"}, true}),
		.keys = USECS | ADAPTIVE | BIT(VFCTL_RX_USECS_HIGH),
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8160), UP_TO(VFCTL_TX_USECS, 8160),
			UP_TO(VFCTL_RX_USECS_HIGH, 236))},
	{.name = "bnxt_en", .log_word = "bnxt", .flags = DRIVER_VFS_NEED_PF_UP,
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_USECS_IRQ) |
			BIT(VFCTL_TX_USECS_IRQ) | BIT(VFCTL_RX_FRAMES_IRQ) | BIT(VFCTL_TX_FRAMES_IRQ) |
			BIT(VFCTL_STATS_BLOCK_USECS) | CQE_MODE,
		.warning = "bnxt_en closes and opens the interface when stats-block-usecs changes"},
	/* The elastic adapter has no VF operations at all. */
	{.name = "ena", .vf_lacks = NO_ATTRS, .keys = USECS | BIT(VFCTL_ADAPTIVE_RX)},
	{.name = "hns3",
		.keys = USECS | FRAMES | ADAPTIVE | BIT(VFCTL_RX_USECS_HIGH) | BIT(VFCTL_TX_USECS_HIGH) |
			CQE_MODE},
	{.name = "qede", .keys = USECS | BIT(VFCTL_STATS_BLOCK_USECS)},
	{.name = "ionic", .keys = USECS | ADAPTIVE},
	{.name = "nfp", .guest = "nfp_netvf", .keys = USECS | FRAMES | ADAPTIVE},
	{.name = "rvu_nicpf", .guest = "rvu-nicvf", .guest_row = "rvu_nicvf",
		.keys = USECS | FRAMES | ADAPTIVE},
	{.name = "rvu_nicvf", .keys = USECS | FRAMES | ADAPTIVE},
	{.name = "cxgb4", .guest = "cxgb4vf",
		.keys = BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES) | BIT(VFCTL_ADAPTIVE_RX)},
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
	{.name = "netdevsim", .vf_has = COMMON_ATTRS | VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO |
		VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS,
		.keys = (UINT32_C(1) << VFCTL_COALESCE_KEYS) - 1},
	/* nvme/host/pci.c: a storage controller. */
	{.name = "nvme", .vf_lacks = NO_ATTRS},
};

/* IPoIB devices: the enhanced one of mlx5, and that of all others (receive queue only). */
static const struct driver enhanced_ipoib = {.name = "mlx5_core", .keys = USECS | FRAMES | ADAPTIVE,
	.limits = MLX_LIMITS(4095)};
static const struct driver generic_ipoib = {.name = "ib_ipoib",
	.keys = BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES), .limits = MLX_LIMITS(65535)};

const struct driver *driver_at(size_t index)
{
	return index < ARRAY_SIZE(drivers) ? &drivers[index] : NULL;
}

const struct driver *driver_find(const char *name)
{
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].name, name))
			return &drivers[i];
	return NULL;
}

bool driver_has(const char *name, unsigned flag)
{
	const struct driver *d = driver_find(name);

	return d && d->flags & flag;
}

const struct driver *driver_vf_attrs(const struct vfctl_pf *pf)
{
	const struct driver *d = pf->infiniband ? NULL : driver_find(pf->driver);

	return d && (d->vf_has || d->vf_lacks) ? d : NULL;
}

const struct driver *driver_moderation(const char *name, bool infiniband)
{
	const struct driver *d = driver_find(name);

	if (infiniband)
		return str_eq(name, enhanced_ipoib.name) ? &enhanced_ipoib : &generic_ipoib;
	return d && d->keys ? d : NULL;
}

static const struct tuning_limit *limit_of(const struct driver *d, enum vfctl_coalesce_key key)
{
	for (const struct tuning_limit *l = d ? d->limits : NULL; l && l->ranges; l++)
		if (l->key == key)
			return l;
	return NULL;
}

bool driver_takes(const struct driver *d, enum vfctl_coalesce_key key, uint32_t value)
{
	const struct tuning_limit *l = limit_of(d, key);

	for (const uint32_t *m = l ? l->modes : NULL; m && *m; m++)
		if (*m == value)
			return true;
	return !l || driver_nearest(d, key, value) == value;
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

uint32_t driver_nearest(const struct driver *d, enum vfctl_coalesce_key key,
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
