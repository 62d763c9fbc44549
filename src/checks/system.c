// SPDX-License-Identifier: GPL-2.0-or-later
/* The rest of the host: who else makes VFs, the libvirt daemon, what the kernel forbids. */
#include <errno.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "checks/check.h"
#include "facts/snapshot/memlock.h"
#include "host/host.h"

#define CAP_IPC_LOCK 14
#define CAP_SYS_RESOURCE 24

/* ---- others who make VFs ---- */

static bool says(const char *text, const char *const *words)
{
	for (; *words; words++)
		if (strstr(text, *words))
			return true;
	return false;
}

/* A line whose first character is "#" or ";" says nothing (systemd.syntax(7)). */
static void drop_comment_lines(char *text)
{
	char *to = text;

	for (const char *line = text; *line;) {
		size_t len = strcspn(line, "\n");
		char first = line[strspn(line, " \t")];

		len += line[len] == '\n';
		if (first != '#' && first != ';') {
			memmove(to, line, len);
			to += len;
		}
		line += len;
	}
	*to = '\0';
}

/* Files of @dir whose name ends so and whose text has one of @words. */
static void find_files(struct exam *e, const char *dir, const char *pattern, const char *const *words)
{
	_strv_ char **names = NULL;
	int r = host_try_list(e->ctx, &names, "%s", dir);

	if (r == -EACCES)
		unknown(e, "%s cannot be read", dir);
	for (size_t i = 0; r == 0 && names[i]; i++) {
		_free_ char *text = NULL;

		if (fnmatch(pattern, names[i], 0) != 0 ||
			host_try_read(e->ctx, &text, "%s/%s", dir, names[i]) < 0)
			continue;
		drop_comment_lines(text);
		if (says(text, words))
			found(e, "", "%s/%s", dir, names[i]);
	}
}

static void check_link_files(struct exam *e)
{
	static const char *const dirs[] = {"/etc/systemd/network", "/run/systemd/network"};
	static const char *const words[] = {"[SR-IOV]", "SR-IOVVirtualFunctions=", NULL};

	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		find_files(e, dirs[i], "*.link", words);
}

static void check_netplan(struct exam *e)
{
	static const char *const words[] = {"virtual-function-count", "embedded-switch-mode", NULL};

	find_files(e, "/etc/netplan", "*.yaml", words);
}

static void drop_xml_comments(char *text)
{
	char *start = text;

	while ((start = strstr(start, "<!--"))) {
		const char *end = strstr(start + 4, "-->");

		if (!end) {
			*start = '\0';
			return;
		}
		memmove(start, end + 3, strlen(end + 3) + 1);
	}
}

/* Between <forward> and its end; false: it is no network of VFs. */
static bool find_forward(const char *text, const char **ret_start, const char **ret_end)
{
	const char *start = strstr(text, "<forward"), *end = start ? strstr(start, "</forward>") : NULL;

	if (!end || !memmem(start, (size_t)(end - start), "hostdev", 7))
		return false;
	*ret_start = start;
	*ret_end = end;
	return true;
}

/*
 * libvirt refuses network devices by their names there, as it defines or starts the network ("listed by
 * PCI address", cirrax/puppet-libvirt#52). Of <pf> beside addresses it takes no notice.
 */
static void check_pools(struct exam *e)
{
	static const char dir[] = "/etc/libvirt/qemu/networks";
	_strv_ char **names = NULL;

	if (host_try_list(e->ctx, &names, "%s", dir) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		_free_ char *text = NULL;
		const char *start, *end, *tag;

		if (fnmatch("*.xml", names[i], 0) ||
			host_try_read(e->ctx, &text, "%s/%s", dir, names[i]) < 0)
			continue;
		drop_xml_comments(text);
		if (!find_forward(text, &start, &end))
			continue;
		tag = memchr(start, '>', (size_t)(end - start));
		if (memmem(start, (size_t)(end - start), "<interface ", 11) ||
			(tag && memmem(start, (size_t)(tag - start), " dev=", 5)))
			found(e, "", "%s/%s has a network device by its name in <forward>, and libvirt does "
				"not start it", dir, names[i]);
		else if (memmem(start, (size_t)(end - start), "<pf ", 4) &&
			memmem(start, (size_t)(end - start), "<address ", 9))
			found(e, "", "%s/%s has <pf> and <address> in <forward>: libvirt gives the VFs at "
				"those addresses alone", dir, names[i]);
	}
}

/* ---- the kernel ---- */

/* Kernel lockdown keeps mstconfig from the card (k8snetworkplumbingwg/sriov-network-operator#670). */
static void check_lockdown(struct exam *e)
{
	_free_ char *text = NULL;
	bool mellanox = false;

	for (size_t i = 0; i < e->snapshot->inventory->pf_count; i++)
		mellanox |= e->snapshot->inventory->pfs[i].vendor == 0x15b3;
	if (mellanox && host_try_read(e->ctx, &text, "/sys/kernel/security/lockdown") == 0 &&
		!strstr(text, "[none]"))
		found(e, "", "/sys/kernel/security/lockdown is %s", text);
}

static void check_command_line(struct exam *e)
{
	_free_ char *text = NULL;

	if (host_try_read(e->ctx, &text, "/proc/cmdline") < 0) {
		unknown(e, "/proc/cmdline cannot be read");
		return;
	}
	if (strstr(text, "pcie_acs_override"))
		found(e, "", "/proc/cmdline has pcie_acs_override");
}

/* ---- the libvirt daemon, which starts QEMU with its own rights ---- */

static void check_daemon(struct exam *e)
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

/* ---- vfctl's own ---- */

static void check_leases(struct exam *e)
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
	{"link-files", VFCTL_WARNING, "systemd makes or sets VFs as well",
		"a .link file with an [SR-IOV] section: at boot both work on one PF",
		"one owner: move it to host.yaml (vfctl export prints it), and take the section out",
		check_link_files},
	{"netplan", VFCTL_WARNING, "netplan makes VFs as well", NULL,
		"one owner: move it to host.yaml (vfctl export prints it), and take the key "
		"out", check_netplan},
	{"network-pool", VFCTL_WARNING, "a libvirt network does not give the VFs that its definition names",
		NULL, "one of the two forms: <pf dev='...'/> alone, or addresses alone", check_pools},
	{"lockdown", VFCTL_NOTE, "the kernel keeps programs such as mstconfig from the card",
		"Secure Boot", "set the card's parameters with devlink, or in its own BIOS "
			"menu", check_lockdown},
	{"acs-override", VFCTL_WARNING, "IOMMU groups of this host say nothing",
		"the kernel was told to take ports without ACS for ports with it",
		"take pcie_acs_override off the command line", check_command_line},
	{"daemon-rights", VFCTL_PROBLEM, "guests with VFs cannot lock their memory",
		"the libvirt daemon runs without the right to raise the limit", "let its unit have "
			"CAP_SYS_RESOURCE and CAP_IPC_LOCK (CapabilityBoundingSet=), or "
			"LimitMEMLOCK=infinity (kernel: {memlock: unlimited} in host.yaml writes that)",
		check_daemon},
	{"state", VFCTL_NOTE, "", NULL, "", check_leases},
	{.name = NULL},
};
