// SPDX-License-Identifier: GPL-2.0-or-later
/* An RDMA device and its ports: what ibstat and ibv_devinfo tell, and what it means. */
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

/* As ibv_devinfo and sysfs spell one. */
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

static void put_known(struct out *out, const char *key, const char *text)
{
	out_str(out, key, text[0] ? text : NULL);
}

static void put_number(struct out *out, const char *key, uint32_t value, bool known)
{
	if (known)
		out_int(out, key, value);
	else
		out_null(out, key);
}

static void put_tables(struct out *out, const struct vfctl_rdma_port *p)
{
	char gid[GID_TEXT], pkey[VFCTL_PKEY_TEXT];

	out_open(out, "gids", '[');
	for (size_t i = 0; i < p->gid_count; i++) {
		out_open(out, NULL, '{');
		out_int(out, "index", p->gids[i].index);
		out_str(out, "gid", format_gid(&p->gids[i], gid));
		put_known(out, "type", p->gids[i].type);
		put_known(out, "netdev", p->gids[i].netdev);
		out_shut(out);
	}
	out_shut(out);
	out_open(out, "pkeys", '[');
	for (size_t i = 0; i < p->pkey_count; i++) {
		out_open(out, NULL, '{');
		out_int(out, "index", p->pkeys[i].index);
		out_str(out, "pkey", vfctl_pkey_format(p->pkeys[i].pkey, pkey));
		out_shut(out);
	}
	out_shut(out);
}

static void put_port(struct out *out, const struct vfctl_rdma_device *d,
	const struct vfctl_rdma_port *p)
{
	char text[VFCTL_FINDING_TEXT];
	unsigned i = 0;

	out_open(out, NULL, '{');
	out_int(out, "port", p->number);
	out_str(out, "link_layer", p->infiniband ? "infiniband" : "ethernet");
	out_str(out, "state", vfctl_port_state_name(p->state));
	out_str(out, "phys_state", vfctl_port_phys_name(p->phys_state));
	put_number(out, "rate_mbps", p->rate_mbps, p->rate_mbps);
	put_number(out, "width", p->width, p->width);
	put_known(out, "speed", p->speed);
	put_number(out, "active_mtu", p->active_mtu, p->active_mtu);
	put_number(out, "max_mtu", p->max_mtu, p->max_mtu);
	put_number(out, "lid", p->lid, p->lid && p->lid != LID_NONE);
	out_int(out, "lmc", p->lmc);
	put_number(out, "sm_lid", p->sm_lid, p->sm_lid);
	out_int(out, "sm_sl", p->sm_sl);
	out_int(out, "cap_mask", p->cap_mask);
	out_str(out, "port_guid", p->infiniband ? GUID(p->guid) : NULL);
	put_tables(out, p);
	out_open(out, "findings", '[');
	while (vfctl_rdma_finding(d, p, &i, text))
		out_str(out, NULL, text);
	out_shut(out);
	out_shut(out);
}

void print_rdma_json(struct out *out, const char *key, const struct vfctl_rdma_device *d)
{
	char bdf[VFCTL_BDF_TEXT];

	out_open(out, key, '{');
	out_str(out, "name", d->name);
	out_str(out, "address", d->has_bdf ? vfctl_bdf_format(&d->bdf, bdf) : NULL);
	out_bool(out, "vf", d->is_vf);
	put_known(out, "ca_type", d->ca_type);
	put_known(out, "firmware", d->firmware);
	put_known(out, "board", d->board);
	out_int(out, "hw_rev", d->hw_rev);
	put_number(out, "vendor_id", d->vendor_id, d->verbs);
	put_number(out, "part_id", d->part_id, d->verbs);
	put_number(out, "max_qp", (uint32_t)d->max_qp, d->verbs);
	put_number(out, "max_cq", (uint32_t)d->max_cq, d->verbs);
	put_number(out, "max_mr", (uint32_t)d->max_mr, d->verbs);
	out_str(out, "node_guid", GUID(d->node_guid));
	out_str(out, "system_image_guid", GUID(d->system_image_guid));
	out_open(out, "ports", '[');
	for (size_t i = 0; i < d->port_count; i++)
		put_port(out, d, &d->ports[i]);
	out_shut(out);
	out_shut(out);
}
