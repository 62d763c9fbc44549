// SPDX-License-Identifier: GPL-2.0-or-later
/* Domains with host devices: what will fail when they start. */
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>

#include "checks/guest.h"
#include "domain/definition.h"
#include "facts/snapshot/address.h"
#include "facts/snapshot/memlock.h"
#include "host/host.h"
#include "pci/device.h"

#define MIB(bytes) (((bytes) + (1 << 20) - 1) >> 20)

/* ---- addresses ---- */

static unsigned bits_of(const struct guest *g, const struct vfctl_address_space *host)
{
	const struct vfctl_domain_address *a = &g->parsed->address;

	if (!a->passthrough)
		return a->bits;
	return a->limit && a->limit < host->cpu_bits ? a->limit : host->cpu_bits;
}

static void look_at_bars(struct check_ctx *e, const struct guest *g, void *host)
{
	unsigned bits = bits_of(g, host);
	uint64_t room;

	if (!bits)
		return;
	room = vfctl_domain_bar_room(g->parsed->address.uefi, bits, 0);
	if (g->bar_bytes > room)
		found(e, g->name, "its devices' BARs take %" PRIu64 " GiB, and with addresses "
			"of %u bits %s has %" PRIu64 " GiB for them", g->bar_bytes >> 30, bits,
			g->parsed->address.uefi ? "UEFI" : "the guest", room >> 30);
}

static void check_guest_bars(struct check_ctx *e)
{
	struct vfctl_address_space host = {0};

	tell_unread_guests(e);
	address_widths_read(e->ctx, &host);
	each_guest(e, look_at_bars, &host);
}

static void look_at_width(struct check_ctx *e, const struct guest *g, void *data)
{
	const struct vfctl_address_space *host = data;
	unsigned bits = bits_of(g, host);

	/* UEFI places BARs at the top, SeaBIOS directly after the memory. */
	if (g->parsed->address.uefi && host->iommu_bits && bits > host->iommu_bits && g->bar_bytes)
		found(e, g->name, "its addresses have %u bits, but the IOMMU in /sys/class/iommu "
			"translates %u", bits, host->iommu_bits);
}

static void check_guest_width(struct check_ctx *e)
{
	struct vfctl_address_space host = {0};

	address_widths_read(e->ctx, &host);
	each_guest(e, look_at_width, &host);
}

/* ---- memory ---- */

/* VFIO pins all memory once or, with a virtual IOMMU, once for each device. */
static uint64_t pinned(const struct vfctl_memlock *m)
{
	uint64_t times = m->others + (m->iommu ? m->vfio_devices : m->vfio_devices > 0), bytes;

	return __builtin_mul_overflow(times, m->memory_bytes, &bytes) ? UINT64_MAX : bytes;
}

/*
 * libvirt uses it both as the limit of locked memory and as the limit of the guest's control group.
 */
static void look_at_hard_limit(struct check_ctx *e, const struct guest *g, void *data)
{
	struct vfctl_memlock m = g->parsed->memlock;
	uint64_t limit = m.hard_limit_bytes, need = pinned(&m);
	struct vfctl_issue *a;
	char devices[64] = "";

	if (!limit || limit >= need)
		return;
	if (m.iommu && m.vfio_devices > 1)
		snprintf(devices, sizeof(devices), ", once for each of %u devices behind its virtual IOMMU",
			m.vfio_devices);
	a = found(e, g->name, "its devices lock %" PRIu64 " MiB (its memory%s), and <hard_limit> is "
		"%" PRIu64 " MiB", MIB(need), devices, MIB(limit));
	m.hard_limit_bytes = 0;
	m.locked = false;
	set_remedy(e, a, "remove <hard_limit> from <memtune>, so that libvirt computes it, or set it to "
		"at least %" PRIu64 " MiB", MIB(vfctl_domain_memlock_need(&m, 0)));
}

static void look_at_limit(struct check_ctx *e, const struct guest *g, void *data)
{
	uint64_t limit = *(uint64_t *)data, need = vfctl_domain_memlock_need(&g->parsed->memlock, 0);
	char much[32] = "all memory";

	if (need <= limit)
		return;
	if (need != VFCTL_MEMLOCK_UNLIMITED)
		snprintf(much, sizeof(much), "%" PRIu64 " MiB", MIB(need));
	set_remedy(e, found(e, g->name, "it locks %s; the libvirt daemon may lock %" PRIu64 " KiB and "
		"cannot raise that, for it has no CAP_SYS_RESOURCE", much, limit >> 10),
		"give the daemon's unit CAP_SYS_RESOURCE or LimitMEMLOCK=infinity (host.yaml: kernel: "
		"{memlock: unlimited}), then restart it");
}

static void check_guest_memory(struct check_ctx *e)
{
	uint64_t limit;

	each_guest(e, look_at_hard_limit, NULL);
	if (memlock_limit(e->ctx, &limit))
		each_guest(e, look_at_limit, &limit);
}

/* ---- iommufd ---- */

static void look_at_iommufd(struct check_ctx *e, const struct guest *g, void *data)
{
	if (g->parsed->address.iommufd && !host_exists(e->ctx, "/dev/iommu"))
		found(e, g->name, "its definition asks for iommufd, but /dev/iommu does not exist");
}

static void check_guest_iommufd(struct check_ctx *e)
{
	/* A capture has neither domains nor /dev. */
	if (!host_of(e->ctx)->ops->read_only)
		each_guest(e, look_at_iommufd, NULL);
}

/* ---- resources that the host lacks ---- */

/* The check leases reports leased VFs that are absent. */
static bool is_leased(const struct check_ctx *e, const struct vfctl_bdf *bdf)
{
	const struct vfctl_leases *leases = e->snapshot->leases;

	return leases && vfctl_leases_find_vf(leases, bdf);
}

static void look_at_missing(struct check_ctx *e, const struct guest *g, void *data)
{
	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_bdf *bdf = &g->parsed->devices[i].source;

		if (!host_exists(e->ctx, PCI_SYSFS "%s", TEXT(bdf)) && !is_leased(e, bdf)) {
			found(e, g->name, "its device %s is not in /sys/bus/pci/devices", TEXT(bdf));
			return;
		}
	}
}

static void check_guest_device(struct check_ctx *e)
{
	each_guest(e, look_at_missing, NULL);
}

/* ---- IOMMU groups ---- */

#define CLASS_PCI_BRIDGE 0x0604

/*
 * VFIO opens a group only while no host driver uses DMA in it. Devices without a driver, VFIO's own
 * drivers, pci-stub and PCI bridges are permitted (drivers/iommu/iommu.c,
 * iommu_group_claim_dma_owner()).
 */
static bool spoils_group(struct check_ctx *e, const struct guest *g, const struct vfctl_bdf *other,
	char driver[PCI_DRIVER_NAME])
{
	return !guest_has(g, other) && pci_driver(e->ctx, other, driver) == 0 && driver[0] &&
		!pci_driver_is_vfio(driver) && !str_eq(driver, "pci-stub") &&
		pci_read_hex(e->ctx, other, "class") >> 8 != CLASS_PCI_BRIDGE;
}

static void look_at_group(struct check_ctx *e, const struct guest *g,
	const struct vfctl_bdf *device)
{
	_strv_ char **names = NULL;

	if (host_try_list(e->ctx, &names, PCI_SYSFS "%s/iommu_group/devices", TEXT(device)) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		char driver[PCI_DRIVER_NAME];
		struct vfctl_bdf other;

		if (vfctl_bdf_parse(names[i], &other) < 0 || vfctl_bdf_compare(&other, device) == 0 ||
			!spoils_group(e, g, &other, driver))
			continue;
		set_remedy(e, found(e, g->name, "its device %s shares an IOMMU group with %s, which is "
			"bound to driver %s", TEXT(device), names[i], driver),
			"give the guest %s as well, or bind that device to vfio-pci, or move the card "
			"to a slot with ACS", names[i]);
		return;
	}
}

static void look_at_groups(struct check_ctx *e, const struct guest *g, void *data)
{
	/* The check vfs-apart reports VFs. */
	for (size_t i = 0; i < g->parsed->device_count; i++)
		if (!vf_at(e, &g->parsed->devices[i].source, NULL))
			look_at_group(e, g, &g->parsed->devices[i].source);
}

static void check_guest_group(struct check_ctx *e)
{
	each_guest(e, look_at_groups, NULL);
}

/* ---- VFIO's drivers ---- */

/* modules.dep and modules.builtin of the running kernel; NULL: they do not exist here. */
static char *read_modules(struct check_ctx *e, const char *file)
{
	_free_ char *release = NULL;
	char *text = NULL;

	if (host_try_read(e->ctx, &release, "/proc/sys/kernel/osrelease") < 0 ||
		host_try_read(e->ctx, &text, "/lib/modules/%s/%s", release, file) < 0)
		return NULL;
	return text;
}

/* In module names - and _ are equivalent. */
static bool lists_module(const char *text, const char *name)
{
	size_t len = strlen(name);

	for (const char *at = text; (at = strchr(at, '/')); at++) {
		size_t i = 0;

		while (i < len && (at[1 + i] == name[i] || (strchr("-_", at[1 + i]) && at[1 + i] &&
			strchr("-_", name[i]))))
			i++;
		if (i == len && str_starts(at + 1 + len, ".ko"))
			return true;
	}
	return false;
}

struct modules {
	char *loadable, *builtin;
};

static void look_at_models(struct check_ctx *e, const struct guest *g, void *data)
{
	struct modules *m = data;

	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_domain_device *d = &g->parsed->devices[i];

		if (!d->model[0] || pci_driver_is_here(e->ctx, d->model))
			continue;
		if (!m->loadable)
			m->loadable = read_modules(e, "modules.dep");
		if (!m->builtin)
			m->builtin = read_modules(e, "modules.builtin");
		if (!m->loadable || lists_module(m->loadable, d->model) ||
			(m->builtin && lists_module(m->builtin, d->model)))
			continue;
		set_remedy(e, found(e, g->name, "%s needs driver %s (<driver model=>), but this "
			"kernel's modules.dep has no such module", TEXT(&d->source), d->model),
			"boot a kernel that has %s, or remove model= so that libvirt chooses the "
			"driver", d->model);
		return;
	}
}

static void check_guest_driver(struct check_ctx *e)
{
	struct modules m = {0};

	each_guest(e, look_at_models, &m);
	free(m.loadable);
	free(m.builtin);
}

/* ---- migration ---- */

/*
 * "alias vfio_pci:v000015B3d0000101Esv*sd*bc*sc*i* mlx5_vfio_pci": a VFIO driver for only this
 * device. The alias of vfio-pci itself matches all devices.
 */
static bool variant_of(const char *aliases, const char *modalias, char ret[PCI_DRIVER_NAME])
{
	static const char key[] = "alias vfio_pci:";

	for (const char *at = aliases; (at = strstr(at, key)); at++) {
		char pattern[128], module[PCI_DRIVER_NAME];

		if (sscanf(at + sizeof(key) - 1, "%127s %31s", pattern, module) == 2 &&
			!str_starts(pattern, "v*") && fnmatch(pattern, modalias, 0) == 0) {
			str_copy(ret, PCI_DRIVER_NAME, module);
			return true;
		}
	}
	return false;
}

static const struct vfctl_vf *first_of_guests(const struct vfctl_pf *pf)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (is_taken(&pf->vfs[i]) || pf->vfs[i].defined_in[0] || pf->vfs[i].promise.network[0])
			return &pf->vfs[i];
	return NULL;
}

/* VFs of one PF that a guest has, or will have at its start, with plain vfio-pci. */
struct generic {
	const struct vfctl_pf *pf;
	const struct vfctl_vf *first;
	size_t count;
};

static void count_generic(struct generic *all, const struct vfctl_vf *vf)
{
	all->first = all->first ? all->first : vf;
	all->count++;
}

/*
 * libvirt chooses the best driver if the definition names none and it may bind the device (since
 * 10.0).
 */
static void look_at_generic(struct check_ctx *e, const struct guest *g, void *data)
{
	struct generic *all = data;

	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_domain_device *d = &g->parsed->devices[i];
		const struct vfctl_pf *pf = NULL;
		const struct vfctl_vf *vf = vf_at(e, &d->source, &pf);

		if (vf && pf == all->pf && vf->holder.kind != VFCTL_HOLDER_DOMAIN &&
			(str_eq(d->model, "vfio-pci") ||
				(!d->managed && !d->model[0] && str_eq(vf->driver, "vfio-pci"))))
			count_generic(all, vf);
	}
}

static void tell_generic(struct check_ctx *e, const struct vfctl_pf *pf, const char *variant)
{
	struct generic all = {.pf = pf};
	char title[VFCTL_BDF_TEXT];

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (pf->vfs[i].holder.kind == VFCTL_HOLDER_DOMAIN && str_eq(pf->vfs[i].driver, "vfio-pci"))
			count_generic(&all, &pf->vfs[i]);
	each_guest(e, look_at_generic, &all);
	if (all.count)
		set_remedy(e, found(e, pf_title(pf, title), "guests use %zu of its VFs through "
			"vfio-pci, such as %s; this kernel's modules.alias has %s for them", all.count,
			TEXT(&all.first->bdf), variant),
			"for guests that are to migrate, write <driver model='%s'/> and managed='yes' "
			"into their <hostdev>; it takes effect at the next start", variant);
}

/* The VFs of a PF are alike: one of them represents all. */
static void check_migration(struct check_ctx *e)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;
	_free_ char *aliases = NULL;

	for (size_t i = 0; i < inv->pf_count; i++) {
		const struct vfctl_vf *vf = first_of_guests(&inv->pfs[i]);
		char variant[PCI_DRIVER_NAME];
		_free_ char *modalias = NULL;

		if (vf && !aliases && !(aliases = read_modules(e, "modules.alias")))
			return;
		if (vf && host_try_read(e->ctx, &modalias, PCI_SYSFS "%s/modalias", TEXT(&vf->bdf)) == 0 &&
			str_starts(modalias, "pci:") && variant_of(aliases, modalias + 4, variant))
			tell_generic(e, &inv->pfs[i], variant);
	}
}

const struct check guest_checks[] = {
	{"guest-bars", VFCTL_WARNING, "a device may be missing in a guest: the guest's firmware has no "
		"address space for its BARs", "the guest's physical addresses have too few bits",
		"write <maxphysaddr mode='passthrough'/> into <cpu> (vfctl define does so when "
		"needed, unless the template or guest.yaml states it), or use SeaBIOS", check_guest_bars},
	{"guest-addresses", VFCTL_WARNING, "a guest may not start, or not reach its devices: its "
		"addresses are wider than the "
		"IOMMU's", "QEMU and the CPU use more address bits than the IOMMU translates",
		"write <maxphysaddr mode='emulate' bits='N'/> with the IOMMU's bits into <cpu> (vfctl "
		"define does so)",
		check_guest_width},
	{"guest-memory", VFCTL_PROBLEM, "a guest does not start: its memory lock limit is below what "
		"its devices need", "VFIO locks all memory of a guest; behind a virtual IOMMU once for "
			"each device",
		"a larger limit", check_guest_memory},
	{"guest-iommufd", VFCTL_PROBLEM, "a guest does not start: it needs a feature that this kernel "
		"does not have",
		"Debian's kernels up to 7.3 are built without IOMMUFD", "remove iommufd from the guest",
		check_guest_iommufd},
	{"guest-device", VFCTL_WARNING, "a guest does not start: a device in its definition does not "
		"exist on this host",
		"the VFs were not created since boot, or the card was moved",
		"create the VFs with vfctl create or vfctl apply, or remove the device from the "
		"definition",
		check_guest_device},
	{"guest-group", VFCTL_PROBLEM, "a guest does not start: the host uses another device of the "
		"same IOMMU group (\"group is not viable\")", NULL, "give the guest all devices of the "
			"group",
		check_guest_group},
	{"guest-driver", VFCTL_PROBLEM, "a guest does not start: this kernel does not have the driver "
		"in its definition", NULL, "remove model=", check_guest_driver},
	{"guest-migration", VFCTL_NOTE, "guests cannot migrate with their VFs as configured",
		"vfio-pci cannot transfer the state of a VF; this kernel has a driver for these VFs "
		"that can", "<driver model=>", check_migration},
	{.name = NULL},
};
