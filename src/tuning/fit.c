// SPDX-License-Identifier: GPL-2.0-or-later
/* What is wanted + what a driver has and takes -> what is set, and why that. Pure. */
#include <string.h>

#include "base/util.h"
#include "drivers/driver.h"

#define BIT VFCTL_COALESCE_BIT

struct fitting {
	const struct driver *driver; /* NULL: not in the table */
	const struct vfctl_coalesce *now;   /* NULL: not known */
	struct vfctl_coalesce wanted;
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

static struct vfctl_fit_row *add_fit(struct fitting *f, enum vfctl_coalesce_key key, enum vfctl_fit fit,
	uint32_t gets, const char *why)
{
	struct vfctl_fit_row *row = &f->fit->rows[f->fit->count++];

	*row = (struct vfctl_fit_row){.key = key, .fit = fit, .wished = wants(f, key), .gets = gets,
		.wanted = wants(f, key) ? f->wanted.values[key] : gets, .why = why};
	row->known = f->now && f->now->mask & BIT(key);
	row->now = row->known ? f->now->values[key] : 0;
	f->wanted.mask &= ~BIT(key);
	return row;
}

/* It shall have @value. */
static void settle_fit(struct fitting *f, enum vfctl_coalesce_key key, uint32_t value, const char *why)
{
	bool wished = wants(f, key) && f->wanted.values[key] == value;
	struct vfctl_fit_row *row = add_fit(f, key, wished ? VFCTL_FIT_SET : VFCTL_FIT_NEAREST, value, why);

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

/*
 * rx-usecs-low and -high are a window by the load only with both (mlx4, enic). Elsewhere rx-usecs-high
 * alone is a limit of the interrupt rate, which is not what was meant.
 */
static void fit_window(struct fitting *f)
{
	static const char why[] = "the driver has no window of low and high by the packet rate";
	static const enum vfctl_coalesce_key rest[] = {VFCTL_ADAPTIVE_RX, VFCTL_RX_USECS_LOW,
		VFCTL_RX_USECS_HIGH, VFCTL_PKT_RATE_LOW, VFCTL_PKT_RATE_HIGH};

	if (!wants(f, VFCTL_RX_USECS_LOW) || !wants(f, VFCTL_RX_USECS_HIGH) ||
		(takes(f, VFCTL_RX_USECS_LOW) && takes(f, VFCTL_RX_USECS_HIGH)))
		return;
	for (size_t i = 0; i < ARRAY_SIZE(rest); i++)
		lack(f, rest[i], why);
}

/* While a driver chooses by itself, what it would do otherwise is without effect. */
static void fit_adaptive(struct fitting *f, enum vfctl_coalesce_key adaptive,
	enum vfctl_coalesce_key usecs, enum vfctl_coalesce_key frames)
{
	static const char follows[] = "the driver follows the load";
	bool on = wants(f, adaptive) && f->wanted.values[adaptive];
	bool dynamic = f->driver && f->driver->dynamic && usecs == VFCTL_RX_USECS;

	if (!wants(f, adaptive))
		return;
	if (!on && !takes(f, adaptive)) {
		add_fit(f, adaptive, VFCTL_FIT_IS_SO, 0, "the driver has none to switch off");
		return;
	}
	if (takes(f, adaptive))
		settle_fit(f, adaptive, on, NULL);
	else
		lack(f, adaptive, dynamic && takes(f, usecs) ? "a value of rx-usecs means it with this driver"
			: "the driver cannot follow the load");
	if (!on)
		return;
	if (!(f->fit->set.mask & BIT(adaptive))) {
		if (dynamic && takes(f, usecs))
			settle_fit(f, usecs, f->driver->dynamic,
				"with this driver the value means: follow the load");
		if (!dynamic)
			return;
	}
	if (wants(f, usecs))
		add_fit(f, usecs, VFCTL_FIT_UNUSED, 0, follows);
	if (wants(f, frames))
		add_fit(f, frames, VFCTL_FIT_UNUSED, 0, follows);
}

/* Without a count of packets, a time of 0 is what comes next to an interrupt for each of them. */
static void fit_frames(struct fitting *f, enum vfctl_coalesce_key frames, enum vfctl_coalesce_key usecs)
{
	bool each = wants(f, frames) && f->wanted.values[frames] <= 1;

	if (!wants(f, frames) || takes(f, frames))
		return;
	lack(f, frames, each ? "the driver counts no packets; no waiting time comes next to it"
			     : "the driver counts no packets");
	if (each && !wants(f, usecs) && takes(f, usecs) && !(f->fit->set.mask & BIT(usecs)))
		settle_fit(f, usecs, 0, "an interrupt for each packet, as far as the driver has it");
}

/* igb, ixgbe: the value of a receive queue is that of the transmit queue on its vector. */
static void fit_paired(struct fitting *f)
{
	if (!f->driver || !f->driver->paired || !wants(f, VFCTL_TX_USECS))
		return;
	if (f->now && f->now->mask & BIT(VFCTL_TX_USECS) && f->now->values[VFCTL_TX_USECS])
		return;
	add_fit(f, VFCTL_TX_USECS, VFCTL_FIT_UNUSED, 0, "its queues are paired: rx-usecs is for both");
}

static void fit_value(struct fitting *f, enum vfctl_coalesce_key key)
{
	uint32_t wanted = f->wanted.values[key], nearest;

	if (!takes(f, key)) {
		lack(f, key, "the driver has no such setting");
		return;
	}
	if (vfctl_coalesce_is_switch(key) || driver_takes(f->driver, key, wanted)) {
		settle_fit(f, key, wanted, NULL);
		return;
	}
	nearest = driver_nearest(f->driver, key, wanted);
	settle_fit(f, key, nearest, "the value that the driver takes and that is nearest");
}

void vfctl_tuning_fit(const char *driver, bool infiniband, const struct vfctl_coalesce *now,
	const struct vfctl_coalesce *wanted, struct vfctl_tuning_fit *ret)
{
	struct vfctl_tuning_fit fit = {0};
	struct fitting f = {.driver = driver_moderation(driver, infiniband), .now = now,
		.wanted = *wanted, .fit = &fit};

	fit.known = f.driver != NULL;
	fit_window(&f);
	fit_adaptive(&f, VFCTL_ADAPTIVE_RX, VFCTL_RX_USECS, VFCTL_RX_FRAMES);
	fit_adaptive(&f, VFCTL_ADAPTIVE_TX, VFCTL_TX_USECS, VFCTL_TX_FRAMES);
	fit_frames(&f, VFCTL_RX_FRAMES, VFCTL_RX_USECS);
	fit_frames(&f, VFCTL_TX_FRAMES, VFCTL_TX_USECS);
	fit_paired(&f);
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++)
		if (wants(&f, (enum vfctl_coalesce_key)i))
			fit_value(&f, (enum vfctl_coalesce_key)i);
	if (fit.changes && f.driver)
		fit.warning = f.driver->warning;
	*ret = fit;
}

/* ---- what is worth measuring ---- */

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
