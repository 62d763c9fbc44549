// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>

#include "domain/domain.h"

#define GIB (UINT64_C(1) << 30)

/* Versions in which libvirt learnt an element; older ones drop or refuse it. */
#define SINCE_CPU_MAXIMUM 7001000
#define SINCE_ALLOCATION_THREADS 8002000
#define SINCE_MAXPHYSADDR 8007000

/* QEMU's own default of 40 address bits ends at 1 TiB, PCI hole and large BARs included.
 */
#define MAXPHYSADDR_FROM_BYTES (256 * GIB)

static void set_size(struct xml_node *node, uint64_t bytes)
{
	xml_set(node, "unit", "KiB");
	xml_set_textf(node, "%" PRIu64, bytes / 1024);
}

static void render_backing(struct render *r)
{
	const struct vfctl_assignment *a = r->assignment;
	struct xml_node *backing = render_section(r, "memoryBacking"), *page, *allocation;
	bool added;

	xml_remove_children(backing, "hugepages");
	if (a->page_bytes != VFCTL_PAGES_BASE) {
		page = xml_add(
			xml_add_before(backing, xml_child(backing, NULL), "hugepages"),
			"page");
		xml_setf(page, "size", "%" PRIu64, a->page_bytes / 1024);
		xml_set(page, "unit", "KiB");
		xml_set(page, "nodeset", "0");
	}
	/* Merged pages move between nodes, and the first write to one stalls the guest.
	 */
	render_child(backing, "nosharepages", NULL);
	if (r->guest->locked)
		render_child(backing, "locked", NULL);
	allocation = render_child(backing, "allocation", &added);
	if (!added)
		return;
	xml_set(allocation, "mode", "immediate");
	if (r->version >= SINCE_ALLOCATION_THREADS && a->vcpu_count > 1)
		xml_setf(allocation, "threads", "%zu",
			a->vcpu_count < 16 ? a->vcpu_count : 16);
}

static void render_numatune(struct render *r)
{
	struct xml_node *tune = render_section(r, "numatune"), *node;

	xml_remove_children(tune, "memory");
	xml_remove_children(tune, "memnode");
	node = xml_add(tune, "memory");
	xml_set(node, "mode", "strict");
	xml_setf(node, "nodeset", "%d", r->assignment->node);
	node = xml_add(tune, "memnode");
	xml_set(node, "cellid", "0");
	xml_set(node, "mode", "strict");
	xml_setf(node, "nodeset", "%d", r->assignment->node);
}

void render_memory(struct render *r)
{
	set_size(render_section(r, "memory"), r->assignment->memory_bytes);
	/* The size may not be above it, and without balloon it never differs. */
	xml_remove_children(r->domain, "currentMemory");
	xml_remove_children(r->domain, "maxMemory");
	render_backing(r);
	render_numatune(r);
}

static void add_pin(struct xml_node *tune, const char *name,
	const struct vfctl_cpuset *cpus, const char *attr, size_t number)
{
	struct xml_node *pin = xml_add(tune, name);
	/* "4095," for each CPU is the longest form. */
	size_t size = vfctl_cpuset_format(cpus, NULL, 0) + 1;
	_free_ char *text = malloc(size);

	if (attr)
		xml_setf(pin, attr, "%zu", number);
	if (text)
		vfctl_cpuset_format(cpus, text, size);
	xml_setf(pin, "cpuset", "%s", text ? text : "");
}

void render_pins(struct render *r)
{
	static const char *const ours[] = {"vcpupin", "emulatorpin", "iothreadpin"};
	const struct vfctl_assignment *a = r->assignment;
	struct xml_node *vcpu = render_section(r, "vcpu"), *tune;

	xml_unset(vcpu, "cpuset");
	xml_unset(vcpu, "current");
	xml_set(vcpu, "placement", "static");
	xml_set_textf(vcpu, "%zu", a->vcpu_count);
	xml_remove_children(r->domain, "vcpus");
	xml_remove_children(r->domain, "iothreads");
	xml_remove_children(r->domain, "iothreadids");
	if (r->guest->iothreads)
		xml_set_textf(
			render_section(r, "iothreads"), "%" PRIu32, r->guest->iothreads);
	tune = render_section(r, "cputune");
	for (size_t i = 0; i < ARRAY_SIZE(ours); i++)
		xml_remove_children(tune, ours[i]);
	for (size_t i = 0; i < a->vcpu_count; i++) {
		struct vfctl_cpuset one = {0};

		vfctl_cpuset_add(&one, a->vcpus[i]);
		add_pin(tune, "vcpupin", &one, "vcpu", i);
	}
	if (!vfctl_cpuset_empty(&a->emulator_cpus))
		add_pin(tune, "emulatorpin", &a->emulator_cpus, NULL, 0);
	for (uint32_t i = 1; i <= r->guest->iothreads; i++)
		if (!vfctl_cpuset_empty(&a->iothread_cpus))
			add_pin(tune, "iothreadpin", &a->iothread_cpus, "iothread", i);
}

/* A feature the template does not mention. */
static void offer(
	struct xml_node *parent, const char *name, const char *attr, const char *value)
{
	struct xml_node *node;
	bool added;

	node = render_child(parent, name, &added);
	if (added && attr)
		xml_set(node, attr, value);
}

static void render_features(struct render *r, bool host_cpu)
{
	struct xml_node *features = render_section(r, "features"), *kvm;

	offer(features, "acpi", NULL, NULL);
	offer(features, "apic", NULL, NULL);
	if (!r->kvm)
		return;
	offer(features, "pmu", "state", r->guest->pmu ? "on" : "off");
	offer(features, "ioapic", "driver", "kvm");
	/* vCPUs own their CPUs: no paravirtual spinlocks, and the guest may poll at idle.
	 */
	if (!host_cpu)
		return;
	kvm = render_child(features, "kvm", NULL);
	offer(kvm, "hint-dedicated", "state", "on");
	offer(kvm, "poll-control", "state", "on");
}

static void render_clock(struct render *r)
{
	static const struct {
		const char *name, *attr, *value;
		bool kvm_only;
	} timers[] = {{"pit", "tickpolicy", "delay", true},
		{"rtc", "tickpolicy", "catchup", true}, {"hpet", "present", "no", false}};
	struct xml_node *clock;

	if (xml_child(r->domain, "clock"))
		return;
	clock = render_section(r, "clock");
	xml_set(clock, "offset", "utc");
	for (size_t i = 0; i < ARRAY_SIZE(timers); i++) {
		struct xml_node *timer;

		if (timers[i].kvm_only && !r->kvm)
			continue;
		timer = xml_add(clock, "timer");
		xml_set(timer, "name", timers[i].name);
		xml_set(timer, timers[i].attr, timers[i].value);
	}
}

static void set_mode(struct render *r, struct xml_node *cpu)
{
	static const char *const modes[] = {"host-passthrough", "host-model", "maximum"};
	const char *wanted = r->guest->cpu;
	struct xml_node *model;

	xml_remove_children(cpu, "model");
	for (size_t i = 0; i < ARRAY_SIZE(modes); i++)
		if (str_eq(modes[i], wanted)) {
			xml_unset(cpu, "match");
			xml_set(cpu, "mode", wanted);
			return;
		}
	xml_set(cpu, "mode", "custom");
	xml_set(cpu, "match", "exact");
	model = xml_add_before(cpu, xml_child(cpu, NULL), "model");
	xml_set(model, "fallback", "forbid");
	xml_set_text(model, wanted);
}

static void set_topology(struct render *r, struct xml_node *cpu)
{
	const struct vfctl_assignment *a = r->assignment;
	struct xml_node *node, *cell;

	xml_remove_children(cpu, "topology");
	xml_remove_children(cpu, "numa");
	node = xml_add(cpu, "topology");
	xml_set(node, "sockets", "1");
	xml_setf(node, "cores", "%zu", a->vcpu_count / a->guest_threads);
	xml_setf(node, "threads", "%" PRIu32, a->guest_threads);
	cell = xml_add(xml_add(cpu, "numa"), "cell");
	xml_set(cell, "id", "0");
	xml_setf(cell, "cpus", a->vcpu_count > 1 ? "0-%zu" : "%zu", a->vcpu_count - 1);
	xml_setf(cell, "memory", "%" PRIu64, a->memory_bytes / 1024);
	xml_set(cell, "unit", "KiB");
}

int render_cpu(struct render *r)
{
	bool host = str_eq(r->guest->cpu, "host-passthrough");
	struct xml_node *cpu;

	if (str_eq(r->guest->cpu, "maximum") && r->version < SINCE_CPU_MAXIMUM)
		return ctx_fail(r->ctx, -EINVAL,
			"%s: cpu maximum needs libvirt 7.1; name a model instead",
			r->guest->name);
	render_features(r, host);
	cpu = render_section(r, "cpu");
	set_mode(r, cpu);
	set_topology(r, cpu);
	/* A VF keeps the guest from migrating; unmigratable, it gets the invariant TSC.
	 */
	if (host && !xml_get(cpu, "migratable"))
		xml_set(cpu, "migratable", "off");
	if (!host)
		xml_unset(cpu, "migratable");
	if (host)
		offer(cpu, "cache", "mode", "passthrough");
	if (host && r->version >= SINCE_MAXPHYSADDR &&
		r->assignment->memory_bytes >= MAXPHYSADDR_FROM_BYTES)
		offer(cpu, "maxphysaddr", "mode", "passthrough");
	render_clock(r);
	return 0;
}
