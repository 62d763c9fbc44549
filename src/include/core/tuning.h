/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_TUNING_H
#define VFCTL_CORE_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Interrupt moderation as ethtool -C has it. It belongs to the driver that made a queue: on the
 * host that is the PF's, and that of VFs which the host keeps; a guest's driver has its own.
 */
enum vfctl_coalesce_key {
	VFCTL_RX_USECS, /**< us from the first packet to the interrupt */
	VFCTL_RX_FRAMES, /**< packets until the interrupt */
	VFCTL_RX_USECS_IRQ,
	VFCTL_RX_FRAMES_IRQ,
	VFCTL_TX_USECS,
	VFCTL_TX_FRAMES,
	VFCTL_TX_USECS_IRQ,
	VFCTL_TX_FRAMES_IRQ,
	VFCTL_STATS_BLOCK_USECS,
	VFCTL_ADAPTIVE_RX, /**< 0 or 1: the driver chooses by itself */
	VFCTL_ADAPTIVE_TX,
	VFCTL_PKT_RATE_LOW, /**< packets/s */
	VFCTL_RX_USECS_LOW,
	VFCTL_RX_FRAMES_LOW,
	VFCTL_TX_USECS_LOW,
	VFCTL_TX_FRAMES_LOW,
	VFCTL_PKT_RATE_HIGH,
	VFCTL_RX_USECS_HIGH,
	VFCTL_RX_FRAMES_HIGH,
	VFCTL_TX_USECS_HIGH,
	VFCTL_TX_FRAMES_HIGH,
	VFCTL_SAMPLE_INTERVAL, /**< s */
	VFCTL_CQE_MODE_TX, /**< 0 or 1: the timer starts anew with each completion */
	VFCTL_CQE_MODE_RX,
	VFCTL_COALESCE_KEYS
};

/** Some of them. Zero-initialised: none. */
struct vfctl_coalesce {
	uint32_t mask; /**< bit 1 << enum vfctl_coalesce_key: it is stated */
	uint32_t values[VFCTL_COALESCE_KEYS];
};
#define VFCTL_COALESCE_BIT(key) (UINT32_C(1) << (key))

/** As ethtool -C takes it, "rx-usecs"; never NULL for a key of the enum. */
const char *vfctl_coalesce_name(enum vfctl_coalesce_key key);
/** A switch: its value is written on or off. */
bool vfctl_coalesce_is_switch(enum vfctl_coalesce_key key);
/**
 * Take "rx-usecs" and "3", or "adaptive-rx" and "off", into @p io. Underscores are dashes as well.
 * @return 0; -ENOENT no such key; -EINVAL no such value; both with words.
 */
int vfctl_coalesce_parse(struct vfctl_ctx *ctx, const char *name, const char *value,
	struct vfctl_coalesce *io);
/** "rx-usecs=3 adaptive-rx=off", in the order of the enum; "" none. The caller frees it; NULL: no memory. */
char *vfctl_coalesce_format(const struct vfctl_coalesce *c);
/** The way back from vfctl_coalesce_format(). @return as vfctl_coalesce_parse(). */
int vfctl_coalesce_read(struct vfctl_ctx *ctx, const char *text, struct vfctl_coalesce *ret);

#define VFCTL_PROFILE_NAME_MAX 64
#define VFCTL_CPU_LATENCY_UNSAID UINT32_MAX
#define VFCTL_CPU_LATENCY_MAX_US 10000

/** What a workload wants of card and host, under a name. */
struct vfctl_profile {
	char *name;	   /**< letters, digits, '-', '_', '.' */
	char *description; /**< one line; may be NULL */
	/**
	 * What is wanted of the driver. Where adaptive-rx is on and the driver has it, rx-usecs and
	 * rx-frames are for drivers that have not; -tx likewise.
	 */
	struct vfctl_coalesce coalesce;
	/** C-states of longer exit latency are not entered while the guest runs (us); or UNSAID. */
	uint32_t cpu_latency_us;
	char *governor;	  /**< of the guest's CPUs while it runs, such as "performance"; or NULL */
	bool interrupts;  /**< the VFs' interrupts go to the guest's emulator CPUs, the PF's to its node */
	bool busy_poll;	  /**< the guest is advised to poll its sockets */
};

#define VFCTL_GOVERNOR_MAX 31 /**< bytes */

/**
 * What a guest asks of its host while it runs: a profile, and what it wants otherwise than that
 * says. A plain value; zero-initialised it asks for nothing.
 */
struct vfctl_guest_tuning {
	char profile[VFCTL_PROFILE_NAME_MAX + 1]; /**< "": none */
	bool has_cpu_latency;
	uint32_t cpu_latency_us; /**< as in struct vfctl_profile */
	char governor[VFCTL_GOVERNOR_MAX + 1]; /**< "": as the profile says */
	bool has_interrupts;
	bool interrupts;
};

/** Does it ask for anything? */
bool vfctl_guest_tuning_any(const struct vfctl_guest_tuning *tuning);
bool vfctl_guest_tuning_same(const struct vfctl_guest_tuning *a,
	const struct vfctl_guest_tuning *b);
/** "latency governor=performance", for people; the caller frees it; NULL: no memory. */
char *vfctl_guest_tuning_format(const struct vfctl_guest_tuning *tuning);
/** The names of profiles and governors: letters, digits, '-', '_', '.', not beginning with one
 * of the last three; @p max bytes at most. */
bool vfctl_tuning_name_valid(const char *name, size_t max);

/** Profiles that every host has; host.yaml adds its own, and may have one of the same name. */
size_t vfctl_profile_count(void);
/** @return NULL past the end. */
const struct vfctl_profile *vfctl_profile_at(size_t index);

/** What a driver makes of one setting that is wanted. */
enum vfctl_fit {
	VFCTL_FIT_IS_SO,   /**< nothing to do */
	VFCTL_FIT_SET,	   /**< it takes it as it is */
	VFCTL_FIT_NEAREST, /**< it takes another value, or says the same in another way */
	VFCTL_FIT_UNUSED,  /**< it has it, but another setting makes it meaningless */
	VFCTL_FIT_LACKS,   /**< it has no such setting */
};
/** "is so", "set", "nearest", "unused", "lacks"; never NULL. */
const char *vfctl_fit_name(enum vfctl_fit fit);

struct vfctl_fit_row {
	enum vfctl_coalesce_key key;
	enum vfctl_fit fit;
	bool wished;	 /**< false: it stands for another setting */
	bool known;	 /**< @ref now is */
	uint32_t now, wanted, gets;
	const char *why; /**< a sentence, static; NULL: it explains itself */
};

/** A profile, or settings, for one driver. A plain value. */
struct vfctl_tuning_fit {
	struct vfctl_fit_row rows[VFCTL_COALESCE_KEYS];
	size_t count;
	struct vfctl_coalesce set; /**< what there shall be in the end, what is so already too */
	bool changes;		   /**< something of it is not so yet */
	bool known;		   /**< the driver is in vfctl's table: limits are known */
	const char *warning;	   /**< what else happens when it is set, static; or NULL */
};

/**
 * Fit what is wanted to a driver. Pure: nothing is looked at.
 * Limits are from each driver's source (docs/tuning.md has the table).
 * @param driver  of the function, as its driver link in sysfs: "igb", "mlx5_core".
 * @param infiniband  its network device is IPoIB.
 * @param now  what the kernel answers (its mask: what the driver has); NULL: not known, the
 *             table's word counts.
 */
void vfctl_tuning_fit(const char *driver, bool infiniband, const struct vfctl_coalesce *now,
	const struct vfctl_coalesce *wanted, struct vfctl_tuning_fit *ret);

/**
 * Settings worth measuring with that driver, without the present one and without two that come to the
 * same: from an interrupt for each packet up to a long window.
 * @return how many; @p ret has room for VFCTL_CANDIDATES_MAX.
 */
#define VFCTL_CANDIDATES_MAX 16
size_t vfctl_tuning_candidates(const char *driver, bool infiniband,
	const struct vfctl_coalesce *now, struct vfctl_coalesce *ret);

/** What @p overrides states goes before what @p base states. */
void vfctl_coalesce_merge(struct vfctl_coalesce *base, const struct vfctl_coalesce *overrides);

#ifdef __cplusplus
}
#endif
#endif
