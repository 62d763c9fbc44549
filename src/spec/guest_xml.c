// SPDX-License-Identifier: GPL-2.0-or-later
/* guest.yaml's key xml: settings of the domain XML that the placement leaves open. */
#include <errno.h>

#include "base/parse.h"
#include "spec/guest.h"

static const char *const cache_text[] = {
	"auto", "passthrough", "emulate", "disable", "none", NULL};
static const char *const ioapic_text[] = {"auto", "kvm", "qemu", NULL};

/* auto, on or off. */
static int read_choice(struct reader *r, const struct key *key,
	const struct doc_node *value, void *object)
{
	enum vfctl_choice *choice = (void *)((char *)object + key->offset);
	const char *text;
	bool on;
	int error = reader_text(r, key, value, &text);

	if (error < 0)
		return error;
	if (str_eq(text, "auto")) {
		*choice = VFCTL_CHOICE_AUTO;
		return 0;
	}
	if (parse_bool(text, &on) < 0)
		return reader_fail(r, value, key->name, -EINVAL,
			"'%.64s' is not allowed; it must be auto, true or false", text);
	*choice = on ? VFCTL_CHOICE_ON : VFCTL_CHOICE_OFF;
	return 0;
}

#define X(member) offsetof(struct vfctl_guest_xml, member)
/* clang-format off */
#define CHOICE(name) {#name, read_choice, X(name), 0, 0, NULL}
/* clang-format on */

static const struct key xml_keys[] = {
	{"realtime", read_switch, X(realtime), 0, 0, NULL},
	{"realtime_priority", read_u32, X(realtime_priority), 1, 99, NULL},
	CHOICE(nosharepages),
	CHOICE(preallocate),
	CHOICE(shared_memory),
	{"cpu_cache", read_word, X(cpu_cache), 0, 0, cache_text},
	CHOICE(l3),
	CHOICE(distances),
	CHOICE(maxphysaddr),
	CHOICE(migratable),
	{"ioapic", read_word, X(ioapic), 0, 0, ioapic_text},
	CHOICE(hint_dedicated),
	CHOICE(poll_control),
	CHOICE(hidden),
	CHOICE(hpet),
	CHOICE(iommu),
	CHOICE(expanders),
	{"expander_ports", read_u32, X(expander_ports), 0, VFCTL_EXPANDER_PORTS_MAX, NULL},
	CHOICE(rom_bar),
	CHOICE(iommufd),
	CHOICE(balloon),
	CHOICE(usb),
	CHOICE(rng),
};

static const char *const choice_text[] = {"auto", NULL};
static const struct shape xml_shapes[] = {
	{.read = read_choice, .kinds = SHAPE_SWITCH, .choices = choice_text},
};
const struct table xml_table = {xml_keys, ARRAY_SIZE(xml_keys), xml_shapes,
	ARRAY_SIZE(xml_shapes), .required = NULL};

int read_guest_xml(struct reader *r, const struct key *key, const struct doc_node *value,
	void *object)
{
	struct vfctl_guest *guest = object;

	return reader_inner(r, key, value, &xml_table, &guest->xml);
}

/* Reject what libvirt or QEMU would refuse, or what would have no effect. */
int check_guest_xml(
	struct reader *r, const struct vfctl_guest *guest, const struct doc_node *at)
{
	const struct vfctl_guest_xml *x = &guest->xml;
	bool kvm = guest->virtualization == VFCTL_VIRTUALIZATION_KVM;
	bool host = str_eq(guest->cpu, "host-passthrough");
	const struct {
		bool wrong;
		const char *key, *choices;
	} rules[] = {
		{x->realtime && !kvm, "realtime", "emulated vCPUs cannot run in real time"},
		{x->realtime && guest->shared_vcpus >= guest->vcpus, "realtime",
			"it needs vCPUs with CPUs of their own"},
		{x->realtime_priority && !x->realtime, "realtime_priority",
			"it needs realtime: true"},
		{x->cpu_cache == VFCTL_CPU_CACHE_PASSTHROUGH && !host, "cpu_cache",
			"passthrough needs cpu host-passthrough"},
		{x->maxphysaddr == VFCTL_CHOICE_ON && !host, "maxphysaddr",
			"it needs cpu host-passthrough"},
		{x->migratable != VFCTL_CHOICE_AUTO && !host, "migratable",
			"it is valid only with cpu: host-passthrough"},
		{x->hint_dedicated == VFCTL_CHOICE_ON && !host, "hint_dedicated",
			"libvirt accepts it only with cpu: host-passthrough"},
		{x->hint_dedicated == VFCTL_CHOICE_ON && guest->shared_vcpus,
			"hint_dedicated", "shared vCPUs have no CPUs of their own"},
		{(x->hidden != VFCTL_CHOICE_AUTO || x->ioapic != VFCTL_IOAPIC_AUTO ||
			 x->poll_control != VFCTL_CHOICE_AUTO) && !kvm,
			"hidden, ioapic, poll_control", "they need virtualization kvm"},
		{x->iommu == VFCTL_CHOICE_ON && x->ioapic == VFCTL_IOAPIC_KVM, "ioapic",
			"interrupts can be remapped by an IOMMU only with ioapic qemu"},
		{x->iommu == VFCTL_CHOICE_OFF && guest->vcpus > VFCTL_VCPUS_WITHOUT_IOMMU,
			"iommu", "libvirt rejects more than 255 vCPUs without it"},
		{x->balloon == VFCTL_CHOICE_ON && guest->vf_count, "balloon",
			"memory that a VF may write cannot be returned to the host"},
	};

	for (size_t i = 0; i < ARRAY_SIZE(rules); i++) {
		_free_ char *key = NULL;

		if (!rules[i].wrong)
			continue;
		key = str_format("xml.%s", rules[i].key);
		return key ? reader_fail(r, at, key, -EINVAL, "%s; remove the key or change "
							      "the other one",
				     rules[i].choices)
			   : ctx_oom(r->ctx);
	}
	return 0;
}
