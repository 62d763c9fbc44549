// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bus: SR-IOV itself, windows for VFs, the IOMMU, links, errors. Each row stands for threads of
 * people who met it; docs/doctor.md lists them.
 */
#include <errno.h>
#include <inttypes.h>
#include <linux/pci_regs.h>
#include <stdio.h>
#include <string.h>

#include "base/buf.h"
#include "checks/guest.h"
#include "checks/health.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "pci/device.h"

#define DEV "/sys/bus/pci/devices/%s/%s"
#define VF_BARS 6
#define FIRST_VF_BAR 7 /* of resource: six BARs and the ROM come before (include/linux/pci.h) */

#define EACH_PF(e, pf)                                            \
	for (const struct vfctl_pf *pf = (e)->snapshot->inventory->pfs; \
		pf < (e)->snapshot->inventory->pfs + (e)->snapshot->inventory->pf_count; pf++)

/* ---- SR-IOV is there at all ---- */

static bool shows_no_vfs(struct exam *e, const char *name)
{
	struct vfctl_bdf bdf;

	return vfctl_bdf_parse(name, &bdf) == 0 && !pci_has(e->ctx, &bdf, "physfn") &&
		pci_has(e->ctx, &bdf, "vendor") && pci_read_int(e->ctx, &bdf, "sriov_totalvfs", 0) <= 0;
}

static void check_driver(struct exam *e, const char *driver)
{
	_strv_ char **names = NULL;

	if (host_try_list(e->ctx, &names, "/sys/bus/pci/drivers/%s", driver) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_ailment *a;

		if (!shows_no_vfs(e, names[i]))
			continue;
		a = found(e, names[i], host_exists(e->ctx, DEV, names[i], "sriov_totalvfs")
			? "sriov_totalvfs of %s is 0" : "%s has no sriov_totalvfs", names[i]);
		if (!driver_has(driver, DRIVER_SRIOV_IN_FIRMWARE))
			set_remedy(e, a, "if it shall have VFs: SR-IOV on in the BIOS, and in the card's own "
				"page of it, then a cold boot");
	}
}

static void check_capability(struct exam *e)
{
	const struct driver *d;

	for (size_t i = 0; (d = driver_at(i)); i++)
		if (d->flags & DRIVER_ALWAYS_SRIOV)
			check_driver(e, d->name);
}

/* ---- room for the VFs' registers ---- */

static void check_bars_of(struct exam *e, const struct vfctl_pf *pf, const char *resource)
{
	char name[VFCTL_BDF_TEXT];
	const char *line = resource;

	for (int i = 0; line && i < FIRST_VF_BAR + VF_BARS; i++) {
		uint64_t start, end, flags;

		if (i >= FIRST_VF_BAR && sscanf(line, "%" SCNx64 " %" SCNx64 " %" SCNx64, &start, &end,
				&flags) == 3 && !start && flags) {
			found(e, pf_title(pf, name), "/sys/bus/pci/devices/%s/resource: VF BAR %d has "
				"no address", TEXT(&pf->bdf), i - FIRST_VF_BAR);
			return;
		}
		line = strchr(line, '\n');
		line = line ? line + 1 : NULL;
	}
}

static void check_bars(struct exam *e)
{
	size_t unread = 0;

	EACH_PF(e, pf) {
		_free_ char *text = NULL;

		if (host_try_read(e->ctx, &text, DEV, TEXT(&pf->bdf), "resource") == 0)
			check_bars_of(e, pf, text);
		else
			unread++;
	}
	if (unread)
		unknown(e, "the file resource of %zu PFs cannot be read", unread);
}

/* ---- it is still on the bus ---- */

/* A VF has no ids of its own, so that they read all ones; its header type does not (SR-IOV, 3.4.1). */
static bool is_gone(struct exam *e, const struct vfctl_bdf *bdf, bool vf, bool *ret_read)
{
	static const unsigned char all[4] = {0xff, 0xff, 0xff, 0xff};
	size_t at = vf ? PCI_CACHE_LINE_SIZE : PCI_VENDOR_ID;
	_buf_ struct buf config = {0};

	*ret_read = host_try_bytes(e->ctx, &config, DEV, TEXT(bdf), "config") == 0;
	return *ret_read && config.len >= at + sizeof(all) && !memcmp(config.data + at, all, sizeof(all));
}

/* What sleeps would be woken up by a look at it. */
static bool sleeps(struct exam *e, const struct vfctl_bdf *bdf)
{
	_free_ char *state = NULL;

	return host_try_read(e->ctx, &state, DEV, TEXT(bdf), "power_state") == 0 &&
		str_eq(state, "D3cold");
}

/* Many VFs of one card go together, and a look at each takes a millisecond. */
#define LOOKS_MAX 32

static void look_at_devices(struct exam *e, const struct guest *g, void *data)
{
	unsigned *looks = data;

	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_bdf *bdf = &g->parsed->devices[i].source;
		bool vf = pci_has(e->ctx, bdf, "physfn"), read;

		if ((*looks)++ < LOOKS_MAX && !sleeps(e, bdf) && is_gone(e, bdf, vf, &read))
			found(e, g->name, "/sys/bus/pci/devices/%s/config, of a device that it has, reads "
				"ff ff ff ff", TEXT(bdf));
	}
}

static void check_gone(struct exam *e)
{
	unsigned looks = 0;
	size_t unread = 0;

	EACH_PF(e, pf) {
		char name[VFCTL_BDF_TEXT];
		bool read;

		if (is_gone(e, &pf->bdf, false, &read))
			found(e, pf_title(pf, name), "/sys/bus/pci/devices/%s/config reads ff ff ff ff",
				TEXT(&pf->bdf));
		unread += !read;
	}
	each_guest(e, look_at_devices, &looks);
	if (looks > LOOKS_MAX)
		unknown(e, "%u devices of guests: %d were looked at", looks - LOOKS_MAX, LOOKS_MAX);
	if (unread)
		unknown(e, "the configuration space of %zu PFs cannot be read", unread);
}

/* ---- IOMMU ---- */

static bool has_table(struct exam *e)
{
	return host_exists(e->ctx, "/sys/firmware/acpi/tables/DMAR") ||
		host_exists(e->ctx, "/sys/firmware/acpi/tables/IVRS");
}

static void check_iommu(struct exam *e)
{
	_strv_ char **groups = NULL;
	struct vfctl_ailment *a;

	int r = host_try_list(e->ctx, &groups, "/sys/kernel/iommu_groups");

	if (r < 0 && (r != -ENOENT || host_of(e->ctx)->ops->read_only)) {
		unknown(e, "/sys/kernel/iommu_groups cannot be read");
		return;
	}
	if (r == 0 && groups[0])
		return;
	a = found(e, "", "/sys/kernel/iommu_groups is empty%s", has_table(e)
		? "; the firmware has its table (DMAR, IVRS)" : "");
	if (has_table(e))
		set_remedy(e, a, "the firmware offers one: boot with intel_iommu=on (Intel), or "
			"without amd_iommu=off (AMD)");
}

/* Documentation/admin-guide/kernel-parameters.txt */
static bool is_switched_off(struct exam *e)
{
	_free_ char *text = NULL;
	char *save = NULL;

	if (host_try_read(e->ctx, &text, "/proc/cmdline") < 0)
		return false;
	for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
		/* A list: intremap=nosid,off (drivers/iommu/irq_remapping.c) */
		if (str_eq(word, "nointremap") || (str_starts(word, "intremap=") &&
			(strstr(word, "=off") || strstr(word, ",off")))) {
			found(e, "", "/proc/cmdline has %s", word);
			return true;
		}
	return false;
}

static void check_remapping(struct exam *e)
{
	_strv_ char **units = NULL;

	if (is_switched_off(e) || host_try_list(e->ctx, &units, "/sys/class/iommu") < 0)
		return;
	for (size_t i = 0; units[i]; i++) {
		_free_ char *text = NULL;
		uint64_t ecap;

		if (host_try_read(e->ctx, &text, "/sys/class/iommu/%s/intel-iommu/ecap", units[i]) < 0 ||
			sscanf(text, "%" SCNx64, &ecap) != 1 || ecap & 1 << 3)
			continue;
		found(e, "", "/sys/class/iommu/%s/intel-iommu/ecap is %s: bit 3 is not "
			"set", units[i], text);
		return;
	}
}

static void check_unsafe(struct exam *e)
{
	static const char path[] = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
	_free_ char *text = NULL;

	if (host_try_read(e->ctx, &text, "%s", path) == 0 && (str_eq(text, "Y") || str_eq(text, "1")))
		found(e, "", "%s is %s", path, text);
}

/* Of all VFs of a PF, once. */
static void check_apart(struct exam *e)
{
	bool groups = host_exists(e->ctx, "/sys/kernel/iommu_groups");
	uint32_t unseen = 0;

	EACH_PF(e, pf) {
		_free_ char *first = NULL;
		char name[VFCTL_BDF_TEXT];
		uint32_t count = 0;

		unseen += groups ? 0 : pf->num_vfs;
		for (uint32_t i = 0; i < pf->num_vfs && groups; i++) {
			_free_ char *why = NULL;

			if (!vfctl_vf_exposure(e->ctx, pf, &pf->vfs[i], &why))
				continue;
			if (!count++)
				first = steal(why);
		}
		if (count)
			found(e, pf_title(pf, name), "%u of %u VFs; VF %s: %s", count, pf->num_vfs,
				TEXT(&pf->vfs[0].bdf), first ? first : "");
	}
	if (unseen)
		unknown(e, "whether %u VFs are alone in their IOMMU groups: there is no "
			"/sys/kernel/iommu_groups",
			unseen);
}

/* ---- links ---- */

/* Graphics and accelerators slow their links while idle, and that is as it should be. */
static bool saves_power(const struct vfctl_pf *pf)
{
	return pf->class_code >> 16 == 0x03 || pf->class_code >> 16 == 0x12;
}

static void tell_hop(struct exam *e, const struct vfctl_pf *pf, const struct pci_hop *hop)
{
	char name[VFCTL_BDF_TEXT];

	if (hop->gts < hop->gts_possible || hop->lanes < hop->lanes_possible)
		found(e, pf_title(pf, name), "between %s and %s: %g GT/s x%u, both ends can %g GT/s x%u",
			hop->parent, hop->child, hop->gts, hop->lanes, hop->gts_possible,
			hop->lanes_possible);
}

static void check_links(struct exam *e)
{
	EACH_PF(e, pf) {
		struct pci_hop hops[PCI_HOPS_MAX];
		size_t count = saves_power(pf) ? 0 : pci_hops_read(e->ctx, &pf->bdf, hops);

		for (size_t i = 0; i < count; i++)
			tell_hop(e, pf, &hops[i]);
	}
}

/* ---- errors of the link ---- */

/* Of ports that are above several PFs the first one's is told. */
static bool is_told(const struct exam *e, const struct vfctl_pf *pf, const struct vfctl_bdf *port)
{
	EACH_PF(e, other) {
		struct vfctl_bdf path[PCI_PATH_MAX];
		size_t length = other < pf ? pci_path(e->ctx, &other->bdf, path) : 0;

		for (size_t i = 0; i < length; i++)
			if (vfctl_bdf_compare(&path[i], port) == 0)
				return true;
	}
	return false;
}

/* Each end of a link counts what it saw: the ports above the card. */
static void check_ports_above(struct exam *e, const struct vfctl_pf *pf)
{
	struct vfctl_bdf path[PCI_PATH_MAX];
	size_t length = pci_path(e->ctx, &pf->bdf, path);

	for (size_t i = 0; i + 1 < length; i++) {
		uint64_t correctable = 0, others = 0;
		struct vfctl_ailment *a;
		char name[VFCTL_BDF_TEXT];

		if (!pci_errors_read(e->ctx, &path[i], &correctable, &others) || (!correctable && !others) ||
			is_told(e, pf, &path[i]))
			continue;
		a = found(e, pf_title(pf, name), "/sys/bus/pci/devices/%s/aer_dev_*, of a port above it: %"
			PRIu64 " correctable, %" PRIu64 " others since it booted", TEXT(&path[i]),
			correctable, others);
		if (a && !others)
			a->severity = VFCTL_NOTE;
	}
}

static void check_errors(struct exam *e)
{
	EACH_PF(e, pf) {
		struct vfctl_ailment *a = NULL;
		struct vfctl_pf_health health;
		char name[VFCTL_BDF_TEXT];
		uint64_t others;

		vfctl_pf_health_read(e->ctx, pf, &health);
		others = health.nonfatal_errors + health.fatal_errors;
		if (health.correctable_errors || others)
			a = found(e, pf_title(pf, name), "/sys/bus/pci/devices/%s/aer_dev_*: %" PRIu64
				" correctable, %" PRIu64 " others since it booted", TEXT(&pf->bdf),
				health.correctable_errors, others);
		if (a && !others)
			a->severity = VFCTL_NOTE;
		check_ports_above(e, pf);
	}
}

const struct check pci_checks[] = {
	{"sriov-capability", VFCTL_NOTE, "a card that can have VFs shows none",
		"SR-IOV is off in its firmware, or in the BIOS",
		"if it shall have VFs: SR-IOV on in the BIOS, and mlxconfig -d ADDRESS set SRIOV_EN=1 "
		"NUM_OF_VFS=N, then a cold boot", check_capability},
	{"vf-bars", VFCTL_WARNING, "VFs cannot be made: their registers have no addresses",
		"the firmware left too small a window above the card", "in the BIOS \"Above 4G "
			"decoding\" and a larger MMIO window; else boot with pci=realloc, or make "
			"fewer VFs", check_bars},
	{"device-gone", VFCTL_PROBLEM, "the device does not answer any more",
		"it fell off the bus, mostly after a reset that failed", "remove and rescan it (echo 1 "
			"into its remove, then into /sys/bus/pci/rescan); if that does not help, a "
			"cold boot", check_gone},
	{"iommu", VFCTL_PROBLEM, "no VF can be given to a guest: the IOMMU is off",
		NULL, "VT-d or AMD-Vi on in the BIOS, and intel_iommu=on on the kernel's command line",
		check_iommu},
	{"interrupt-remapping", VFCTL_PROBLEM, "a guest with a VF does not start: interrupts are not "
		"remapped",
		"the IOMMU was set up without it", "x2APIC and VT-d on in the BIOS, no nox2apic and no "
			"intremap=off on the command line; never allow_unsafe_interrupts", check_remapping},
	{"unsafe-interrupts", VFCTL_WARNING, "a guest with a VF can send any interrupt to the host",
		NULL, "take vfio_iommu_type1.allow_unsafe_interrupts out of modprobe.d and the command "
			"line",
		check_unsafe},
	{"vfs-apart", VFCTL_WARNING, "VFs are not kept apart from other devices, or not clean when "
		"given on",
		NULL, "vfctl show VF says why of each; docs/security.md what can be done, and how to "
			"accept it",
		check_apart},
	{"pcie-link", VFCTL_WARNING, "the link to the card is slower than both of its ends can",
		"a bad contact, a riser, or a limit in the BIOS", "put the card in anew or into "
			"another slot; look for a limit of the slot in the BIOS", check_links},
	{"pcie-errors", VFCTL_WARNING, "the link to the card has errors",
		"signal quality: slot, riser, dirt", "see whether the count rises (vfctl metrics); "
			"then put the card in anew, or replace it", check_errors},
	{.name = NULL},
};
