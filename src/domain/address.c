// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The width of the guest's physical addresses. QEMU's default is 40, regardless of the host: 1 TiB
 * for memory and BARs. UEFI firmware puts 64-bit BARs into the topmost eighth only, and a device
 * whose BARs do not fit there is missing in the guest without a message (edk2,
 * OvmfPkg/Library/PlatformInitLib/MemDetect.c; tianocore/edk2#12997). An IOMMU that translates
 * fewer bits than the guest uses refuses its BARs: VFIO_MAP_DMA, EINVAL.
 */
#include <inttypes.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "domain/domain.h"

#define QEMU_BITS 40
#define MAXPHYSADDR_FROM_BYTES (UINT64_C(256) << 30)
#define MAX_BITS 52 /* the maximum of x86 */
#define WINDOW_SHIFT 3 /* an eighth; a quarter in edk2 of 2026-08 and later */

static unsigned number_of(const struct xml_node *node, const char *attr)
{
	const char *text = xml_get(node, attr);
	unsigned n = 0;

	return text && parse_u32(text, 1, MAX_BITS, &n) == 0 ? n : 0;
}

/* Encrypted guests boot with OVMF, also where <os> does not say so. */
static bool is_encrypted(const struct xml_node *domain)
{
	const char *type = xml_get(xml_child(domain, "launchSecurity"), "type");

	return type && (str_starts(type, "sev") || str_eq(type, "tdx"));
}

/*
 * A loader in memory (type='rom', the default) may be either firmware; the names of SeaBIOS are
 * bios.bin, bios-256k.bin and bios-microvm.bin. The names of OVMF differ in each distribution.
 */
static bool is_uefi_loader(const struct xml_node *loader)
{
	char path[4096];
	const char *text = xml_text(loader, path, sizeof(path)), *name;

	if (xml_get_is(loader, "type", "pflash") || xml_get_is(loader, "stateless", "yes") ||
		xml_get_is(loader, "secure", "yes"))
		return true;
	if (!text || !*text)
		return false;
	name = strrchr(text, '/');
	return !strcasestr(name ? name : text, "bios");
}

static bool uses_uefi(const struct xml_node *domain)
{
	struct xml_node *os = xml_child(domain, "os");

	return xml_get_is(os, "firmware", "efi") || is_encrypted(domain) ||
		is_uefi_loader(xml_child(os, "loader"));
}

static bool is_uefi(const struct render *r)
{
	return uses_uefi(r->domain);
}

uint64_t vfctl_domain_bar_room(bool uefi, unsigned bits, uint64_t memory_bytes)
{
	uint64_t all = UINT64_C(1) << bits;

	if (uefi)
		return all >> WINDOW_SHIFT;
	return memory_bytes < all ? all - memory_bytes : 0;
}

static bool has_room(const struct render *r, unsigned bits)
{
	return r->request->address.bar_bytes <=
		vfctl_domain_bar_room(is_uefi(r), bits, r->assignment->memory_bytes);
}

/* The bits that both host and IOMMU support; 0: not known. */
static unsigned widest(const struct vfctl_address_space *a)
{
	return a->iommu_bits && a->iommu_bits < a->cpu_bits ? a->iommu_bits : a->cpu_bits;
}

static void warn_of_bars(const struct render *r, unsigned bits, const char *remedy)
{
	log_warn(r->ctx, "%s: the BARs of its devices take %" PRIu64 " GiB, and with addresses of %u bits "
		"the guest's firmware has %" PRIu64 " GiB for them: some device may be missing in the "
		"guest; %s", r->guest->name, r->request->address.bar_bytes >> 30, bits,
		vfctl_domain_bar_room(is_uefi(r), bits, r->assignment->memory_bytes) >> 30, remedy);
}

/* Give the guest all bits of the host, or as many as the IOMMU translates. */
static void widen(struct render *r, struct xml_node *cpu)
{
	const struct vfctl_address_space *a = &r->request->address;
	struct xml_node *child = render_child(cpu, "maxphysaddr", NULL);

	xml_set(child, "mode", "passthrough");
	xml_unset(child, "bits");
	xml_unset(child, "limit");
	if (!a->bar_bytes || widest(a) == a->cpu_bits)
		return;
	if (r->version >= SINCE_MAXPHYSADDR_LIMIT) {
		xml_setf(child, "limit", "%u", widest(a));
		return;
	}
	xml_set(child, "mode", "emulate");
	xml_setf(child, "bits", "%u", widest(a));
}

/* QEMU's 40 bits are more than the IOMMU translates. */
static void narrow(struct render *r, struct xml_node *cpu)
{
	struct xml_node *child = render_child(cpu, "maxphysaddr", NULL);

	xml_set(child, "mode", "emulate");
	xml_unset(child, "limit");
	xml_setf(child, "bits", "%u", r->request->address.iommu_bits);
}

static const char *remedy_of(const struct render *r)
{
	if (is_encrypted(r->domain))
		return "cpu: host-passthrough has all bits of the host";
	if (is_uefi(r))
		return "SeaBIOS has no such limit (a template without firmware='efi'), and cpu: "
			"host-passthrough has all bits of the host";
	return "give it fewer of them";
}

static void choose(struct render *r, struct xml_node *cpu, bool host)
{
	const struct vfctl_address_space *a = &r->request->address;
	bool large = r->assignment->memory_bytes >= MAXPHYSADDR_FROM_BYTES;
	unsigned bits = QEMU_BITS;

	if (r->version < SINCE_MAXPHYSADDR) {
		if (!has_room(r, QEMU_BITS))
			warn_of_bars(r, QEMU_BITS, "libvirt 8.7 can give it more bits (maxphysaddr)");
		return;
	}
	if (a->bar_bytes && a->iommu_bits && a->iommu_bits < QEMU_BITS) {
		narrow(r, cpu);
		bits = a->iommu_bits;
	} else if (host && (large || !has_room(r, QEMU_BITS))) {
		widen(r, cpu);
		bits = widest(a) ? widest(a) : MAX_BITS;
	}
	if (!has_room(r, bits))
		warn_of_bars(r, bits, remedy_of(r));
}

/* A value from the file or the template is kept, and its effect is reported. */
static void look_at_chosen(const struct render *r, const struct xml_node *cpu)
{
	const struct vfctl_address_space *a = &r->request->address;
	const struct xml_node *node = xml_child(cpu, "maxphysaddr");
	unsigned bits = node ? number_of(node, "bits") : 0;

	if (xml_get_is(node, "mode", "passthrough"))
		bits = widest(a) ? widest(a) : MAX_BITS;
	else if (!bits)
		bits = QEMU_BITS;
	if (!has_room(r, bits))
		warn_of_bars(r, bits, "remove maxphysaddr from the template and from xml: in "
			"guest.yaml, so that vfctl chooses it when needed");
}

void render_address(struct render *r, struct xml_node *cpu, bool host)
{
	enum vfctl_choice choice = r->guest->xml.maxphysaddr;
	bool all_bits = xml_get_is(xml_child(cpu, "maxphysaddr"), "mode", "passthrough");

	/* libvirt allows all bits of the host only to CPUs of these modes. */
	if (all_bits && !host && !str_eq(r->guest->cpu, "maximum"))
		xml_remove_children(cpu, "maxphysaddr");
	if (choice == VFCTL_CHOICE_OFF)
		xml_remove_children(cpu, "maxphysaddr");
	else if (choice == VFCTL_CHOICE_ON)
		widen(r, cpu);
	else if (!xml_child(cpu, "maxphysaddr")) {
		choose(r, cpu, host);
		return;
	}
	look_at_chosen(r, cpu);
}

/* ---- an existing domain ---- */

static bool uses_iommufd(const struct xml_node *domain)
{
	xml_each(device, xml_child(domain, "devices"), NULL)
		if (xml_get_is(xml_child(device, "driver"), "iommufd", "yes"))
			return true;
	return xml_get_is(xml_child(domain, "iommufd"), "enabled", "yes");
}

void parsed_read_address(const struct xml_node *domain, struct vfctl_domain_address *ret)
{
	const struct xml_node *node = xml_child(xml_child(domain, "cpu"), "maxphysaddr");

	*ret = (struct vfctl_domain_address){.uefi = uses_uefi(domain), .iommufd = uses_iommufd(domain),
		.passthrough = xml_get_is(node, "mode", "passthrough"),
		.bits = number_of(node, "bits"), .limit = number_of(node, "limit")};
	if (!ret->bits)
		ret->bits = QEMU_BITS;
}

int vfctl_domain_address_read(struct vfctl_ctx *ctx, const char *text,
	struct vfctl_domain_address *ret)
{
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r = xml_parse_domain(ctx, "domain", text, &xml);

	if (r == 0)
		parsed_read_address(xml_root(xml), ret);
	return r;
}
