// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/holder.h"

#include <ctype.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "host/host.h"
#include "pci/device.h"
#include "sriov/inventory.h"

/*
 * vfio-pci enables the function when a process opens it and disables it at the last close, so the
 * PCI enable count shows whether it is open, without a search through /proc
 * (drivers/vfio/pci/vfio_pci_core.c, vfio_pci_core_enable).
 */
static bool open_in_vfio(struct vfctl_ctx *ctx, const struct vfctl_vf *vf)
{
	return pci_driver_is_vfio(vf->driver) && pci_read_int(ctx, &vf->bdf, "enable", 0) > 0;
}

/* ---- the host ---- */

static const struct nl_link *find_link(const struct nl_links *links, const char *name)
{
	for (size_t i = 0; links && i < links->count; i++)
		if (str_eq(links->v[i].name, name))
			return &links->v[i];
	return NULL;
}

static const struct nl_link *find_above(const struct nl_links *links, int ifindex)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->v[i].lower == ifindex && links->v[i].ifindex != ifindex)
			return &links->v[i];
	return NULL;
}

static const char *name_of_index(const struct nl_links *links, int ifindex)
{
	for (size_t i = 0; i < links->count; i++)
		if (links->v[i].ifindex == ifindex)
			return links->v[i].name;
	return "another device";
}

/* A device that is down can be in use too: its bridge, bond or macvtap is configured already. */
static bool host_uses(const struct nl_links *links, const char *name, struct vfctl_holder *ret)
{
	const struct nl_link *link = find_link(links, name);
	const struct nl_link *above = link ? find_above(links, link->ifindex) : NULL;
	const size_t size = sizeof(ret->name);

	if (!link || !(link->up || link->master || above || link->xdp))
		return false;
	ret->kind = VFCTL_HOLDER_HOST;
	if (link->up)
		str_copy(ret->name, size, name);
	else if (link->master)
		snprintf(ret->name, size, "%s (port of %s)", name, name_of_index(links, link->master));
	else if (above)
		snprintf(ret->name, size, "%s (below %s)", name, above->name);
	else
		snprintf(ret->name, size, "%s (XDP program)", name);
	return true;
}

void holder_of_vf(struct vfctl_ctx *ctx, struct vfctl_vf *vf, char *const *netdevs,
	const struct nl_links *links)
{
	vf->holder = (struct vfctl_holder){.kind = VFCTL_HOLDER_NONE};
	if (open_in_vfio(ctx, vf))
		vf->holder.kind = VFCTL_HOLDER_VFIO;
	/* sysfs shows only the network devices of the reader's own namespace. */
	if (netdevs && !netdevs[0])
		vf->holder.kind = VFCTL_HOLDER_NETNS;
	/* IPoIB has a device for each P_Key. */
	for (size_t i = 0; netdevs && netdevs[i]; i++)
		if (host_uses(links, netdevs[i], &vf->holder))
			return;
}

/* ---- vDPA devices ---- */

#define VDPA_DEVICES "/sys/bus/vdpa/devices"

static struct vfctl_vf *vf_at(struct vfctl_inventory *inv, const struct vfctl_bdf *bdf)
{
	return (struct vfctl_vf *)vfctl_inventory_vf_at(inv, bdf, NULL);
}

int vdpa_function(struct vfctl_ctx *ctx, const char *number, struct vfctl_bdf *ret)
{
	_strv_ char **names = NULL;
	int r = !*number || strchr(number, '/') ? -ENOENT : host_try_list(ctx, &names, VDPA_DEVICES);

	for (size_t i = 0; r == 0 && names[i]; i++)
		if (host_exists(ctx, VDPA_DEVICES "/%s/vhost-vdpa-%s", names[i], number))
			return pci_of_link(ctx, ret, VDPA_DEVICES "/%s", names[i]);
	return r < 0 ? r : -ENOENT;
}

/* The VF that a vDPA device is on stays with its host driver, mlx5_core or another. */
static void note_vdpa(struct vfctl_ctx *ctx, struct vfctl_inventory *inv)
{
	_strv_ char **names = NULL;

	if (host_try_list(ctx, &names, VDPA_DEVICES) < 0)
		return;
	for (size_t i = 0; names[i]; i++) {
		struct vfctl_bdf bdf;
		struct vfctl_vf *vf = pci_of_link(ctx, &bdf, VDPA_DEVICES "/%s", names[i]) < 0
			? NULL : vf_at(inv, &bdf);

		if (!vf || vf->holder.kind != VFCTL_HOLDER_NONE)
			continue;
		vf->holder.kind = VFCTL_HOLDER_VDPA;
		str_copy(vf->holder.name, sizeof(vf->holder.name), names[i]);
	}
}

/* ---- the process that has it open ---- */

static bool find_group(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const char *number,
	struct vfctl_bdf *ret)
{
	int group;

	if (parse_int(number, 0, INT32_MAX, &group) < 0)
		return false;
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++) {
			const struct vfctl_vf *vf = &inv->pfs[i].vfs[k];

			if (vf->iommu_group == group && vf->holder.kind == VFCTL_HOLDER_VFIO) {
				*ret = vf->bdf;
				return true;
			}
		}
	return false;
}

static bool find_vdpa(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const char *number,
	struct vfctl_bdf *ret)
{
	return vdpa_function(ctx, number, ret) == 0;
}

/*
 * The device nodes through which a process uses a VF, each before a shorter prefix of itself. A
 * node has its name in a class of sysfs, or @find finds the function by the number after the
 * prefix.
 */
static const struct node {
	const char *prefix, *class;
	bool (*find)(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, const char *number,
		struct vfctl_bdf *ret);
} nodes[] = {
	{"/dev/vfio/devices/vfio", "vfio-dev", NULL},
	{"/dev/vfio/", NULL, find_group},
	{"/dev/uio", "uio", NULL},
	{"/dev/infiniband/uverbs", "infiniband_verbs", NULL},
	{"/dev/infiniband/umad", "infiniband_mad", NULL},
	{"/dev/infiniband/issm", "infiniband_mad", NULL},
	{VHOST_VDPA, NULL, find_vdpa},
};

/*
 * The path of a device node as it is in /dev: the process may have another root directory, and the
 * node may be removed while it is open (the kernel then appends a word). @io is changed.
 */
static const char *node_path(char *io)
{
	static const char removed[] = " (deleted)";
	size_t len = strlen(io);
	const char *path = io;

	if (len > strlen(removed) && str_eq(io + len - strlen(removed), removed))
		io[len - strlen(removed)] = '\0';
	for (const char *at = io; (at = strstr(at, "/dev/")); at++)
		path = at;
	return path;
}

static bool node_function(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct node *node, const char *path, struct vfctl_bdf *ret)
{
	if (node->find)
		return node->find(ctx, inv, path + strlen(node->prefix), ret);
	return pci_of_link(ctx, ret, "/sys/class/%s%s", node->class, strrchr(path, '/')) == 0;
}

static struct vfctl_vf *vf_of_node(struct vfctl_ctx *ctx, struct vfctl_inventory *inv,
	const char *path)
{
	struct vfctl_bdf bdf;

	for (size_t i = 0; i < ARRAY_SIZE(nodes); i++)
		if (str_starts(path, nodes[i].prefix))
			return node_function(ctx, inv, &nodes[i], path, &bdf) ? vf_at(inv, &bdf) : NULL;
	return NULL;
}

/*
 * The domain of a QEMU, from its "-name guest=NAME,debug-threads=on": the hook may not ask libvirt.
 * In NAME each comma is doubled (libvirt, qemuBuildNameCommandLine). "" for other processes.
 */
static void read_domain(struct vfctl_ctx *ctx, const char *pid, char *ret, size_t size)
{
	static const char option[] = "-name\0guest=";
	_buf_ struct buf cmdline = {0};
	const char *from, *end;
	size_t len = 0;

	ret[0] = '\0';
	if (host_try_bytes(ctx, &cmdline, "/proc/%s/cmdline", pid) < 0 || !cmdline.len)
		return;
	from = memmem(cmdline.data, cmdline.len, option, sizeof(option) - 1);
	if (!from)
		return;
	end = (const char *)cmdline.data + cmdline.len;
	for (from += sizeof(option) - 1; from < end && *from && len + 1 < size; from++) {
		if (*from == ',' && (++from == end || *from != ','))
			break;
		ret[len++] = *from;
	}
	ret[len] = '\0';
}

static void name_process(struct vfctl_ctx *ctx, struct vfctl_vf *vf, const char *pid)
{
	_free_ char *comm = NULL;
	char domain[64];

	vf->holder.pid = atoi(pid); /* only digits: the caller checked that */
	if (vf->holder.kind != VFCTL_HOLDER_VFIO)
		vf->holder.kind = VFCTL_HOLDER_PROCESS;
	if (host_try_read(ctx, &comm, "/proc/%s/comm", pid) < 0)
		comm = NULL;
	read_domain(ctx, pid, domain, sizeof(domain));
	snprintf(vf->holder.name, sizeof(vf->holder.name), "%s%s%s (pid %s)", comm ? comm : "a process",
		domain[0] ? " of domain " : "", domain, pid);
}

/* A device of the host that is up was found before; it says more than a process. */
static bool may_name(const struct vfctl_vf *vf)
{
	return !vf->holder.pid && vf->holder.kind != VFCTL_HOLDER_HOST &&
		vf->holder.kind != VFCTL_HOLDER_NETNS;
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

		if (host_try_link(ctx, &target, "/proc/%s/fd/%s", pid, fds[i]) < 0)
			continue;
		vf = vf_of_node(ctx, inv, node_path(target));
		if (vf && may_name(vf))
			name_process(ctx, vf, pid);
	}
}

/* Whether a process can have it open, or has it open in VFIO. */
static bool may_be_open(const struct vfctl_vf *vf)
{
	return vf->holder.kind == VFCTL_HOLDER_VFIO || vf->holder.kind == VFCTL_HOLDER_VDPA ||
		vf->rdma[0] || strstr(vf->driver, "uio");
}

static bool any_open(const struct vfctl_inventory *inv)
{
	for (size_t i = 0; i < inv->pf_count; i++)
		for (uint32_t k = 0; k < inv->pfs[i].num_vfs; k++)
			if (may_be_open(&inv->pfs[i].vfs[k]))
				return true;
	return false;
}

void holder_find_all(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory)
{
	_strv_ char **entries = NULL;

	note_vdpa(ctx, inventory);
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
	[VFCTL_HOLDER_PROCESS] = "process",
	[VFCTL_HOLDER_VDPA] = "vdpa",
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
	return vf_is_open(vf) || vf->lease.name[0] || vf->defined_in[0] || vf->promise.network[0];
}

const char *vf_defined_in(const struct vfctl_vf *vf)
{
	return vf->defined_in[0]	? vf->defined_in
		: vf->promise.domains[0] ? vf->promise.domains
					 : vf->promise.network;
}

void pf_warn_whole(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	char buf[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(pf, buf);

	if (pf->defined_in[0])
		log_warn(ctx, "domain %s, which is off, has the PF %s itself in its definition: at its "
			"start the kernel removes all VFs of %s, and vfctl's hook refuses the start "
			"while one of them is in use; remove the PF there: virsh edit %s",
			pf->defined_in, name, name, pf->defined_in);
}

static const char *describe_holder(const struct vfctl_holder *holder, char *buf, size_t size)
{
	static const char *const message[] = {
		[VFCTL_HOLDER_NONE] = "free%s",
		[VFCTL_HOLDER_DOMAIN] = "in use by the running domain %s",
		[VFCTL_HOLDER_VFIO] = "open in %s",
		[VFCTL_HOLDER_NETNS] = "in another network namespace%s",
		[VFCTL_HOLDER_HOST] = "in use on the host as %s",
		[VFCTL_HOLDER_PROCESS] = "open in %s",
		[VFCTL_HOLDER_VDPA] = "in use on the host as vDPA device %s",
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
		snprintf(buf, size, "in the definition of domain %s%s%s%s, which is off", vf->defined_in,
			vf->defined_as[0] ? " (" : "", vf->defined_as, vf->defined_as[0] ? ")" : "");
	else if (vf->promise.domains[0])
		snprintf(buf, size, "in libvirt's network %s, from which domain %s takes a VF at its "
			"start", vf->promise.network, vf->promise.domains);
	else if (vf->promise.network[0])
		snprintf(buf, size, "in libvirt's network %s, which %s", vf->promise.network,
			vf->promise.active ? "is active" : "libvirt starts at boot");
	else
		snprintf(buf, size, "free");
	return buf;
}

const char *vf_how_to_free(const struct vfctl_vf *vf, const char *pf, char *buf, size_t size)
{
	const char *domain = vf->holder.kind == VFCTL_HOLDER_DOMAIN ? vf->holder.name : vf->lease.name;

	if (vf->holder.kind == VFCTL_HOLDER_VFIO || vf->holder.kind == VFCTL_HOLDER_PROCESS)
		snprintf(buf, size, "end that process first");
	else if (vf->holder.kind == VFCTL_HOLDER_VDPA)
		snprintf(buf, size, "stop its guest, then run: vdpa dev del %s", vf->holder.name);
	else if (vf->holder.kind != VFCTL_HOLDER_DOMAIN && vf->holder.kind != VFCTL_HOLDER_NONE)
		snprintf(buf, size, "stop its use there first");
	else if (str_eq(domain, vf->lease.name) && vf->holder.kind == VFCTL_HOLDER_DOMAIN)
		snprintf(buf, size, "first run: vfctl detach %s --vf %s/%u", domain, pf, vf->index);
	else
		snprintf(buf, size, "first run: virsh shutdown %s", domain);
	return buf;
}
