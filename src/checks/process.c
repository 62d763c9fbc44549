// SPDX-License-Identifier: GPL-2.0-or-later
/* Processes of this host that hang in the kernel, or use devices that are leased to a guest. */
#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "checks/guest.h"
#include "host/host.h"
#include "pci/device.h"

/* ---- writes that block ---- */

/*
 * Functions in which a writer of sriov_numvfs may block: VFIO waits for an open VF (vfio_main.c,
 * vfio_unregister_group_dev()), the file for another writer, drivers for their card. Reading the
 * whole stack of a process takes longer, so only these functions are compared.
 */
static bool may_write(const char *wchan)
{
	static const char *const places[] = {"vfio_", "sriov_", "i40e_", "ice_", "ixgbe_", "igb_",
		"mlx5_", "bnxt_", "pci_", "device_", "msleep"};

	for (size_t i = 0; i < ARRAY_SIZE(places); i++)
		if (str_starts(wchan, places[i]))
			return true;
	return false;
}

struct writer {
	const char *pid;
	char thread[32]; /* "900", or "900/task/901" */
	char name[64];
	struct vfctl_bdf pf; /* the PF, if @has_pf */
	bool has_pf;
	bool for_vfio; /* it waits until a process closes its VF */
};

/* Find the PF whose sriov_numvfs it has open. */
static void find_pf(struct check_ctx *e, struct writer *w)
{
	_strv_ char **fds = NULL;

	if (host_try_list(e->ctx, &fds, "/proc/%s/fd", w->pid) < 0)
		return;
	for (size_t i = 0; fds[i] && !w->has_pf; i++) {
		_free_ char *target = NULL;
		char *slash;

		if (host_try_link(e->ctx, &target, "/proc/%s/fd/%s", w->pid, fds[i]) < 0)
			continue;
		slash = strrchr(target, '/');
		if (!slash || !str_eq(slash, "/sriov_numvfs"))
			continue;
		*slash = '\0';
		slash = strrchr(target, '/');
		w->has_pf = slash && vfctl_bdf_parse(slash + 1, &w->pf) == 0;
	}
}

static bool is_writing(struct check_ctx *e, const char *thread, struct writer *io)
{
	_free_ char *wchan = NULL, *stack = NULL;

	if (host_try_read(e->ctx, &wchan, "/proc/%s/wchan", thread) < 0 || !may_write(wchan) ||
		host_try_read(e->ctx, &stack, "/proc/%s/stack", thread) < 0 ||
		!strstr(stack, "sriov_numvfs_store"))
		return false;
	str_copy(io->thread, sizeof(io->thread), thread);
	io->for_vfio = strstr(stack, "vfio_");
	return true;
}

/* Operators in Go, and daemons, use threads for such work. */
static bool is_writer(struct check_ctx *e, const char *pid, struct writer *ret)
{
	_free_ char *name = NULL;
	_strv_ char **threads = NULL;
	char thread[32];
	bool some;

	*ret = (struct writer){.pid = pid};
	some = is_writing(e, pid, ret);
	if (!some && host_try_list(e->ctx, &threads, "/proc/%s/task", pid) < 0)
		return false;
	for (size_t i = 0; !some && threads[i]; i++) {
		snprintf(thread, sizeof(thread), "%.10s/task/%.10s", pid, threads[i]);
		some = !str_eq(threads[i], pid) && is_writing(e, thread, ret);
	}
	if (!some)
		return false;
	if (host_try_read(e->ctx, &name, "/proc/%s/comm", pid) == 0)
		snprintf(ret->name, sizeof(ret->name), "%s", name);
	find_pf(e, ret);
	return true;
}

/*
 * The kernel removes the links between a PF and a VF before it waits for the process that has the
 * VF open (drivers/pci/iov.c, pci_iov_remove_virtfn()): a VF of that PF can then be identified only
 * by its number.
 */
static bool is_vf_of(struct check_ctx *e, const struct vfctl_bdf *pf, const struct vfctl_bdf *vf)
{
	int offset = pci_read_int(e->ctx, pf, "sriov_offset", -1);
	int stride = pci_read_int(e->ctx, pf, "sriov_stride", -1);
	int total = pci_read_int(e->ctx, pf, "sriov_totalvfs", 0);
	int away = (vf->bus << 8 | vf->slot << 3 | vf->function) -
		(pf->bus << 8 | pf->slot << 3 | pf->function) - offset;

	return offset > 0 && stride > 0 && pf->domain == vf->domain && away >= 0 &&
		away % stride == 0 && away / stride < total;
}

/* Whether this is "/dev/vfio/12" of a group with a VF of that PF. */
static bool is_group_of(struct check_ctx *e, const char *path, const struct vfctl_bdf *pf,
	struct vfctl_bdf *ret_vf)
{
	_strv_ char **names = NULL;

	if (!str_starts(path, "/dev/vfio/") || !isdigit((unsigned char)path[10]) ||
		host_try_list(e->ctx, &names, "/sys/kernel/iommu_groups/%s/devices", path + 10) < 0)
		return false;
	for (size_t i = 0; names[i]; i++)
		if (vfctl_bdf_parse(names[i], ret_vf) == 0 && is_vf_of(e, pf, ret_vf))
			return true;
	return false;
}

static bool has_vf_of(struct check_ctx *e, const char *pid, const struct vfctl_bdf *pf,
	struct vfctl_bdf *ret_vf)
{
	_strv_ char **fds = NULL;

	if (host_try_list(e->ctx, &fds, "/proc/%s/fd", pid) < 0)
		return false;
	for (size_t i = 0; fds[i]; i++) {
		_free_ char *target = NULL;

		if (host_try_link(e->ctx, &target, "/proc/%s/fd/%s", pid, fds[i]) == 0 &&
			is_group_of(e, target, pf, ret_vf))
			return true;
	}
	return false;
}

struct holder_text {
	char who[160], stop[200];
};

/* "web" for a libvirt domain, else the program. */
static void name_holder(struct check_ctx *e, const char *pid, const struct vfctl_bdf *vf,
	struct holder_text *ret)
{
	const struct known_domains *domains = check_ctx_domains(e);
	_free_ char *comm = NULL;
	int number = atoi(pid); /* only digits: the caller checked that */

	for (size_t i = 0; domains && i < domains->count; i++)
		if (domains->v[i].pid == number) {
			snprintf(ret->who, sizeof(ret->who), "; guest %.100s has %s open",
				domains->v[i].name, TEXT(vf));
			snprintf(ret->stop, sizeof(ret->stop), "virsh shutdown (or destroy) %.100s",
				domains->v[i].name);
			return;
		}
	if (host_try_read(e->ctx, &comm, "/proc/%s/comm", pid) < 0)
		return;
	snprintf(ret->who, sizeof(ret->who), "; process %s (%.32s) has %s open", pid, comm, TEXT(vf));
	snprintf(ret->stop, sizeof(ret->stop), "end process %s (%.32s)", pid, comm);
}

static void find_holder(struct check_ctx *e, char *const *pids, const struct writer *w,
	struct holder_text *ret)
{
	struct vfctl_bdf vf;

	*ret = (struct holder_text){.stop = "stop the guest or program that uses one of its VFs"};
	for (size_t i = 0; w->has_pf && pids[i]; i++)
		if (isdigit((unsigned char)pids[i][0]) && has_vf_of(e, pids[i], &w->pf, &vf)) {
			name_holder(e, pids[i], &vf, ret);
			return;
		}
}

static void tell_writer(struct check_ctx *e, char *const *pids, const struct writer *w)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;
	char text[VFCTL_BDF_TEXT], where[64] = "";
	const char *title = "";
	struct holder_text holder = {.who = ""};
	struct vfctl_issue *a;

	if (w->has_pf) {
		title = vfctl_bdf_format(&w->pf, text);
		snprintf(where, sizeof(where), " of %s", title);
		for (size_t i = 0; i < inv->pf_count; i++)
			if (vfctl_bdf_compare(&inv->pfs[i].bdf, &w->pf) == 0)
				title = pf_title(&inv->pfs[i], text);
	}
	if (w->for_vfio)
		find_holder(e, pids, w, &holder);
	a = found(e, title, "process %s (%s) is in a write to sriov_numvfs%s%s (/proc/%s/stack)%s", w->pid,
		w->name, where, w->for_vfio ? ", which waits until a VF is closed" : "", w->thread,
		holder.who);
	if (!a)
		return;
	/* The driver may still be working: creating many VFs takes long. */
	if (!w->for_vfio) {
		a->severity = VFCTL_NOTE;
		a->what = "a process is writing to sriov_numvfs";
		set_remedy(e, a, "if this lasts for minutes, the kernel's log tells what the driver "
			"waits for; only a reboot ends a write that hangs in a driver");
		return;
	}
	set_remedy(e, a, "%s: then the write ends (no signal can end it); vfctl destroy and create "
		"refuse while a VF is in use", holder.stop);
}

static void check_writes(struct check_ctx *e)
{
	_strv_ char **pids = NULL;
	_free_ char *first = NULL;
	int r;

	/* A capture has no processes. */
	if (host_of(e->ctx)->ops->read_only || !e->snapshot->inventory->pf_count)
		return;
	r = host_try_read(e->ctx, &first, "/proc/1/stack");
	if (r == -EACCES || r == -EPERM) {
		unknown(e, "what processes wait for in the kernel is unknown: reading it needs root "
			"with CAP_SYS_ADMIN");
		return;
	}
	if (host_try_list(e->ctx, &pids, "/proc") < 0)
		return;
	for (size_t i = 0; pids[i] && !e->failed; i++) {
		struct writer w;

		if (isdigit((unsigned char)pids[i][0]) && is_writer(e, pids[i], &w))
			tell_writer(e, pids, &w);
	}
}

/* ---- VFs in use by other processes ---- */

/* During a start, the lease is already marked before QEMU has opened anything. */
static void look_at_holder(struct check_ctx *e, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf)
{
	char title[VF_TITLE];

	if (vf->holder.kind != VFCTL_HOLDER_VFIO || vf->lease.running ||
		(!vf->lease.name[0] && !vf->defined_in[0]))
		return;
	set_remedy(e, found(e, vf_title(pf, vf, title), "%s has /dev/vfio/%d open; the VF is %s %s, "
		"which does not run", vf->holder.name[0] ? vf->holder.name : "an unknown "
		"process", vf->iommu_group, vf->lease.name[0] ? "leased to domain" : "in the definition of",
		vf->lease.name[0] ? vf->lease.name : vf->defined_in),
		"end that process, or give the guest another VF; limit programs that scan for VFs, such "
		"as DPDK's, to their own devices");
}

/* The process that has "/dev/vfio/GROUP" open; false: none is visible. */
static bool find_opener(struct check_ctx *e, int group, char ret[64])
{
	_strv_ char **pids = NULL;
	char path[32];

	snprintf(path, sizeof(path), "/dev/vfio/%d", group);
	if (host_try_list(e->ctx, &pids, "/proc") < 0)
		return false;
	for (size_t i = 0; pids[i]; i++) {
		_free_ char *name = NULL;
		_strv_ char **fds = NULL;

		if (!isdigit((unsigned char)pids[i][0]) ||
			host_try_list(e->ctx, &fds, "/proc/%s/fd", pids[i]) < 0)
			continue;
		for (size_t k = 0; fds[k]; k++) {
			_free_ char *target = NULL;

			if (host_try_link(e->ctx, &target, "/proc/%s/fd/%s", pids[i], fds[k]) < 0 ||
				!str_eq(target, path) ||
				host_try_read(e->ctx, &name, "/proc/%s/comm", pids[i]) < 0)
				continue;
			snprintf(ret, 64, "%.32s (pid %.10s)", name, pids[i]);
			return true;
		}
	}
	return false;
}

/* Devices other than VFs, such as GPUs: they are open while no domain with them runs or starts. */
static void look_at_others(struct check_ctx *e, const struct guest *g, void *data)
{
	const struct known_domains *domains = check_ctx_domains(e);

	for (size_t i = 0; i < g->parsed->device_count; i++) {
		const struct vfctl_bdf *bdf = &g->parsed->devices[i].source;
		char driver[PCI_DRIVER_NAME], who[64];
		bool runs = false;

		if (vf_at(e, bdf, NULL) || pci_driver(e->ctx, bdf, driver) < 0 ||
			!pci_driver_is_vfio(driver) || pci_read_int(e->ctx, bdf, "enable", 0) <= 0)
			continue;
		for (size_t k = 0; domains && k < domains->count; k++)
			runs |= domains->v[k].pid && known_domain_has(&domains->v[k], bdf);
		if (!runs && find_opener(e, pci_iommu_group(e->ctx, bdf), who) && !str_starts(who, "qemu"))
			set_remedy(e, found(e, g->name, "%s has /dev/vfio/%d open, the group of %s", who,
				pci_iommu_group(e->ctx, bdf), TEXT(bdf)), "end that process");
	}
}

static void check_open(struct check_ctx *e)
{
	const struct vfctl_inventory *inv = e->snapshot->inventory;

	/* A user who cannot see libvirt's guests would take each of them for a foreign process. */
	if (e->snapshot->domains_error)
		return;
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			look_at_holder(e, &inv->pfs[i], &inv->pfs[i].vfs[k]);
	each_guest(e, look_at_others, NULL);
}

/* ---- programs that set the same governors ---- */

/* @comm has at most 15 bytes (TASK_COMM_LEN). */
static const struct {
	const char *comm, *service;
} governor_owners[] = {
	{"tuned", "tuned"},
	{"power-profiles-", "power-profiles-daemon"},
	{"auto-cpufreq", "auto-cpufreq"},
	{"cpufreqd", "cpufreqd"},
};

static void look_at_owner(struct check_ctx *e, const char *pid, const char *comm)
{
	for (size_t i = 0; i < ARRAY_SIZE(governor_owners); i++)
		if (str_eq(comm, governor_owners[i].comm))
			set_remedy(e, found(e, "", "process %s (%s) sets governors, and host.yaml has "
				"kernel: {governor: %s}", pid, governor_owners[i].service,
				e->spec->kernel.governor),
				"let one of them decide: systemctl disable --now %s, or remove "
				"kernel.governor from host.yaml", governor_owners[i].service);
}

static void check_governors(struct check_ctx *e)
{
	_strv_ char **pids = NULL;

	if (!e->spec || !e->spec->kernel.governor || host_of(e->ctx)->ops->read_only ||
		host_try_list(e->ctx, &pids, "/proc") < 0)
		return;
	for (size_t i = 0; pids[i] && !e->failed; i++) {
		_free_ char *comm = NULL;

		if (isdigit((unsigned char)pids[i][0]) &&
			host_try_read(e->ctx, &comm, "/proc/%s/comm", pids[i]) == 0)
			look_at_owner(e, pids[i], comm);
	}
}

const struct check process_checks[] = {
	{"write-hangs", VFCTL_PROBLEM, "a process is stuck in a write to sriov_numvfs and blocks every "
		"other change of that PF", NULL, "stop the guest that uses the VF", check_writes},
	{"vf-open", VFCTL_PROBLEM, "a guest will not start: another process has its device open",
		"libvirt then reports \"Device or resource busy\" for /dev/vfio", "end that "
		"process", check_open},
	{"governor-owners", VFCTL_WARNING, "another program sets the governor of the CPUs as well",
		"it has a profile of its own, and sets the governor at boot or when the profile changes",
		"use only one of them", check_governors},
	{.name = NULL},
};
