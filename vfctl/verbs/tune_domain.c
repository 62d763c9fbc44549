// SPDX-License-Identifier: GPL-2.0-or-later
/* tune show DOMAIN: the host tuning of a running guest, and the guest's half. */
#include <errno.h>

#include "hook/guest_tuning.h"
#include "verbs/tune.h"

static const char *set_text(const struct vfctl_cpuset *cpus, char buf[256])
{
	vfctl_cpuset_format(cpus, buf, 256);
	return buf;
}

static void print_vectors(struct out *out, const struct vfctl_guest_tuned *t)
{
	static const char *const headings[] = {"VF", "IRQ", "CPUS", "EFFECTIVE", "WANTED", "NOTE"};
	char bdf[VFCTL_BDF_TEXT], cpus[256];

	if (!t->vector_count) {
		out_line(out, "  interrupts  none yet: they appear when the guest's driver "
			"enables them");
		return;
	}
	out_table(out, 2, headings, ARRAY_SIZE(headings));
	for (size_t i = 0; i < t->vector_count; i++) {
		const struct vfctl_tuned_vector *v = &t->vectors[i];

		out_cell(out, "%s", vfctl_bdf_format(&v->vf, bdf));
		out_cell(out, "%u", v->irq);
		out_cell(out, "%s", set_text(&v->cpus, cpus));
		out_cell(out, "%s", set_text(&v->effective, cpus));
		out_cell(out, "%s", set_text(&v->want, cpus));
		out_cell(out, "%s", v->managed ? "managed by the kernel" : "");
	}
	out_table_end(out);
}

static void print_text(struct out *out, const struct vfctl_guest_tuned *t)
{
	out_line(out, "%s: profile %s", t->name, t->asked.profile[0] ? t->asked.profile : "none");
	if (t->problem)
		out_fold(out, 14, "  not heeded  %s", t->problem);
	for (size_t i = 0; i < t->cpu_count; i++)
		out_line(out, "  CPU %-7u governor %s%s%s", t->cpus[i].cpu,
			t->cpus[i].governor[0] ? t->cpus[i].governor : "none (no cpufreq)",
			t->governor[0] ? ", wanted " : "", t->governor);
	if (t->cpu_latency_us != VFCTL_CPU_LATENCY_UNSAID)
		out_line(out, "  C-states    of more than %u us are %s", t->cpu_latency_us, t->watched
			? "not entered while it runs" : "entered: no process holds the limit (check "
				"that the hook is installed)");
	if (t->interrupts || t->vector_count)
		print_vectors(out, t);
	if (t->vector_count && t->may_be_posted)
		out_fold(out, 2, "  This machine may post interrupts directly into the guest; the "
			"CPUs above do not apply to those.");
	if (t->irqbalance)
		out_fold(out, 2, "  %s", t->irqbalance);
	out_fold(out, 2, "  The moderation of its VFs belongs to the guest's driver: vfctl tune guest %s.",
		t->name);
}

#define OF struct vfctl_tuned_cpu
static const struct member cpu_table[] = {
	FIELD(cpu, "CPU that only this domain uses"),
	FIELD(governor, "present governor; null: the CPU has no cpufreq"), END};
#undef OF

#define OF struct vfctl_tuned_vector
static const struct member vector_table[] = {
	FIELD(vf, "PCI address of the VF"),
	FIELD(irq, "number of the interrupt"),
	FIELD(managed, "the kernel places the interrupt by itself"),
	FIELD(cpus, "CPUs that may handle the interrupt"),
	FIELD(effective, "CPUs that handle the interrupt"),
	FIELD_AS("wanted", want, "CPUs that should handle the interrupt"), END};
#undef OF

#define OF struct vfctl_guest_tuned
NUMBER_OF(tuned_latency, OF, it->cpu_latency_us != VFCTL_CPU_LATENCY_UNSAID, it->cpu_latency_us)
const struct member answer_tuned[] = {
	FIELD_AS("domain", name, "name of the domain", FILLED),
	FIELD(uuid, "UUID of the domain", FILLED),
	FIELD_AS("profile", asked.profile, "profile of its metadata"),
	FIELD(problem, "why that profile is not used"),
	FIELD(governor, "wanted governor of its CPUs"),
	NUMBER("cpu_latency_us", tuned_latency, "C-states with a longer exit latency are not "
		"entered; null: no limit", NULLABLE),
	FIELD(interrupts, "vfctl places its interrupts"),
	FIELD(watched, "the process that limits the C-states and places the interrupts is running"),
	FIELD(may_be_posted, "this machine can post interrupts: the CPUs of posted interrupts have "
		"no effect"),
	FIELD(irqbalance, "why irqbalance may move the interrupts"),
	LIST("cpus", cpus, cpu_count, cpu_table, "CPUs of the domain"),
	LIST("vectors", vectors, vector_count, vector_table, "interrupts of its VFs"), END};
#undef OF

int tune_show_domain(struct invocation *in, const struct vfctl_host_spec *spec)
{
	_cleanup_(vfctl_guest_tuned_freep) struct vfctl_guest_tuned *tuned = NULL;
	int r = vfctl_guest_tuning_read(in->ctx, spec, in->args[1], &tuned);

	if (r < 0)
		return r == -ENOENT ? fail_as(in, EXIT_USAGE, r, "'%s' is neither a PF of this host nor "
			"a running domain", in->args[1]) : fail(in, r);
	if (in->arg_count > 2)
		return usage(in, "profiles and settings are for a PF; what a guest asks for is in its "
			"guest.yaml (tuning:)");
	if (in->json)
		answer_put(in->out, NULL, answer_tuned, tuned);
	else
		print_text(in->out, tuned);
	return EXIT_DONE;
}
