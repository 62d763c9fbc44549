// SPDX-License-Identifier: GPL-2.0-or-later

#include "domain/domain.h"

/* QEMU's default of 40 address bits ends at 1 TiB, including the PCI hole and large BARs. */

/* Set a feature that the template does not mention. */
static void offer(
	struct xml_node *parent, const char *name, const char *attr, const char *value)
{
	struct xml_node *node;
	bool added;

	node = render_child(parent, name, &added);
	if (added && attr)
		xml_set(node, attr, value);
}

static void render_ioapic(struct render *r, struct xml_node *features)
{
	enum vfctl_ioapic asked = r->guest->xml.ioapic;
	const char *driver = asked == VFCTL_IOAPIC_QEMU ? "qemu" : "kvm";

	/* Interrupts that KVM delivers itself bypass the IOMMU. */
	if (asked == VFCTL_IOAPIC_AUTO && render_wants_iommu(r))
		driver = "qemu";
	else if (asked == VFCTL_IOAPIC_AUTO && xml_child(features, "ioapic"))
		return;
	xml_set(render_child(features, "ioapic", NULL), "driver", driver);
}

static void render_kvm(struct render *r, struct xml_node *features, bool host_cpu)
{
	const struct vfctl_guest_xml *x = &r->guest->xml;
	bool shares = assignment_shares(r->assignment);
	const struct message own = {"on", "off", host_cpu ? "on" : NULL};
	const struct message dedicated = {"on", "off", host_cpu && !shares ? "on" : NULL};
	const struct message hidden = {"on", "off", NULL};
	struct xml_node *kvm = render_child(features, "kvm", NULL);

	/*
	 * A guest that believes its CPUs to be dedicated spins when it should let others run.
	 * libvirt allows the hint for host-passthrough only.
	 */
	if ((shares || !host_cpu) && x->hint_dedicated == VFCTL_CHOICE_AUTO)
		xml_remove_children(kvm, "hint-dedicated");
	render_choice(kvm, "hint-dedicated", "state", x->hint_dedicated, &dedicated);
	render_choice(kvm, "poll-control", "state", x->poll_control, &own);
	render_choice(kvm, "hidden", "state", x->hidden, &hidden);
	if (!xml_has_children(kvm))
		xml_remove(kvm);
}

static void render_features(struct render *r, bool host_cpu)
{
	struct xml_node *features = render_section(r, "features");

	offer(features, "acpi", NULL, NULL);
	offer(features, "apic", NULL, NULL);
	if (!r->kvm)
		return;
	offer(features, "pmu", "state", r->guest->pmu ? "on" : "off");
	render_ioapic(r, features);
	render_kvm(r, features, host_cpu);
}

static void render_hpet(struct render *r)
{
	enum vfctl_choice choice = r->guest->xml.hpet;
	struct xml_node *clock = xml_child(r->domain, "clock"), *timer;

	if (choice == VFCTL_CHOICE_AUTO)
		return;
	for (timer = xml_child(clock, "timer"); timer; timer = xml_next(timer, "timer"))
		if (xml_get_is(timer, "name", "hpet"))
			break;
	if (!timer) {
		timer = xml_add(clock, "timer");
		xml_set(timer, "name", "hpet");
	}
	xml_set(timer, "present", choice == VFCTL_CHOICE_ON ? "yes" : "no");
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

/* A <vendor> belongs to a <model>; dumpxml of a running guest has both, and check='full'. */
static void clear_model(struct xml_node *cpu, const char *wanted)
{
	char buf[64];
	const char *model = xml_text(xml_child(cpu, "model"), buf, sizeof(buf));

	if (!model || !str_eq(model, wanted)) {
		xml_remove_children(cpu, "vendor");
		xml_unset(cpu, "check");
	}
	xml_remove_children(cpu, "model");
}

static void set_mode(struct render *r, struct xml_node *cpu)
{
	static const char *const modes[] = {"host-passthrough", "host-model", "maximum"};
	const char *wanted = r->guest->cpu;
	struct xml_node *model;

	clear_model(cpu, wanted);
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

/* A guest with another CPU model has the caches of that model. */
static void render_cache(struct render *r, struct xml_node *cpu, bool host)
{
	static const char *const modes[] = {[VFCTL_CPU_CACHE_PASSTHROUGH] = "passthrough",
		[VFCTL_CPU_CACHE_EMULATE] = "emulate",
		[VFCTL_CPU_CACHE_DISABLE] = "disable"};
	enum vfctl_cpu_cache wanted = r->guest->xml.cpu_cache;
	struct xml_node *cache = xml_child(cpu, "cache");

	if (wanted == VFCTL_CPU_CACHE_NONE ||
		(!host && xml_get_is(cache, "mode", "passthrough"))) {
		xml_remove_children(cpu, "cache");
		cache = NULL;
	}
	if (wanted == VFCTL_CPU_CACHE_AUTO && host && !cache)
		wanted = VFCTL_CPU_CACHE_PASSTHROUGH;
	if (wanted == VFCTL_CPU_CACHE_AUTO || wanted == VFCTL_CPU_CACHE_NONE)
		return;
	cache = render_child(cpu, "cache", NULL);
	/* QEMU can emulate only the third level. */
	if (wanted == VFCTL_CPU_CACHE_EMULATE)
		xml_set(cache, "level", "3");
	else
		xml_unset(cache, "level");
	xml_set(cache, "mode", modes[wanted]);
}

/* A guest with a VF cannot migrate anyway; without migration it can have the invariant TSC. */
static void render_migratable(struct render *r, struct xml_node *cpu, bool host)
{
	enum vfctl_choice choice = r->guest->xml.migratable;

	if (!host)
		xml_unset(cpu, "migratable");
	else if (choice != VFCTL_CHOICE_AUTO || !xml_get(cpu, "migratable"))
		xml_set(cpu, "migratable", choice == VFCTL_CHOICE_ON ? "on" : "off");
}

int render_cpu(struct render *r)
{
	bool host = str_eq(r->guest->cpu, "host-passthrough");
	struct xml_node *cpu;

	render_features(r, host);
	cpu = render_section(r, "cpu");
	set_mode(r, cpu);
	render_cells(r, cpu);
	render_migratable(r, cpu, host);
	render_cache(r, cpu, host);
	render_address(r, cpu, host);
	render_clock(r);
	render_hpet(r);
	return 0;
}
