// SPDX-License-Identifier: GPL-2.0-or-later
/* PFs and VFs: getters, and tables of the members that are read by key. */
#include "vfctl/host.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "api/asked.h"
#include "pci/acs.h"
#include "sriov/inventory.h"
#include "types/snapshot.h"

/* ---- the snapshot ---- */

const struct vfctl_pf *vfctl_snapshot_pf(const struct vfctl_snapshot *snapshot, size_t index)
{
	return index < snapshot->inventory->pf_count ? &snapshot->inventory->pfs[index] : NULL;
}

int vfctl_snapshot_find_pf(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const char *name, const struct vfctl_pf **ret)
{
	return vfctl_inventory_find_pf(ctx, snapshot->inventory, name, ret);
}

int vfctl_snapshot_find_vf(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const char *name, const struct vfctl_pf **ret_pf, const struct vfctl_vf **ret)
{
	const struct vfctl_pf *pf;
	int r = vfctl_inventory_find_vf(ctx, snapshot->inventory, name, &pf, ret);

	if (r == 0 && ret_pf)
		*ret_pf = pf;
	return r;
}

const char *vfctl_snapshot_gap(const struct vfctl_snapshot *snapshot, size_t index)
{
	const struct vfctl_inventory *inventory = snapshot->inventory;
	const char *const gaps[] = {snapshot->leases_error, snapshot->domains_error,
		snapshot->domain_unread, inventory->unread};

	for (size_t i = 0; i < ARRAY_SIZE(gaps); i++)
		if (gaps[i] && index-- == 0)
			return gaps[i];
	for (size_t i = 0; i < inventory->pf_count; i++)
		if (inventory->pfs[i].unread && index-- == 0)
			return inventory->pfs[i].unread;
	return NULL;
}

/* ---- a PF ---- */

char *vfctl_pf_address(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT])
{
	return vfctl_bdf_format(&pf->bdf, buf);
}

int vfctl_pf_node(const struct vfctl_pf *pf)
{
	return pf->numa_node;
}

uint32_t vfctl_pf_total_vfs(const struct vfctl_pf *pf)
{
	return pf->total_vfs;
}

uint32_t vfctl_pf_vf_count(const struct vfctl_pf *pf)
{
	return pf->num_vfs;
}

const struct vfctl_vf *vfctl_pf_vf(const struct vfctl_pf *pf, size_t at)
{
	return pf->vfs && at < pf->num_vfs ? &pf->vfs[at] : NULL;
}

/* A member of a PF or VF: the function that prints it, and its offset in the struct. */
struct member {
	const char *key;
	int (*get)(const struct member *member, const void *object, char *buf, size_t size);
	size_t at;
	const char *help;
};

static int get_chars(const struct member *m, const void *object, char *buf, size_t size)
{
	return give_text((const char *)object + m->at, buf, size);
}

static int get_text(const struct member *m, const void *object, char *buf, size_t size)
{
	return give_text(*(char *const *)((const char *)object + m->at), buf, size);
}

static int get_switch(const struct member *m, const void *object, char *buf, size_t size)
{
	return give_text(*(const bool *)((const char *)object + m->at) ? "on" : "off", buf, size);
}

/* The number 0 means that the value is not known. */
static int get_number(const struct member *m, const void *object, char *buf, size_t size)
{
	uint32_t value = *(const uint32_t *)((const char *)object + m->at);

	return value ? snprintf(buf, size, "%" PRIu32, value) : -ENODATA;
}

/* A negative number stands for an unknown value. */
static int get_int(const struct member *m, const void *object, char *buf, size_t size)
{
	int value = *(const int *)((const char *)object + m->at);

	return value >= 0 ? snprintf(buf, size, "%d", value) : -ENODATA;
}

static int get_id(const struct member *m, const void *object, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%04x", *(const uint16_t *)((const char *)object + m->at));
}

static int get_class(const struct member *m, const void *object, char *buf, size_t size)
{
	return snprintf(buf, size, "0x%06" PRIx32, *(const uint32_t *)((const char *)object + m->at));
}

static int get_bdf(const struct member *m, const void *object, char *buf, size_t size)
{
	char text[VFCTL_BDF_TEXT];

	return give_text(vfctl_bdf_format((const struct vfctl_bdf *)((const char *)object + m->at), text),
		buf, size);
}

static int get_mac(const struct member *m, const void *object, char *buf, size_t size)
{
	const struct vfctl_mac *mac = (const struct vfctl_mac *)((const char *)object + m->at);
	char text[VFCTL_MAC_TEXT];

	return vfctl_mac_is_zero(mac) ? -ENODATA : give_text(vfctl_mac_format(mac, text), buf, size);
}

static int get_guid(const struct member *m, const void *object, char *buf, size_t size)
{
	uint64_t guid = *(const uint64_t *)((const char *)object + m->at);
	char text[VFCTL_GUID_TEXT];

	return guid ? give_text(vfctl_guid_format(guid, text), buf, size) : -ENODATA;
}

static int get_link_layer(const struct member *m, const void *object, char *buf, size_t size)
{
	return give_text(((const struct vfctl_pf *)object)->infiniband ? "InfiniBand" : "Ethernet", buf,
		size);
}

static int get_eswitch(const struct member *m, const void *object, char *buf, size_t size)
{
	enum vfctl_eswitch mode = ((const struct vfctl_pf *)object)->eswitch;

	return mode == VFCTL_ESWITCH_UNKNOWN ? -ENODATA
					     : give_text(vfctl_eswitch_name(mode), buf, size);
}

static int get_acs(const struct member *m, const void *object, char *buf, size_t size)
{
	enum vfctl_acs acs = ((const struct vfctl_pf *)object)->acs;

	return acs == VFCTL_ACS_UNKNOWN ? -ENODATA : give_text(vfctl_acs_name(acs), buf, size);
}

static int get_names(const struct member *m, const void *object, char *buf, size_t size)
{
	char *const *names = ((const struct vfctl_pf *)object)->names;
	int len = 0;

	for (size_t i = 0; names && names[i]; i++)
		len += snprintf((size_t)len < size ? buf + len : NULL,
			(size_t)len < size ? size - (size_t)len : 0, "%s%s", i ? " " : "", names[i]);
	return len ? len : -ENODATA;
}

#define PF(member) offsetof(struct vfctl_pf, member)
static const struct member pf_members[] = {
	{"address", get_bdf, PF(bdf), "PCI address"},
	{"driver", get_chars, PF(driver), "driver that it is bound to"},
	{"netdev", get_chars, PF(netdev), "network device"},
	{"rdma", get_chars, PF(rdma), "RDMA device"},
	{"names", get_names, 0, "its names besides its PCI address, separated by spaces"},
	{"port-id", get_chars, PF(port_id), "permanent MAC or GUID of its port"},
	{"mac", get_mac, PF(mac), "MAC of its network device"},
	{"guid", get_guid, PF(guid), "GUID of its InfiniBand port"},
	{"vendor", get_id, PF(vendor), "PCI vendor ID, hexadecimal"},
	{"device", get_id, PF(device), "PCI device ID, hexadecimal"},
	{"class", get_class, PF(class_code), "PCI class code, hexadecimal"},
	{"node", get_int, PF(numa_node), "NUMA node"},
	{"iommu-group", get_int, PF(iommu_group), "IOMMU group"},
	{"link-layer", get_link_layer, 0, "Ethernet or InfiniBand"},
	{"up", get_switch, PF(up), "whether its network device is up"},
	{"carrier", get_switch, PF(carrier), "whether its network device has a carrier"},
	{"speed-mbps", get_number, PF(speed_mbps), "speed of the link, Mbit/s"},
	{"mtu", get_number, PF(mtu), "MTU of its network device, bytes"},
	{"autoprobe", get_switch, PF(autoprobe), "whether the kernel binds drivers to new VFs"},
	{"eswitch", get_eswitch, 0, "mode of the eswitch: legacy, switchdev, ..."},
	{"acs", get_acs, 0, "whether ACS isolates its VFs: on, off, absent, overridden"},
	{"bond", get_chars, PF(bond), "bond that its network device belongs to"},
	{"unread", get_text, PF(unread), "first part of the PF or its VFs that could not be read"},
};

static int get_member(const struct member *members, size_t count, const void *object,
	const char *key,
	char *buf, size_t size)
{
	for (size_t i = 0; i < count; i++)
		if (str_eq(members[i].key, key))
			return members[i].get(&members[i], object, buf, size);
	return -ENOENT;
}

int vfctl_pf_get(const struct vfctl_pf *pf, const char *key, char *buf, size_t size)
{
	return get_member(pf_members, ARRAY_SIZE(pf_members), pf, key, buf, size);
}

const char *vfctl_pf_key(size_t index, const char **ret_help)
{
	if (index >= ARRAY_SIZE(pf_members))
		return NULL;
	if (ret_help)
		*ret_help = pf_members[index].help;
	return pf_members[index].key;
}

/* ---- a VF ---- */

uint32_t vfctl_vf_index(const struct vfctl_vf *vf)
{
	return vf->index;
}

char *vfctl_vf_address(const struct vfctl_vf *vf, char buf[VFCTL_BDF_TEXT])
{
	return vfctl_bdf_format(&vf->bdf, buf);
}

int vfctl_vf_node(const struct vfctl_vf *vf)
{
	return vf->numa_node;
}

enum vfctl_holder_kind vfctl_vf_holder(const struct vfctl_vf *vf)
{
	return vf->holder.kind;
}

bool vfctl_vf_is_free(const struct vfctl_vf *vf)
{
	return vf->holder.kind == VFCTL_HOLDER_NONE && !vf->lease.name[0] && !vf->defined_in[0] &&
		!vf->promise.network[0] && !vf->to_clean;
}

static int get_holder(const struct member *m, const void *object, char *buf, size_t size)
{
	return give_text(vfctl_holder_kind_name(((const struct vfctl_vf *)object)->holder.kind), buf,
		size);
}

#define VF(member) offsetof(struct vfctl_vf, member)
static const struct member vf_members[] = {
	{"address", get_bdf, VF(bdf), "PCI address"},
	{"driver", get_chars, VF(driver), "driver that it is bound to"},
	{"netdev", get_chars, VF(netdev), "network device in this network namespace"},
	{"rdma", get_chars, VF(rdma), "RDMA device"},
	{"node", get_int, VF(numa_node), "NUMA node"},
	{"iommu-group", get_int, VF(iommu_group), "IOMMU group"},
	{"holder", get_holder, 0, "kind of its present user: none, domain, vfio, netns or host"},
	{"holder-name", get_chars, VF(holder.name), "domain or process that uses it"},
	{"leased-to", get_chars, VF(lease.name), "domain that it is leased to"},
	{"defined-in", get_chars, VF(defined_in), "other domains that have it in their definitions"},
	{"to-clean", get_switch, VF(to_clean), "whether it is to be cleaned after its last guest"},
	{"representor", get_chars, VF(representor), "network device that represents it in switchdev mode"},
	{"bridge", get_chars, VF(bridge), "bridge that the representor is a port of"},
};

static const struct vfctl_vf_attr_info *attr_of(const char *key)
{
	const struct vfctl_vf_attr_info *info;

	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (str_eq(info->key, key))
			return info;
	return NULL;
}

int vfctl_vf_get(const struct vfctl_vf *vf, const char *key, char *buf, size_t size)
{
	const struct vfctl_vf_attr_info *info = attr_of(key);
	char text[VFCTL_ATTR_TEXT];

	if (!info)
		return get_member(vf_members, ARRAY_SIZE(vf_members), vf, key, buf, size);
	if (!vfctl_vf_attr_text(&vf->attrs, info->bit, text))
		return -ENODATA;
	return give_text(text, buf, size);
}

const char *vfctl_vf_key(size_t index, const char **ret_help)
{
	if (index >= ARRAY_SIZE(vf_members))
		return vfctl_attr_key(index - ARRAY_SIZE(vf_members), ret_help);
	if (ret_help)
		*ret_help = vf_members[index].help;
	return vf_members[index].key;
}

const char *vfctl_attr_key(size_t index, const char **ret_help)
{
	const struct vfctl_vf_attr_info *info = vfctl_vf_attr_info(index);

	if (info && ret_help)
		*ret_help = info->help;
	return info ? info->key : NULL;
}
