// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The bus: SR-IOV itself, windows for VFs, the IOMMU, links, errors. Each row is a problem that
 * users reported; docs/reference/doctor.md lists the reports.
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
#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "pci/device.h"

#define DEV "/sys/bus/pci/devices/%s/%s"
#define VF_BARS 6
#define FIRST_VF_BAR 7 /* line in the file resource: six BARs and the ROM come before
			  (include/linux/pci.h) */

#define EACH_PF(e, pf)                                            \
	for (const struct vfctl_pf *pf = (e)->snapshot->inventory->pfs; \
		pf < (e)->snapshot->inventory->pfs + (e)->snapshot->inventory->pf_count; pf++)

/* ---- whether SR-IOV is available ---- */

static bool shows_no_vfs(struct check_ctx *e, const char *name)
{
	struct vfctl_bdf bdf;

	return vfctl_bdf_parse(name, &bdf) == 0 && !pci_has(e->ctx, &bdf, "physfn") &&
		pci_has(e->ctx, &bdf, "vendor") && pci_read_int(e->ctx, &bdf, "sriov_totalvfs", 0) <= 0;
}

static void check_driver(struct check_ctx *e, const char *driver)
{
	_strv_ char **names = NULL;

	if (host_try_list(e->ctx, &names, "/sys/bus/pci/drivers/%s", driver) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_issue *a;

		if (!shows_no_vfs(e, names[i]))
			continue;
		a = found(e, names[i], host_exists(e->ctx, DEV, names[i], "sriov_totalvfs")
			? "sriov_totalvfs of %s is 0" : "%s has no sriov_totalvfs", names[i]);
		if (!driver_has(driver, DRIVER_SRIOV_IN_FIRMWARE))
			set_remedy(e, a, "to use VFs, enable SR-IOV in the BIOS and in the card's own "
				"setup page, then power the host off and on");
	}
}

static void check_capability(struct check_ctx *e)
{
	const struct driver *d;

	for (size_t i = 0; (d = driver_at(i)); i++)
		if (d->flags & DRIVER_ALWAYS_SRIOV)
			check_driver(e, d->name);
}

/* ---- address space for the VFs' registers ---- */

static void check_bars_of(struct check_ctx *e, const struct vfctl_pf *pf, const char *resource)
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

static void check_bars(struct check_ctx *e)
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

/* ---- whether devices are still on the bus ---- */

/*
 * A VF has no ids of its own: they read as all ones, but its header type does not (SR-IOV, 3.4.1).
 */
static bool is_gone(struct check_ctx *e, const struct vfctl_bdf *bdf, bool vf, bool *ret_read)
{
	static const unsigned char all[4] = {0xff, 0xff, 0xff, 0xff};
	size_t at = vf ? PCI_CACHE_LINE_SIZE : PCI_VENDOR_ID;
	_buf_ struct buf config = {0};

	*ret_read = host_try_bytes(e->ctx, &config, DEV, TEXT(bdf), "config") == 0;
	return *ret_read && config.len >= at + sizeof(all) && !memcmp(config.data + at, all, sizeof(all));
}

/* Reading from a sleeping device would wake it up. */
static bool sleeps(struct check_ctx *e, const struct vfctl_bdf *bdf)
{
	_free_ char *state = NULL;

	return host_try_read(e->ctx, &state, DEV, TEXT(bdf), "power_state") == 0 &&
		str_eq(state, "D3cold");
}

/* The VFs of one card disappear together, and each read takes a millisecond. */
#define LOOKS_MAX 32

static void look_at_devices(struct check_ctx *e, const struct guest *g, void *data)
{
	unsigned *looks = data;

	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_bdf *bdf = &g->parsed->devices[i].source;
		bool vf = pci_has(e->ctx, bdf, "physfn"), read;

		if ((*looks)++ < LOOKS_MAX && !sleeps(e, bdf) && is_gone(e, bdf, vf, &read))
			found(e, g->name, "/sys/bus/pci/devices/%s/config of its device reads ff ff ff "
				"ff", TEXT(bdf));
	}
}

static void check_gone(struct check_ctx *e)
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
		unknown(e, "%u devices of guests were not checked, beyond the first "
			"%d", looks - LOOKS_MAX, LOOKS_MAX);
	if (unread)
		unknown(e, "the configuration space of %zu PFs cannot be read", unread);
}

/* ---- IOMMU ---- */

static bool has_table(struct check_ctx *e)
{
	return host_exists(e->ctx, "/sys/firmware/acpi/tables/DMAR") ||
		host_exists(e->ctx, "/sys/firmware/acpi/tables/IVRS");
}

/*
 * arch/x86/kernel/pci-dma.c, drivers/iommu/intel/iommu.c, drivers/iommu/amd/init.c, Linux 6.12:
 * lists
 */
static bool ends_iommu(const char *word)
{
	static const char *const keys[] = {"intel_iommu=", "amd_iommu=", "iommu="};

	for (size_t i = 0; i < ARRAY_SIZE(keys); i++)
		if (str_starts(word, keys[i]))
			return strstr(word, "=off") || strstr(word, ",off");
	return str_eq(word, "acpi=off"); /* no DMAR or IVRS table is read */
}

/* The kernel parameter that switched the IOMMU off; NULL: none did. The caller frees it. */
static char *iommu_off_word(struct check_ctx *e)
{
	_free_ char *text = NULL;
	char *save = NULL;

	if (host_try_read(e->ctx, &text, "/proc/cmdline") < 0)
		return NULL;
	for (char *word = strtok_r(text, " \t\n", &save); word; word = strtok_r(NULL, " \t\n", &save))
		if (ends_iommu(word))
			return strdup(word);
	return NULL;
}

static void check_iommu(struct check_ctx *e)
{
	_strv_ char **groups = NULL;
	_free_ char *word = NULL;
	struct vfctl_issue *a;

	int r = host_try_list(e->ctx, &groups, "/sys/kernel/iommu_groups");

	if (r < 0 && (r != -ENOENT || host_of(e->ctx)->ops->read_only)) {
		unknown(e, "/sys/kernel/iommu_groups cannot be read");
		return;
	}
	if (r == 0 && groups[0])
		return;
	word = iommu_off_word(e);
	if (word) {
		a = found(e, "", "/sys/kernel/iommu_groups is empty; /proc/cmdline has %s", word);
		set_remedy(e, a, "remove %s from the kernel command line (Debian: GRUB_CMDLINE_LINUX in "
			"/etc/default/grub, then update-grub; RHEL: grubby --update-kernel=ALL "
			"--remove-args=%s), then reboot", word, word);
		return;
	}
	a = found(e, "", "/sys/kernel/iommu_groups is empty%s", has_table(e)
		? "; the firmware has a DMAR or IVRS table" : "");
	if (has_table(e))
		set_remedy(e, a, "the firmware offers one: boot with intel_iommu=on (Intel), or without "
			"amd_iommu=off (AMD); Debian: GRUB_CMDLINE_LINUX in /etc/default/grub, then "
			"update-grub; RHEL: grubby --update-kernel=ALL --args=...");
}

/* Documentation/admin-guide/kernel-parameters.txt */
static bool is_switched_off(struct check_ctx *e)
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

static void check_remapping(struct check_ctx *e)
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

static void check_unsafe(struct check_ctx *e)
{
	static const char path[] = "/sys/module/vfio_iommu_type1/parameters/allow_unsafe_interrupts";
	_free_ char *text = NULL;

	if (host_try_read(e->ctx, &text, "%s", path) == 0 && (str_eq(text, "Y") || str_eq(text, "1")))
		found(e, "", "%s is %s", path, text);
}

/* Report all VFs of a PF once. */
static void check_anti_affinity(struct check_ctx *e)
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
		unknown(e, "whether %u VFs are alone in their IOMMU groups is unknown: "
			"/sys/kernel/iommu_groups does not exist",
			unseen);
}

/* ---- links ---- */

/* Graphics cards and accelerators slow down idle links on purpose. */
static bool saves_power(const struct vfctl_pf *pf)
{
	return pf->class_code >> 16 == 0x03 || pf->class_code >> 16 == 0x12;
}

static void tell_hop(struct check_ctx *e, const struct vfctl_pf *pf, const struct pci_hop *hop)
{
	char name[VFCTL_BDF_TEXT];

	if (hop->gts < hop->gts_possible || hop->lanes < hop->lanes_possible)
		found(e, pf_title(pf, name), "between %s and %s: %g GT/s x%u, both ends support %g GT/s "
			"x%u",
			hop->parent, hop->child, hop->gts, hop->lanes, hop->gts_possible,
			hop->lanes_possible);
}

static void check_links(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		struct pci_hop hops[PCI_HOPS_MAX];
		size_t count = saves_power(pf) ? 0 : pci_hops_read(e->ctx, &pf->bdf, hops);

		for (size_t i = 0; i < count; i++)
			tell_hop(e, pf, &hops[i]);
	}
}

/* ---- errors of the link ---- */

/* If a port is above several PFs, it is reported for the first of them. */
static bool is_told(const struct check_ctx *e, const struct vfctl_pf *pf,
	const struct vfctl_bdf *port)
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

/* Both ends of a link count errors: check the ports above the card. */
static void check_ports_above(struct check_ctx *e, const struct vfctl_pf *pf)
{
	struct vfctl_bdf path[PCI_PATH_MAX];
	size_t length = pci_path(e->ctx, &pf->bdf, path);

	for (size_t i = 0; i + 1 < length; i++) {
		uint64_t correctable = 0, others = 0;
		struct vfctl_issue *a;
		char name[VFCTL_BDF_TEXT];

		if (!pci_errors_read(e->ctx, &path[i], &correctable, &others) || (!correctable && !others) ||
			is_told(e, pf, &path[i]))
			continue;
		a = found(e, pf_title(pf, name), "/sys/bus/pci/devices/%s/aer_dev_* of a port above it: "
			"%" PRIu64 " correctable, %" PRIu64 " other errors since boot", TEXT(&path[i]),
			correctable, others);
		if (a && !others)
			a->severity = VFCTL_NOTE;
	}
}

static void check_errors(struct check_ctx *e)
{
	EACH_PF(e, pf) {
		struct vfctl_issue *a = NULL;
		struct vfctl_pf_health health;
		char name[VFCTL_BDF_TEXT];
		uint64_t others;

		vfctl_pf_health_read(e->ctx, pf, &health);
		others = health.nonfatal_errors + health.fatal_errors;
		if (health.correctable_errors || others)
			a = found(e, pf_title(pf, name), "/sys/bus/pci/devices/%s/aer_dev_*: %" PRIu64 ""
				" correctable, %" PRIu64 " other errors since boot", TEXT(&pf->bdf),
				health.correctable_errors, others);
		if (a && !others)
			a->severity = VFCTL_NOTE;
		check_ports_above(e, pf);
	}
}

const struct check pci_checks[] = {
	{"sriov-capability", VFCTL_NOTE, "a card that supports VFs offers none",
		"SR-IOV is disabled in its firmware or in the BIOS",
		"to use VFs, enable SR-IOV in the BIOS, run mlxconfig -d ADDRESS set SRIOV_EN=1 "
		"NUM_OF_VFS=N, then power the host off and on", check_capability},
	{"vf-bars", VFCTL_WARNING, "VFs cannot be created: their BARs have no addresses",
		"the firmware assigned too small an MMIO window to the bus of the card", "enable Above "
			"4G Decoding and a larger MMIO window in the BIOS, or boot with pci=realloc, or "
			"create fewer VFs", check_bars},
	{"device-gone", VFCTL_PROBLEM, "the device no longer responds",
		"it dropped off the bus, usually after a failed reset", "write 1 into its remove file, "
			"then into /sys/bus/pci/rescan; if that does not help, power the host off and "
			"on", check_gone},
	{"iommu", VFCTL_PROBLEM, "no VF can be given to a guest: the IOMMU is off",
		NULL, "enable VT-d or AMD-Vi in the BIOS; on Intel also boot with intel_iommu=on "
			"(Debian: GRUB_CMDLINE_LINUX in /etc/default/grub, then update-grub; RHEL: "
			"grubby --update-kernel=ALL --args=intel_iommu=on)",
		check_iommu},
	{"interrupt-remapping", VFCTL_PROBLEM, "a guest with a VF does not start: interrupt remapping "
		"is off",
		"the IOMMU was initialized without interrupt remapping", "enable x2APIC and VT-d in the "
			"BIOS; remove nox2apic and intremap=off from the kernel command line; do not "
			"use allow_unsafe_interrupts", check_remapping},
	{"unsafe-interrupts", VFCTL_WARNING, "a guest with a VF can send any interrupt to the host",
		NULL, "remove vfio_iommu_type1.allow_unsafe_interrupts from modprobe.d and the kernel "
			"command line",
		check_unsafe},
	{"vfs-apart", VFCTL_WARNING, "VFs are not isolated from other devices, or cannot be reset "
		"between guests",
		NULL, "for the reason: vfctl show VF; for remedies, and how to accept it: "
			"docs/explanation/security.md",
		check_anti_affinity},
	{"pcie-link", VFCTL_WARNING, "the PCIe link to the card is slower than both ends support",
		"a bad contact, a riser card, or a limit in the BIOS", "reseat the card or use another "
			"slot; look for a link speed limit in the BIOS", check_links},
	{"pcie-errors", VFCTL_WARNING, "the PCIe link to the card reports errors",
		"poor signal quality: slot, riser card or dirt", "check whether the count rises (vfctl "
			"metrics); if so, reseat or replace the card", check_errors},
	{.name = NULL},
};
