// SPDX-License-Identifier: GPL-2.0-or-later
/* A PF itself, without its VFs: its attributes, network devices and RDMA device. */
#include "sriov/pf.h"

#include <errno.h>
#include <linux/if_arp.h>

#include "base/parse.h"
#include "host/host.h"
#include "infiniband/gid.h"
#include "pci/device.h"

#define CLASS_NETWORK 0x02

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

int pf_netdev_function(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_bdf)
{
	_free_ char *function = NULL;
	int r;

	if (!*name || *name == '.' || strchr(name, '/'))
		return -ENOENT;
	r = host_try_link_name(ctx, &function, "/sys/class/net/%s/device", name);
	return r < 0 ? r : vfctl_bdf_parse(function, ret_bdf);
}

bool pf_is_representor(struct vfctl_ctx *ctx, const char *netdev)
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

/* Without link messages (a plain sys/ tree) sysfs provides slightly less. */
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

void pf_note_port(struct vfctl_pf *pf, const struct vfctl_mac *permanent)
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
		pf_note_port(pf, &link->permanent);
	} else {
		read_netdev_sysfs(ctx, pf);
	}
	if (host_try_read(ctx, &speed, "/sys/class/net/%s/speed", name) == 0)
		parse_u32(speed, 0, 10000000, &pf->speed_mbps);
	return true;
}

/* @links NULL: they were not read, and only this one is requested from the kernel. */
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
		if (!pf_is_representor(ctx, names[i]) && !read_netdev_named(ctx, pf, names[i], links))
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

bool pf_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links)
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
