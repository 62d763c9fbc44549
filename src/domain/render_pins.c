// SPDX-License-Identifier: GPL-2.0-or-later
/* Pin vCPUs, QEMU's own threads and I/O threads to their CPUs. */
#include <inttypes.h>

#include "domain/domain.h"

static void add_pin(struct xml_node *tune, struct xml_node *before, const char *name,
	const char *attr, size_t number, const struct vfctl_cpuset *cpus)
{
	struct xml_node *pin = xml_add_before(tune, before, name);

	if (attr)
		xml_setf(pin, attr, "%zu", number);
	render_set_list(pin, "cpuset", cpus);
}

/* A dedicated vCPU is pinned to its CPU, a shared one to all shared CPUs of its cell. */
static struct vfctl_cpuset cpus_of(const struct vfctl_assignment *a, size_t vcpu)
{
	struct vfctl_cpuset one = {0};

	if (a->vcpus[vcpu] < VFCTL_CPU_MAX) {
		vfctl_cpuset_add(&one, a->vcpus[vcpu]);
		return one;
	}
	for (size_t i = 0; i < a->cell_count; i++)
		if (vcpu - a->cells[i].first_vcpu < a->cells[i].vcpu_count)
			return a->cells[i].shared_cpus;
	return one;
}

static void render_counts(struct render *r)
{
	struct xml_node *vcpu = render_section(r, "vcpu");

	xml_unset(vcpu, "cpuset");
	xml_unset(vcpu, "current");
	xml_set(vcpu, "placement", "static");
	xml_set_textf(vcpu, "%zu", r->assignment->vcpu_count);
	xml_remove_children(r->domain, "vcpus");
	xml_remove_children(r->domain, "iothreadids");
	if (r->guest->iothreads)
		xml_set_textf(
			render_section(r, "iothreads"), "%" PRIu32, r->guest->iothreads);
	else
		xml_remove_children(r->domain, "iothreads");
}

/*
 * FIFO for vCPUs that are alone on their CPU: on a shared CPU it would starve the others, on one of
 * QEMU's threads it would hang the guest.
 */
static void add_realtime(struct render *r, struct xml_node *tune, struct xml_node *before)
{
	uint32_t priority = r->guest->xml.realtime_priority;
	struct vfctl_cpuset vcpus = {0};
	struct xml_node *node;

	for (size_t i = 0; i < r->assignment->vcpu_count; i++)
		if (r->assignment->vcpus[i] < VFCTL_CPU_MAX &&
			!vfctl_cpuset_has(&r->assignment->emulator_cpus, r->assignment->vcpus[i]))
			vfctl_cpuset_add(&vcpus, (unsigned)i);
	if (!r->guest->xml.realtime || vfctl_cpuset_empty(&vcpus))
		return;
	node = xml_add_before(tune, before, "vcpusched");
	render_set_list(node, "vcpus", &vcpus);
	xml_set(node, "scheduler", "fifo");
	xml_setf(node, "priority", "%" PRIu32, priority ? priority : 1);
}

void render_pins(struct render *r)
{
	static const char *const ours[] = {
		"vcpupin", "emulatorpin", "iothreadpin", "vcpusched"};
	const struct vfctl_assignment *a = r->assignment;
	struct xml_node *tune, *before;

	render_counts(r);
	tune = render_section(r, "cputune");
	/* The template's scheduler is kept unless guest.yaml has one. */
	before = render_take_out(
		tune, ours, ARRAY_SIZE(ours) - !r->guest->xml.realtime);
	for (size_t i = 0; i < a->vcpu_count; i++) {
		struct vfctl_cpuset cpus = cpus_of(a, i);

		add_pin(tune, before, "vcpupin", "vcpu", i, &cpus);
	}
	if (!vfctl_cpuset_empty(&a->emulator_cpus))
		add_pin(tune, before, "emulatorpin", NULL, 0, &a->emulator_cpus);
	for (uint32_t i = 1; i <= r->guest->iothreads; i++)
		if (!vfctl_cpuset_empty(&a->iothread_cpus))
			add_pin(tune, before, "iothreadpin", "iothread", i,
				&a->iothread_cpus);
	add_realtime(r, tune, before);
	render_tune_refs(r, tune);
}
