// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <inttypes.h>

#include "domain/domain.h"

#define GIB (UINT64_C(1) << 30)

/* QEMU's own default of 40 address bits ends at 1 TiB, PCI hole and large BARs included.
 */
#define MAXPHYSADDR_FROM_BYTES (256 * GIB)

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
	if (assignment_shares(r->assignment))
		xml_remove_children(kvm, "hint-dedicated");
	else
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
	render_cells(r, cpu);
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
