// SPDX-License-Identifier: GPL-2.0-or-later
#include "base/find.h"
#include "drivers/driver.h"
#include "core/inventory.h"

#include <errno.h>
#include <linux/if_arp.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "host/host.h"
#include "infiniband/gid.h"
#include "infiniband/vf.h"
#include "netlink/link.h"
#include "pci/acs.h"
#include "pci/device.h"
#include "sriov/eswitch.h"
#include "sriov/holder.h"
#include "sriov/lag.h"
#include "sriov/inventory.h"
#include "sriov/links.h"

/* The words of the last failure become a doubt. */
#define CLASS_NETWORK 0x02

static void add_doubt(struct vfctl_ctx *ctx, char **doubt)
{
	if (!*doubt)
		*doubt = strdup(vfctl_ctx_error(ctx));
	ctx_clear(ctx);
}

static bool add_name(struct vfctl_pf *pf, const char *name)
{
	size_t count = strv_len(pf->names);

	if (!array_grow(pf->names, count) || !array_grow(pf->names, count + 1))
		return false;
	pf->names[count] = strdup(name);
	if (!pf->names[count])
		return false;
	pf->names[count + 1] = NULL;
	return true;
}

/* The device of a network device that is called so, if that is a PCI function. */
static int netdev_function(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_bdf)
{
	_free_ char *function = NULL;
	int r;

	if (!*name || *name == '.' || strchr(name, '/'))
		return -ENOENT;
	r = host_try_link_name(ctx, &function, "/sys/class/net/%s/device", name);
	return r < 0 ? r : vfctl_bdf_parse(function, ret_bdf);
}

/*
 * Since Linux 5.8 the representors of a switchdev PF stand in its net/ directory too;
 * their phys_port_name holds a function: "pf0vf3", "c1pf0vf3", "pf0sf88". The uplink's
 * is "p0", or it has none.
 */
static bool is_representor(struct vfctl_ctx *ctx, const char *netdev)
{
	_free_ char *name = NULL;

	if (host_try_read(ctx, &name, "/sys/class/net/%s/phys_port_name", netdev) < 0)
		return false;
	return strstr(name, "vf") || strstr(name, "sf") || str_starts(name, "pf");
}

static const struct nl_link *find_link(const struct nl_links *links, const char *name)
{
	for (size_t i = 0; i < links->count; i++)
		if (str_eq(links->v[i].name, name))
			return &links->v[i];
	return NULL;
}

/* Without link messages (a plain sys/ tree) sysfs tells a little less. */
static void read_netdev_sysfs(struct vfctl_ctx *ctx, struct vfctl_pf *pf)
{
	_free_ char *mac = NULL, *state = NULL, *index = NULL, *type = NULL, *mtu = NULL;
	int number;

	if (host_try_read(ctx, &mac, "/sys/class/net/%s/address", pf->netdev) == 0)
		vfctl_mac_parse(mac, &pf->mac);
	if (host_try_read(ctx, &state, "/sys/class/net/%s/operstate", pf->netdev) == 0)
		pf->up = pf->carrier = str_eq(state, "up");
	if (host_try_read(ctx, &mtu, "/sys/class/net/%s/mtu", pf->netdev) == 0)
		parse_u32(mtu, 0, UINT16_MAX, &pf->mtu);
	if (host_try_read(ctx, &index, "/sys/class/net/%s/ifindex", pf->netdev) == 0 &&
		parse_int(index, 1, INT32_MAX, &number) == 0)
		pf->ifindex = number;
	if (host_try_read(ctx, &type, "/sys/class/net/%s/type", pf->netdev) == 0)
		pf->infiniband = str_eq(type, "32");
}

/* An IPoIB address: flags and QPN, then the port's GID (RFC 4391, 9.1.1). */
#define IPOIB_ADDRESS 20

static uint64_t guid_of_address(const uint8_t address[IPOIB_ADDRESS])
{
	uint64_t guid = 0;

	for (int i = IPOIB_ADDRESS - 8; i < IPOIB_ADDRESS; i++)
		guid = guid << 8 | address[i];
	return guid;
}

static void note_port(struct vfctl_pf *pf, const struct vfctl_mac *permanent)
{
	if (!vfctl_mac_is_zero(permanent))
		vfctl_mac_format(permanent, pf->port_id);
}

static bool read_netdev(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const char *name,
	const struct nl_link *link)
{
	_free_ char *speed = NULL;
	bool first = !pf->netdev[0];

	if (!add_name(pf, name))
		return false;
	for (char **alt = link ? link->altnames : NULL; alt && *alt; alt++)
		if (!add_name(pf, *alt))
			return false;
	if (!first || !str_copy(pf->netdev, sizeof(pf->netdev), name))
		return true;
	if (link) {
		pf->ifindex = link->ifindex;
		pf->up = link->up;
		pf->carrier = link->carrier;
		pf->mtu = link->mtu;
		pf->infiniband = link->type == ARPHRD_INFINIBAND;
		if (link->address_len == sizeof(pf->mac.byte))
			memcpy(pf->mac.byte, link->address, sizeof(pf->mac.byte));
		if (link->address_len == IPOIB_ADDRESS)
			pf->guid = guid_of_address(link->address);
		note_port(pf, &link->permanent);
	} else {
		read_netdev_sysfs(ctx, pf);
	}
	if (host_try_read(ctx, &speed, "/sys/class/net/%s/speed", name) == 0)
		parse_u32(speed, 0, 10000000, &pf->speed_mbps);
	return true;
}

/* @links NULL: they were not read, and the kernel is asked for this one. */
static bool read_netdev_named(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const char *name,
	const struct nl_links *links)
{
	_cleanup_(nl_links_free) struct nl_links own = {0};

	if (!links && nl_link_read(ctx, name, &own) < 0)
		ctx_clear(ctx);
	return read_netdev(ctx, pf, name, find_link(links ? links : &own, name));
}

static bool read_netdevs(struct vfctl_ctx *ctx, struct vfctl_pf *pf,
	const struct nl_links *links)
{
	_strv_ char **names = NULL;

	if (pf->class_code >> 16 != CLASS_NETWORK || pci_netdevs(ctx, &pf->bdf, &names, NULL) < 0)
		return true;
	for (size_t i = 0; names[i]; i++)
		if (!is_representor(ctx, names[i]) && !read_netdev_named(ctx, pf, names[i], links))
			return false;
	return true;
}

static bool read_rdma(struct vfctl_ctx *ctx, struct vfctl_pf *pf)
{
	_strv_ char **names = NULL;
	_free_ char *layer = NULL, *gid = NULL;

	if (pci_children(ctx, &pf->bdf, "infiniband", &names) < 0)
		return true;
	for (size_t i = 0; names[i]; i++) {
		if (!add_name(pf, names[i]))
			return false;
		if (!pf->rdma[0])
			str_copy(pf->rdma, sizeof(pf->rdma), names[i]);
	}
	if (pf->rdma[0] && host_try_read(ctx, &layer,
		"/sys/class/infiniband/%s/ports/1/link_layer", pf->rdma) == 0)
		pf->infiniband = str_eq(layer, "InfiniBand");
	if (pf->infiniband && pf->rdma[0] && host_try_read(ctx, &gid,
		"/sys/class/infiniband/%s/ports/1/gids/0", pf->rdma) == 0)
		gid_parse_guid(gid, &pf->guid);
	if (pf->infiniband && pf->guid)
		vfctl_guid_format(pf->guid, pf->port_id);
	return true;
}

static bool read_pf(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links)
{
	pci_driver(ctx, &pf->bdf, pf->driver);
	pf->vendor = (uint16_t)pci_read_hex(ctx, &pf->bdf, "vendor");
	pf->device = (uint16_t)pci_read_hex(ctx, &pf->bdf, "device");
	pf->class_code = pci_read_hex(ctx, &pf->bdf, "class");
	pf->numa_node = pci_read_int(ctx, &pf->bdf, "numa_node", VFCTL_NODE_NONE);
	pf->iommu_group = pci_iommu_group(ctx, &pf->bdf);
	if (pf->iommu_group < 0)
		pf->iommu_group = -1;
	pf->offset = pci_read_int(ctx, &pf->bdf, "sriov_offset", -1);
	pf->stride = pci_read_int(ctx, &pf->bdf, "sriov_stride", -1);
	pf->autoprobe = pci_read_int(ctx, &pf->bdf, "sriov_drivers_autoprobe", 1) != 0;
	return read_netdevs(ctx, pf, links) && read_rdma(ctx, pf);
}

static void first_child(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, const char *dir,
	char *name, size_t size)
{
	_strv_ char **names = NULL;

	if (pci_children(ctx, bdf, dir, &names) == 0 && names[0])
		str_copy(name, size, names[0]);
}

static void read_vf_sysfs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_vf *vf)
{
	_strv_ char **names = NULL;

	pci_driver(ctx, &vf->bdf, vf->driver);
	vf->numa_node = pci_read_int(ctx, &vf->bdf, "numa_node", VFCTL_NODE_NONE);
	vf->iommu_group = pci_iommu_group(ctx, &vf->bdf);
	if (vf->iommu_group < 0)
		vf->iommu_group = -1;
	if (!vf->driver[0] || pci_driver_is_vfio(vf->driver))
		return;
	if (pf->class_code >> 16 == CLASS_NETWORK &&
		pci_netdevs(ctx, &vf->bdf, &names, NULL) == 0 && names[0])
		str_copy(vf->netdev, sizeof(vf->netdev), names[0]);
	first_child(ctx, &vf->bdf, "infiniband", vf->rdma, sizeof(vf->rdma));
}

static void merge_attrs(const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_vf *info)
{
	vf->attrs = info->attrs;
	/*
	 * IPoIB reports the PF's own 20-byte address as the MAC of every VF, and the core
	 * zeros for the attributes that IPoIB does not have.
	 */
	if (pf->infiniband)
		vf->attrs.mask &= VFCTL_ATTR_INFINIBAND | VFCTL_ATTR_LINK_STATE | VFCTL_ATTR_MSIX;
}

/* What of a VF is read. */
enum depth {
	DEPTH_VALUES, /* what all VFs of a PF are asked for at once: identity and policy */
	DEPTH_ALL,    /* and what its own directory in sysfs tells, and who has it */
};

/* In switchdev mode rtnetlink knows nothing of rates. */
static int read_rates(struct vfctl_ctx *ctx, struct vfctl_pf *pf)
{
	_cleanup_(eswitch_rates_clear) struct eswitch_rates rates = {0};
	int r = eswitch_rates_read(ctx, &pf->bdf, &rates);

	for (uint32_t i = 0; i < pf->num_vfs && r == 0; i++)
		eswitch_rates_of(&rates, pf->vfs[i].index, &pf->vfs[i].attrs);
	return r;
}

static int read_vfs(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links,
	enum depth depth)
{
	_cleanup_(nl_vfs_free) struct nl_vfs infos = {0};
	const struct ib_guid_ops *way = ib_guid_ops_of(ctx, pf);
	int r = 0;

	if (pf->num_vfs && pf->ifindex)
		r = nl_vfs_read(ctx, pf->ifindex, &infos);
	if (r == -ENOMEM)
		return r;
	/* A capture may lack it; sysfs still tells the rest. */
	if (r < 0 && r != -EOPNOTSUPP)
		add_doubt(ctx, &pf->unread);
	pf->vf_info = infos.count > 0;
	note_port(pf, &infos.permanent);
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct nl_vf *info = nl_vfs_find(&infos, pf->vfs[i].index);

		if (depth == DEPTH_ALL)
			read_vf_sysfs(ctx, pf, &pf->vfs[i]);
		if (info)
			merge_attrs(pf, &pf->vfs[i], info);
		if (way->read)
			way->read(ctx, pf, pf->vfs[i].index, &pf->vfs[i].attrs);
		if (depth == DEPTH_ALL)
			holder_of_vf(ctx, pf, &pf->vfs[i], links);
	}
	if (pf->num_vfs && pf->eswitch == VFCTL_ESWITCH_SWITCHDEV)
		r = read_rates(ctx, pf);
	else
		r = 0;
	if (r < 0 && r != -ENOMEM)
		add_doubt(ctx, &pf->unread);
	return r == -ENOMEM ? r : 0;
}

/* Is @only (a PF, PF/INDEX or a VF's address; NULL: all) about this PF? */
static bool concerns(const struct vfctl_pf *pf, const char *only)
{
	_free_ char *name = NULL;
	struct vfctl_bdf bdf;

	if (!only || pf_answers_to(pf, only))
		return true;
	if (vfctl_bdf_parse(only, &bdf) == 0) {
		for (uint32_t i = 0; i < pf->num_vfs; i++)
			if (vfctl_bdf_compare(&bdf, &pf->vfs[i].bdf) == 0)
				return true;
		return false;
	}
	name = strndup(only, strcspn(only, "/"));
	return name && pf_answers_to(pf, name);
}

static void read_eswitch(struct vfctl_ctx *ctx, struct vfctl_pf *pf, enum depth depth)
{
	/* Without a driver there is nobody to ask. */
	if (pf->class_code >> 16 != CLASS_NETWORK || !pf->driver[0] || pci_driver_is_vfio(pf->driver))
		return;
	/* The hook is in a hurry. */
	if (driver_has(pf->driver, DRIVER_NO_ESWITCH)) {
		pf->eswitch = VFCTL_ESWITCH_NONE;
		return;
	}
	if (eswitch_read(ctx, &pf->bdf, &pf->eswitch) < 0)
		add_doubt(ctx, &pf->unread);
	if (depth == DEPTH_ALL && pf->eswitch != VFCTL_ESWITCH_NONE && pf->eswitch != VFCTL_ESWITCH_LEGACY)
		representors_read(ctx, pf);
	if (depth == DEPTH_ALL)
		lag_read(ctx, pf);
	/* Whoever may not ask for the mode sees what it brings. */
	for (uint32_t i = 0; pf->eswitch == VFCTL_ESWITCH_UNKNOWN && i < pf->num_vfs; i++)
		if (pf->vfs[i].representor[0])
			pf->eswitch = VFCTL_ESWITCH_SWITCHDEV;
}

/*
 * One PF with its VFs; of those @only does not concern, no more than the links say. @links NULL: of this PF's
 * network devices only.
 */
static int read_one(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links,
	const char *only, enum depth depth)
{
	char *doubt;
	int r = 0;

	if (!read_pf(ctx, pf, links))
		return ctx_oom(ctx);
	if (!pf->vfs)
		r = links_read(ctx, &pf->bdf, &pf->vfs, &pf->num_vfs);
	if (r == 0)
		read_eswitch(ctx, pf, depth);
	if (depth == DEPTH_ALL && pf->num_vfs)
		pf->acs = pci_acs_of_path(ctx, &pf->bdf, &pf->acs_port);
	if (r == 0 && concerns(pf, only))
		r = read_vfs(ctx, pf, links, depth);
	doubt = host_take_doubt(ctx);
	if (r == -ENOMEM || pf->unread)
		free(doubt);
	else if (doubt)
		pf->unread = doubt;
	else if (r < 0)
		add_doubt(ctx, &pf->unread);
	return r == -ENOMEM ? r : 0;
}

static int compare_bdfs(const void *a, const void *b)
{
	return vfctl_bdf_compare(a, b);
}

/* The addresses of all PCI functions, in order; freed by the caller. */
static int list_functions(struct vfctl_ctx *ctx, struct vfctl_bdf **ret, size_t *ret_count)
{
	_strv_ char **names = NULL;
	struct vfctl_bdf *all;
	size_t n = 0;
	int r = host_try_list(ctx, &names, "/sys/bus/pci/devices");

	if (r == -ENOENT) /* a machine without PCI */
		return 0;
	if (r < 0)
		return ctx_fail(ctx, r, "list /sys/bus/pci/devices: %s", strerror(-r));
	all = calloc(strv_len(names) + 1, sizeof(*all));
	if (!all)
		return ctx_oom(ctx);
	for (size_t i = 0; names[i]; i++)
		n += vfctl_bdf_parse(names[i], &all[n]) == 0;
	qsort(all, n, sizeof(*all), compare_bdfs);
	*ret = all;
	*ret_count = n;
	return 0;
}

/* VFs have no VFs: those that a PF's links name need not be asked for them. */
static int note_vfs(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct vfctl_bdf *all,
	size_t count, bool *is_vf)
{
	char *doubt = host_take_doubt(ctx); /* of the functions before */
	int r = links_read(ctx, &pf->bdf, &pf->vfs, &pf->num_vfs);

	/* Whatever is wrong here is found again, and told, when the PF is read. */
	if (r < 0)
		ctx_clear(ctx);
	free(host_take_doubt(ctx));
	ctx->doubt = doubt;
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_bdf *at = bsearch(&pf->vfs[i].bdf, all, count, sizeof(*all),
			compare_bdfs);

		if (at)
			is_vf[at - all] = true;
	}
	return r == -ENOMEM ? r : 0;
}

static int find_pfs(struct vfctl_ctx *ctx, struct vfctl_inventory *inv)
{
	_free_ struct vfctl_bdf *all = NULL;
	_free_ bool *is_vf = NULL;
	size_t count = 0;
	int r = list_functions(ctx, &all, &count);

	if (r < 0)
		return r;
	is_vf = calloc(count + 1, sizeof(*is_vf));
	if (!is_vf)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count && r == 0; i++) {
		int total = is_vf[i] ? -1 : pci_read_int(ctx, &all[i], "sriov_totalvfs", -1);

		if (total < 0)
			continue;
		if (!array_grow(inv->pfs, inv->pf_count))
			return ctx_oom(ctx);
		inv->pfs[inv->pf_count] = (struct vfctl_pf){.bdf = all[i],
			.total_vfs = (uint32_t)total};
		r = note_vfs(ctx, &inv->pfs[inv->pf_count++], all, count, is_vf);
	}
	return r;
}

int vfctl_inventory_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	_cleanup_(nl_links_free) struct nl_links links = {0};
	int r;

	if (!inv || !host_of(ctx))
		return ctx_oom(ctx);
	free(host_take_doubt(ctx));
	r = find_pfs(ctx, inv);
	if (r == 0 && inv->pf_count)
		r = nl_links_read(ctx, &links);
	if (r < 0 && (r == -ENOMEM || !inv->pf_count))
		return r;
	if (host_check(ctx) < 0)
		return -E2BIG;
	inv->unread = host_take_doubt(ctx);
	if (r < 0 && r != -EOPNOTSUPP) /* a plain sys/ tree has no link messages */
		add_doubt(ctx, &inv->unread);
	for (size_t i = 0; i < inv->pf_count; i++) {
		r = read_one(ctx, &inv->pfs[i], &links, only, DEPTH_ALL);
		if (r == 0)
			r = host_check(ctx);
		if (r < 0)
			return r;
	}
	holder_name_all(ctx, inv);
	free(host_take_doubt(ctx)); /* names are for people; nothing depends on them */
	ctx_clear(ctx);
	*ret_inventory = steal(inv);
	return 0;
}

static int read_alone(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, enum depth depth,
	struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	struct vfctl_pf *pf;
	int total, r;

	if (!inv || !host_of(ctx) || !array_grow(inv->pfs, 0))
		return ctx_oom(ctx);
	free(host_take_doubt(ctx));
	total = pci_read_int(ctx, bdf, "sriov_totalvfs", -1);
	inv->unread = host_take_doubt(ctx);
	if (inv->unread)
		return ctx_fail(ctx, -EIO, "%s", inv->unread);
	if (total < 0)
		return ctx_fail(ctx, -ENOENT, "%s is no PF of this host", TEXT(bdf));
	pf = &inv->pfs[inv->pf_count++];
	*pf = (struct vfctl_pf){.bdf = *bdf, .total_vfs = (uint32_t)total};
	r = read_one(ctx, pf, NULL, NULL, depth);
	if (r == 0 && pf->unread)
		return ctx_fail(ctx, -EIO, "%s", pf->unread);
	if (r == 0)
		*ret_inventory = steal(inv);
	return r;
}

int inventory_read_pf(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory)
{
	return read_alone(ctx, bdf, DEPTH_ALL, ret_inventory);
}

int inventory_read_values(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory)
{
	return read_alone(ctx, bdf, DEPTH_VALUES, ret_inventory);
}

int inventory_complete(struct vfctl_ctx *ctx, struct vfctl_pf *pf, struct vfctl_vf *vf)
{
	_free_ char *doubt = NULL;

	read_vf_sysfs(ctx, pf, vf);
	holder_of_vf(ctx, pf, vf, &(const struct nl_links){0});
	doubt = host_take_doubt(ctx);
	return doubt ? ctx_fail(ctx, -EIO, "%s", doubt) : 0;
}

void vfctl_inventory_free(struct vfctl_inventory *inventory)
{
	if (!inventory)
		return;
	for (size_t i = 0; i < inventory->pf_count; i++) {
		strv_free(inventory->pfs[i].names);
		free(inventory->pfs[i].unread);
		free(inventory->pfs[i].vfs);
	}
	free(inventory->pfs);
	free(inventory->unread);
	free(inventory);
}

static int locate(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_pf)
{
	_free_ char *pf = strndup(name, strcspn(name, "/"));
	struct vfctl_bdf bdf;

	if (!pf)
		return -ENOMEM;
	if (vfctl_bdf_parse(pf, &bdf) < 0 &&
		(netdev_function(ctx, pf, &bdf) < 0 || is_representor(ctx, pf)))
		return -ENOENT;
	if (!strchr(name, '/'))
		pci_link_function(ctx, &bdf, "physfn", &bdf);
	if (pci_read_int(ctx, &bdf, "sriov_totalvfs", -1) < 0)
		return -ENOENT;
	*ret_pf = bdf;
	return 0;
}

int inventory_locate(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_pf)
{
	int r = locate(ctx, name, ret_pf);

	free(host_take_doubt(ctx));
	ctx_clear(ctx);
	return r;
}

int inventory_list_pfs(struct vfctl_ctx *ctx, struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = calloc(1, sizeof(*inv));
	size_t n = 0;
	int r = inv && host_of(ctx) ? find_pfs(ctx, inv) : ctx_oom(ctx);

	if (r < 0)
		return r;
	for (size_t i = 0; i < inv->pf_count; i++) {
		_strv_ char **names = NULL;

		if (pci_children(ctx, &inv->pfs[i].bdf, "infiniband", &names) >= 0 && names[0])
			inv->pfs[n++] = inv->pfs[i];
		else
			free(inv->pfs[i].vfs);
	}
	inv->pf_count = n;
	*ret_inventory = steal(inv);
	return 0;
}
