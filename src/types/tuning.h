/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_TUNING_H
#define VFCTL_TYPES_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct vfctl_ctx;

/**
 * Interrupt moderation, with the settings of ethtool -C. It belongs to the driver that created a
 * queue: on the host the PF's driver, also for VFs that the host uses; a guest's driver has its
 * own.
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
	VFCTL_ADAPTIVE_RX, /**< 0 or 1: the driver adapts the value itself */
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
	VFCTL_CQE_MODE_TX, /**< 0 or 1: the timer restarts with each completion */
	VFCTL_CQE_MODE_RX,
	VFCTL_COALESCE_KEYS
};

/** Some of these settings. Zero-initialised: none. */
struct vfctl_coalesce {
	uint32_t mask; /**< bit 1 << enum vfctl_coalesce_key: the setting is stated */
	uint32_t values[VFCTL_COALESCE_KEYS];
};
#define VFCTL_COALESCE_BIT(key) (UINT32_C(1) << (key))

/** The name that ethtool -C uses, "rx-usecs"; never NULL for a key of the enum. */
const char *vfctl_coalesce_name(enum vfctl_coalesce_key key);
/** Whether a setting is a switch, with the values on and off. */
bool vfctl_coalesce_is_switch(enum vfctl_coalesce_key key);
/**
 * Add a setting such as "rx-usecs" and "3", or "adaptive-rx" and "off", to @p io. Underscores are
 * read as dashes.
 * @return 0; -ENOENT there is no such key; -EINVAL the value is not valid; both with a message.
 */
int vfctl_coalesce_parse(struct vfctl_ctx *ctx, const char *name, const char *value,
	struct vfctl_coalesce *io);
/**
 * "rx-usecs=3 adaptive-rx=off", in the order of the enum; "" if there are none. The caller frees
 * it; NULL if memory is exhausted.
 */
char *vfctl_coalesce_format(const struct vfctl_coalesce *c);
/** Read the output of vfctl_coalesce_format(). @return as vfctl_coalesce_parse(). */
int vfctl_coalesce_read(struct vfctl_ctx *ctx, const char *text, struct vfctl_coalesce *ret);

#define VFCTL_PROFILE_NAME_MAX 64
#define VFCTL_CPU_LATENCY_UNSAID UINT32_MAX
#define VFCTL_CPU_LATENCY_MAX_US 10000

/** A named set of requests to card and host for a kind of workload. */
struct vfctl_profile {
	char *name;	   /**< letters, digits, '-', '_', '.' */
	char *description; /**< one line; may be NULL */
	/**
	 * The settings requested from the driver. If adaptive-rx is on and the driver supports it,
	 * rx-usecs and rx-frames apply only to drivers without it; the same holds for -tx.
	 */
	struct vfctl_coalesce coalesce;
	/**
	 * C-states with a longer exit latency are not entered while the guest runs (us); or UNSAID.
	 */
	uint32_t cpu_latency_us;
	char *governor;	  /**< of the guest's CPUs while it runs, such as "performance"; or NULL */
	bool interrupts;  /**< send the VFs' interrupts to the guest's emulator CPUs, and the
			       PF's to its node */
	bool busy_poll;	  /**< the guest is advised to poll its sockets */
};

#define VFCTL_GOVERNOR_MAX 31 /**< bytes */

/**
 * The tuning that a guest requests from its host while it runs: a profile, and settings that
 * override it. A plain value; zero-initialised it requests nothing.
 */
struct vfctl_guest_tuning {
	char profile[VFCTL_PROFILE_NAME_MAX + 1]; /**< "": none */
	bool has_cpu_latency;
	uint32_t cpu_latency_us; /**< as in struct vfctl_profile */
	char governor[VFCTL_GOVERNOR_MAX + 1]; /**< "": that of the profile */
	bool has_interrupts;
	bool interrupts;
};

/** Whether it requests anything. */
bool vfctl_guest_tuning_any(const struct vfctl_guest_tuning *tuning);
bool vfctl_guest_tuning_same(const struct vfctl_guest_tuning *a,
	const struct vfctl_guest_tuning *b);
/** "latency governor=performance", for people; the caller frees it; NULL if memory is exhausted. */
char *vfctl_guest_tuning_format(const struct vfctl_guest_tuning *tuning);
/**
 * Whether a name of a profile or governor is valid: letters, digits, '-', '_', '.', not beginning
 * with one of the last three; @p max bytes at most.
 */
bool vfctl_tuning_name_valid(const char *name, size_t max);

/** The number of built-in profiles. host.yaml can add profiles, also under the same names. */
size_t vfctl_profile_count(void);
/** @return NULL past the end. */
const struct vfctl_profile *vfctl_profile_at(size_t index);

/** How a driver can apply one requested setting. */
enum vfctl_fit {
	VFCTL_FIT_IS_SO,   /**< it already has the value */
	VFCTL_FIT_SET,	   /**< it accepts the value */
	VFCTL_FIT_NEAREST, /**< it accepts another value, or has an equivalent setting */
	VFCTL_FIT_UNUSED,  /**< it has the setting, but another setting overrides it */
	VFCTL_FIT_LACKS,   /**< it has no such setting */
};

struct vfctl_fit_row {
	enum vfctl_coalesce_key key;
	enum vfctl_fit fit;
	bool wished;	 /**< false: it replaces another setting */
	bool known;	 /**< @ref now is known */
	uint32_t now, wanted, gets;
	const char *why; /**< a sentence, static; NULL: no explanation is needed */
};

/** A profile, or settings, adapted to one driver. A plain value. */
struct vfctl_tuning_fit {
	struct vfctl_fit_row rows[VFCTL_COALESCE_KEYS];
	size_t count;
	struct vfctl_coalesce set; /**< all settings that should result, including those that are
					already set */
	bool changes;		   /**< some settings still differ */
	bool known;		   /**< the driver is in vfctl's table: limits are known */
	bool resets;		   /**< the change resets the PF: its VFs lose their link */
	const char *warning;	   /**< what else happens when it is set, static; or NULL */
};

/** Settings of @p overrides replace those of @p base. */
void vfctl_coalesce_merge(struct vfctl_coalesce *base, const struct vfctl_coalesce *overrides);

#endif
