// SPDX-License-Identifier: GPL-2.0-or-later
/* tune profiles: what each of them wants. */
#include <stdlib.h>

#include "tune.h"

static void print_json(struct out *out, const struct vfctl_profile *p, const char *settings)
{
	out_open(out, NULL, '{');
	out_str(out, "name", p->name);
	if (p->description)
		out_str(out, "description", p->description);
	out_str(out, "coalesce", settings);
	if (p->cpu_latency_us != VFCTL_CPU_LATENCY_UNSAID)
		out_int(out, "cpu_latency_us", p->cpu_latency_us);
	if (p->governor)
		out_str(out, "governor", p->governor);
	out_bool(out, "interrupts", p->interrupts);
	out_bool(out, "busy_poll", p->busy_poll);
	out_shut(out);
}

int tune_run_profiles(struct invocation *in)
{
	static const char *const headings[] = {"PROFILE", "MODERATION", "FOR"};

	if (in->json) {
		out_open(in->out, NULL, '{');
		out_open(in->out, "profiles", '[');
	} else {
		out_table(in->out, 0, headings, ARRAY_SIZE(headings));
	}
	for (size_t i = 0; i < vfctl_profile_count(); i++) {
		const struct vfctl_profile *p = vfctl_profile_at(i);
		char *settings = vfctl_coalesce_format(&p->coalesce);

		if (!settings)
			return fail(in, -ENOMEM);
		if (in->json) {
			print_json(in->out, p, settings);
		} else {
			out_cell(in->out, "%s", p->name);
			out_cell(in->out, "%s", settings);
			out_cell(in->out, "%s", p->description);
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
