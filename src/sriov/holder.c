// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/holder.h"

#include <ctype.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"

#define CLASS_ETHERNET 0x0200

/*
 * vfio-pci enables the function when a process opens it and disables it at the last close, so the
 * PCI enable count shows whether it is open, without a search through /proc
 * (drivers/vfio/pci/vfio_pci_core.c, vfio_pci_core_enable).
 */
static bool open_in_vfio(struct vfctl_ctx *ctx, const struct vfctl_vf *vf)
{
	return pci_driver_is_vfio(vf->driver) && pci_read_int(ctx, &vf->bdf, "enable", 0) > 0;
}

static bool netdev_is_up(const struct nl_links *links, const char *name)
{
	for (size_t i = 0; links && i < links->count; i++)
		if (str_eq(links->v[i].name, name))
			return links->v[i].up;
	return false;
}

void holder_of_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_links *links)
{
	_strv_ char **names = NULL;

	vf->holder.kind = VFCTL_HOLDER_NONE;
	if (!vf->driver[0])
		return;
	if (open_in_vfio(ctx, vf))
		vf->holder.kind = VFCTL_HOLDER_VFIO;
	if (pci_driver_is_vfio(vf->driver) || pf->class_code >> 8 != CLASS_ETHERNET)
		return;
	/* sysfs shows only the network devices of the reader's own namespace. */
	if (!vf->netdev[0] && pci_netdevs(ctx, &vf->bdf, &names, NULL) == 0)
		vf->holder.kind = VFCTL_HOLDER_NETNS;
	else if (vf->netdev[0] && netdev_is_up(links, vf->netdev))
		vf->holder.kind = VFCTL_HOLDER_HOST;
	if (vf->holder.kind == VFCTL_HOLDER_HOST)
		str_copy(vf->holder.name, sizeof(vf->holder.name), vf->netdev);
}

/* ---- the process that has it open ---- */

static struct vfctl_vf *vf_of_group(struct vfctl_inventory *inv, int group)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			if (inv->pfs[i].vfs[k].iommu_group == group &&
				inv->pfs[i].vfs[k].holder.kind == VFCTL_HOLDER_VFIO)
				return &inv->pfs[i].vfs[k];
	return NULL;
}

/* The group number of "/dev/vfio/12"; the newer "/dev/vfio/devices/vfio3" names no group. */
static int group_of_path(const char *path)
{
	static const char prefix[] = "/dev/vfio/";
	int group;

	if (!str_starts(path, prefix) ||
		parse_int(path + strlen(prefix), 0, INT32_MAX, &group) < 0)
		return -1;
	return group;
}

static struct vfctl_vf *vf_of_cdev(struct vfctl_ctx *ctx, struct vfctl_inventory *inv,
	const char *path)
{
	static const char prefix[] = "/dev/vfio/devices/";

	if (!str_starts(path, prefix))
		return NULL;
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			if (inv->pfs[i].vfs[k].holder.kind == VFCTL_HOLDER_VFIO &&
				host_exists(ctx, PCI_SYSFS "%s/vfio-dev/%s",
					TEXT(&inv->pfs[i].vfs[k].bdf), path + strlen(prefix)))
				return &inv->pfs[i].vfs[k];
	return NULL;
}

static void name_process(struct vfctl_ctx *ctx, struct vfctl_vf *vf, const char *pid)
{
	_free_ char *comm = NULL;

	vf->holder.pid = atoi(pid); /* only digits: the caller checked that */
	if (host_try_read(ctx, &comm, "/proc/%s/comm", pid) < 0)
		return;
	snprintf(vf->holder.name, sizeof(vf->holder.name), "%s (pid %s)", comm, pid);
}

static void look_at_process(struct vfctl_ctx *ctx, struct vfctl_inventory *inv,
	const char *pid)
{
	_strv_ char **fds = NULL;

	if (host_try_list(ctx, &fds, "/proc/%s/fd", pid) < 0)
		return;
	for (size_t i = 0; fds[i]; i++) {
		_free_ char *target = NULL;
		struct vfctl_vf *vf;

		if (host_try_link(ctx, &target, "/proc/%s/fd/%s", pid, fds[i]) < 0 ||
			!str_starts(target, "/dev/vfio/"))
			continue;
		vf = vf_of_group(inv, group_of_path(target));
		if (!vf)
			vf = vf_of_cdev(ctx, inv, target);
		if (vf && !vf->holder.pid)
			name_process(ctx, vf, pid);
	}
}

static bool any_open(const struct vfctl_inventory *inv)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			if (inv->pfs[i].vfs[k].holder.kind == VFCTL_HOLDER_VFIO)
				return true;
	return false;
}

void holder_name_all(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory)
{
	_strv_ char **entries = NULL;

	if (!any_open(inventory) || host_try_list(ctx, &entries, "/proc") < 0)
		return;
	for (size_t i = 0; entries[i]; i++)
		if (isdigit((unsigned char)entries[i][0]))
			look_at_process(ctx, inventory, entries[i]);
}

/* ---- text ---- */

static const char *const kind_names[] = {
	[VFCTL_HOLDER_NONE] = "none",
	[VFCTL_HOLDER_DOMAIN] = "domain",
	[VFCTL_HOLDER_VFIO] = "vfio",
	[VFCTL_HOLDER_NETNS] = "netns",
	[VFCTL_HOLDER_HOST] = "host",
};

const char *vfctl_holder_kind_name(enum vfctl_holder_kind kind)
{
	return (size_t)kind < ARRAY_SIZE(kind_names) ? kind_names[kind] : "unknown";
}

bool vf_is_open(const struct vfctl_vf *vf)
{
	return vf->holder.kind != VFCTL_HOLDER_NONE;
}

bool vf_is_busy(const struct vfctl_vf *vf)
{
	return vf_is_open(vf) || vf->lease.name[0] || vf->defined_in[0];
}

static const char *describe_holder(const struct vfctl_holder *holder, char *buf, size_t size)
{
	static const char *const message[] = {
		[VFCTL_HOLDER_NONE] = "free%s",
		[VFCTL_HOLDER_DOMAIN] = "in use by the running domain %s",
		[VFCTL_HOLDER_VFIO] = "open in %s",
		[VFCTL_HOLDER_NETNS] = "in another network namespace%s",
		[VFCTL_HOLDER_HOST] = "up on the host as %s",
	};
	const char *name = holder->name;

	if (holder->kind == VFCTL_HOLDER_VFIO && !name[0])
		name = "an unknown process (it needs root)";
	#pragma GCC diagnostic push
	#pragma GCC diagnostic ignored "-Wformat-nonliteral"
	snprintf(buf, size, message[holder->kind], name);
	#pragma GCC diagnostic pop
	return buf;
}

const char *vf_describe_user(const struct vfctl_vf *vf, char *buf, size_t size)
{
	bool open = vf_is_open(vf);
	const char *lease = vf->lease.name;
	char holder[192];

	if (open && (!lease[0] || str_eq(vf->holder.uuid, vf->lease.uuid)))
		return describe_holder(&vf->holder, buf, size);
	if (open)
		snprintf(buf, size, "%s, while it is leased to domain %s",
			describe_holder(&vf->holder, holder, sizeof(holder)), lease);
	else if (lease[0] && vf->lease.running)
		snprintf(buf, size, "prepared for domain %s, which is starting or running", lease);
	else if (lease[0])
		snprintf(buf, size, "leased to domain %s", lease);
	else if (vf->defined_in[0])
		snprintf(buf, size, "in the definition of domain %s, which is off", vf->defined_in);
	else
		snprintf(buf, size, "free");
	return buf;
}
