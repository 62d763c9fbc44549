// SPDX-License-Identifier: GPL-2.0-or-later
/* Profiles of this host, and the tuning of its PFs. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "spec/host.h"
#include "spec/host_yaml.h"

#define PROFILES_MAX 256
#define DESCRIPTION_MAX 200
#define GOVERNOR_MAX 31

/* ---- settings of interrupt moderation, each with its own key ---- */

static int read_coalesce(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_coalesce *c = (void *)((char *)object + key->offset);
	uint32_t number = 0;
	bool on = false;
	const struct key of_number = {key->name, read_u32, 0, 0, UINT32_MAX, NULL};
	const struct key of_switch = {key->name, read_switch, 0, 0, 0, NULL};
	bool is_switch = vfctl_coalesce_is_switch((enum vfctl_coalesce_key)key->min);
	int error = is_switch ? read_switch(r, &of_switch, value, &on)
			      : read_u32(r, &of_number, value, &number);

	if (error < 0)
		return error;
	c->mask |= VFCTL_COALESCE_BIT(key->min);
	c->values[key->min] = is_switch ? on : number;
	return 0;
}

/* Switches have their own reader, because a schema describes them differently. */
static int read_coalesce_switch(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	return read_coalesce(r, key, value, object);
}

#define NUMBER(name, key, member)                         \
	{                                                 \
		name, read_coalesce, member, key, 0, NULL \
	}
#define SWITCH(name, key, member)                                \
	{                                                        \
		name, read_coalesce_switch, member, key, 0, NULL \
	}
#define COALESCE_ROWS(member) \
	NUMBER("rx-usecs", VFCTL_RX_USECS, member), \
	NUMBER("rx-frames", VFCTL_RX_FRAMES, member), \
	NUMBER("rx-usecs-irq", VFCTL_RX_USECS_IRQ, member), \
	NUMBER("rx-frames-irq", VFCTL_RX_FRAMES_IRQ, member), \
	NUMBER("tx-usecs", VFCTL_TX_USECS, member), \
	NUMBER("tx-frames", VFCTL_TX_FRAMES, member), \
	NUMBER("tx-usecs-irq", VFCTL_TX_USECS_IRQ, member), \
	NUMBER("tx-frames-irq", VFCTL_TX_FRAMES_IRQ, member), \
	NUMBER("stats-block-usecs", VFCTL_STATS_BLOCK_USECS, member), \
	SWITCH("adaptive-rx", VFCTL_ADAPTIVE_RX, member), \
	SWITCH("adaptive-tx", VFCTL_ADAPTIVE_TX, member), \
	NUMBER("pkt-rate-low", VFCTL_PKT_RATE_LOW, member), \
	NUMBER("rx-usecs-low", VFCTL_RX_USECS_LOW, member), \
	NUMBER("rx-frames-low", VFCTL_RX_FRAMES_LOW, member), \
	NUMBER("tx-usecs-low", VFCTL_TX_USECS_LOW, member), \
	NUMBER("tx-frames-low", VFCTL_TX_FRAMES_LOW, member), \
	NUMBER("pkt-rate-high", VFCTL_PKT_RATE_HIGH, member), \
	NUMBER("rx-usecs-high", VFCTL_RX_USECS_HIGH, member), \
	NUMBER("rx-frames-high", VFCTL_RX_FRAMES_HIGH, member), \
	NUMBER("tx-usecs-high", VFCTL_TX_USECS_HIGH, member), \
	NUMBER("tx-frames-high", VFCTL_TX_FRAMES_HIGH, member), \
	NUMBER("sample-interval", VFCTL_SAMPLE_INTERVAL, member), \
	SWITCH("cqe-mode-tx", VFCTL_CQE_MODE_TX, member), \
	SWITCH("cqe-mode-rx", VFCTL_CQE_MODE_RX, member)

/* ---- profiles ---- */

#define P(member) offsetof(struct vfctl_profile, member)

static const struct key profile_keys[] = {
	{"name", read_name_text, P(name), 0, VFCTL_PROFILE_NAME_MAX, NULL},
	{"description", read_line, P(description), 1, DESCRIPTION_MAX, NULL},
	{"cpu-latency-us", read_u32, P(cpu_latency_us), 0, VFCTL_CPU_LATENCY_MAX_US, NULL},
	{"governor", read_name_text, P(governor), 0, GOVERNOR_MAX, NULL},
	{"interrupts", read_switch, P(interrupts), 0, 0, NULL},
	{"busy-poll", read_switch, P(busy_poll), 0, 0, NULL},
	COALESCE_ROWS(P(coalesce)),
};

static const struct shape coalesce_shapes[] = {
	{.read = read_name_text, .kinds = SHAPE_TEXT, .pattern = NAME_PATTERN},
	{.read = read_coalesce, .kinds = SHAPE_NUMBER, .min = 0, .max = UINT32_MAX},
	{.read = read_coalesce_switch, .kinds = SHAPE_SWITCH},
};
static const char *const profile_required[] = {"name", NULL};
const struct table profile_table = {profile_keys, ARRAY_SIZE(profile_keys), coalesce_shapes,
	ARRAY_SIZE(coalesce_shapes), .required = profile_required,
	.remedy = "PFs and guests refer to the profile by its name"};

void profile_clear(struct vfctl_profile *p)
{
	free(p->name);
	free(p->description);
	free(p->governor);
}

static int read_profile(struct reader *r, const struct doc_node *node, void *object)
{
	const struct doc_node *seen[ARRAY_SIZE(profile_keys)] = {0};
	struct vfctl_host_spec *spec = object;
	struct vfctl_profile *p;
	int error;

	if (!array_grow(spec->profiles, spec->profile_count))
		return ctx_oom(r->ctx);
	p = &spec->profiles[spec->profile_count++];
	*p = (struct vfctl_profile){.cpu_latency_us = VFCTL_CPU_LATENCY_UNSAID};
	error = reader_table(r, node, &profile_table, p, seen);
	for (size_t i = 0; error == 0 && i + 1 < spec->profile_count; i++)
		if (str_eq(spec->profiles[i].name, p->name))
			return reader_fail(r, seen[0], "name", -EEXIST,
				"two profiles have the name '%s'; rename one of them", p->name);
	return error;
}

int read_profiles(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	return reader_each(r, key, value, PROFILES_MAX, object, read_profile);
}

const struct vfctl_profile *vfctl_profile_find(const struct vfctl_host_spec *spec,
	const char *name)
{
	for (size_t i = 0; spec && i < spec->profile_count; i++)
		if (str_eq(spec->profiles[i].name, name))
			return &spec->profiles[i];
	for (size_t i = 0; i < vfctl_profile_count(); i++)
		if (str_eq(vfctl_profile_at(i)->name, name))
			return vfctl_profile_at(i);
	return NULL;
}

int vfctl_profile_need(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, const char *name,
	const struct vfctl_profile **ret)
{
	const struct vfctl_profile *found = vfctl_profile_find(spec, name);
	_buf_ struct buf names = {0};

	if (found) {
		*ret = found;
		return 0;
	}
	for (size_t i = 0; i < vfctl_profile_count(); i++)
		buf_printf(&names, "%s%s", i ? ", " : "", vfctl_profile_at(i)->name);
	for (size_t i = 0; spec && i < spec->profile_count; i++)
		buf_printf(&names, ", %s", spec->profiles[i].name);
	return ctx_usage_error(ctx, -ENOENT,
		"profile '%.64s' not found; the profiles are %s, and host.yaml can add others "
					     "(profiles:)",
		name, names.data ? names.data : "");
}

/* ---- tuning of a PF ---- */

#define T(member) offsetof(struct vfctl_pf_tuning, member)

static const struct key tuning_keys[] = {
	{"profile", read_name_text, T(profile), 0, VFCTL_PROFILE_NAME_MAX, NULL},
	COALESCE_ROWS(T(coalesce)),
};
const struct table pf_tuning_table = {tuning_keys, ARRAY_SIZE(tuning_keys), coalesce_shapes,
	ARRAY_SIZE(coalesce_shapes), .required = NULL};

int read_pf_tuning(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	/* Most files name only a profile. */
	return reader_short(r, key, value, &pf_tuning_table, (char *)object + key->offset,
		"name a profile, as in tuning: latency, or settings");
}
