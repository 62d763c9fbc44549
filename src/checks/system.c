// SPDX-License-Identifier: GPL-2.0-or-later
/* The rest of the host: networks of libvirt, its daemon, what the kernel forbids. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "types/find.h"
#include "checks/check.h"
#include "domain/domain.h"
#include "facts/snapshot/memlock.h"
#include "host/host.h"

#define CAP_IPC_LOCK 14
#define CAP_SYS_RESOURCE 24

/* ---- networks of libvirt ---- */

static bool lists_all_vfs(const struct libvirt_network *network, const struct vfctl_pf *pf)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (!bdf_list_has(network->functions, network->function_count, &pf->vfs[i].bdf))
			return false;
	return true;
}

/*
 * Whether the addresses are those of all VFs of the PFs, as libvirt writes them into an active
 * network.
 */
static bool are_all_of_pfs(const struct check_ctx *e, const struct libvirt_network *network)
{
	size_t count = 0;

	for (char **name = network->pfs; *name; name++) {
		const struct vfctl_pf *pf = find_pf_named(e->snapshot->inventory, *name);

		if (!pf || !lists_all_vfs(network, pf))
			return false;
		count += pf->num_vfs;
	}
	return count == network->function_count;
}

/*
 * libvirt rejects names of network devices there when it defines or starts the network ("listed by
 * PCI address", cirrax/puppet-libvirt#52). It ignores a <pf> beside addresses.
 */
static void check_pool(struct check_ctx *e, const char *path, const struct libvirt_network *network)
{
	if (!network->hostdev)
		return;
	if (network->interfaces)
		found(e, "", "%s names a network device in <forward>, so libvirt does not start the "
			"network", path);
	else if (network->pfs && network->function_count && !are_all_of_pfs(e, network))
		found(e, "", "%s has both <pf> and <address> in <forward>: libvirt uses only the VFs at "
			"those addresses", path);
}

static void check_pools(struct check_ctx *e)
{
	static const char dir[] = "/etc/libvirt/qemu/networks";
	_strv_ char **names = NULL;

	if (host_try_list(e->ctx, &names, "%s", dir) < 0)
		return;
	for (size_t i = 0; names[i] && !e->failed; i++) {
		_cleanup_(libvirt_network_clear) struct libvirt_network network = {0};
		_free_ char *text = NULL, *path = str_format("%s/%s", dir, names[i]);

		if (!path || fnmatch("*.xml", names[i], 0) ||
			host_try_read(e->ctx, &text, "%s", path) < 0 || !strstr(text, "hostdev"))
			continue;
		if (libvirt_network_read(e->ctx, text, &network) == 0)
			check_pool(e, path, &network);
		else
			ctx_clear(e->ctx);
	}
}

/* ---- the kernel ---- */

/*
 * Kernel lockdown denies mstconfig access to the card
 * (k8snetworkplumbingwg/sriov-network-operator#670).
 */
static void check_lockdown(struct check_ctx *e)
{
	_free_ char *text = NULL;
	bool mellanox = false;

	for (size_t i = 0; i < e->snapshot->inventory->pf_count; i++)
		mellanox |= e->snapshot->inventory->pfs[i].vendor == 0x15b3;
	if (mellanox && host_try_read(e->ctx, &text, "/sys/kernel/security/lockdown") == 0 &&
		!strstr(text, "[none]"))
		found(e, "", "/sys/kernel/security/lockdown is %s", text);
}

static void check_command_line(struct check_ctx *e)
{
	_free_ char *text = NULL;

	if (host_try_read(e->ctx, &text, "/proc/cmdline") < 0) {
		unknown(e, "/proc/cmdline cannot be read");
		return;
	}
	if (strstr(text, "pcie_acs_override"))
		found(e, "", "/proc/cmdline has pcie_acs_override");
}

/* ---- the libvirt daemon, which starts QEMU with its own privileges ---- */

static void check_daemon(struct check_ctx *e)
{
	_strv_ char **pids = NULL;

	if (host_try_list(e->ctx, &pids, "/proc") < 0)
		return;
	for (size_t i = 0; pids[i]; i++) {
		_free_ char *name = NULL, *status = NULL;
		const char *at;
		uint64_t bounding;

		if (pids[i][strspn(pids[i], "0123456789")] ||
			host_try_read(e->ctx, &name, "/proc/%s/comm", pids[i]) < 0 ||
			(!str_eq(name, "libvirtd") && !str_eq(name, "virtqemud")) ||
			host_try_read(e->ctx, &status, "/proc/%s/status", pids[i]) < 0)
			continue;
		at = strstr(status, "CapBnd:");
		if (!at || sscanf(at + 7, "%" SCNx64, &bounding) != 1)
			continue;
		if ((bounding >> CAP_IPC_LOCK & 1 && bounding >> CAP_SYS_RESOURCE & 1) ||
			memlock_is_unlimited(e->ctx, (uint32_t)atoi(pids[i])))
			continue;
		found(e, "", "CapBnd of %s in /proc/%s/status lacks %s, and its Max locked memory is limited",
			name, pids[i],
			bounding >> CAP_SYS_RESOURCE & 1 ? "CAP_IPC_LOCK" : "CAP_SYS_RESOURCE");
	}
}

/* ---- vfctl itself ---- */

static void check_leases(struct check_ctx *e)
{
	if (e->snapshot->leases_error)
		unknown(e, "leases: %s", e->snapshot->leases_error);
	if (e->snapshot->domains_error)
		unknown(e, "domains: %s", e->snapshot->domains_error);
	if (e->snapshot->domain_unread)
		unknown(e, "%s", e->snapshot->domain_unread);
	if (e->snapshot->inventory->unread)
		unknown(e, "%s", e->snapshot->inventory->unread);
	for (size_t i = 0; i < e->snapshot->inventory->pf_count; i++)
		if (e->snapshot->inventory->pfs[i].unread)
			unknown(e, "%s", e->snapshot->inventory->pfs[i].unread);
}

const struct check system_checks[] = {
	{"network-pool", VFCTL_WARNING, "a libvirt network does not provide the VFs that its definition "
		"names",
		NULL, "use only one of the two forms: <pf dev='...'/> or addresses", check_pools},
	{"lockdown", VFCTL_NOTE, "kernel lockdown blocks programs such as mstconfig",
		"Secure Boot", "set the card's parameters with devlink or in its own setup "
		"page", check_lockdown},
	{"acs-override", VFCTL_WARNING, "the IOMMU groups of this host are not reliable",
		"the kernel was told to treat ports without ACS as ports with ACS",
		"remove pcie_acs_override from the kernel command line", check_command_line},
	{"daemon-rights", VFCTL_PROBLEM, "guests with VFs cannot lock their memory",
		"the libvirt daemon may not raise the limit", "give its unit CAP_SYS_RESOURCE and "
			"CAP_IPC_LOCK (CapabilityBoundingSet=) or LimitMEMLOCK=infinity (host.yaml: "
			"kernel: {memlock: unlimited})",
		check_daemon},
	{"state", VFCTL_NOTE, "", NULL, "", check_leases},
	{.name = NULL},
};
