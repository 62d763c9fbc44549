// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * What each driver's set_coalesce() makes of a request. Each function is written from the driver's
 * source in Linux 6.12 (drivers/net/ethernet/; below, the file), and not from vfctl's table.
 */
#include "moderation.h"

#include <errno.h>
#include <linux/ethtool_netlink.h>
#include <stddef.h>

#include "base/util.h"

#define BIT(a) (1u << (a))

enum {
	RX = ETHTOOL_A_COALESCE_RX_USECS,
	TX = ETHTOOL_A_COALESCE_TX_USECS,
	RXF = ETHTOOL_A_COALESCE_RX_MAX_FRAMES,
	TXF = ETHTOOL_A_COALESCE_TX_MAX_FRAMES,
	RXI = ETHTOOL_A_COALESCE_RX_USECS_IRQ,
	TXI = ETHTOOL_A_COALESCE_TX_USECS_IRQ,
	RXFI = ETHTOOL_A_COALESCE_RX_MAX_FRAMES_IRQ,
	TXFI = ETHTOOL_A_COALESCE_TX_MAX_FRAMES_IRQ,
	STATS = ETHTOOL_A_COALESCE_STATS_BLOCK_USECS,
	ARX = ETHTOOL_A_COALESCE_USE_ADAPTIVE_RX,
	ATX = ETHTOOL_A_COALESCE_USE_ADAPTIVE_TX,
	RX_LOW = ETHTOOL_A_COALESCE_RX_USECS_LOW,
	TX_LOW = ETHTOOL_A_COALESCE_TX_USECS_LOW,
	RX_HIGH = ETHTOOL_A_COALESCE_RX_USECS_HIGH,
	TX_HIGH = ETHTOOL_A_COALESCE_TX_USECS_HIGH,
	RXF_LOW = ETHTOOL_A_COALESCE_RX_MAX_FRAMES_LOW,
	TXF_LOW = ETHTOOL_A_COALESCE_TX_MAX_FRAMES_LOW,
	RXF_HIGH = ETHTOOL_A_COALESCE_RX_MAX_FRAMES_HIGH,
	TXF_HIGH = ETHTOOL_A_COALESCE_TX_MAX_FRAMES_HIGH,
	CQE_TX = 24,
	CQE_RX = 25,
};

#define USECS (BIT(RX) | BIT(TX))
#define FRAMES (BIT(RXF) | BIT(TXF))
#define ADAPTIVE (BIT(ARX) | BIT(ATX))
#define RATES (BIT(ETHTOOL_A_COALESCE_PKT_RATE_LOW) | BIT(ETHTOOL_A_COALESCE_PKT_RATE_HIGH) | \
	BIT(ETHTOOL_A_COALESCE_RATE_SAMPLE_INTERVAL))
#define CQE_MODES (BIT(CQE_TX) | BIT(CQE_RX))

/* intel/igb/igb_ethtool.c; its queues are paired */
static int set_igb(struct moderation *m)
{
	uint32_t rx = m->want[RX];

	if (m->want[TX])
		return -EINVAL;
	return rx > 10000 || (rx > 3 && rx < 10) || rx == 2 ? -EINVAL : 0;
}

/* intel/igbvf/ethtool.c */
static int set_igbvf(struct moderation *m)
{
	uint32_t rx = m->want[RX];

	return (rx >= 10 && rx <= 10000) || rx == 0 || rx == 2 || rx == 3 ? 0 : -EINVAL;
}

static int set_ixgbevf(struct moderation *m)
{
	return m->want[TX] || m->want[RX] > 0xff8 >> 2 ? -EINVAL : 0;
}

/* The write-back threshold of its transmit queues changes with IXGBE_100K_ITR; units of 1/4 us. */
static bool ixgbe_is_quick(uint32_t usecs)
{
	return usecs != 1 && usecs << 2 < 40;
}

/* ixgbe_update_rsc(): IXGBE_MIN_RSC_ITR */
static bool ixgbe_receives_large(uint32_t usecs)
{
	return usecs == 1 || usecs << 2 > 24;
}

/* intel/ixgbe/ixgbe_ethtool.c; its queues are paired */
static int set_ixgbe(struct moderation *m)
{
	int r = set_ixgbevf(m);

	if (r < 0)
		return r;
	m->reset = ixgbe_is_quick(m->now[RX]) != ixgbe_is_quick(m->want[RX]) || (m->lro &&
		ixgbe_receives_large(m->now[RX]) != ixgbe_receives_large(m->want[RX]));
	return 0;
}

/* __ALIGN_MASK(value, ~0x1ffe) */
static uint32_t itr_align(uint32_t usecs)
{
	return (usecs + 1) & 0x1ffe;
}

/* intel/i40e/i40e_ethtool.c */
static int set_i40e(struct moderation *m)
{
	if (m->want[TX_HIGH] != m->now[RX_HIGH] || m->want[RX_HIGH] > 0x3b << 2)
		return -EINVAL;
	if ((m->want[RX] != m->now[RX] && m->want[ARX]) || m->want[RX] > 8160)
		return -EINVAL;
	if ((m->want[TX] != m->now[TX] && m->want[ATX]) || m->want[TX] > 8160)
		return -EINVAL;
	m->want[TXFI] = m->want[TXFI] ? (uint16_t)m->want[TXFI] : m->now[TXFI];
	if (m->want[ARX] && !m->now[RX])
		m->want[RX] = 2;
	if (m->want[ATX] && !m->now[TX])
		m->want[TX] = 2;
	m->want[RX_HIGH] &= ~3u;
	m->want[TX_HIGH] = m->want[RX_HIGH];
	m->want[RX] = itr_align(m->want[RX]);
	m->want[TX] = itr_align(m->want[TX]);
	return 0;
}

/* intel/iavf/iavf_ethtool.c */
static int set_iavf(struct moderation *m)
{
	if (m->want[RX] > 8160 || m->want[TX] > 8160)
		return -EINVAL;
	if ((m->want[RX] != m->now[RX] && m->want[ARX]) || (m->want[TX] != m->now[TX] && m->want[ATX]))
		return -EINVAL;
	m->want[RX] = itr_align(m->want[RX]);
	m->want[TX] = itr_align(m->want[TX]);
	return 0;
}

static int set_idpf_queue(struct moderation *m, int usecs, int adaptive)
{
	if (m->want[usecs] != m->now[usecs] && m->want[adaptive])
		return -EINVAL;
	if (m->now[adaptive] && m->want[adaptive])
		return 0;
	if (m->want[usecs] > 0x1fe0)
		return -EINVAL;
	m->want[usecs] &= ~1u;
	return 0;
}

/* intel/idpf/idpf_ethtool.c */
static int set_idpf(struct moderation *m)
{
	int r;

	if (!m->up) { /* it says yes and does nothing */
		for (size_t i = 0; i < ATTRIBUTES; i++)
			m->want[i] = m->now[i];
		return 0;
	}
	r = set_idpf_queue(m, TX, ATX);
	return r < 0 ? r : set_idpf_queue(m, RX, ARX);
}

/* intel/ice/ice_ethtool.c, with a link above 25 Gbit/s */
static int set_ice(struct moderation *m)
{
	if (m->want[RX_HIGH] > 236 || (m->want[RX_HIGH] && m->want[RX_HIGH] < 4))
		return -EINVAL;
	if (m->want[RX_HIGH] != m->now[RX_HIGH] && (m->want[ARX] || m->want[ATX]))
		return -EINVAL;
	if ((m->want[RX] != m->now[RX] && m->want[ARX]) || m->want[RX] > 8160)
		return -EINVAL;
	return (m->want[TX] != m->now[TX] && m->want[ATX]) || m->want[TX] > 8160 ? -EINVAL : 0;
}

/* mellanox/mlx5/core/en_ethtool.c */
static int set_mlx5(struct moderation *m)
{
	return m->want[RX] > 4095 || m->want[TX] > 4095 || m->want[RXF] > 65535 || m->want[TXF] > 65535
		? -ERANGE : 0;
}

/* mellanox/mlx4/en_ethtool.c */
static int set_mlx4(struct moderation *m)
{
	if (!m->want[TXFI])
		return -EINVAL;
	for (int i = RX; i <= TXF; i++)
		if (m->want[i] > 65535)
			return -ERANGE;
	return 0;
}

/* Values are kept in 16 bits; those of receive rings count buffers, 2 for each packet. */
static uint32_t bnxt_frames(uint32_t frames, uint32_t buffers)
{
	return (uint16_t)(frames * buffers) / buffers;
}

/* broadcom/bnxt/bnxt_ethtool.c: to leave the adaptive mode is all that such a call does */
static int set_bnxt(struct moderation *m)
{
	uint32_t ticks = m->want[STATS];

	if (m->now[ARX] && !m->want[ARX]) {
		for (size_t i = 0; i < ATTRIBUTES; i++)
			if (i != ARX)
				m->want[i] = m->now[i];
		return 0;
	}
	m->want[RX] = (uint16_t)m->want[RX];
	m->want[TX] = (uint16_t)m->want[TX];
	m->want[RXI] = (uint16_t)m->want[RXI];
	m->want[TXI] = (uint16_t)m->want[TXI];
	m->want[RXF] = bnxt_frames(m->want[RXF], 2);
	m->want[RXFI] = bnxt_frames(m->want[RXFI], 2);
	m->want[TXF] = bnxt_frames(m->want[TXF], 1);
	m->want[TXFI] = bnxt_frames(m->want[TXFI], 1);
	if (ticks)
		ticks = ticks < 250000 ? 250000 : ticks > 1000000 ? 1000000 : ticks;
	m->want[STATS] = ticks - ticks % 250000;
	return 0;
}

/* qlogic/qed/qed_dev.c: 7 bits and a resolution; 0 is not passed on */
static uint32_t qed_usecs(uint32_t now, uint32_t want)
{
	unsigned resolution = want <= 0x7f ? 0 : want <= 0xff ? 1 : 2;

	return want ? want >> resolution << resolution : now;
}

/* qlogic/qede/qede_ethtool.c */
static int set_qede(struct moderation *m)
{
	if (!m->up || m->want[RX] > 0x1ff || m->want[TX] > 0x1ff)
		return -EINVAL;
	m->want[RX] = qed_usecs(m->now[RX], m->want[RX]);
	m->want[TX] = qed_usecs(m->now[TX], m->want[TX]);
	return 0;
}

/* pensando/ionic/ionic_ethtool.c, without split interrupts; a unit of the card is 3 us */
static int set_ionic(struct moderation *m)
{
	if (m->want[TX] != m->now[RX] || m->want[ATX])
		return -EINVAL;
	if ((m->want[RX] + 1) / 3 > 0x3f)
		return -ERANGE;
	m->want[TX] = m->want[RX];
	return 0;
}

static uint32_t clamp(uint32_t value, uint32_t low, uint32_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* One value is kept: of two, that which is new; of two new ones the smaller. */
static void otx2_share(struct moderation *m, int rx, int tx, uint32_t high)
{
	uint32_t now = m->now[rx], want_rx = clamp(m->want[rx], 1, high), want_tx = clamp(m->want[tx], 1, high);
	uint32_t kept = now == want_rx ? want_tx : now == want_tx ? want_rx : want_rx < want_tx ? want_rx : want_tx;

	m->want[rx] = kept;
	m->want[tx] = kept;
}

/* marvell/octeontx2/nic/otx2_ethtool.c */
static int set_otx2(struct moderation *m)
{
	if (!m->want[RXF] || !m->want[TXF]) {
		for (size_t i = 0; i < ATTRIBUTES; i++)
			m->want[i] = m->now[i];
		return 0;
	}
	if (m->want[ARX] != m->want[ATX])
		return -EINVAL;
	otx2_share(m, RX, TX, 25);
	otx2_share(m, RXF, TXF, 64);
	if (m->now[ARX] && !m->want[ARX]) {
		m->want[RX] = m->want[TX] = 1;
		m->want[RXF] = m->want[TXF] = 10;
	}
	return 0;
}

/* closest_timer() and closest_thres(): the first of the nearest ones */
static uint32_t closest(const uint32_t *list, size_t count, uint32_t value)
{
	uint32_t best = list[0], far = UINT32_MAX;

	for (size_t i = 0; i < count; i++) {
		uint32_t distance = list[i] > value ? list[i] - value : value - list[i];

		if (distance < far) {
			far = distance;
			best = list[i];
		}
	}
	return best;
}

/* chelsio/cxgb4vf/cxgb4vf_main.c, with the values of a card */
static int set_cxgb4vf(struct moderation *m)
{
	static const uint32_t timers[] = {5, 10, 20, 50, 100, 200}, counts[] = {1, 8, 16, 32};
	uint32_t frames = m->want[RX] | m->want[RXF] ? m->want[RXF] : 1;

	m->want[RXF] = frames ? closest(counts, ARRAY_SIZE(counts), frames) : 0;
	m->want[RX] = m->want[RX] ? closest(timers, ARRAY_SIZE(timers), m->want[RX]) : 0;
	return 0;
}

/* chelsio/cxgb4/cxgb4_ethtool.c: a card without timers of transmit queues */
static int set_cxgb4(struct moderation *m)
{
	m->want[TX] = m->now[TX];
	m->want[TXI] = m->now[TXI];
	return set_cxgb4vf(m);
}

/* emulex/benet/be_ethtool.c */
static int set_be2net(struct moderation *m)
{
	m->want[RX_HIGH] = clamp(m->want[RX_HIGH], 0, 128);
	m->want[RX_LOW] = clamp(m->want[RX_LOW], 0, m->want[RX_HIGH]);
	m->want[RX] = m->want[RX] > m->want[RX_HIGH] ? m->want[RX_HIGH] : m->want[RX];
	m->want[RX] = m->want[RX] < m->want[RX_LOW] ? m->want[RX_LOW] : m->want[RX];
	m->want[TX] = m->want[RX];
	m->want[TX_LOW] = m->want[RX_LOW];
	m->want[TX_HIGH] = m->want[RX_HIGH];
	m->want[ATX] = m->want[ARX];
	return 0;
}

static void hinic_queue(struct moderation *m, int usecs, int frames)
{
	if (!m->want[usecs] && !m->want[frames]) {
		m->want[usecs] = m->now[usecs];
		m->want[frames] = m->now[frames];
	}
	m->want[usecs] -= m->want[usecs] % 9;
	m->want[frames] -= m->want[frames] % 8;
}

/* huawei/hinic/hinic_ethtool.c */
static int set_hinic(struct moderation *m)
{
	if (m->want[RX] > 255 * 9 || m->want[TX] > 255 * 9 || m->want[RXF] > 255 * 8 || m->want[TXF] > 255 * 8)
		return -ERANGE;
	hinic_queue(m, RX, RXF);
	hinic_queue(m, TX, TXF);
	return 0;
}

/* qlogic/qlcnic/qlcnic_ethtool.c */
static int set_qlcnic(struct moderation *m)
{
	return !m->up || m->want[RX] > 0xffff || m->want[TX] > 0xffff || m->want[RXF] > 0xffff ||
			m->want[TXF] > 0xffff ? -EINVAL : 0;
}

/* cavium/liquidio/lio_ethtool.c, of a CN23XX; 0 stands for the default */
static int set_liquidio(struct moderation *m)
{
	m->want[RX] = m->want[ARX] ? 0 : m->want[RX] ? m->want[RX] : 100;
	m->want[RXF] = m->want[ARX] ? 0 : m->want[RXF] ? m->want[RXF] : 64;
	m->want[TXF] = m->want[ATX] ? 0 : m->want[TXF] ? m->want[TXF] & 0xffff : 32;
	for (int i = 0; i < ATTRIBUTES && !m->want[ARX]; i++)
		if (i == RX_LOW || i == RX_HIGH || i == RXF_LOW || i == RXF_HIGH || RATES & BIT(i))
			m->want[i] = 0;
	if (!m->want[ATX])
		m->want[TXF_LOW] = m->want[TXF_HIGH] = 0;
	return 0;
}

/* fungible/funeth/funeth_ethtool.c */
static int set_funeth(struct moderation *m)
{
	static const int queues[][2] = {{RX, RXF}, {TX, TXF}};

	for (size_t i = 0; i < ARRAY_SIZE(queues); i++) {
		uint32_t usecs = m->want[queues[i][0]], frames = m->want[queues[i][1]];

		if (usecs > 0x7f || frames > 0x7f || !(usecs | frames) || (frames > 1 && !usecs))
			return -EINVAL;
	}
	return 0;
}

/* freescale/enetc/enetc_ethtool.c */
static int set_enetc(struct moderation *m)
{
	if (m->want[RXF] != 256 || m->want[TXF] != 128)
		return -EOPNOTSUPP;
	if (m->want[ARX])
		m->want[RX] = 0;
	return 0;
}

/* google/gve/gve_ethtool.c, with queues of the format DQO */
static int set_gve(struct moderation *m)
{
	return m->want[RX] > 4095 * 2 || m->want[TX] > 4095 * 2 ? -EINVAL : 0;
}

/* drivers/net/virtio_net.c, of a device with VIRTIO_NET_F_NOTF_COAL and VIRTIO_NET_F_VQ_NOTF_COAL */
static int set_virtio_net(struct moderation *m)
{
	if (m->up && !m->want[TXF] != !m->now[TXF])
		return -EBUSY;
	return m->want[ARX] && (m->want[RX] != m->now[RX] || m->want[RXF] != m->now[RXF]) ? -EINVAL : 0;
}

/* One that nobody knows. */
static int set_odd(struct moderation *m)
{
	return m->want[RX] % 2 ? 0 : -EINVAL;
}

static const struct sim_driver drivers[] = {
	{"igb", USECS, {[RX] = 3}, set_igb, false},
	{"igbvf", BIT(RX), {[RX] = 3}, set_igbvf, false},
	{"ixgbe", USECS, {[RX] = 1}, set_ixgbe, false},
	{"ixgbevf", USECS, {[RX] = 1}, set_ixgbevf, false},
	{"i40e", USECS | ADAPTIVE | BIT(TXFI) | BIT(RX_HIGH) | BIT(TX_HIGH),
		{[RX] = 50, [TX] = 50, [ARX] = 1, [ATX] = 1, [TXFI] = 256}, set_i40e, false},
	{"iavf", USECS | ADAPTIVE, {[RX] = 50, [TX] = 50, [ARX] = 1, [ATX] = 1}, set_iavf, false},
	{"idpf", USECS | ADAPTIVE, {[RX] = 50, [TX] = 50, [ARX] = 1, [ATX] = 1}, set_idpf, false},
	{"ice", USECS | ADAPTIVE | BIT(RX_HIGH), {[RX] = 50, [TX] = 50, [ARX] = 1, [ATX] = 1}, set_ice, false},
	{"mlx5_core", USECS | FRAMES | ADAPTIVE | CQE_MODES,
		{[RX] = 8, [TX] = 16, [RXF] = 128, [TXF] = 128, [ARX] = 1, [ATX] = 1}, set_mlx5, false},
	{"mlx4_core", USECS | FRAMES | BIT(ARX) | BIT(TXFI) | RATES | BIT(RX_LOW) | BIT(RX_HIGH),
		{[RX] = 16, [TX] = 16, [RXF] = 44, [TXF] = 16, [TXFI] = 256, [ARX] = 1, [RX_HIGH] = 128},
		set_mlx4, false},
	{"bnxt_en", USECS | FRAMES | BIT(ARX) | BIT(RXI) | BIT(TXI) | BIT(RXFI) | BIT(TXFI) | BIT(STATS) |
			CQE_MODES,
		{[RX] = 6, [RXF] = 6, [RXI] = 1, [RXFI] = 1, [TX] = 28, [TXF] = 30, [TXI] = 2, [TXFI] = 2,
			[STATS] = 1000000, [ARX] = 1}, set_bnxt, false},
	{"qede", USECS | BIT(STATS), {[RX] = 12, [TX] = 48}, set_qede, false},
	{"ionic", USECS | ADAPTIVE, {[RX] = 64, [TX] = 64}, set_ionic, false},
	{"rvu_nicpf", USECS | FRAMES | ADAPTIVE, {[RX] = 1, [TX] = 1, [RXF] = 10, [TXF] = 10}, set_otx2, false},
	{"cxgb4", USECS | BIT(RXF) | BIT(TXI) | BIT(ARX), {[RX] = 5, [RXF] = 8}, set_cxgb4, false},
	{"cxgb4vf", BIT(RX) | BIT(RXF), {[RX] = 5, [RXF] = 8}, set_cxgb4vf, false},
	{"be2net", USECS | ADAPTIVE | BIT(RX_LOW) | BIT(RX_HIGH) | BIT(TX_LOW) | BIT(TX_HIGH),
		{[RX_HIGH] = 128, [TX_HIGH] = 128, [ARX] = 1, [ATX] = 1}, set_be2net, true},
	{"hinic", USECS | FRAMES, {[RX] = 32 * 9, [TX] = 32 * 9, [RXF] = 16, [TXF] = 16}, set_hinic, false},
	{"qlcnic", USECS | FRAMES, {[RX] = 3, [RXF] = 256, [TX] = 64, [TXF] = 64}, set_qlcnic, false},
	{"LiquidIO", BIT(RX) | FRAMES | ADAPTIVE | BIT(RXF_LOW) | BIT(TXF_LOW) | BIT(RXF_HIGH) |
			BIT(TXF_HIGH) | RATES | BIT(RX_LOW) | BIT(RX_HIGH),
		{[RX] = 100, [RXF] = 64, [TXF] = 32}, set_liquidio, false},
	{"funeth", USECS | FRAMES, {[RX] = 10, [TX] = 10, [RXF] = 16, [TXF] = 16}, set_funeth, false},
	{"fsl_enetc", USECS | FRAMES | BIT(ARX), {[TX] = 600, [RXF] = 256, [TXF] = 128, [ARX] = 1}, set_enetc,
		false},
	{"gve", USECS, {[RX] = 20, [TX] = 50}, set_gve, false},
	{"virtio_net", USECS | FRAMES | BIT(ARX), {[TXF] = 1}, set_virtio_net, false},
	{"oddnic", BIT(RX) | BIT(RXF), {[RX] = 1}, set_odd, false},
};

/* The enhanced IPoIB of mlx5 (ipoib/ethtool.c). */
static const struct sim_driver mlx5_ipoib = {"mlx5_core", USECS | FRAMES | ADAPTIVE, {[RX] = 8, [TX] = 16},
	set_mlx5, false};

const struct sim_driver *sim_driver_find(const char *name, bool infiniband)
{
	if (infiniband && str_eq(name, mlx5_ipoib.name))
		return &mlx5_ipoib;
	for (size_t i = 0; i < ARRAY_SIZE(drivers); i++)
		if (str_eq(drivers[i].name, name))
			return &drivers[i];
	return NULL;
}
