// SPDX-License-Identifier: GPL-2.0-or-later
/* tuning: a profile, or a mapping of a profile and settings that override it. */
#include <errno.h>

#include "spec/guest.h"
#include "spec/host_yaml.h"

#define T(member) offsetof(struct vfctl_guest_tuning, member)

/* At most @max bytes; the field has one more. */
static int read_tuning_name(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	const char *text;
	int error = reader_text(r, key, value, &text);

	if (error == 0 && !vfctl_tuning_name_valid(text, key->max))
		return reader_fail(r, value, key->name, -EINVAL, "'%.64s' is not allowed; it must be 1 "
			"to %u letters, digits, '-', '_', '.', beginning with a letter or digit", text,
			(unsigned)key->max);
	if (error == 0)
		str_copy((char *)object + key->offset, key->max + 1, text);
	return error;
}

static int read_tuning_latency(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_guest_tuning *t = object;

	t->has_cpu_latency = true;
	return read_u32(r, key, value, object);
}

static int read_tuning_interrupts(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	struct vfctl_guest_tuning *t = object;

	t->has_interrupts = true;
	return read_switch(r, key, value, object);
}

static const struct key tuning_keys[] = {
	{"profile", read_tuning_name, T(profile), 0, VFCTL_PROFILE_NAME_MAX, NULL},
	{"cpu-latency-us", read_tuning_latency, T(cpu_latency_us), 0, VFCTL_CPU_LATENCY_MAX_US, NULL},
	{"governor", read_tuning_name, T(governor), 0, VFCTL_GOVERNOR_MAX, NULL},
	{"interrupts", read_tuning_interrupts, T(interrupts), 0, 0, NULL},
};
static const struct shape tuning_shapes[] = {
	{.read = read_tuning_name, .kinds = SHAPE_TEXT, .min = 1,
		.pattern = TUNING_NAME_PATTERN},
	{.read = read_tuning_latency, .kinds = SHAPE_NUMBER},
	{.read = read_tuning_interrupts, .kinds = SHAPE_SWITCH},
};
const struct table guest_tuning_table = {tuning_keys, ARRAY_SIZE(tuning_keys), tuning_shapes,
	ARRAY_SIZE(tuning_shapes), .required = NULL};

int read_guest_tuning(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_guest *guest = object;

	free(guest->tuning_at);
	guest->tuning_at = doc_at(value);
	if (!guest->tuning_at)
		return ctx_oom(r->ctx);
	/* Most files name only a profile. */
	return reader_short(r, key, value, &guest_tuning_table, &guest->tuning,
		"name a profile, as in tuning: latency, or remove the key");
}

int vfctl_guest_check_tuning(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_guest *guest)
{
	const struct vfctl_profile *profile;
	int r = guest->tuning.profile[0] ? vfctl_profile_need(ctx, spec, guest->tuning.profile,
		&profile) : 0;

	return r < 0 && guest->tuning_at ? ctx_prefix(ctx, r, "%s: tuning", guest->tuning_at) : r;
}
