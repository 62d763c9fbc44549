// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The table of drivers: one row holds all that vfctl knows about a driver. Sources:
 * ndo_set_vf_* for VF attributes, supported_coalesce_params and set_coalesce() for moderation. Each
 * row names its files below drivers/net/ethernet/, and the kernel that they were read in; rows
 * without a version: Linux 7.0 (IPoIB: drivers/infiniband/ulp/ipoib/ipoib_ethtool.c). The kernel's
 * own answer takes precedence.
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

#define IN_STEPS(key, high, step)                 \
	{                                         \
		key, RANGES({0, high, step}), NULL \
	}
#define USECS_IN_STEPS(high, step) IN_STEPS(VFCTL_RX_USECS, high, step), \
	IN_STEPS(VFCTL_TX_USECS, high, step)
#define BELOW(...) ((const uint32_t[]){__VA_ARGS__, 0})

#define MLX_LIMITS(usecs) LIMITS(UP_TO(VFCTL_RX_USECS, usecs), UP_TO(VFCTL_TX_USECS, usecs), \
	UP_TO(VFCTL_RX_FRAMES, 65535), UP_TO(VFCTL_TX_FRAMES, 65535))

#define COMMON_ATTRS (VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | \
	VFCTL_ATTR_MAX_RATE | VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST)
#define NO_ATTRS (VFCTL_ATTR_MAC | (VFCTL_ATTR_POLICY & ~VFCTL_ATTR_MSIX))
#define MESSAGES(...) ((const struct driver_message[]){__VA_ARGS__, {NULL, {NULL, NULL}, false}})

#define RVU_LIMITS LIMITS({VFCTL_RX_USECS, RANGES({1, 25, 1}), NULL}, \
	{VFCTL_TX_USECS, RANGES({1, 25, 1}), NULL}, {VFCTL_RX_FRAMES, RANGES({1, 64, 1}), NULL}, \
	{VFCTL_TX_FRAMES, RANGES({1, 64, 1}), NULL})
#define LIQUIDIO_KEYS (BIT(VFCTL_RX_USECS) | FRAMES | ADAPTIVE | BIT(VFCTL_RX_FRAMES_LOW) | \
	BIT(VFCTL_TX_FRAMES_LOW) | BIT(VFCTL_RX_FRAMES_HIGH) | BIT(VFCTL_TX_FRAMES_HIGH) | PACKET_RATES)
#define LIQUIDIO_LIMITS LIMITS({VFCTL_RX_USECS, RANGES({1, UINT32_MAX, 1}), NULL}, \
	{VFCTL_RX_FRAMES, RANGES({1, UINT32_MAX, 1}), NULL}, \
	{VFCTL_TX_FRAMES, RANGES({1, 65535, 1}), NULL})
#define RAR_CARDS(...) ((const struct driver_fdb_card[]){__VA_ARGS__, {0, 0}})
#define ENETC_WARNING "enetc stops and starts the interface when adaptive-rx or tx-usecs " \
	"changes, or rx-usecs from or to 0"

static const struct driver drivers[] = {
	/*
	 * en_main.c: a minimum rate and 802.1ad are capabilities of the firmware. en_ethtool.c: values
	 * beyond the limits give -ERANGE. linux-rdma/opensm issue 22: its VFs stay without a LID.
	 */
	{.name = "mlx5_core", .log_word = "mlx5",
		.flags = DRIVER_ALWAYS_SRIOV | DRIVER_SRIOV_IN_FIRMWARE | DRIVER_LARGE_READS |
			DRIVER_VIRTUAL_PORTS,
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_LINK_STATE, .vf_lacks = VFCTL_ATTR_QUERY_RSS,
		.lag = DRIVER_LAG_ALL_PORTS,
		/*
		 * mlx5_vport.c, esw/legacy: 1 << log_max_current_uc_list with its own MAC, which devlink
		 * reports as max_macs; 128 with the firmware's default. "some addresses will be dropped"
		 */
		.fdb = {127, 0, VFCTL_FDB_DROPPED, NULL},
		.messages = MESSAGES({"log-vectors", {"failed to set MSI-X vector counts VF", NULL},
			true}, /* sriov.c */
			{"log-lag", {"Make sure all VFs are unbound", "LAG"}, true}, /* lag/lag.c */
			{"log-macs", {"some addresses will be dropped", NULL}, true}, /* en_fs.c */
			{"log-device", {"health compromised", NULL}, true}), /* health.c */
		.keys = USECS | FRAMES | ADAPTIVE | CQE_MODE, .limits = MLX_LIMITS(4095)},
	/*
	 * mellanox/mlx4/en_ethtool.c, Linux 6.12: 0 of tx-frames-irq is refused; 0xffff is the driver's
	 * default of the others.
	 */
	{.name = "mlx4_core", .log_word = "mlx4", .guest = "mlx4_en", .guest_row = "mlx4_core",
		.flags = DRIVER_NO_ESWITCH | DRIVER_VFS_AT_LOAD | DRIVER_VF_GUIDS_IN_SYSFS,
		/* mlx4/port.c: 128 of the port, with its own and 2 of each VF; "Forcing promiscuous" */
		.fdb = {127, 2, VFCTL_FDB_PROMISCUOUS, NULL},
		/* mlx4/en_netdev.c, mlx4_en_do_uc_filter() */
		.messages = MESSAGES({"log-promiscuous", {"Forcing promiscuous mode on port", NULL}, true}),
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_TX_FRAMES_IRQ) | PACKET_RATES,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 65535), UP_TO(VFCTL_TX_USECS, 65535),
			UP_TO(VFCTL_RX_FRAMES, 65535), UP_TO(VFCTL_TX_FRAMES, 65535),
			{VFCTL_TX_FRAMES_IRQ, RANGES({1, UINT32_MAX, 1}), NULL},
			UP_TO(VFCTL_RX_USECS_LOW, 65535), UP_TO(VFCTL_RX_USECS_HIGH, 65535))},
	/* igb_main.c: no ndo_set_vf_link_state; igb_ndo_set_vf_bw() refuses a minimum rate. */
	/* igb_ethtool.c: 1 and 3 are modes ("dynamic", "dynamic conservative"). */
	{.name = "igb", .flags = DRIVER_NO_ESWITCH | DRIVER_VFS_NEED_PF_UP, .guest = "igbvf",
		.vf_has = COMMON_ATTRS, .vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO |
			VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS,
		/*
		 * igb_main.c, igb_add_mac_filter_flags(): rar_entry_count less one for each VF, one more,
		 * and its own; igb_set_rx_mode() sets RCTL.UPE without a message when one does not fit.
		 */
		.fdb = {22, 1, VFCTL_FDB_PROMISCUOUS, RAR_CARDS({0x1521, 30},
		{0x1522, 30}, {0x1523, 30},
			{0x1524, 30}, {0x1546, 30}, {0x1f40, 30}, {0x1f41, 30}, {0x1f45, 30})},
		.messages = MESSAGES({"log-spoof", {"Spoof event(s) detected on VF", NULL}, false}),
		.keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)}),
		.dynamic = 3, .pairing = DRIVER_TX_REPORTS_0},
	/* igbvf/ethtool.c: 2 and 3 are modes, 1 is refused, and 0 is IGBVF_70K_ITR, about 1 us. */
	/* igbvf/netdev.c: IGBVF_MAX_MAC_FILTERS, "Too many unicast filters" */
	{.name = "igbvf", .fdb = {3, 0, VFCTL_FDB_DROPPED, NULL},
		.rx_usecs_0 = "igbvf with rx-usecs 0 still waits about 1 us, its minimum",
		/* The message names no device. ixgbevf before 5.2 has it as well. */
		.messages = MESSAGES({"log-macs", {"Too many unicast filters", NULL}, false}),
		.keys = BIT(VFCTL_RX_USECS),
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(2, 3)}),
		.dynamic = 3},
	/*
	 * ixgbe_sriov.c; its link state came with 6.0, and only the 82599 and X540 answer RSS queries.
	 * intel/ixgbe/ixgbe_ethtool.c, Linux 6.12: 1 is a mode; the limit is IXGBE_MAX_EITR >> 2.
	 * With times below IXGBE_100K_ITR (10 us), without the mode, the write-back threshold of
	 * transmit queues differs, and with LRO ixgbe_update_rsc() has another threshold
	 * (IXGBE_MIN_RSC_ITR, 7 us): ixgbe_set_coalesce() ends in ixgbe_do_reset() when either is
	 * crossed.
	 */
	{.name = "ixgbe", .flags = DRIVER_NO_ESWITCH | DRIVER_VFS_NEED_PF_UP, .guest = "ixgbevf",
		.vf_has = COMMON_ATTRS, .vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO,
		/*
		 * ixgbe_main.c, ixgbe_ndo_fdb_add(): -ENOMEM beyond ixgbe_available_rars(), which are
		 * num_rar_entries (128; 16 on the 82598) less its own and those of the VFs.
		 */
		.fdb = {127, 1, VFCTL_FDB_REFUSED, RAR_CARDS({0x10b6, 15},
		{0x10c6, 15}, {0x10c7, 15},
			{0x10c8, 15}, {0x150b, 15}, {0x10dd, 15}, {0x10ec, 15}, {0x10f1, 15}, {0x10e1, 15},
			{0x10f4, 15}, {0x10db, 15})},
		/* igb logs the same at each start of a VF's driver, even if the MAC is the same. */
		.messages = MESSAGES({"log-trust", {"attempted to override administratively set MAC",
			"ixgbe"}, true},
			/*
			 * ixgbe_sriov.c, ixgbe_set_vf_macvlan_msg(). igb logs its own denial also when a
			 * guest asks for nothing (igb_set_vf_mac_filter()).
			 */
			{"log-trust", {"requested MACVLAN filter", "administratively denied"}, true},
			{"log-macs", {"has requested", "filter but there"}, true}, /* igb as well */
			{"log-spoof", {"poofed packets detected", NULL}, false}, /* igb as well */
			/* ixgbe_main.c, i40e_main.c, ice_main.c and ice_sriov.c, Linux 6.12 */
			{"log-malicious", {"Malicious Driver Detection event", "VF"}, true},
			{"log-pf-reset", {"PF still in reset state", NULL}, true}), /* ixgbevf, igbvf */
		.keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)}),
		.dynamic = 1, .pairing = DRIVER_TX_REPORTS_0, .reset_below = BELOW(7, 10),
		.warning = "ixgbe resets the PF for this change: the links of the PF and of all its VFs go "
			"down for some seconds"},
	/* intel/ixgbevf/ethtool.c, Linux 6.12: as ixgbe, without a reset. */
	{.name = "ixgbevf", .fdb = {0, 0, VFCTL_FDB_DROPPED, NULL}, .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)},
			{VFCTL_TX_USECS, RANGES({0, 0, 1}, {2, 1022, 1}), MODES(1)}),
		.dynamic = 1, .pairing = DRIVER_TX_REPORTS_0},
	/*
	 * i40e_virtchnl_pf.c. intel/i40e/i40e_ethtool.c, Linux 6.12: times in steps of 2 us
	 * (ITR_REG_ALIGN()), the limit of the interrupt rate in steps of 4 us (I40E_MAX_INTRL).
	 * tx-usecs-high reads the same limit; any other value of it is rejected.
	 */
	{.name = "i40e", .flags = DRIVER_NO_ESWITCH | DRIVER_ALWAYS_SRIOV, .guest = "iavf",
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_LINK_STATE,
		.vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_QUERY_RSS,
		/* The firmware's number, at most 3072 of the card. "promiscuous mode forced on" */
		.fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.messages = MESSAGES({"log-trust", {"is not trusted", "VF"}, true}, /* ice, ixgbe as well */
			{"log-trust", {"attempting to override administratively set MAC", NULL}, true},
			/* i40e_virtchnl_pf.c, i40e_check_vf_permission(): older and newer texts */
			{"log-macs", {"Cannot add more MAC addresses", "trusted VF"}, true},
			{"log-macs", {"Cannot add more MAC addresses", "maximum allowed limit"}, true},
			{"log-macs", {"adding RX filters on VF", "set promiscuous on manually"}, true},
			/* i40e_main.c, Linux 6.12 */
			{"log-malicious", {"TX driver issue detected on VF", NULL}, true},
			{"log-promiscuous", {"promiscuous mode forced on", NULL}, true},
			{"log-promiscuous", {"forcing overflow promiscuous on", NULL}, true}),
		.keys = USECS | ADAPTIVE | BIT(VFCTL_TX_FRAMES_IRQ) | BIT(VFCTL_RX_USECS_HIGH) |
			BIT(VFCTL_TX_USECS_HIGH),
		.fixed = BIT(VFCTL_TX_USECS_HIGH), .fixed_if_adaptive = USECS,
		.limits = LIMITS(USECS_IN_STEPS(8160, 2), IN_STEPS(VFCTL_RX_USECS_HIGH, 236, 4),
			{VFCTL_TX_FRAMES_IRQ, RANGES({1, 65535, 1}), NULL})},
	/* intel/iavf/iavf_ethtool.c, Linux 6.12: steps of 2 us (ITR_REG_ALIGN()). */
	/*
	 * i40e_virtchnl_pf.c, ice_virtchnl.h: 18 for an untrusted VF, its own and multicast included. The
	 * PF rejects more after the kernel has accepted them: iavf_mac_add_reject() forgets them.
	 */
	{.name = "iavf", .fdb = {17, 0, VFCTL_FDB_DROPPED, NULL},
		.messages = MESSAGES({"log-vf-lost", {"Failed to communicate with PF", NULL}, true},
			{"log-vf-lost", {"Unable to communicate with the PF", NULL}, true},
			/* iavf_virtchnl.c and iavf_main.c, Linux 6.12 */
			{"log-vf-reset", {"PF returned error", "to our request"}, true},
			{"log-vf-reset", {"Never saw reset", NULL}, true}),
		.keys = USECS | ADAPTIVE, .fixed_if_adaptive = USECS,
		.limits = LIMITS(USECS_IN_STEPS(8160, 2))},
	/* intel/idpf/idpf_ethtool.c, Linux 6.12: odd times are rounded down. */
	{.name = "idpf", .keys = USECS | ADAPTIVE, .fixed_if_adaptive = USECS,
		.limits = LIMITS(USECS_IN_STEPS(8160, 2))},
	{.name = "fm10k", .keys = USECS | ADAPTIVE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 4095), UP_TO(VFCTL_TX_USECS, 4095))},
	/*
	 * ice_sriov.c; 802.1ad only in double VLAN mode, a minimum rate depends on the firmware.
	 * intel/ice/ice_ethtool.c, Linux 6.12: the card counts in steps of 2 us, and an odd time
	 * reads back as it was set. rx-usecs-high is a limit of the interrupt rate (ICE_MAX_INTRL);
	 * its smallest value is 4 us at links above 25 Gbit/s, else 8 us.
	 */
	{.name = "ice", .fdb = {0, 0, VFCTL_FDB_DROPPED, NULL}, .log_word = "ice ",
		.flags = DRIVER_ROUNDS | DRIVER_ESWITCH_WITHOUT_VFS | DRIVER_ALWAYS_SRIOV,
		.guest = "iavf", .lag = DRIVER_LAG_ACTIVE_BACKUP,
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_LINK_STATE, .vf_lacks = VFCTL_ATTR_QUERY_RSS,
		.messages = MESSAGES({"log-vectors", {"MSI-X interrupts available for SR-IOV", NULL}, true},
			/* before 5.18 */
			{"log-vectors", {"Not enough vectors to support", "VFs"}, true},
			/* ice_main.c, ice_vsi_sync_fltr(): it says that it forces it, and does not */
			{"log-macs", {"Reached MAC filter limit", NULL}, true},
			/* ice_virtchnl.c, Linux 6.12: a VLAN filter that the PF rejects, again and again */
			{"log-vf-reset", {"PF failed to honor VF", "opcode"}, true}),
		.keys = USECS | ADAPTIVE | BIT(VFCTL_RX_USECS_HIGH),
		.fixed_if_adaptive = USECS | BIT(VFCTL_RX_USECS_HIGH),
		.limits = LIMITS(USECS_IN_STEPS(8160, 2),
			{VFCTL_RX_USECS_HIGH, RANGES({0, 0, 1}, {8, 236, 1}), NULL})},
	/*
	 * broadcom/bnxt/bnxt_ethtool.c and bnxt.h, Linux 6.12: members of 16 bits; a record of a
	 * receive ring is 2 buffers. The request that switches adaptive-rx off ignores all values.
	 * net/ethtool/coalesce.c calls the driver a second time with them, but not in Linux 6.1:
	 * coalesce_write() repeats it. bnxt_sriov.c: bnxt_sriov_configure() returns 0 while the
	 * interface is down.
	 */
	{.name = "bnxt_en", .fdb = {3, 0, VFCTL_FDB_PROMISCUOUS, NULL}, .log_word = "bnxt",
		.flags = DRIVER_ROUNDS | DRIVER_VFS_NEED_PF_UP | DRIVER_CREATES_WHILE_UP,
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_USECS_IRQ) |
			BIT(VFCTL_TX_USECS_IRQ) | BIT(VFCTL_RX_FRAMES_IRQ) | BIT(VFCTL_TX_FRAMES_IRQ) |
			BIT(VFCTL_STATS_BLOCK_USECS) | CQE_MODE,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 65535), UP_TO(VFCTL_TX_USECS, 65535),
			UP_TO(VFCTL_RX_USECS_IRQ, 65535), UP_TO(VFCTL_TX_USECS_IRQ, 65535),
			UP_TO(VFCTL_RX_FRAMES, 32767), UP_TO(VFCTL_TX_FRAMES, 65535),
			UP_TO(VFCTL_RX_FRAMES_IRQ, 32767), UP_TO(VFCTL_TX_FRAMES_IRQ, 65535),
			{VFCTL_STATS_BLOCK_USECS, RANGES({0, 0, 1}, {250000, 1000000, 250000}), NULL}),
		.warning = "bnxt_en closes and opens the interface when stats-block-usecs changes"},
	/* The elastic adapter has no VF operations at all. */
	{.name = "ena", .fdb = {DRIVER_FDB_NONE, 0, VFCTL_FDB_DROPPED, NULL},
		.vf_lacks = NO_ATTRS, .keys = USECS | BIT(VFCTL_ADAPTIVE_RX)},
	{.name = "hns3", .fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		/* hns3pf/hclge_main.c, hclge_add_uc_addr_common(): for the PF and for its VFs */
		.messages = MESSAGES({"log-promiscuous", {"UC MAC table full", NULL}, true}),
		.keys = USECS | FRAMES | ADAPTIVE | BIT(VFCTL_RX_USECS_HIGH) | BIT(VFCTL_TX_USECS_HIGH) |
			CQE_MODE},
	/*
	 * qlogic/qede/qede_ethtool.c, qlogic/qed/qed_dev.c, Linux 6.12: 7 bits and a resolution
	 * (qed_set_rxq_coalesce()); 0 is accepted and ignored. It rejects changes while the interface is
	 * down.
	 */
	{.name = "qede", .fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.log_word = "qed", .flags = DRIVER_ROUNDS,
		/* qlogic/qed/qed_sriov.c, Linux 6.12 */
		.messages = MESSAGES({"log-malicious", {"Malicious behavior", "VF ["}, true}),
		.keys = USECS | BIT(VFCTL_STATS_BLOCK_USECS),
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({1, 127, 1}, {128, 254, 2}, {256, 508, 4}), NULL},
			{VFCTL_TX_USECS, RANGES({1, 127, 1}, {128, 254, 2}, {256, 508, 4}), NULL})},
	/*
	 * pensando/ionic/ionic_ethtool.c, Linux 6.12: receive and transmit queues share vectors unless
	 * ethtool -L splits them. The largest time depends on the card (intr_coal_mult, intr_coal_div).
	 */
	{.name = "ionic", .fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.keys = USECS | ADAPTIVE, .pairing = DRIVER_TX_REPORTS_RX},
	{.name = "nfp", .fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.guest = "nfp_netvf", .keys = USECS | FRAMES | ADAPTIVE},
	/*
	 * marvell/octeontx2/nic/otx2_ethtool.c, Linux 6.12: otx2_set_coalesce() clamps the values,
	 * keeps one for receive and transmit queues, and ignores a request without packets.
	 */
	{.name = "rvu_nicpf", .fdb = {4, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.flags = DRIVER_ROUNDS, .guest = "rvu-nicvf", .guest_row = "rvu_nicvf",
		.keys = USECS | FRAMES | ADAPTIVE, .pairing = DRIVER_TX_SHARED, .limits = RVU_LIMITS},
	{.name = "rvu_nicvf", .flags = DRIVER_ROUNDS, .keys = USECS | FRAMES | ADAPTIVE,
		.pairing = DRIVER_TX_SHARED, .limits = RVU_LIMITS},
	/*
	 * chelsio/cxgb4/cxgb4_ethtool.c and cxgb4_main.c, Linux 6.12: each value becomes the nearest of a
	 * list that the firmware gives the card (closest_timer(), closest_thres()), so that no limits are
	 * stated here. Cards without SGE_DBQ_TIMER ignore the values of transmit queues.
	 */
	{.name = "cxgb4", .fdb = {336, 0, VFCTL_FDB_UNKNOWN, NULL},
		.guest = "cxgb4vf", .keys = USECS | BIT(VFCTL_RX_FRAMES) |
		BIT(VFCTL_TX_USECS_IRQ) | BIT(VFCTL_ADAPTIVE_RX)},
	/* chelsio/cxgb4vf/cxgb4vf_main.c, Linux 6.12: as cxgb4, for receive queues. */
	{.name = "cxgb4vf", .keys = BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES)},
	/*
	 * emulex/benet/be_main.c and be_ethtool.c, Linux 6.12: be_set_vf_tx_rate() rejects a minimum rate,
	 * be_set_vf_vlan() 802.1ad; only Skyhawk has a spoof check. What transmit queues have is that of
	 * receive queues. be_worker() applies a new time once per second, and only then is it reported.
	 */
	{.name = "be2net", .fdb = {29, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.flags = DRIVER_ROUNDS | DRIVER_NO_ESWITCH,
		.vf_has = VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_MAX_RATE |
			VFCTL_ATTR_LINK_STATE,
		.vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_TRUST |
			VFCTL_ATTR_QUERY_RSS,
		.keys = USECS | ADAPTIVE | BIT(VFCTL_RX_USECS_LOW) | BIT(VFCTL_RX_USECS_HIGH) |
			BIT(VFCTL_TX_USECS_LOW) | BIT(VFCTL_TX_USECS_HIGH),
		.fixed = BIT(VFCTL_TX_USECS) | BIT(VFCTL_ADAPTIVE_TX) | BIT(VFCTL_TX_USECS_LOW) |
			BIT(VFCTL_TX_USECS_HIGH), .late_ms = 2000,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 128), UP_TO(VFCTL_RX_USECS_LOW, 128),
			UP_TO(VFCTL_RX_USECS_HIGH, 128))},
	/*
	 * huawei/hinic/hinic_sriov.c and hinic_ethtool.c, Linux 6.12: hinic_ndo_set_vf_vlan() rejects
	 * 802.1ad. Units of 9 us and of 8 packets; a request with 0 of both is ignored, and 0 of either
	 * switches moderation off.
	 */
	{.name = "hinic", .fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.flags = DRIVER_ROUNDS | DRIVER_NO_ESWITCH,
		.vf_has = COMMON_ATTRS | VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_LINK_STATE,
		.vf_lacks = VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_QUERY_RSS,
		.keys = USECS | FRAMES, .frames_at_0 = 8,
		.limits = LIMITS(USECS_IN_STEPS(2295, 9), IN_STEPS(VFCTL_RX_FRAMES, 2040, 8),
			IN_STEPS(VFCTL_TX_FRAMES, 2040, 8))},
	/*
	 * huawei/hinic3/hinic3_ethtool.c, Linux 7.1: it names supported_coalesce_params and has no
	 * set_coalesce().
	 */
	{.name = "hinic3", .flags = DRIVER_NO_MODERATION},
	/*
	 * qlogic/qlcnic/qlcnic_sriov_pf.c and qlcnic_ethtool.c, Linux 6.12: qlcnic_sriov_set_vf_vlan()
	 * rejects 802.1ad; no ndo_set_vf_trust, no ndo_set_vf_link_state.
	 */
	{.name = "qlcnic", .flags = DRIVER_NO_ESWITCH,
		.vf_has = VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_MAX_RATE |
			VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_SPOOFCHK,
		.vf_lacks = VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_TRUST | VFCTL_ATTR_LINK_STATE |
			VFCTL_ATTR_QUERY_RSS,
		.keys = USECS | FRAMES, .limits = MLX_LIMITS(65535)},
	/*
	 * cavium/liquidio/lio_main.c and lio_ethtool.c, Linux 6.12: no ndo_set_vf_rate; 802.1ad is
	 * rejected. The driver replaces a 0 by its default. It reports the values only while it
	 * does not adapt to the load, and the low and high ones only while it does.
	 */
	{.name = "LiquidIO", .flags = DRIVER_ROUNDS, .guest = "liquidio_vf", .guest_row = "LiquidIO_VF",
		.vf_has = VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_SPOOFCHK |
			VFCTL_ATTR_TRUST | VFCTL_ATTR_LINK_STATE,
		.vf_lacks = VFCTL_ATTR_MAX_RATE | VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_VLAN_PROTO |
			VFCTL_ATTR_QUERY_RSS,
		.keys = LIQUIDIO_KEYS, .limits = LIQUIDIO_LIMITS},
	{.name = "LiquidIO_VF", .flags = DRIVER_ROUNDS, .keys = LIQUIDIO_KEYS, .limits = LIQUIDIO_LIMITS},
	/*
	 * fungible/funeth/funeth_main.c and funeth_ethtool.c, Linux 6.12: fun_set_vf_rate() rejects
	 * a minimum rate; fun_set_vf_vlan() takes 802.1ad. Both values have 7 bits; with a time of
	 * 0 only 1 packet.
	 */
	{.name = "funeth", .fdb = {DRIVER_FDB_NONE, 0, VFCTL_FDB_DROPPED, NULL},
		.flags = DRIVER_NO_ESWITCH,
		.vf_has = VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO |
			VFCTL_ATTR_MAX_RATE,
		.vf_lacks = VFCTL_ATTR_MIN_RATE | VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST |
			VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS,
		.keys = USECS | FRAMES, .frames_at_0 = 1,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 127), UP_TO(VFCTL_TX_USECS, 127),
			UP_TO(VFCTL_RX_FRAMES, 127), UP_TO(VFCTL_TX_FRAMES, 127))},
	/*
	 * freescale/enetc/enetc_pf.c and enetc_ethtool.c, Linux 6.12: MAC, VLAN (802.1Q) and spoof
	 * check of VFs only. enetc_set_coalesce() accepts only the present numbers of packets.
	 */
	{.name = "fsl_enetc", .guest = "fsl_enetc_vf", .flags = DRIVER_NO_ESWITCH,
		.vf_has = VFCTL_ATTR_MAC | VFCTL_ATTR_VLAN_ID | VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_SPOOFCHK,
		.vf_lacks = VFCTL_ATTR_VLAN_PROTO | VFCTL_ATTR_MAX_RATE | VFCTL_ATTR_MIN_RATE |
			VFCTL_ATTR_TRUST | VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_QUERY_RSS,
		.keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX), .fixed = FRAMES,
		.fixed_if_adaptive = BIT(VFCTL_RX_USECS),
		.warning = ENETC_WARNING},
	{.name = "fsl_enetc_vf", .keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX), .fixed = FRAMES,
		.fixed_if_adaptive = BIT(VFCTL_RX_USECS),
		.warning = ENETC_WARNING},
	/* microsoft/mana/mana_ethtool.c, Linux 6.12: no set_coalesce(); mana_en.c: no VF operations. */
	{.name = "mana", .fdb = {DRIVER_FDB_NONE, 0, VFCTL_FDB_DROPPED, NULL},
		.flags = DRIVER_NO_ESWITCH | DRIVER_NO_MODERATION, .vf_lacks = NO_ATTRS},
	{.name = "enic", .fdb = {32, 0, VFCTL_FDB_PROMISCUOUS, NULL},
		.keys = USECS | BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_USECS_LOW) |
		BIT(VFCTL_RX_USECS_HIGH)},
	{.name = "sfc", .fdb = {31, 0, VFCTL_FDB_DROPPED, NULL},
		.keys = USECS | BIT(VFCTL_RX_USECS_IRQ) | BIT(VFCTL_TX_USECS_IRQ) |
		BIT(VFCTL_ADAPTIVE_RX)},
	/* google/gve/gve_ethtool.c, Linux 6.12: queues of the format DQO only; GQI has no moderation. */
	{.name = "gve", .keys = USECS,
		.limits = LIMITS(UP_TO(VFCTL_RX_USECS, 8190), UP_TO(VFCTL_TX_USECS, 8190))},
	/* broadcom/bnx2x/bnx2x_sriov.c, Linux 6.12 */
	{.name = "bnx2x", .fdb = {0, 0, VFCTL_FDB_PROMISCUOUS, NULL}, .keys = USECS,
		.messages = MESSAGES({"log-malicious", {"Got VF MALICIOUS notification", NULL}, true})},
	{.name = "igc", .keys = USECS,
		.limits = LIMITS({VFCTL_RX_USECS, RANGES({0, 0, 1}, {10, 10000, 1}), MODES(1, 3)}),
		.dynamic = 3},
	/*
	 * drivers/net/virtio_net.c, Linux 6.12: tx-frames 0 switches the driver's transmit polling
	 * off, which it rejects while the interface is up. A device without VIRTIO_NET_F_NOTF_COAL
	 * takes no times, and 1 packet. adaptive-rx came with 6.8.
	 */
	{.name = "virtio_net", .keys = USECS | FRAMES | BIT(VFCTL_ADAPTIVE_RX),
		.fixed_if_adaptive = BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES),
		.limits = LIMITS({VFCTL_TX_FRAMES, RANGES({1, UINT32_MAX, 1}), NULL})},
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
	return d && (d->keys || d->flags & DRIVER_NO_MODERATION) ? d : NULL;
}

bool driver_resets(const struct driver *d, uint32_t from, uint32_t to)
{
	for (const uint32_t *below = d ? d->reset_below : NULL; below && *below; below++)
		if ((from != d->dynamic && from < *below) != (to != d->dynamic && to < *below))
			return true;
	return false;
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
