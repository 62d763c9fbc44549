// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/host.h"

#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "command.h"
#include "print/list.h"
#include "print/rdma.h"
#include "vfctl/pci.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define GUID(guid) vfctl_guid_format((guid), (char[VFCTL_GUID_TEXT]){0})
#define PF_NAME(pf) vfctl_pf_name((pf), (char[VFCTL_BDF_TEXT]){0})

/* ---- JSON ---- */

void put_index(struct out *out, const char *key, int value)
{
	if (value < 0)
		out_null(out, key);
	else
		out_int(out, key, value);
}

static void put_name(struct out *out, const char *key, const char *value)
{
	out_str(out, key, value[0] ? value : NULL);
}

static void put_mac(struct out *out, const char *key, const struct vfctl_mac *mac)
{
	char text[VFCTL_MAC_TEXT];

	out_str(out, key, vfctl_mac_format(mac, text));
}

static void put_attr(struct out *out, const struct vfctl_vf_attrs *a, const struct vfctl_vf_attr_info *info)
{
	char text[VFCTL_ATTR_TEXT];

	if (!vfctl_vf_attr_text(a, info->bit, text))
		out_null(out, info->json);
	else if (info->type == VFCTL_ATTR_TYPE_SWITCH)
		out_bool(out, info->json, vfctl_vf_attr_number(a, info));
	else if (info->type == VFCTL_ATTR_TYPE_NUMBER || info->type == VFCTL_ATTR_TYPE_RATE)
		out_int(out, info->json, vfctl_vf_attr_number(a, info));
	else
		out_str(out, info->json, text);
}

/* Attributes that the driver does not report are null, never a made-up 0. */
void put_attrs(struct out *out, const struct vfctl_vf_attrs *a)
{
	const struct vfctl_vf_attr_info *info;

	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (info->bit != VFCTL_ATTR_MSIX) /* the kernel does not report it */
			put_attr(out, a, info);
}

void put_holder(struct out *out, const struct vfctl_holder *h)
{
	out_open(out, "holder", '{');
	out_str(out, "kind", vfctl_holder_kind_name(h->kind));
	put_name(out, "name", h->name);
	put_name(out, "domain_uuid", h->uuid);
	put_index(out, "pid", h->pid ? h->pid : -1);
	out_shut(out);
}

static void put_lease_of(struct out *out, const struct vfctl_vf *vf)
{
	if (!vf->lease.name[0]) {
		out_null(out, "lease");
		return;
	}
	out_open(out, "lease", '{');
	out_str(out, "domain", vf->lease.name);
	out_str(out, "domain_uuid", vf->lease.uuid);
	out_bool(out, "running", vf->lease.running);
	out_shut(out);
}

void print_vf_json(struct out *out, const char *key, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_rdma_device *device, const char *exposed)
{
	out_open(out, key, '{');
	if (pf)
		out_str(out, "pf", PF_NAME(pf));
	out_int(out, "index", vf->index);
	out_str(out, "address", BDF(&vf->bdf));
	put_name(out, "driver", vf->driver);
	put_name(out, "netdev", vf->netdev);
	put_name(out, "rdma", vf->rdma);
	put_index(out, "numa_node", vf->numa_node);
	put_index(out, "iommu_group", vf->iommu_group);
	put_attrs(out, &vf->attrs);
	put_holder(out, &vf->holder);
	put_lease_of(out, vf);
	put_name(out, "defined_in", vf->defined_in);
	out_bool(out, "to_clean", vf->to_clean);
	put_name(out, "representor", vf->representor);
	out_str(out, "exposed", exposed && *exposed ? exposed : NULL);
	if (device)
		print_rdma_json(out, "rdma_device", device);
	out_shut(out);
}

static void put_eswitch(struct out *out, enum vfctl_eswitch mode)
{
	bool has = mode != VFCTL_ESWITCH_UNKNOWN && mode != VFCTL_ESWITCH_NONE;

	out_str(out, "eswitch", has ? vfctl_eswitch_name(mode) : NULL);
}

static void put_lag(struct out *out, const struct vfctl_pf *pf)
{
	put_name(out, "bond", pf->bond);
	out_str(out, "lag", pf->bond[0] && pf->lag ? vfctl_lag_name(pf->lag) : NULL);
}

void put_pf_fields(struct out *out, const struct vfctl_pf *pf)
{
	char text[16];

	out_str(out, "name", PF_NAME(pf));
	out_str(out, "address", BDF(&pf->bdf));
	put_name(out, "netdev", pf->netdev);
	put_name(out, "rdma", pf->rdma);
	out_open(out, "names", '[');
	for (char **name = pf->names; name && *name; name++)
		out_str(out, NULL, *name);
	out_shut(out);
	put_name(out, "driver", pf->driver);
	snprintf(text, sizeof(text), "%04x:%04x", pf->vendor, pf->device);
	out_str(out, "device_id", text);
	snprintf(text, sizeof(text), "%06x", pf->class_code);
	out_str(out, "class", text);
	put_index(out, "numa_node", pf->numa_node);
	put_index(out, "iommu_group", pf->iommu_group);
	out_str(out, "link_layer", pf->infiniband ? "infiniband" : pf->netdev[0] ? "ethernet"
										  : NULL);
	out_bool(out, "up", pf->up);
	out_bool(out, "carrier", pf->carrier);
	put_index(out, "speed_mbps", pf->speed_mbps ? (int)pf->speed_mbps : -1);
	if (vfctl_mac_is_zero(&pf->mac))
		out_null(out, "mac");
	else
		put_mac(out, "mac", &pf->mac);
	out_int(out, "total_vfs", pf->total_vfs);
	out_int(out, "num_vfs", pf->num_vfs);
	put_index(out, "vf_offset", pf->offset);
	put_index(out, "vf_stride", pf->stride);
	out_bool(out, "drivers_autoprobe", pf->autoprobe);
	out_str(out, "acs", vfctl_acs_name(pf->acs));
	out_str(out, "acs_port", pf->acs == VFCTL_ACS_OFF || pf->acs == VFCTL_ACS_ABSENT
		? BDF(&pf->acs_port) : NULL);
	put_eswitch(out, pf->eswitch);
	put_lag(out, pf);
	out_str(out, "read_error", pf->unread);
}

void print_listed_vf_json(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf)
{
	char *exposed = NULL;

	if (vf_has_guest(vf))
		vfctl_vf_exposure(ctx, pf, vf, &exposed);
	print_vf_json(out, NULL, NULL, vf, NULL, exposed);
	free(exposed);
}

void print_pf_json(struct out *out, struct vfctl_ctx *ctx, const char *key,
	const struct vfctl_pf *pf, const struct vfctl_rdma_device *device)
{
	out_open(out, key, '{');
	put_pf_fields(out, pf);
	out_open(out, "vfs", '[');
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		print_listed_vf_json(out, ctx, pf, &pf->vfs[i]);
	out_shut(out);
	if (device)
		print_rdma_json(out, "rdma_device", device);
	out_shut(out);
}

/* ---- show ---- */

static void print_model(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	struct vfctl_pci_info info;

	if (vfctl_pci_info_read(ctx, &pf->bdf, &info) < 0)
		return;
	if (info.name[0])
		out_line(out, "  device       %s", info.name);
	if (info.sriov_known && info.sriov_total_vfs != pf->total_vfs)
		out_line(out, "  capability   %u VFs; the driver allows %u", info.sriov_total_vfs,
			pf->total_vfs);
}

static void print_names(struct out *out, const struct vfctl_pf *pf)
{
	char text[512] = "";
	size_t len = 0;

	for (char **name = pf->names; name && *name && len < sizeof(text); name++)
		len += (size_t)snprintf(text + len, sizeof(text) - len, "%s%s", len ? ", " : "",
			*name);
	if (len)
		out_line(out, "  names        %s", text);
}

/* What keeps what its VFs send from other devices. */
static void print_acs(struct out *out, const struct vfctl_pf *pf)
{
	const char *port = BDF(&pf->acs_port);

	if (pf->acs == VFCTL_ACS_ON)
		out_line(out, "  ACS          on, in all ports above it");
	else if (pf->acs == VFCTL_ACS_OFF)
		out_line(out, "  ACS          off in port %s, which could have it on", port);
	else if (pf->acs == VFCTL_ACS_ABSENT)
		out_line(out, "  ACS          not in port %s; the kernel's IOMMU groups are believed",
			port);
	else if (pf->acs == VFCTL_ACS_OVERRIDDEN)
		out_line(out, "  ACS          overridden (pcie_acs_override on the kernel's command "
			"line)");
}

void print_pf(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	char text[VFCTL_MAC_TEXT], link[COLUMN_TEXT];

	out_line(out, "PF %s  %s", PF_NAME(pf), BDF(&pf->bdf));
	print_model(out, ctx, pf);
	print_names(out, pf);
	out_line(out, "  driver       %s", pf->driver[0] ? pf->driver : "none");
	if (pf->numa_node >= 0)
		out_line(out, "  NUMA node    %d", pf->numa_node);
	else
		out_line(out, "  NUMA node    unknown (the firmware states none)");
	if (pf->iommu_group >= 0)
		out_line(out, "  IOMMU group  %d", pf->iommu_group);
	else
		out_line(out, "  IOMMU group  none (VFs cannot be passed to a guest)");
	print_acs(out, pf);
	if (pf->netdev[0])
		out_line(out, "  link         %s, %s", pf->infiniband ? "InfiniBand" : "Ethernet",
			link_words(pf, link));
	if (!vfctl_mac_is_zero(&pf->mac))
		out_line(out, "  MAC          %s", vfctl_mac_format(&pf->mac, text));
	if (pf->eswitch > VFCTL_ESWITCH_NONE)
		out_line(out, "  eswitch      %s", vfctl_eswitch_name(pf->eswitch));
	if (pf->bond[0])
		out_line(out, "  bond         %s; VF-LAG %s", pf->bond, vfctl_lag_name(pf->lag));
	out_line(out, "  VFs          %u of at most %u", pf->num_vfs, pf->total_vfs);
	if (!pf->autoprobe)
		out_line(out, "  autoprobe    off: new VFs get no driver by themselves");
	if (pf->num_vfs)
		print_vfs(out, ctx, pf);
}

void print_vf(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const char *exposed)
{
	char text[COLUMN_TEXT], value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	out_line(out, "VF %s/%u  %s", PF_NAME(pf), vf->index, BDF(&vf->bdf));
	out_line(out, "  PF           %s  %s", PF_NAME(pf), BDF(&pf->bdf));
	out_line(out, "  driver       %s", vf->driver[0] ? vf->driver : "none");
	if (vf->netdev[0])
		out_line(out, "  netdev       %s", vf->netdev);
	if (vf->rdma[0])
		out_line(out, "  RDMA         %s", vf->rdma);
	if (vf->representor[0])
		out_line(out, "  representor  %s", vf->representor);
	if (vf->numa_node >= 0)
		out_line(out, "  NUMA node    %d", vf->numa_node);
	else
		out_line(out, "  NUMA node    unknown (the firmware states none)");
	if (vf->iommu_group >= 0)
		out_line(out, "  IOMMU group  %d", vf->iommu_group);
	else
		out_line(out, "  IOMMU group  none (it cannot be passed to a guest)");
	while (vfctl_vf_attrs_next(&vf->attrs, &i, &key, value))
		out_line(out, "  %-12s %s", key, value);
	if (vf->lease.name[0])
		out_line(out, "  leased to    domain %s", vf->lease.name);
	out_line(out, "  holder       %s", vf->holder.kind != VFCTL_HOLDER_NONE
		? holder_words(vf, text) : vf->lease.name[0] ? vf->to_clean
		? "nobody; to be cleaned of what its guest's run left (vfctl recover)"
		: "nobody now" : vf->to_clean
		? "nobody; to be cleaned of what was left on it (before a guest gets it, or with "
		  "vfctl recover --clean)" : "free");
	if (vf->defined_in[0])
		out_line(out, "  defined in   domain %s, which holds no lease of it", vf->defined_in);
	if (exposed && *exposed)
		out_line(out, "  ! it %s", exposed);
	if (vf->attrs.mask & VFCTL_ATTR_PORT_GUID && !vf->attrs.port_guid)
		out_line(out, "  ! its port GUID is zero, so its port never comes up: vfctl set %s/%u "
			"guid=...", PF_NAME(pf), vf->index);
}
