// SPDX-License-Identifier: GPL-2.0-or-later
/* Interrupt moderation as text, with the names of ethtool, and the built-in profiles. */
#include "types/tuning.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/parse.h"
#include "base/util.h"

static const struct {
	const char *name;
	bool is_switch;
} keys[VFCTL_COALESCE_KEYS] = {
	[VFCTL_RX_USECS] = {"rx-usecs", false},
	[VFCTL_RX_FRAMES] = {"rx-frames", false},
	[VFCTL_RX_USECS_IRQ] = {"rx-usecs-irq", false},
	[VFCTL_RX_FRAMES_IRQ] = {"rx-frames-irq", false},
	[VFCTL_TX_USECS] = {"tx-usecs", false},
	[VFCTL_TX_FRAMES] = {"tx-frames", false},
	[VFCTL_TX_USECS_IRQ] = {"tx-usecs-irq", false},
	[VFCTL_TX_FRAMES_IRQ] = {"tx-frames-irq", false},
	[VFCTL_STATS_BLOCK_USECS] = {"stats-block-usecs", false},
	[VFCTL_ADAPTIVE_RX] = {"adaptive-rx", true},
	[VFCTL_ADAPTIVE_TX] = {"adaptive-tx", true},
	[VFCTL_PKT_RATE_LOW] = {"pkt-rate-low", false},
	[VFCTL_RX_USECS_LOW] = {"rx-usecs-low", false},
	[VFCTL_RX_FRAMES_LOW] = {"rx-frames-low", false},
	[VFCTL_TX_USECS_LOW] = {"tx-usecs-low", false},
	[VFCTL_TX_FRAMES_LOW] = {"tx-frames-low", false},
	[VFCTL_PKT_RATE_HIGH] = {"pkt-rate-high", false},
	[VFCTL_RX_USECS_HIGH] = {"rx-usecs-high", false},
	[VFCTL_RX_FRAMES_HIGH] = {"rx-frames-high", false},
	[VFCTL_TX_USECS_HIGH] = {"tx-usecs-high", false},
	[VFCTL_TX_FRAMES_HIGH] = {"tx-frames-high", false},
	[VFCTL_SAMPLE_INTERVAL] = {"sample-interval", false},
	[VFCTL_CQE_MODE_TX] = {"cqe-mode-tx", true},
	[VFCTL_CQE_MODE_RX] = {"cqe-mode-rx", true},
};

const char *vfctl_coalesce_name(enum vfctl_coalesce_key key)
{
	return keys[key].name;
}

bool vfctl_coalesce_is_switch(enum vfctl_coalesce_key key)
{
	return keys[key].is_switch;
}

static bool same_name(const char *a, const char *b)
{
	for (; *a && (*a == *b || (*a == '-' && *b == '_')); a++)
		b++;
	return !*a && !*b;
}

static int parse_value(const char *text, bool is_switch, uint32_t *ret)
{
	if (!is_switch)
		return parse_u32(text, 0, UINT32_MAX, ret);
	if (!str_eq(text, "on") && !str_eq(text, "off"))
		return -EINVAL;
	*ret = str_eq(text, "on");
	return 0;
}

int vfctl_coalesce_parse(struct vfctl_ctx *ctx, const char *name, const char *value,
	struct vfctl_coalesce *io)
{
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		if (!same_name(keys[i].name, name))
			continue;
		if (parse_value(value, keys[i].is_switch, &io->values[i]) < 0)
			return ctx_fail(ctx, -EINVAL, "%s cannot be '%.40s'; it must be %s", keys[i].name,
				value, keys[i].is_switch ? "on or off" : "a number from 0");
		io->mask |= VFCTL_COALESCE_BIT(i);
		return 0;
	}
	return ctx_fail(ctx, -ENOENT, "'%.40s' is not a setting of interrupt moderation; names are "
		"those of ethtool -C, such as rx-usecs, rx-frames, adaptive-rx", name);
}

char *vfctl_coalesce_format(const struct vfctl_coalesce *c)
{
	struct buf text = {0};

	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		if (!(c->mask & VFCTL_COALESCE_BIT(i)))
			continue;
		buf_printf(&text, "%s%s=", text.len ? " " : "", keys[i].name);
		if (keys[i].is_switch)
			buf_printf(&text, "%s", c->values[i] ? "on" : "off");
		else
			buf_printf(&text, "%u", c->values[i]);
	}
	return buf_steal(&text);
}

int vfctl_coalesce_read(struct vfctl_ctx *ctx, const char *text, struct vfctl_coalesce *ret)
{
	struct vfctl_coalesce c = {0};
	_free_ char *copy = strdup(text);
	char *save = NULL;
	int r = copy ? 0 : ctx_oom(ctx);

	for (char *word = copy ? strtok_r(copy, " ", &save) : NULL; word && r == 0;
		word = strtok_r(NULL, " ", &save)) {
		char *equals = strchr(word, '=');

		if (!equals)
			return ctx_fail(ctx, -EINVAL, "'%.40s' is not NAME=VALUE", word);
		*equals = '\0';
		r = vfctl_coalesce_parse(ctx, word, equals + 1, &c);
	}
	if (r == 0)
		*ret = c;
	return r;
}

void vfctl_coalesce_merge(struct vfctl_coalesce *base, const struct vfctl_coalesce *overrides)
{
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++)
		if (overrides->mask & VFCTL_COALESCE_BIT(i))
			base->values[i] = overrides->values[i];
	base->mask |= overrides->mask;
}

/* ---- profiles ---- */

#define BIT VFCTL_COALESCE_BIT
#define ADAPTIVE (BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_ADAPTIVE_TX))

/* RX1 of the paper, with its window of 40 and 1000 us: docs/how-to/tuning.md. */
static const struct vfctl_profile profiles[] = {
	{.name = (char *)"latency",
		.description = (char *)"an interrupt for each packet; CPUs stay awake",
		.coalesce = {ADAPTIVE | BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES),
			{[VFCTL_RX_FRAMES] = 1}},
		.cpu_latency_us = 2, .governor = (char *)"performance", .interrupts = true,
		.busy_poll = true},
	{.name = (char *)"throughput",
		.description = (char *)"few interrupts with many packets each",
		.coalesce = {ADAPTIVE | BIT(VFCTL_RX_USECS) | BIT(VFCTL_RX_FRAMES) |
				BIT(VFCTL_TX_USECS) | BIT(VFCTL_TX_FRAMES),
			{[VFCTL_RX_USECS] = 64, [VFCTL_RX_FRAMES] = 128,
				[VFCTL_TX_USECS] = 64, [VFCTL_TX_FRAMES] = 128}},
		.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID, .governor = (char *)"performance",
		.interrupts = true},
	{.name = (char *)"mixed",
		.description = (char *)"the driver adapts to the load",
		.coalesce = {ADAPTIVE, {[VFCTL_ADAPTIVE_RX] = 1, [VFCTL_ADAPTIVE_TX] = 1}},
		.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID, .interrupts = true},
	{.name = (char *)"paper-rx1",
		.description = (char *)"rx-frames 1, as RX1 of the published runs",
		.coalesce = {BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_FRAMES), {[VFCTL_RX_FRAMES] = 1}},
		.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID},
	{.name = (char *)"paper-window",
		.description = (char *)"40 us with few packets, 1000 us with many",
		.coalesce = {BIT(VFCTL_ADAPTIVE_RX) | BIT(VFCTL_RX_USECS_LOW) |
				BIT(VFCTL_RX_USECS_HIGH),
			{[VFCTL_ADAPTIVE_RX] = 1, [VFCTL_RX_USECS_LOW] = 40,
				[VFCTL_RX_USECS_HIGH] = 1000}},
		.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID},
};

size_t vfctl_profile_count(void)
{
	return ARRAY_SIZE(profiles);
}

const struct vfctl_profile *vfctl_profile_at(size_t index)
{
	return index < ARRAY_SIZE(profiles) ? &profiles[index] : NULL;
}
