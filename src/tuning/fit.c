// SPDX-License-Identifier: GPL-2.0-or-later
/* Adapt requested settings to a driver's settings and limits, with reasons. Pure. */
#include <string.h>

#include "base/util.h"
#include "drivers/driver.h"
#include "tuning/fit.h"

#define BIT VFCTL_COALESCE_BIT

struct fitting {
	const struct driver *driver; /* NULL: not in the table */
	const struct vfctl_coalesce *now;   /* NULL: not known */
	struct vfctl_coalesce asked;  /* as the user said */
	struct vfctl_coalesce wanted; /* what of it is not fitted yet */
	struct vfctl_tuning_fit *fit;
};

const char *vfctl_fit_name(enum vfctl_fit fit)
{
	static const char *const names[] = {[VFCTL_FIT_IS_SO] = "is so", [VFCTL_FIT_SET] = "set",
		[VFCTL_FIT_NEAREST] = "nearest", [VFCTL_FIT_UNUSED] = "unused",
		[VFCTL_FIT_LACKS] = "lacks"};

	return names[fit];
}

static bool takes(const struct fitting *f, enum vfctl_coalesce_key key)
{
	if (f->now)
		return f->now->mask & BIT(key);
	return !f->driver || f->driver->keys & BIT(key);
}

static bool wants(const struct fitting *f, enum vfctl_coalesce_key key)
{
	return f->wanted.mask & BIT(key);
}

static bool was_asked(const struct fitting *f, enum vfctl_coalesce_key key)
{
	return f->asked.mask & BIT(key);
}

static bool is_now(const struct fitting *f, enum vfctl_coalesce_key key, uint32_t value)
{
	return f->now && f->now->mask & BIT(key) && f->now->values[key] == value;
}

static struct vfctl_fit_row *add_fit(struct fitting *f, enum vfctl_coalesce_key key,
	enum vfctl_fit fit,
	uint32_t gets, const char *why)
{
	struct vfctl_fit_row *row = &f->fit->rows[f->fit->count++];

	*row = (struct vfctl_fit_row){.key = key, .fit = fit, .wished = was_asked(f, key), .gets = gets,
		.wanted = was_asked(f, key) ? f->asked.values[key] : gets, .why = why};
	row->known = f->now && f->now->mask & BIT(key);
	row->now = row->known ? f->now->values[key] : 0;
	f->wanted.mask &= ~BIT(key);
	return row;
}

/* Set the result of a setting to @value. */
static void settle_fit(struct fitting *f, enum vfctl_coalesce_key key, uint32_t value,
	const char *why)
{
	bool wished = was_asked(f, key) && f->asked.values[key] == value;
	struct vfctl_fit_row *row = add_fit(f, key, wished ? VFCTL_FIT_SET : VFCTL_FIT_NEAREST, value,
		why || wished ? why : "receive and transmit queues share this setting");

	f->fit->set.mask |= BIT(key);
	f->fit->set.values[key] = value;
	if (!row->known || row->now != value)
		f->fit->changes = true;
	else if (wished)
		row->fit = VFCTL_FIT_IS_SO;
}

static void lack(struct fitting *f, enum vfctl_coalesce_key key, const char *why)
{
	if (wants(f, key))
		add_fit(f, key, VFCTL_FIT_LACKS, 0, why);
}

/* A value of the driver's that no request changes. */
static void fit_fixed(struct fitting *f)
{
	for (size_t i = 0; f->driver && i < VFCTL_COALESCE_KEYS; i++) {
		enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)i;

		if (!(f->driver->fixed & BIT(i)) || !wants(f, key))
			continue;
		if (is_now(f, key, f->wanted.values[key]))
			add_fit(f, key, VFCTL_FIT_IS_SO, 0, NULL);
		else
			lack(f, key, "the driver reports this setting but does not change it");
	}
}

/* rvu: one value for both; what is wanted of receive queues goes first. */
static void fit_shared(struct fitting *f)
{
	static const enum vfctl_coalesce_key both[][2] = {{VFCTL_RX_USECS, VFCTL_TX_USECS},
		{VFCTL_RX_FRAMES, VFCTL_TX_FRAMES}, {VFCTL_ADAPTIVE_RX, VFCTL_ADAPTIVE_TX}};

	if (!f->driver || f->driver->pairing != DRIVER_TX_SHARED)
		return;
	for (size_t i = 0; i < ARRAY_SIZE(both); i++) {
		enum vfctl_coalesce_key first = both[i][wants(f, both[i][0]) ? 0 : 1];

		if (!wants(f, first))
			continue;
		for (size_t k = 0; k < 2; k++)
			f->wanted.values[both[i][k]] = f->wanted.values[first];
		f->wanted.mask |= BIT(both[i][0]) | BIT(both[i][1]);
	}
}

/* Does adaptive moderation of these queues keep the driver from changing @key? */
static bool is_blocked(const struct fitting *f, enum vfctl_coalesce_key key,
	enum vfctl_coalesce_key adaptive)
{
	if (!(f->driver->fixed_if_adaptive & BIT(key)))
		return false;
	/* ice: the limit of the rate is that of a vector, which has both queues. */
	if (key == VFCTL_RX_USECS_HIGH)
		return true;
	return (key == VFCTL_TX_USECS || key == VFCTL_TX_FRAMES) == (adaptive == VFCTL_ADAPTIVE_TX);
}

/*
 * Some drivers reject another value while they adapt to the load. Who states a value, and not the
 * mode, wants the value.
 */
static void fit_blocked(struct fitting *f, enum vfctl_coalesce_key adaptive)
{
	static const char why[] = "the driver rejects such values while it adapts to the load";
	bool stated = wants(f, adaptive);

	if (!f->driver || !f->driver->fixed_if_adaptive || (stated ? !f->wanted.values[adaptive]
		: !is_now(f, adaptive, 1)))
		return;
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		enum vfctl_coalesce_key key = (enum vfctl_coalesce_key)i;

		if (!wants(f, key) || is_now(f, key, f->wanted.values[key]) || !is_blocked(f, key, adaptive))
			continue;
		/* A mode that was asked for has its row already (fit_window()). */
		if (!was_asked(f, adaptive)) {
			settle_fit(f, adaptive, 0, why);
			return;
		}
		add_fit(f, key, VFCTL_FIT_UNUSED, 0, why);
	}
}

/*
 * rx-usecs-low and -high form a window that depends on the load only if a driver has both (mlx4,
 * enic). With other drivers, rx-usecs-high limits the interrupt rate, which was not requested.
 */
static void fit_window(struct fitting *f)
{
	static const char why[] = "the driver does not support low and high values by packet rate";
	static const enum vfctl_coalesce_key rest[] = {VFCTL_ADAPTIVE_RX, VFCTL_RX_USECS_LOW,
		VFCTL_RX_USECS_HIGH, VFCTL_PKT_RATE_LOW, VFCTL_PKT_RATE_HIGH};

	if (!wants(f, VFCTL_RX_USECS_LOW) || !wants(f, VFCTL_RX_USECS_HIGH) ||
		(takes(f, VFCTL_RX_USECS_LOW) && takes(f, VFCTL_RX_USECS_HIGH)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++)
		lack(f, rest[i], why);
}

/* Do the transmit queues have vectors of their own? Their value shows it. */
static bool is_paired(const struct fitting *f)
{
	if (!f->driver || !f->now || !(f->now->mask & BIT(VFCTL_TX_USECS)))
		return f->driver && f->driver->pairing != DRIVER_TX_SEPARATE;
	if (f->driver->pairing == DRIVER_TX_REPORTS_0)
		return f->now->values[VFCTL_TX_USECS] == 0;
	return f->driver->pairing == DRIVER_TX_REPORTS_RX && is_now(f, VFCTL_RX_USECS,
		f->now->values[VFCTL_TX_USECS]);
}

/* While a driver chooses by itself, what it would do otherwise is without effect. */
static void fit_adaptive(struct fitting *f, enum vfctl_coalesce_key adaptive,
	enum vfctl_coalesce_key usecs, enum vfctl_coalesce_key frames)
{
	static const char follows[] = "the driver adapts to the load";
	bool on = wants(f, adaptive) && f->wanted.values[adaptive];
	bool dynamic = f->driver && f->driver->dynamic && usecs == VFCTL_RX_USECS;

	if (!wants(f, adaptive))
		return;
	if (on && adaptive == VFCTL_ADAPTIVE_TX && takes(f, adaptive) && is_paired(f)) {
		add_fit(f, adaptive, VFCTL_FIT_UNUSED, 0, "its queues are paired: adaptive-rx applies to "
			"both");
		return;
	}
	if (!on && !takes(f, adaptive)) {
		add_fit(f, adaptive, VFCTL_FIT_IS_SO, 0, "the driver has nothing to disable");
		return;
	}
	if (takes(f, adaptive))
		settle_fit(f, adaptive, on, NULL);
	else
		lack(f, adaptive, dynamic && takes(f, usecs) ? "this driver has it as a value of "
			"rx-usecs"
			: "the driver cannot adapt to the load");
	if (!on)
		return;
	if (!(f->fit->set.mask & BIT(adaptive))) {
		if (dynamic && takes(f, usecs))
			settle_fit(f, usecs, f->driver->dynamic,
				"with this driver this value means: adapt to the load");
		if (!dynamic)
			return;
	}
	if (wants(f, usecs))
		add_fit(f, usecs, VFCTL_FIT_UNUSED, 0, follows);
	if (wants(f, frames))
		add_fit(f, frames, VFCTL_FIT_UNUSED, 0, follows);
}

/* Without a packet count, a time of 0 is nearest to one interrupt per packet. */
static void fit_frames(struct fitting *f, enum vfctl_coalesce_key frames,
	enum vfctl_coalesce_key usecs)
{
	bool each = wants(f, frames) && f->wanted.values[frames] <= 1;
	uint32_t least = driver_takes(f->driver, usecs, 0) ? 0 : driver_nearest(f->driver, usecs, 0);

	if (!wants(f, frames) || takes(f, frames))
		return;
	lack(f, frames, each ? "the driver does not count packets; a waiting time of 0 comes closest"
			     : "the driver does not count packets");
	if (each && !was_asked(f, usecs) && takes(f, usecs) && !(f->fit->set.mask & BIT(usecs)) &&
		!(f->driver && f->driver->fixed & BIT(usecs)))
		settle_fit(f, usecs, least, "an interrupt for each packet, as far as the driver supports it");
}

/* igb, ixgbe, ionic: the value of a receive queue is that of the transmit queue on its vector. */
static void fit_paired(struct fitting *f)
{
	if (!f->driver || f->driver->pairing == DRIVER_TX_SHARED || !is_paired(f))
		return;
	if (wants(f, VFCTL_TX_USECS))
		add_fit(f, VFCTL_TX_USECS, VFCTL_FIT_UNUSED, 0, "its queues are paired: rx-usecs applies to "
			"both");
}

static uint32_t nearest_of(const struct fitting *f, enum vfctl_coalesce_key key)
{
	return driver_takes(f->driver, key, f->wanted.values[key]) ? f->wanted.values[key]
		: driver_nearest(f->driver, key, f->wanted.values[key]);
}

/*
 * hinic, funeth: with a time of 0 there is one number of packets that has an effect, or is
 * accepted.
 */
static void fit_zero(struct fitting *f, enum vfctl_coalesce_key usecs,
	enum vfctl_coalesce_key frames)
{
	uint32_t packets = f->driver ? f->driver->frames_at_0 : 0;
	bool none = wants(f, usecs) ? nearest_of(f, usecs) == 0 : is_now(f, usecs, 0);

	if (!packets || !none || (!wants(f, usecs) && !wants(f, frames)))
		return;
	if (wants(f, frames) || !is_now(f, frames, packets))
		settle_fit(f, frames, packets, "with a time of 0 the driver accepts only this number of "
			"packets");
}

static void fit_value(struct fitting *f, enum vfctl_coalesce_key key)
{
	uint32_t wanted = f->wanted.values[key];

	if (!takes(f, key)) {
		lack(f, key, "the driver does not have this setting");
		return;
	}
	if (!vfctl_coalesce_is_switch(key) && nearest_of(f, key) != wanted)
		settle_fit(f, key, nearest_of(f, key), "the nearest value that the driver accepts");
	else
		settle_fit(f, key, wanted, NULL);
}

/* What else happens; a reset only when the change causes one. */
static void fit_side_effects(struct fitting *f)
{
	uint32_t usecs = f->fit->set.values[VFCTL_RX_USECS];

	if (!f->fit->changes || !f->driver)
		return;
	f->fit->resets = f->fit->set.mask & BIT(VFCTL_RX_USECS) && f->now &&
		f->now->mask & BIT(VFCTL_RX_USECS) &&
		driver_resets(f->driver, f->now->values[VFCTL_RX_USECS], usecs);
	if (f->fit->resets || !f->driver->reset_below)
		f->fit->warning = f->driver->warning;
}

void vfctl_tuning_fit(const char *driver, bool infiniband, const struct vfctl_coalesce *now,
	const struct vfctl_coalesce *wanted, struct vfctl_tuning_fit *ret)
{
	struct vfctl_tuning_fit fit = {0};
	struct fitting f = {.driver = driver_moderation(driver, infiniband), .now = now,
		.asked = *wanted, .wanted = *wanted, .fit = &fit};

	fit.known = f.driver != NULL;
	fit_fixed(&f);
	fit_window(&f);
	fit_shared(&f);
	fit_blocked(&f, VFCTL_ADAPTIVE_RX);
	fit_blocked(&f, VFCTL_ADAPTIVE_TX);
	fit_adaptive(&f, VFCTL_ADAPTIVE_RX, VFCTL_RX_USECS, VFCTL_RX_FRAMES);
	fit_adaptive(&f, VFCTL_ADAPTIVE_TX, VFCTL_TX_USECS, VFCTL_TX_FRAMES);
	fit_frames(&f, VFCTL_RX_FRAMES, VFCTL_RX_USECS);
	fit_frames(&f, VFCTL_TX_FRAMES, VFCTL_TX_USECS);
	fit_paired(&f);
	fit_zero(&f, VFCTL_RX_USECS, VFCTL_RX_FRAMES);
	fit_zero(&f, VFCTL_TX_USECS, VFCTL_TX_FRAMES);
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++)
		if (wants(&f, (enum vfctl_coalesce_key)i))
			fit_value(&f, (enum vfctl_coalesce_key)i);
	fit_side_effects(&f);
	*ret = fit;
}

/* ---- candidates for measurements ---- */

static bool is_among(const struct vfctl_coalesce *c, const struct vfctl_coalesce *all, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (memcmp(&all[i], c, sizeof(*c)) == 0)
			return true;
	return false;
}

size_t vfctl_tuning_candidates(const char *driver, bool infiniband,
	const struct vfctl_coalesce *now, struct vfctl_coalesce *ret)
{
	static const struct {
		bool adaptive;
		uint32_t usecs, frames;
	} worth[] = {{false, 0, 1}, {false, 3, 8}, {false, 10, 32}, {false, 25, 64}, {false, 50, 88},
		{false, 100, 128}, {false, 250, 256}, {true, 0, 0}};
	size_t count = 0;

	for (size_t i = 0; i < ARRAY_SIZE(worth); i++) {
		struct vfctl_coalesce wanted = {BIT(VFCTL_ADAPTIVE_RX), {0}};
		struct vfctl_tuning_fit fit;

		wanted.values[VFCTL_ADAPTIVE_RX] = worth[i].adaptive;
		if (!worth[i].adaptive) {
			wanted.mask |= BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES);
			wanted.values[VFCTL_RX_USECS] = worth[i].usecs;
			wanted.values[VFCTL_RX_FRAMES] = worth[i].frames;
		}
		vfctl_tuning_fit(driver, infiniband, now, &wanted, &fit);
		if (fit.changes && fit.set.mask && !is_among(&fit.set, ret, count))
			ret[count++] = fit.set;
	}
	return count;
}
