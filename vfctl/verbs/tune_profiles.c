// SPDX-License-Identifier: GPL-2.0-or-later
/* tune profiles: what each of them wants. */
#include <stdlib.h>

#include "host_ids.h"
#include "verbs/tune.h"

static void print_json(struct out *out, const struct vfctl_profile *p, const char *settings)
{
	out_open(out, NULL, '{');
	out_str(out, "name", p->name);
	out_str(out, "description", p->description);
	out_str(out, "coalesce", settings);
	if (p->cpu_latency_us == VFCTL_CPU_LATENCY_UNSAID)
		out_null(out, "cpu_latency_us");
	else
		out_int(out, "cpu_latency_us", p->cpu_latency_us);
	out_str(out, "governor", p->governor);
	out_bool(out, "interrupts", p->interrupts);
	out_bool(out, "busy_poll", p->busy_poll);
	out_shut(out);
}

/* Of a profile that host.yaml replaces, its own alone. */
static const struct vfctl_profile *profile_at(const struct vfctl_host_spec *spec, size_t index)
{
	const struct vfctl_profile *p = vfctl_profile_at(index);

	if (p)
		return vfctl_profile_find(spec, p->name) == p ? p : NULL;
	return &spec->profiles[index - vfctl_profile_count()];
}

static int print_all(struct invocation *in, const struct vfctl_host_spec *spec)
{
	static const char *const headings[] = {"PROFILE", "MODERATION", "FOR"};
	static const signed char give[] = {OUT_STAYS, OUT_WRAPS_SOON, OUT_WRAPS};
	size_t count = vfctl_profile_count() + spec->profile_count;

	if (in->json) {
		out_open(in->out, NULL, '{');
		out_open(in->out, "profiles", '[');
	} else {
		out_table(in->out, 0, headings, ARRAY_SIZE(headings));
		out_table_fit(in->out, give);
	}
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_profile *p = profile_at(spec, i);
		char *settings = p ? vfctl_coalesce_format(&p->coalesce) : NULL;

		if (p && !settings)
			return fail(in, -ENOMEM);
		if (p && in->json) {
			print_json(in->out, p, settings);
		} else if (p) {
			out_cell(in->out, "%s", p->name);
			out_cell(in->out, "%s", settings);
			out_cell(in->out, "%s", p->description ? p->description : "");
		}
		free(settings);
	}
	if (in->json) {
		out_shut(in->out);
		out_shut(in->out);
	} else {
		out_table_end(in->out);
	}
	return EXIT_DONE;
}

int tune_run_profiles(struct invocation *in)
{
	struct host_ids h = {0};
	int status = host_ids_open(in, false, &h);

	if (!status)
		status = print_all(in, h.spec);
	host_ids_close(&h);
	return status;
}
