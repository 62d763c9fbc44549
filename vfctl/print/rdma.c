// SPDX-License-Identifier: GPL-2.0-or-later
/* An RDMA device and its ports: the output of ibstat and ibv_devinfo, and its interpretation. */
#include "print/rdma.h"

#include <stdio.h>
#include <string.h>

#define GUID(guid) vfctl_guid_format((guid), (char[VFCTL_GUID_TEXT]){0})
#define LID_NONE 0xffff

static const char *or_dash(const char *text)
{
	return text[0] ? text : "-";
}

static void print_rate(struct out *out, const struct vfctl_rdma_port *p)
{
	if (!p->rate_mbps)
		return;
	if (p->width)
		out_line(out, "    rate         %g Gbit/s (%ux %s)", p->rate_mbps / 1000.0,
			p->width, or_dash(p->speed));
	else
		out_line(out, "    rate         %g Gbit/s", p->rate_mbps / 1000.0);
}

static void print_lids(struct out *out, const struct vfctl_rdma_port *p)
{
	if (!p->infiniband)
		return;
	if (p->lid == 0 || p->lid == LID_NONE)
		out_line(out, "    LID          none");
	else
		out_line(out, "    LID          %u (LMC %u)", p->lid, p->lmc);
	if (p->sm_lid)
		out_line(out, "    SM LID       %u (SL %u)", p->sm_lid, p->sm_sl);
	else
		out_line(out, "    SM LID       none");
}

#define GID_TEXT 40

/* Format a GID as ibv_devinfo and sysfs do. */
static const char *format_gid(const struct vfctl_gid *gid, char buf[GID_TEXT])
{
	char *p = buf;

	for (int i = 0; i < 8; i++) {
		uint64_t half = i < 4 ? gid->prefix : gid->guid;

		p += sprintf(p, i ? ":%04x" : "%04x", (unsigned)(half >> (48 - 16 * (i % 4))) & 0xffff);
	}
	return buf;
}

static void print_gids(struct out *out, const struct vfctl_rdma_port *p)
{
	char gid[GID_TEXT];

	for (size_t i = 0; i < p->gid_count; i++) {
		const struct vfctl_gid *g = &p->gids[i];

		out_line(out, "    GID %-3u      %s%s%s%s%s", g->index, format_gid(g, gid),
			g->type[0] && !p->infiniband ? "  " : "",
			p->infiniband ? "" : g->type, g->netdev[0] ? "  " : "", g->netdev);
	}
}

static void print_pkeys(struct out *out, const struct vfctl_rdma_port *p)
{
	char text[VFCTL_PKEY_TEXT];

	for (size_t i = 0; p->infiniband && i < p->pkey_count; i++)
		out_line(out, "    P_Key %-3u    %s", p->pkeys[i].index,
			vfctl_pkey_format(p->pkeys[i].pkey, text));
}

static void print_port(struct out *out, const struct vfctl_rdma_device *d,
	const struct vfctl_rdma_port *p)
{
	char text[VFCTL_FINDING_TEXT];
	unsigned i = 0;

	out_line(out, "  port %u  %s", p->number, p->infiniband ? "InfiniBand" : "Ethernet");
	out_line(out, "    state        %s, %s", vfctl_port_state_name(p->state),
		vfctl_port_phys_name(p->phys_state));
	print_rate(out, p);
	if (p->active_mtu)
		out_line(out, "    MTU          %u of at most %u bytes", p->active_mtu, p->max_mtu);
	print_lids(out, p);
	out_line(out, "    capabilities 0x%08x", p->cap_mask);
	if (p->infiniband)
		out_line(out, "    port GUID    %s", GUID(p->guid));
	print_gids(out, p);
	print_pkeys(out, p);
	while (vfctl_rdma_finding(d, p, &i, text))
		out_line(out, "    ! %s", text);
}

void print_rdma(struct out *out, const struct vfctl_rdma_device *d)
{
	char bdf[VFCTL_BDF_TEXT];

	out_line(out, "RDMA device %s%s%s%s", d->name, d->has_bdf ? "  " : "",
		d->has_bdf ? vfctl_bdf_format(&d->bdf, bdf) : "", d->is_vf ? "  (a VF)" : "");
	if (d->ca_type[0])
		out_line(out, "  CA type      %s", d->ca_type);
	if (d->firmware[0])
		out_line(out, "  firmware     %s", d->firmware);
	if (d->board[0])
		out_line(out, "  board        %s", d->board);
	out_line(out, "  hardware     revision %u", d->hw_rev);
	if (d->verbs) {
		out_line(out, "  vendor       0x%04x, part %u", d->vendor_id, d->part_id);
		out_line(out, "  limits       %d QPs, %d CQs, %d MRs", d->max_qp, d->max_cq,
			d->max_mr);
	}
	out_line(out, "  node GUID    %s", GUID(d->node_guid));
	out_line(out, "  system GUID  %s", GUID(d->system_image_guid));
	for (size_t i = 0; i < d->port_count; i++)
		print_port(out, d, &d->ports[i]);
}

/* ---- JSON ---- */

struct port_view {
	const struct vfctl_rdma_device *device;
	const struct vfctl_rdma_port *port;
};

static int fill_findings(struct out *out, const void *of)
{
	const struct port_view *view = of;
	char text[VFCTL_FINDING_TEXT];
	unsigned i = 0;

	while (vfctl_rdma_finding(view->device, view->port, &i, text))
		out_str(out, NULL, text);
	return 0;
}

#define OF struct vfctl_gid
TEXT_OF(gid_text, OF, format_gid(it, room))
static const struct member gid_table[] = {
	FIELD(index, "index in the table"),
	TEXT("gid", gid_text, "the GID"),
	FIELD(type, "type of the GID, on a RoCE port"),
	FIELD(netdev, "network device of the GID, on a RoCE port"), END};
#undef OF

#define OF struct vfctl_pkey_entry
TEXT_OF(pkey_text, OF, vfctl_pkey_format(it->pkey, room))
static const struct member pkey_table[] = {
	FIELD(index, "index in the table"),
	TEXT("pkey", pkey_text, "the P_Key, such as \"0x0010:limited\""), END};
#undef OF

#define OF struct vfctl_rdma_port
TEXT_OF(port_layer, OF, it->infiniband ? "infiniband" : "ethernet")
TEXT_OF(port_state, OF, vfctl_port_state_name(it->state))
TEXT_OF(port_phys_state, OF, vfctl_port_phys_name(it->phys_state))
TEXT_OF(port_guid, OF, it->infiniband ? vfctl_guid_format(it->guid, room) : NULL)
NUMBER_OF(port_lid, OF, it->lid && it->lid != LID_NONE, it->lid)
static const struct member port_fields[] = {
	FIELD_AS("port", number, "number of the port, from 1"),
	TEXT("link_layer", port_layer, "infiniband or ethernet"),
	TEXT("state", port_state, "logical state, as ibstat spells it"),
	TEXT("phys_state", port_phys_state, "physical state"),
	FIELD(rate_mbps, "rate of all lanes", NONZERO),
	FIELD(width, "lanes", NONZERO),
	FIELD(speed, "speed of a lane: SDR to XDR"),
	FIELD(active_mtu, "MTU in use, in bytes", NONZERO),
	FIELD(max_mtu, "largest MTU, in bytes", NONZERO),
	NUMBER("lid", port_lid, "LID; null: the subnet manager has not assigned one", NULLABLE),
	FIELD(lmc, "LID mask control"),
	FIELD(sm_lid, "LID of the subnet manager", NONZERO),
	FIELD(sm_sl, "service level of the subnet manager"),
	FIELD(cap_mask, "capability mask"),
	TEXT("port_guid", port_guid, "port GUID", NULLABLE),
	LIST("gids", gids, gid_count, gid_table, "the GID table"),
	LIST("pkeys", pkeys, pkey_count, pkey_table, "the P_Key table"), END};
#undef OF

#define OF struct port_view
static const struct member port_table[] = {
	PART_AT(port, port_fields),
	FILL_EACH("findings", fill_findings, MEMBER_TEXT, "faults of the port, each with its remedy"),
	END};
#undef OF

static int fill_ports(struct out *out, const void *of)
{
	const struct vfctl_rdma_device *d = of;

	for (size_t i = 0; i < d->port_count; i++)
		answer_put(out, NULL, port_table, &(struct port_view){d, &d->ports[i]});
	return 0;
}

#define OF struct vfctl_rdma_device
TEXT_OF(rdma_node_guid, OF, vfctl_guid_format(it->node_guid, room))
TEXT_OF(rdma_system_guid, OF, vfctl_guid_format(it->system_image_guid, room))
const struct member answer_rdma[] = {
	SECTION("RDMA", "An RDMA device, as ibstat and ibv_devinfo show it."),
	FIELD(name, "name of the RDMA device", FILLED),
	FIELD_AS("address", bdf, "PCI address", KNOWN_BY(has_bdf)),
	FIELD_AS("vf", is_vf, "the device is a VF"),
	FIELD(ca_type, "model, such as MT4123"),
	FIELD(firmware, "version of the firmware"),
	FIELD(board, "board identifier (PSID)"),
	FIELD(hw_rev, "hardware revision"),
	FIELD(vendor_id, "vendor identifier", KNOWN_BY(verbs)),
	FIELD(part_id, "vendor's part number", KNOWN_BY(verbs)),
	FIELD(max_qp, "maximum number of queue pairs", KNOWN_BY(verbs)),
	FIELD(max_cq, "maximum number of completion queues", KNOWN_BY(verbs)),
	FIELD(max_mr, "maximum number of memory regions", KNOWN_BY(verbs)),
	TEXT("node_guid", rdma_node_guid, "node GUID"),
	TEXT("system_image_guid", rdma_system_guid, "system image GUID"),
	FILL("ports", fill_ports, port_table, "ports of the device"), END};
#undef OF
