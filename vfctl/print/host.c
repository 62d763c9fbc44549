// SPDX-License-Identifier: GPL-2.0-or-later
#include "print/host.h"

#include <stdlib.h>
#include <string.h>

#include "columns.h"
#include "command.h"
#include "facts/snapshot/snapshot.h"
#include "pci/acs.h"
#include "pci/info.h"
#include "print/health.h"
#include "print/list.h"
#include "print/rdma.h"
#include "sriov/inventory.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define PF_NAME(pf) vfctl_pf_name((pf), (char[VFCTL_BDF_TEXT]){0})

/* ---- JSON ---- */

/* Attributes that the driver does not report are null, never 0. */
static void put_attr(struct out *out, const struct member *m, const void *of)
{
	const struct vfctl_vf_attr_info *info = m->arg;
	const struct vfctl_vf_attrs *a = of;
	char text[VFCTL_ATTR_TEXT];

	if (!vfctl_vf_attr_text(a, info->bit, text))
		out_null(out, info->json);
	else if (m->each == MEMBER_FLAG)
		out_bool(out, info->json, vfctl_vf_attr_number(a, info));
	else if (m->each == MEMBER_NUMBER)
		out_int(out, info->json, vfctl_vf_attr_number(a, info));
	else
		out_str(out, info->json, text);
}

/* One row for each attribute; the kernel does not report MSI-X vectors. */
static bool attr_member(size_t at, struct member *ret)
{
	const struct vfctl_vf_attr_info *info;
	enum member_kind kind = MEMBER_TEXT;

	for (size_t i = 0; (info = vfctl_vf_attr_info(i)); i++)
		if (info->bit != VFCTL_ATTR_MSIX && at-- == 0)
			break;
	if (!info)
		return false;
	if (info->type == VFCTL_ATTR_TYPE_SWITCH)
		kind = MEMBER_FLAG;
	else if (info->type == VFCTL_ATTR_TYPE_NUMBER || info->type == VFCTL_ATTR_TYPE_RATE)
		kind = MEMBER_NUMBER;
	*ret = (struct member)PUT(info->json, put_attr, kind, info->help, NULLABLE, .arg = info);
	return true;
}

const struct member answer_values[] = {
	SECTION("VALUES", "Identity and policy of a VF. An attribute that its driver does not "
		"report is null."),
	MADE(attr_member), END};

#define OF struct vfctl_holder
TEXT_OF(holder_kind, OF, vfctl_holder_kind_name(it->kind))
const struct member answer_holder[] = {
	SECTION("HOLDER", "The user of a VF."),
	TEXT("kind", holder_kind, "none, domain, vfio or process (of another program), netns "
		"(another network namespace), host or vdpa (a vDPA device of this host)"),
	FIELD(name, "name of the domain, process or network device"),
	FIELD_AS("domain_uuid", uuid, "UUID of the domain"),
	FIELD(pid, "ID of the process that has the VF open", NONZERO), END};
#undef OF

#define OF struct vfctl_vf_lease
static const struct member vf_lease_table[] = {
	FIELD_AS("domain", name, "domain of the lease", FILLED),
	FIELD_AS("domain_uuid", uuid, "UUID of that domain", FILLED),
	FIELD(running, "the hook prepared the VF for a run that has not ended"), END};
#undef OF

#define OF struct vfctl_vf
OBJECT_OF(lease_of, OF, it->lease.name[0] ? &it->lease : NULL)
static const struct member vf_fields[] = {
	FIELD(index, "the N of PF/N"),
	FIELD_AS("address", bdf, "PCI address"),
	FIELD(driver, "driver that it is bound to"),
	FIELD(netdev, "network device"),
	FIELD(rdma, "RDMA device"),
	FIELD(numa_node, "NUMA node"),
	FIELD(iommu_group, "IOMMU group"),
	PART(attrs, answer_values),
	OBJECT("holder", holder, answer_holder, "present user of the VF"),
	OBJECT_GET("lease", lease_of, vf_lease_table, "lease of the VF; null: it is not leased",
		NULLABLE),
	FIELD(defined_in, "domains that are off and have the VF in their definitions without a "
		"lease"),
	FIELD_AS("network", promise.network, "libvirt network that may give the VF to a domain, which "
		"is off"),
	FIELD(to_clean, "the VF is not in use, and values of its last user are still set (list, "
		"show); vfctl recover resets those of a leased VF"),
	FIELD(representor, "network device of this host that represents the VF in switchdev mode"), END};
#undef OF

#define OF struct vf_view
TEXT_OF(vf_pf_name, OF, it->pf ? vfctl_pf_name(it->pf, room) : NULL)
const struct member answer_vf[] = {
	SECTION("VF", NULL),
	TEXT("pf", vf_pf_name, "show only: name of the PF", OPTIONAL),
	PART_AT(vf, vf_fields),
	FIELD(exposed, "why the VF is not isolated from other VFs or from its next guest; null: no "
		"reason is known; list reports it for VFs that are leased or that a guest uses"),
	OBJECT_AT("rdma_device", device, answer_rdma, "show only: RDMA device of the VF", OPTIONAL), END};
#undef OF

static bool decides(const struct vfctl_pf *pf)
{
	return pf->acs == VFCTL_ACS_OFF || pf->acs == VFCTL_ACS_ABSENT;
}

static const char *format_id(char *room, const struct vfctl_pf *pf)
{
	snprintf(room, MEMBER_ROOM, "%04x:%04x", pf->vendor, pf->device);
	return room;
}

static const char *format_class(char *room, const struct vfctl_pf *pf)
{
	snprintf(room, MEMBER_ROOM, "%06x", pf->class_code);
	return room;
}

#define OF struct vfctl_pf
TEXT_OF(pf_name, OF, vfctl_pf_name(it, room))
TEXT_OF(pf_device_id, OF, format_id(room, it))
TEXT_OF(pf_class, OF, format_class(room, it))
TEXT_OF(pf_link_layer, OF, it->infiniband ? "infiniband" : it->netdev[0] ? "ethernet" : NULL)
TEXT_OF(pf_mac, OF, vfctl_mac_is_zero(&it->mac) ? NULL : vfctl_mac_format(&it->mac, room))
TEXT_OF(pf_acs, OF, vfctl_acs_name(it->acs))
TEXT_OF(pf_acs_port, OF, decides(it) ? vfctl_bdf_format(&it->acs_port, room) : NULL)
TEXT_OF(pf_eswitch, OF, it->eswitch > VFCTL_ESWITCH_NONE ? vfctl_eswitch_name(it->eswitch) : NULL)
TEXT_OF(pf_lag, OF, it->bond[0] && it->lag ? vfctl_lag_name(it->lag) : NULL)
static const struct member pf_fields[] = {
	TEXT("name", pf_name, "network device, RDMA device or address"),
	FIELD_AS("address", bdf, "PCI address"),
	FIELD(netdev, "network device"),
	FIELD(rdma, "RDMA device"),
	TEXTS("names", names, "names of the PF besides its address"),
	FIELD(driver, "driver that it is bound to"),
	TEXT("device_id", pf_device_id, "vendor and device, such as \"8086:10c9\""),
	TEXT("class", pf_class, "PCI class, such as \"020000\""),
	FIELD(numa_node, "NUMA node"),
	FIELD(iommu_group, "IOMMU group"),
	TEXT("link_layer", pf_link_layer, "ethernet or infiniband", NULLABLE),
	FIELD(up, "the network device is up"),
	FIELD(carrier, "the network device has a carrier"),
	FIELD(speed_mbps, "speed of the link", NONZERO),
	TEXT("mac", pf_mac, "MAC of the network device", NULLABLE),
	FIELD(total_vfs, "VFs that the driver allows"),
	FIELD(num_vfs, "VFs that exist"),
	FIELD_AS("vf_offset", offset, "First VF Offset of the SR-IOV capability"),
	FIELD_AS("vf_stride", stride, "VF Stride of the SR-IOV capability"),
	FIELD_AS("drivers_autoprobe", autoprobe, "the kernel binds drivers to new VFs"),
	TEXT("acs", pf_acs, "whether the ports above the PF isolate its VFs from other devices: on, "
		"off, absent, overridden or unknown"),
	TEXT("acs_port", pf_acs_port, "for off and absent: the port that causes it", NULLABLE),
	TEXT("eswitch", pf_eswitch, "mode of the eswitch: legacy, switchdev, switchdev_inactive; "
		"null: the driver has none, or it is unknown", NULLABLE),
	FIELD(defined_in, "domains that are off and have the whole PF in their definitions: their start "
		"removes all its VFs"),
	FIELD(bond, "bond that the network device is a port of"),
	TEXT("lag", pf_lag, "VF-LAG that the driver makes of the bond: active or off; null: unknown",
		NULLABLE),
	FIELD_AS("read_error", unread, "first part of the PF or its VFs that could not be read; "
		"vfctl then changes nothing on this PF"), END};
#undef OF

/* Isolation is shown for VFs that a guest has. */
static int fill_vfs(struct out *out, const void *of)
{
	const struct pf_view *view = of;

	for (uint32_t i = 0; i < view->pf->num_vfs; i++) {
		struct vf_view vf = {.vf = &view->pf->vfs[i]};
		_free_ char *exposed = NULL;

		if (view->list && !list_has_vf(view->list, view->pf, i))
			continue;
		if (vf_has_guest(vf.vf))
			vfctl_vf_exposure(view->ctx, view->pf, vf.vf, &exposed);
		vf.exposed = exposed && *exposed ? exposed : NULL;
		answer_put(out, NULL, answer_vf, &vf);
	}
	return 0;
}

#define OF struct pf_view
const struct member answer_pf[] = {
	SECTION("PF", NULL),
	PART_AT(pf, pf_fields),
	OBJECT_AT("health", health, answer_health, "list --health only: state of the links",
		OPTIONAL),
	FILL("vfs", fill_vfs, answer_vf, "VFs by index; with list --free only those that a guest "
		"can get", OPTIONAL, KNOWN_BY(with_vfs)),
	OBJECT_AT("rdma_device", device, answer_rdma, "show only: RDMA device of the PF", OPTIONAL), END};
#undef OF

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

/* Print whether its VFs are isolated from other devices. */
static void print_acs(struct out *out, const struct vfctl_pf *pf)
{
	const char *port = BDF(&pf->acs_port);

	if (pf->acs == VFCTL_ACS_ON)
		out_line(out, "  ACS          on, in all ports above it");
	else if (pf->acs == VFCTL_ACS_OFF)
		out_line(out, "  ACS          off in port %s, which supports it", port);
	else if (pf->acs == VFCTL_ACS_ABSENT)
		out_line(out, "  ACS          not supported by port %s; vfctl relies on the kernel's "
			"IOMMU groups",
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
	if (pf->defined_in[0])
		out_line(out, "  ! domain %s has the whole PF in its definition: its start removes all VFs",
			pf->defined_in);
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
			link_text(pf, link));
	if (!vfctl_mac_is_zero(&pf->mac))
		out_line(out, "  MAC          %s", vfctl_mac_format(&pf->mac, text));
	if (pf->eswitch > VFCTL_ESWITCH_NONE)
		out_line(out, "  eswitch      %s", vfctl_eswitch_name(pf->eswitch));
	if (pf->bond[0])
		out_line(out, "  bond         %s; VF-LAG %s", pf->bond, vfctl_lag_name(pf->lag));
	out_line(out, "  VFs          %u of at most %u", pf->num_vfs, pf->total_vfs);
	if (!pf->autoprobe)
		out_line(out, "  autoprobe    off: the kernel does not bind drivers to new VFs");
	if (pf->num_vfs)
		print_vfs(out, ctx, pf);
}

/* The state of a VF without a holder. */
static const char *unused_text(const struct vfctl_vf *vf)
{
	bool leased = vf->lease.name[0];

	if (!vf->to_clean)
		return leased ? "not in use" : "free";
	return leased ? "not in use; to be cleaned after the run of its guest (vfctl recover)"
		: "not in use; to be cleaned (vfctl does so before a guest gets it; now: vfctl recover "
		  "--clean)";
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
	out_line(out, "  holder       %s", vf->holder.kind != VFCTL_HOLDER_NONE ? holder_text(vf, text)
		: unused_text(vf));
	if (vf->defined_in[0])
		out_line(out, "  defined in   domain %s%s%s%s, which has no lease of it", vf->defined_in,
			vf->defined_as[0] ? " (" : "", vf->defined_as, vf->defined_as[0] ? ")" : "");
	if (vf->promise.network[0])
		out_line(out, "  network      %s, from which %s%s takes a VF at its start",
			vf->promise.network, vf->promise.domains[0] ? "domain " : "a domain",
			vf->promise.domains);
	if (exposed && *exposed)
		out_line(out, "  ! it %s", exposed);
	if (vf->attrs.mask & VFCTL_ATTR_PORT_GUID && !vf->attrs.port_guid)
		out_line(out, "  ! its port GUID is zero, so its port never comes up: vfctl set %s/%u "
			"guid=...", PF_NAME(pf), vf->index);
}
