// SPDX-License-Identifier: GPL-2.0-or-later
/* tune profiles: the settings of each profile. */
#include "host_ids.h"
#include "spec/host_yaml.h"
#include "verbs/tune.h"

struct profile_view {
	const struct vfctl_profile *profile;
	const char *settings;
};

#define OF struct profile_view
NUMBER_OF(profile_latency, OF, it->profile->cpu_latency_us != VFCTL_CPU_LATENCY_UNSAID,
	it->profile->cpu_latency_us)
static const struct member profile_table[] = {
	FIELD_VIA("name", profile, name, "name of the profile", FILLED),
	FIELD_VIA("description", profile, description, "one line about it"),
	FIELD_AS("coalesce", settings, "interrupt moderation with ethtool's names, such as "
		"\"adaptive-rx=off rx-frames=1\"", FILLED),
	NUMBER("cpu_latency_us", profile_latency, "C-states with a longer exit latency are not "
		"entered; null: no limit", NULLABLE),
	FIELD_VIA("governor", profile, governor, "governor of the guest's CPUs"),
	FIELD_VIA("interrupts", profile, interrupts, "interrupts of the VFs go to housekeeping CPUs"),
	FIELD_VIA("busy_poll", profile, busy_poll, "the guest is advised to poll its sockets"), END};
#undef OF

/* If host.yaml replaces a built-in profile, only its own is shown. */
static const struct vfctl_profile *profile_at(const struct vfctl_host_spec *spec, size_t index)
{
	const struct vfctl_profile *p = vfctl_profile_at(index);

	if (p)
		return vfctl_profile_find(spec, p->name) == p ? p : NULL;
	return &spec->profiles[index - vfctl_profile_count()];
}

static int each_profile(struct invocation *in, const struct vfctl_host_spec *spec)
{
	size_t count = vfctl_profile_count() + spec->profile_count;

	for (size_t i = 0; i < count; i++) {
		const struct vfctl_profile *p = profile_at(spec, i);
		_free_ char *settings = p ? vfctl_coalesce_format(&p->coalesce) : NULL;

		if (p && !settings)
			return -ENOMEM;
		if (p && in->json) {
			answer_put(in->out, NULL, profile_table, &(struct profile_view){p, settings});
		} else if (p) {
			out_cell(in->out, "%s", p->name);
			out_cell(in->out, "%s", settings);
			out_cell(in->out, "%s", p->description ? p->description : "");
		}
	}
	return 0;
}

struct profiles_view {
	struct invocation *in;
	const struct vfctl_host_spec *spec;
};

static int fill_profiles(struct out *out, const void *of)
{
	const struct profiles_view *view = of;

	return each_profile(view->in, view->spec);
}

static const struct member profiles_table[] = {
	FILL("profiles", fill_profiles, profile_table, "profiles that host.yaml and guest.yaml can "
		"name"), END};
const struct answer tune_profiles_answer[] = {{NULL, profiles_table, false}, {0}};

static int print_all(struct invocation *in, const struct vfctl_host_spec *spec)
{
	static const char *const headings[] = {"PROFILE", "MODERATION", "FOR"};
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS_SOON, OUT_WRAPS};
	int r;

	if (in->json) {
		r = answer_put(in->out, NULL, profiles_table, &(struct profiles_view){in, spec});
		return r < 0 ? fail(in, r) : EXIT_DONE;
	}
	out_table(in->out, 0, headings, ARRAY_SIZE(headings));
	out_table_fit(in->out, give);
	r = each_profile(in, spec);
	out_table_end(in->out);
	return r < 0 ? fail(in, r) : EXIT_DONE;
}

int tune_run_profiles(struct invocation *in)
{
	_cleanup_(host_ids_close) struct host_ids h = {0};
	int status = host_ids_open(in, false, &h);

	return status ? status : print_all(in, h.spec);
}
