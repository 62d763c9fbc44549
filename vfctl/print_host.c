// SPDX-License-Identifier: GPL-2.0-or-later
#include "print_host.h"

#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "command.h"
#include "print_rdma.h"
#include "vfctl/pci.h"

#define BDF(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})
#define GUID(guid) vfctl_guid_format((guid), (char[VFCTL_GUID_TEXT]){0})
#define PF_NAME(pf) vfctl_pf_name((pf), (char[VFCTL_BDF_TEXT]){0})

/* ---- words ---- */

static void cell_int(struct out *out, int value)
{
	if (value < 0)
		out_cell(out, "%s", "");
	else
		out_cell(out, "%d", value);
}

static const char *link_words(const struct vfctl_pf *pf, char *buf, size_t size)
{
	if (!pf->netdev[0])
		return "";
	if (!pf->up)
		return "off";
	if (!pf->carrier)
		return "no carrier";
	if (pf->speed_mbps)
		snprintf(buf, size, "up %u Mbit/s", pf->speed_mbps);
	else
		snprintf(buf, size, "up");
	return buf;
}

/* Who has it now; what it is leased to has a column of its own. */
static const char *holder_words(const struct vfctl_vf *vf, char *buf, size_t size)
{
	const struct vfctl_holder *h = &vf->holder;

	if (h->kind == VFCTL_HOLDER_NONE && vf->defined_in[0]) {
		snprintf(buf, size, "off: %s", vf->defined_in);
		return buf;
	}
	if (h->kind == VFCTL_HOLDER_NONE)
		return vf->lease.name[0] ? "" : "free";
	snprintf(buf, size, "%s%s%s", vfctl_holder_kind_name(h->kind), h->name[0] ? " " : "",
		h->name);
	return buf;
}

/* The identity that counts: an InfiniBand VF's port GUID, otherwise the MAC. */
static const char *identity_words(const struct vfctl_vf *vf, char *buf)
{
	if (vf->attrs.mask & VFCTL_ATTR_PORT_GUID)
		return vf->attrs.port_guid ? vfctl_guid_format(vf->attrs.port_guid, buf)
					   : "no GUID";
	if (vf->attrs.mask & VFCTL_ATTR_MAC)
		return vfctl_mac_format(&vf->attrs.mac, buf);
	return "";
}

/* "vlan=100 qos=2 max-rate=500 trust=on": only what differs from the plain defaults. */
static const char *policy_words(const struct vfctl_vf_attrs *attrs, char *buf, size_t size)
{
	char value[VFCTL_ATTR_TEXT];
	struct vfctl_vf_attrs a = *attrs;
	const char *key;
	size_t i = 0, len = 0;

	a.mask &= ~(uint32_t)(VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS);
	if (!a.vlan)
		a.mask &= ~(uint32_t)VFCTL_ATTR_VLAN;
	if (!a.qos)
		a.mask &= ~(uint32_t)VFCTL_ATTR_VLAN_QOS;
	if (a.proto == VFCTL_VLAN_8021Q)
		a.mask &= ~(uint32_t)VFCTL_ATTR_VLAN_PROTO;
	if (!a.min_rate_mbps)
		a.mask &= ~(uint32_t)VFCTL_ATTR_MIN_RATE;
	if (!a.max_rate_mbps)
		a.mask &= ~(uint32_t)VFCTL_ATTR_MAX_RATE;
	if (a.spoofchk)
		a.mask &= ~(uint32_t)VFCTL_ATTR_SPOOFCHK;
	if (!a.trust)
		a.mask &= ~(uint32_t)VFCTL_ATTR_TRUST;
	if (a.link_state == VFCTL_LINK_STATE_AUTO)
		a.mask &= ~(uint32_t)VFCTL_ATTR_LINK_STATE;
	buf[0] = '\0';
	while (len < size && vfctl_vf_attrs_next(&a, &i, &key, value))
		len += (size_t)snprintf(buf + len, size - len, "%s%s=%s", len ? " " : "", key,
			value);
	return buf;
}

/* ---- list ---- */

static void print_pf_row(struct out *out, const struct vfctl_pf *pf)
{
	char link[32];

	out_cell(out, "%s", PF_NAME(pf));
	out_cell(out, "%s", BDF(&pf->bdf));
	out_cell(out, "%s", pf->driver);
	cell_int(out, pf->numa_node);
	out_cell(out, "%u/%u", pf->num_vfs, pf->total_vfs);
	out_cell(out, "%s", link_words(pf, link, sizeof(link)));
}

static void print_vf_rows(struct out *out, const struct vfctl_pf *pf)
{
	static const char *const headings[] = {"VF", "ADDRESS", "DRIVER", "NODE", "GROUP",
		"IDENTITY", "POLICY", "LEASE", "HOLDER"};
	char text[256];

	out_table(out, 2, headings, ARRAY_SIZE(headings));
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &pf->vfs[i];

		out_cell(out, "%s/%u", PF_NAME(pf), vf->index);
		out_cell(out, "%s", BDF(&vf->bdf));
		out_cell(out, "%s", vf->driver);
		cell_int(out, vf->numa_node);
		cell_int(out, vf->iommu_group);
		out_cell(out, "%s", identity_words(vf, text));
		out_cell(out, "%s", policy_words(&vf->attrs, text, sizeof(text)));
		out_cell(out, "%s", vf->lease.name);
		out_cell(out, "%s", holder_words(vf, text, sizeof(text)));
	}
	out_table_end(out);
}

static void warn_unread(const char *unread)
{
	if (unread)
		warn("what is shown is incomplete: %s", unread);
}

static void warn_snapshot(const struct vfctl_snapshot *snapshot)
{
	if (snapshot->leases_error)
		warn("leases are not shown: %s", snapshot->leases_error);
	if (snapshot->domains_error)
		warn("which domains have VFs is not fully known: %s", snapshot->domains_error);
	warn_unread(snapshot->inventory->unread);
	for (size_t i = 0; i < snapshot->inventory->pf_count; i++)
		warn_unread(snapshot->inventory->pfs[i].unread);
}

void print_list(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_pf *only)
{
	static const char *const headings[] = {"PF", "ADDRESS", "DRIVER", "NODE", "VFS", "LINK"};
	const struct vfctl_inventory *inv = snapshot->inventory;
	size_t shown = 0;

	warn_snapshot(snapshot);
	if (!inv->pf_count) {
		out_line(out, "no device of this host offers SR-IOV (is it enabled in firmware "
			"and BIOS?)");
		return;
	}
	out_table(out, 0, headings, ARRAY_SIZE(headings));
	for (size_t i = 0; i < inv->pf_count; i++)
		if (!only || only == &inv->pfs[i])
			print_pf_row(out, &inv->pfs[i]);
	out_table_end(out);
	for (size_t i = 0; i < inv->pf_count; i++) {
		if ((only && only != &inv->pfs[i]) || !inv->pfs[i].num_vfs)
			continue;
		if (!shown++)
			out_line(out, "%s", "");
		print_vf_rows(out, &inv->pfs[i]);
	}
}

/* ---- JSON ---- */

static void put_index(struct out *out, const char *key, int value)
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

/* Zero is what the kernel says of a GUID that was never set: shown as it is. */
static void put_guid(struct out *out, const char *key, const struct vfctl_vf_attrs *a,
	uint32_t bit, uint64_t guid)
{
	out_str(out, key, a->mask & bit ? GUID(guid) : NULL);
}

/* Attributes the driver does not report are null, never a made-up 0. */
static void put_attrs(struct out *out, const struct vfctl_vf_attrs *a)
{
	if (a->mask & VFCTL_ATTR_MAC)
		put_mac(out, "mac", &a->mac);
	else
		out_null(out, "mac");
	put_index(out, "vlan", a->mask & VFCTL_ATTR_VLAN_ID ? a->vlan : -1);
	put_index(out, "qos", a->mask & VFCTL_ATTR_VLAN_QOS ? a->qos : -1);
	out_str(out, "vlan_proto", a->mask & VFCTL_ATTR_VLAN_PROTO ?
		vfctl_vlan_proto_name(a->proto) : NULL);
	put_index(out, "min_rate_mbps", a->mask & VFCTL_ATTR_MIN_RATE ? (int)a->min_rate_mbps : -1);
	put_index(out, "max_rate_mbps", a->mask & VFCTL_ATTR_MAX_RATE ? (int)a->max_rate_mbps : -1);
	if (a->mask & VFCTL_ATTR_SPOOFCHK)
		out_bool(out, "spoofchk", a->spoofchk);
	else
		out_null(out, "spoofchk");
	if (a->mask & VFCTL_ATTR_TRUST)
		out_bool(out, "trust", a->trust);
	else
		out_null(out, "trust");
	out_str(out, "link_state", a->mask & VFCTL_ATTR_LINK_STATE ?
		vfctl_link_state_name(a->link_state) : NULL);
}

static void put_holder(struct out *out, const struct vfctl_holder *h)
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
	const struct vfctl_vf *vf, const struct vfctl_rdma_device *device)
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
	put_guid(out, "node_guid", &vf->attrs, VFCTL_ATTR_NODE_GUID, vf->attrs.node_guid);
	put_guid(out, "port_guid", &vf->attrs, VFCTL_ATTR_PORT_GUID, vf->attrs.port_guid);
	out_str(out, "pkey", vf->attrs.mask & VFCTL_ATTR_PKEY ?
		vfctl_pkey_format(vf->attrs.pkey, (char[VFCTL_PKEY_TEXT]){0}) : NULL);
	put_holder(out, &vf->holder);
	put_lease_of(out, vf);
	put_name(out, "defined_in", vf->defined_in);
	if (device)
		print_rdma_json(out, "rdma_device", device);
	out_shut(out);
}

static void put_pf_fields(struct out *out, const struct vfctl_pf *pf)
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
	out_str(out, "read_error", pf->unread);
}

void print_pf_json(struct out *out, const char *key, const struct vfctl_pf *pf,
	const struct vfctl_rdma_device *device)
{
	out_open(out, key, '{');
	put_pf_fields(out, pf);
	out_open(out, "vfs", '[');
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		print_vf_json(out, NULL, NULL, &pf->vfs[i], NULL);
	out_shut(out);
	if (device)
		print_rdma_json(out, "rdma_device", device);
	out_shut(out);
}

void print_list_json(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_pf *only)
{
	const struct vfctl_inventory *inv = snapshot->inventory;

	out_open(out, NULL, '{');
	out_str(out, "leases_error", snapshot->leases_error);
	out_str(out, "domains_error", snapshot->domains_error);
	out_str(out, "read_error", inv->unread);
	out_open(out, "pfs", '[');
	for (size_t i = 0; i < inv->pf_count; i++)
		if (!only || only == &inv->pfs[i])
			print_pf_json(out, NULL, &inv->pfs[i], NULL);
	out_shut(out);
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

void print_pf(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	char text[VFCTL_MAC_TEXT], link[32];

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
	if (pf->netdev[0])
		out_line(out, "  link         %s, %s", pf->infiniband ? "InfiniBand" : "Ethernet",
			link_words(pf, link, sizeof(link)));
	if (!vfctl_mac_is_zero(&pf->mac))
		out_line(out, "  MAC          %s", vfctl_mac_format(&pf->mac, text));
	out_line(out, "  VFs          %u of at most %u", pf->num_vfs, pf->total_vfs);
	if (!pf->autoprobe)
		out_line(out, "  autoprobe    off: new VFs get no driver by themselves");
	if (pf->num_vfs)
		print_vf_rows(out, pf);
}

void print_vf(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	char text[256], value[VFCTL_ATTR_TEXT];
	const char *key;
	size_t i = 0;

	out_line(out, "VF %s/%u  %s", PF_NAME(pf), vf->index, BDF(&vf->bdf));
	out_line(out, "  PF           %s  %s", PF_NAME(pf), BDF(&pf->bdf));
	out_line(out, "  driver       %s", vf->driver[0] ? vf->driver : "none");
	if (vf->netdev[0])
		out_line(out, "  netdev       %s", vf->netdev);
	if (vf->rdma[0])
		out_line(out, "  RDMA         %s", vf->rdma);
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
		? holder_words(vf, text, sizeof(text)) : vf->lease.name[0] ? "nobody now" : "free");
	if (vf->defined_in[0])
		out_line(out, "  defined in   domain %s, which holds no lease of it", vf->defined_in);
	if (vf->attrs.mask & VFCTL_ATTR_PORT_GUID && !vf->attrs.port_guid)
		out_line(out, "  ! its port GUID is zero, so its port never comes up: vfctl set %s/%u "
			"guid=...", PF_NAME(pf), vf->index);
}

static const char *time_words(int64_t seconds, char buf[32])
{
	time_t t = (time_t)seconds;
	struct tm tm;

	if (!gmtime_r(&t, &tm) || !strftime(buf, 32, "%Y-%m-%dT%H:%M:%SZ", &tm))
		buf[0] = '\0';
	return buf;
}

/* "1024 MiB", "16 GiB in pages of 1 GiB": memory is whole MiB. */
static const char *memory_words(const struct vfctl_lease_cell *c, char *buf, size_t size)
{
	int len = snprintf(buf, size, "%llu MiB", (unsigned long long)c->memory_bytes >> 20);

	if (c->page_bytes)
		snprintf(buf + len, size - (size_t)len, " in pages of %llu %s",
			(unsigned long long)c->page_bytes >> (c->page_bytes >> 30 ? 30 : 10),
			c->page_bytes >> 30 ? "GiB" : "KiB");
	return buf;
}

static void print_cell(struct out *out, size_t number, const struct vfctl_lease_cell *c)
{
	char memory[64], shared[48] = "", far[48] = "";

	if (c->shared_vcpus)
		snprintf(shared, sizeof(shared), ", %u vCPUs on shared CPUs", c->shared_vcpus);
	if (c->memory_node != c->node)
		snprintf(far, sizeof(far), " from node %d", c->memory_node);
	out_line(out, "  cell %-7zu NUMA node %d, %s%s%s", number, c->node,
		memory_words(c, memory, sizeof(memory)), far, shared);
}

void print_lease(struct out *out, const struct vfctl_lease *lease)
{
	char text[1024];

	out_line(out, "domain %s  %s", lease->domain_name, lease->domain_uuid);
	out_line(out, "  lease        %s, since %s", lease->id, time_words(lease->created, text));
	out_line(out, "  running      %s", lease->running || lease->active ? "yes" : "no");
	vfctl_cpuset_format(&lease->cpus, text, sizeof(text));
	if (lease->cell_count)
		out_line(out, "  CPUs         %s", text[0] ? text : "none of its own");
	for (size_t i = 0; i < lease->cell_count; i++)
		print_cell(out, i, &lease->cells[i]);
	for (size_t i = 0; i < lease->vf_count; i++)
		out_line(out, "  VF           %s  (VF %u of %s)", BDF(&lease->vfs[i].bdf),
			lease->vfs[i].index, BDF(&lease->vfs[i].pf));
}

static void put_cells(struct out *out, const struct vfctl_lease *lease)
{
	out_open(out, "cells", '[');
	for (size_t i = 0; i < lease->cell_count; i++) {
		const struct vfctl_lease_cell *c = &lease->cells[i];

		out_open(out, NULL, '{');
		put_index(out, "numa_node", c->node);
		put_index(out, "memory_node", c->memory_node);
		out_int(out, "memory_bytes", (int64_t)c->memory_bytes);
		out_int(out, "page_bytes", (int64_t)c->page_bytes);
		out_int(out, "shared_vcpus", c->shared_vcpus);
		out_shut(out);
	}
	out_shut(out);
}

void print_lease_json(struct out *out, const struct vfctl_lease *lease)
{
	char text[1024];

	out_open(out, NULL, '{');
	out_str(out, "domain", lease->domain_name);
	out_str(out, "domain_uuid", lease->domain_uuid);
	out_str(out, "lease", lease->id);
	out_str(out, "created", time_words(lease->created, text));
	out_bool(out, "running", lease->running || lease->active);
	out_bool(out, "policy_applied", lease->running);
	put_index(out, "numa_node", lease->node);
	vfctl_cpuset_format(&lease->cpus, text, sizeof(text));
	out_str(out, "cpus", text);
	out_int(out, "memory_bytes", (int64_t)lease->memory_bytes);
	put_cells(out, lease);
	out_open(out, "vfs", '[');
	for (size_t i = 0; i < lease->vf_count; i++) {
		out_open(out, NULL, '{');
		out_str(out, "address", BDF(&lease->vfs[i].bdf));
		out_str(out, "pf_address", BDF(&lease->vfs[i].pf));
		out_int(out, "index", lease->vfs[i].index);
		out_shut(out);
	}
	out_shut(out);
	out_shut(out);
}
