// SPDX-License-Identifier: GPL-2.0-or-later
/* The requirements of a host before any guest can have a VF, similar to virt-host-validate. */
#include <errno.h>
#include <string.h>

#include "checks/host_checks.h"
#include "fleet/fleet.h"
#include "host/host.h"
#include "ids/pools.h"

/* ---- the CPU and KVM ---- */

/* Whether @word is among the words of a line that begins with "flags". */
static bool has_flag(const char *flags, const char *word)
{
	size_t len = strlen(word), line = strcspn(flags, "\n");

	for (const char *at = flags; (at = strstr(at, word)) && at + len <= flags + line; at += len)
		if (at[-1] == ' ' && (at[len] == ' ' || at[len] == '\n' || !at[len]))
			return true;
	return false;
}

static void check_cpu(struct check_ctx *e)
{
	_free_ char *text = NULL;
	const char *flags;

	if (host_try_read(e->ctx, &text, "/proc/cpuinfo") < 0) {
		unknown(e, "/proc/cpuinfo cannot be read");
		return;
	}
	flags = strstr(text, "\nflags");
	if (!flags)
		unknown(e, "/proc/cpuinfo has no line of flags: this is not an x86 CPU");
	else if (!has_flag(flags + 1, "vmx") && !has_flag(flags + 1, "svm"))
		found(e, "", "/proc/cpuinfo has neither vmx nor svm among its flags");
}

/* For a capture, only what it contains is known. */
static bool is_capture(const struct check_ctx *e)
{
	return host_of(e->ctx)->ops->read_only;
}

static void check_kvm(struct check_ctx *e)
{
	if (host_exists(e->ctx, "/dev/kvm"))
		return;
	if (is_capture(e))
		unknown(e, "a capture does not record whether /dev/kvm exists");
	else
		found(e, "", "/dev/kvm does not exist");
}

/* ---- VFIO and SR-IOV ---- */

/* 1: the kernel has that module, or has it built in; 0: it has not; -ENOENT: unknown. */
static int module_exists(struct vfctl_ctx *ctx, const char *file)
{
	static const char *const lists[] = {"modules.dep", "modules.builtin"};
	_free_ char *release = NULL;
	int known = -ENOENT;

	if (host_try_read(ctx, &release, "/proc/sys/kernel/osrelease") < 0)
		return -ENOENT;
	str_rstrip(release);
	for (size_t i = 0; i < ARRAY_SIZE(lists); i++) {
		_free_ char *text = NULL;

		if (host_try_read(ctx, &text, "/lib/modules/%s/%s", release, lists[i]) < 0)
			continue;
		if (strstr(text, file))
			return 1;
		known = 0;
	}
	return known;
}

static void check_vfio(struct check_ctx *e)
{
	int r;

	if (host_exists(e->ctx, "/sys/bus/pci/drivers/vfio-pci"))
		return;
	r = module_exists(e->ctx, "/vfio-pci.ko");
	if (r == 0)
		found(e, "", "neither /sys/bus/pci/drivers/vfio-pci nor a module vfio-pci exists");
	else if (r < 0)
		unknown(e, "vfio-pci is not loaded, and the list of this kernel's modules cannot be read");
}

static void check_sriov(struct check_ctx *e)
{
	if (!e->snapshot->inventory->pf_count && !e->snapshot->inventory->unread)
		found(e, "", "no device in /sys/bus/pci/devices has sriov_totalvfs");
}

/* ---- libvirt and vfctl's store ---- */

static bool daemon_runs(struct check_ctx *e)
{
	_strv_ char **pids = NULL;

	if (host_try_list(e->ctx, &pids, "/proc") < 0)
		return false;
	for (size_t i = 0; pids[i]; i++) {
		_free_ char *name = NULL;

		if (pids[i][strspn(pids[i], "0123456789")] == '\0' &&
			host_try_read(e->ctx, &name, "/proc/%s/comm", pids[i]) == 0 &&
			(str_eq(str_rstrip(name), "libvirtd") || str_eq(name, "virtqemud")))
			return true;
	}
	return false;
}

/* systemd starts the daemon when a client connects. */
static bool daemon_on_demand(struct check_ctx *e)
{
	return host_exists(e->ctx, "/run/systemd/system") &&
		(host_exists(e->ctx, "/run/libvirt/libvirt-sock") ||
			host_exists(e->ctx, "/run/libvirt/virtqemud-sock"));
}

static void check_libvirt(struct check_ctx *e)
{
	bool installed = host_exists(e->ctx, "/etc/libvirt");

	if (is_capture(e))
		unknown(e, "a capture does not record whether libvirt runs");
	else if (!daemon_runs(e) && !daemon_on_demand(e))
		set_remedy(e, found(e, "", installed ? "neither libvirtd nor virtqemud runs, and systemd "
			"has no socket of them" : "neither libvirtd nor virtqemud runs, and /etc/libvirt "
			"does not exist"), installed ? "systemctl enable --now libvirtd (or "
			"virtqemud.socket)" : "install libvirt: apt-get install libvirt-daemon-system");
}

/* Send one request to the fleet's store. */
static void check_store(struct check_ctx *e)
{
	const struct vfctl_id_filter all = {.fleet = true};
	struct vfctl_id_cursor *cursor = NULL;
	struct vfctl_ids *ids = NULL;
	struct vfctl_id id;
	int r;

	if (!e->spec || !e->spec->etcd || is_capture(e))
		return;
	r = vfctl_ids_open(e->ctx, e->spec, false, &ids);
	if (r == 0)
		r = vfctl_ids_list(ids, &all, &cursor);
	if (r == 0)
		r = vfctl_ids_next(cursor, &id);
	if (r < 0)
		found(e, "", "%s", vfctl_ctx_error(e->ctx));
	vfctl_ids_list_end(cursor);
	vfctl_ids_close(ids);
	ctx_clear(e->ctx);
}

const struct check host_checks[] = {
	{"cpu", VFCTL_PROBLEM, "KVM cannot run: the CPU reports no virtualization extensions", NULL,
		"enable VT-x or AMD-V (SVM) in the BIOS; in a virtual machine, enable nested "
			"virtualization on its host", check_cpu},
	{"kvm", VFCTL_PROBLEM, "guests cannot use KVM", "the kvm module is not loaded, or the BIOS "
		"locked the feature",
		"run: modprobe kvm_intel (or kvm_amd); a guest without KVM needs virtualization: qemu "
		"in its file", check_kvm},
	{"vfio", VFCTL_PROBLEM, "no VF can be given to a guest: the kernel has no vfio-pci", NULL,
		"boot a kernel with CONFIG_VFIO_PCI (Debian's linux-image-amd64, not its cloud kernel)",
		check_vfio},
	{"sriov", VFCTL_PROBLEM, "no device of this host has SR-IOV", "SR-IOV is disabled in the BIOS "
		"or in the card's firmware, or the card's driver is not loaded",
		"enable SR-IOV in the BIOS; on a ConnectX card also: mlxconfig -d DEVICE set SRIOV_EN=1 "
			"NUM_OF_VFS=16, then reboot", check_sriov},
	{"libvirt", VFCTL_PROBLEM, "guests cannot be defined or started: libvirt does not run", NULL,
		"", check_libvirt},
	{"store", VFCTL_PROBLEM, "the store of the fleet cannot be used: GUIDs and MACs of shared pools "
		"cannot be allocated", NULL, "check that etcd runs and that this host reaches the "
			"endpoints in host.yaml; see docs/explanation/fleet.md", check_store},
	{.name = NULL},
};

/* ---- all requirements as one list ---- */

/* The checks that tell whether a requirement is met. */
static const struct {
	const char *title;
	const char *checks[2];
} prerequisites[] = {
	{"CPU virtualization", {"cpu"}}, {"KVM", {"kvm"}}, {"IOMMU", {"iommu"}}, {"VFIO", {"vfio"}},
	{"devices with SR-IOV", {"sriov"}}, {"libvirt", {"libvirt"}}, {"vfctl's hook", {"hook"}},
	{"vfctl's store", {"store", "state"}},
};

static enum vfctl_presence presence_of(const struct vfctl_doctor_report *d, const char *check)
{
	for (size_t i = 0; i < d->count; i++)
		if (str_eq(d->v[i].check, check))
			return VFCTL_MISSING;
	for (size_t i = 0; i < d->unexamined_count; i++)
		if (str_eq(d->unexamined[i].check, check))
			return VFCTL_UNKNOWN;
	return VFCTL_PRESENT;
}

int doctor_list_prerequisites(struct vfctl_ctx *ctx, struct vfctl_doctor_report *d)
{
	d->prerequisites = calloc(ARRAY_SIZE(prerequisites), sizeof(*d->prerequisites));
	if (!d->prerequisites)
		return ctx_oom(ctx);
	d->prerequisite_count = ARRAY_SIZE(prerequisites);
	for (size_t i = 0; i < ARRAY_SIZE(prerequisites); i++) {
		struct vfctl_prerequisite *p = &d->prerequisites[i];

		p->name = prerequisites[i].title;
		p->presence = presence_of(d, prerequisites[i].checks[0]);
		if (prerequisites[i].checks[1] && p->presence == VFCTL_PRESENT)
			p->presence = presence_of(d, prerequisites[i].checks[1]);
	}
	return 0;
}
