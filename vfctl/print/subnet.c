// SPDX-License-Identifier: GPL-2.0-or-later
/* The InfiniBand fabric: switches from the highest level down, and what each port is linked to. */
#include "print/subnet.h"

#include <stdio.h>
#include <string.h>

#include "base/parse.h"
#include "command.h"
#include "print/topology.h"

#define NAME(node) vfctl_subnet_node_name((node), (char[VFCTL_GUID_TEXT]){0})
#define GUID(guid) vfctl_guid_format((guid), (char[VFCTL_GUID_TEXT]){0})
/* ---- text ---- */

static void print_totals(struct out *out, const struct vfctl_subnet *s)
{
	const size_t *n = s->counts;
	char levels[40] = "", routers[40] = "", aggregation[48] = "";

	if (s->levels)
		snprintf(levels, sizeof(levels), " in %u level%s", s->levels, plural(s->levels));
	if (n[VFCTL_SUBNET_ROUTER])
		snprintf(routers, sizeof(routers), ", %zu router%s", n[VFCTL_SUBNET_ROUTER],
			plural(n[VFCTL_SUBNET_ROUTER]));
	if (n[VFCTL_SUBNET_AGGREGATION])
		snprintf(aggregation, sizeof(aggregation), ", %zu aggregation node%s",
			n[VFCTL_SUBNET_AGGREGATION], plural(n[VFCTL_SUBNET_AGGREGATION]));
	out_fold(out, 0, "InfiniBand fabric: %zu switch%s%s, %zu HCA%s%s%s; %zu link%s, %zu slow",
		n[VFCTL_SUBNET_SWITCH], n[VFCTL_SUBNET_SWITCH] == 1 ? "" : "es", levels, n[VFCTL_SUBNET_HCA],
		plural(n[VFCTL_SUBNET_HCA]), routers, aggregation, s->link_count, plural(s->link_count),
		s->slow_count);
	if (s->unknown_count)
		out_fold(out, 4, "  ! %zu link%s to nodes that the text does not have: it is incomplete",
			s->unknown_count, s->unknown_count == 1 ? " leads" : "s lead");
	if (s->generated)
		out_line(out, "ibnetdiscover read it on %s", s->generated);
}

#define SLOW_SHOWN 20

/* Each slow link once, from the end that comes first. */
static void print_slow(struct out *out, const struct vfctl_subnet *s)
{
	size_t shown = 0;

	for (size_t i = 0; i < s->node_count; i++) {
		size_t at = s->order[i];
		const struct vfctl_subnet_node *n = &s->nodes[at];

		for (size_t k = 0; k < n->port_count; k++) {
			const struct vfctl_subnet_port *p = &n->ports[k];
			char link[VFCTL_SUBNET_LINK_TEXT];

			/* The other end of the link of an HCA is a switch, which comes before it. */
			if (!p->slow || n->kind != VFCTL_SUBNET_SWITCH || p->peer == VFCTL_SUBNET_UNKNOWN ||
				(s->nodes[p->peer].kind == VFCTL_SUBNET_SWITCH && p->peer < at))
				continue;
			if (shown++ < SLOW_SHOWN)
				out_fold(out, 4, "  ! slow: %s port %u to %s port %u: %s", NAME(n), p->number,
					NAME(&s->nodes[p->peer]), p->peer_port,
					vfctl_subnet_link_text(p, link));
		}
	}
	if (shown > SLOW_SHOWN)
		out_line(out, "  ! and %zu more slow links", shown - SLOW_SHOWN);
	if (shown)
		out_fold(out, 4, "    A slow link has fewer or slower lanes than most links beside it: check "
			"its cable and both ports");
}

/* "mlx5_0 port 1 is node-1 mlx5_0 port 1, on leaf 1 port 3" */
static size_t print_own(struct out *out, const struct vfctl_subnet *s)
{
	size_t count = 0;

	for (size_t i = 0; i < s->node_count; i++) {
		const struct vfctl_subnet_node *n = &s->nodes[s->order[i]];

		for (size_t k = 0; k < n->port_count; k++) {
			const struct vfctl_subnet_port *p = &n->ports[k];

			if (!p->device)
				continue;
			count++;
			if (p->peer == VFCTL_SUBNET_UNKNOWN)
				out_fold(out, 4, "  this host: %s is %s port %u", p->device, NAME(n),
					p->number);
			else
				out_fold(out, 4, "  this host: %s is %s port %u, linked to %s port %u",
					p->device, NAME(n), p->number, NAME(&s->nodes[p->peer]),
					p->peer_port);
		}
	}
	return count;
}

/* The RDMA device of this host at the other end of a link, or NULL. */
static const char *own_device(const struct vfctl_subnet_bundle *b)
{
	for (size_t i = 0; b->local && b->peer && i < b->peer->port_count; i++)
		if (b->peer->ports[i].number == b->first->peer_port)
			return b->peer->ports[i].device;
	return b->first->device;
}

static void add_note(char *text, size_t size, const char *what, const char *name)
{
	size_t len = strlen(text);

	snprintf(text + len, size - len, "%s%s%s", len ? ", " : "", what, name);
}

static void print_note(struct out *out, const struct vfctl_subnet_bundle *b)
{
	static const char *const kinds[] = {[VFCTL_SUBNET_ROUTER] = "router",
		[VFCTL_SUBNET_AGGREGATION] = "aggregation node", [VFCTL_SUBNET_KINDS] = NULL};
	const char *own = own_device(b), *kind = b->peer ? kinds[b->peer->kind] : "not in the text";

	char note[512] = "";

	if (b->slow)
		add_note(note, sizeof(note), "! slow", "");
	if (own)
		add_note(note, sizeof(note), "this host: ", own);
	if (kind)
		add_note(note, sizeof(note), kind, "");
	out_cell(out, "%s", note);
}

static void print_bundle(struct out *out, const struct vfctl_subnet_bundle *b)
{
	char ports[1024], link[VFCTL_SUBNET_LINK_TEXT];
	uint16_t lid = 0;

	for (size_t i = 0; b->peer && i < b->peer->port_count; i++)
		if (b->peer->ports[i].number == b->first->peer_port)
			lid = b->peer->ports[i].lid;
	out_cell(out, "%s", cpus_text(&b->ports, ports, sizeof(ports)));
	out_cell(out, "%s", b->peer ? NAME(b->peer) : GUID(b->first->peer_guid));
	out_cell(out, "%s", cpus_text(&b->peer_ports, ports, sizeof(ports)));
	if (lid)
		out_cell(out, "%u", lid);
	else
		out_cell(out, "%s", "");
	out_cell(out, "%zu", b->count);
	out_cell(out, "%s", vfctl_subnet_link_text(b->first, link));
	print_note(out, b);
}

static int print_links(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_subnet *s,
	const struct vfctl_subnet_node *n)
{
	static const char *const headings[] = {"PORT", "LINKED TO", "ITS PORT", "LID", "LINKS", "EACH",
		"NOTE"};
	static const signed char give[] = {[1] = OUT_WRAPS, [6] = OUT_WRAPS};
	_free_ struct vfctl_subnet_bundle *bundles = NULL;
	size_t count = 0;
	int r = vfctl_subnet_bundles(ctx, s, n, &bundles, &count);

	if (r < 0 || !count)
		return r;
	out_table(out, 2, headings, ARRAY_SIZE(headings));
	out_table_fit(out, give);
	for (size_t i = 0; i < count; i++)
		print_bundle(out, &bundles[i]);
	out_table_end(out);
	return 0;
}

static int print_switch(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_subnet *s,
	const struct vfctl_subnet_node *n)
{
	char level[32] = "", lid[32] = "";

	if (n->level)
		snprintf(level, sizeof(level), ", level %u", n->level);
	if (n->lid)
		snprintf(lid, sizeof(lid), ", LID %u", n->lid);
	out_line(out, "%s", "");
	out_fold(out, 2, "%s%s%s, GUID %s, %zu of %u ports have a link", NAME(n), level, lid,
		GUID(n->guid),
		n->port_count, n->port_total);
	return print_links(out, ctx, s, n);
}

int print_subnet(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_subnet *s)
{
	int r = 0;

	print_totals(out, s);
	if (!print_own(out, s))
		out_line(out, "  this host has no port in the fabric");
	print_slow(out, s);
	/* Without a switch, HCAs are linked to each other. */
	for (size_t i = 0; i < s->node_count && r == 0; i++)
		if (s->nodes[s->order[i]].kind == VFCTL_SUBNET_SWITCH || !s->counts[VFCTL_SUBNET_SWITCH])
			r = print_switch(out, ctx, s, &s->nodes[s->order[i]]);
	return r;
}

/* ---- JSON ---- */

struct node_view {
	const struct vfctl_subnet *subnet;
	const struct vfctl_subnet_node *node;
};

struct port_view {
	const struct vfctl_subnet *subnet;
	const struct vfctl_subnet_port *port;
};

static const struct vfctl_subnet_node *peer_of(const struct port_view *v)
{
	return v->port->peer == VFCTL_SUBNET_UNKNOWN ? NULL : &v->subnet->nodes[v->port->peer];
}

#define OF struct port_view
NUMBER_OF(port_number, OF, true, it->port->number)
TEXT_OF(port_guid, OF, it->port->guid ? vfctl_guid_format(it->port->guid, room) : NULL)
NUMBER_OF(port_lid, OF, it->port->lid, it->port->lid)
NUMBER_OF(port_lanes, OF, it->port->lanes, it->port->lanes)
TEXT_OF(port_speed, OF, it->port->speed[0] ? it->port->speed : NULL)
NUMBER_OF(port_rate, OF, vfctl_subnet_rate(it->port), vfctl_subnet_rate(it->port))
TEXT_OF(port_peer, OF, peer_of(it) ? vfctl_subnet_node_name(peer_of(it), room) : NULL)
TEXT_OF(port_peer_kind, OF, peer_of(it) ? vfctl_subnet_kind_name(peer_of(it)->kind) : NULL)
TEXT_OF(port_peer_guid, OF, vfctl_guid_format(it->port->peer_guid, room))
NUMBER_OF(port_peer_port, OF, true, it->port->peer_port)
FLAG_OF(port_slow, OF, it->port->slow)
FLAG_OF(port_local, OF, it->port->local)
TEXT_OF(port_device, OF, it->port->device)
static const struct member port_table[] = {
	NUMBER("number", port_number, "number of the port"),
	TEXT("guid", port_guid, "port GUID; a port of a switch has none", OPTIONAL),
	NUMBER("lid", port_lid, "LID of the port", NULLABLE),
	NUMBER("lanes", port_lanes, "number of lanes", NULLABLE),
	TEXT("speed", port_speed, "speed of each lane: SDR, DDR, QDR, FDR10, FDR, EDR, HDR, NDR or XDR",
		NULLABLE),
	NUMBER("rate_mbps", port_rate, "rate of all lanes in Mbit/s", NULLABLE),
	TEXT("peer", port_peer, "name of the node at the other end; null: the text does not have that "
	"node",
		NULLABLE),
	TEXT("peer_kind", port_peer_kind, "switch, hca, router or aggregation", NULLABLE),
	TEXT("peer_guid", port_peer_guid, "node GUID of the other end"),
	NUMBER("peer_port", port_peer_port, "number of the port at the other end"),
	FLAG("slow", port_slow, "the link has fewer or slower lanes than most links beside it"),
	FLAG("this_host", port_local, "the link is one of this host"),
	TEXT("device", port_device, "RDMA device and port of this host that this port is", OPTIONAL), END};
#undef OF

static int fill_ports(struct out *out, const void *of)
{
	const struct node_view *v = of;
	int r = 0;

	for (size_t i = 0; i < v->node->port_count && r == 0; i++)
		r = answer_put(out, NULL, port_table, &(struct port_view){v->subnet, &v->node->ports[i]});
	return r;
}

#define OF struct node_view
TEXT_OF(node_name, OF, vfctl_subnet_node_name(it->node, room))
TEXT_OF(node_kind, OF, vfctl_subnet_kind_name(it->node->kind))
TEXT_OF(node_guid, OF, vfctl_guid_format(it->node->guid, room))
TEXT_OF(node_system, OF, it->node->system_guid ? vfctl_guid_format(it->node->system_guid,
	room) : NULL)
NUMBER_OF(node_lid, OF, it->node->lid, it->node->lid)
NUMBER_OF(node_level, OF, it->node->level, it->node->level)
NUMBER_OF(node_total, OF, true, it->node->port_total)
static const struct member subnet_node_table[] = {
	TEXT("name", node_name, "node description, or the node GUID if it has none"),
	TEXT("kind", node_kind, "switch, hca, router or aggregation (a switch's part that reduces data)"),
	TEXT("guid", node_guid, "node GUID"),
	TEXT("system_guid", node_system, "GUID that all nodes of one system share", NULLABLE),
	NUMBER("lid", node_lid, "LID of a switch", OPTIONAL),
	NUMBER("level", node_level, "of a switch: 1 with HCAs, 2 linked to such switches, and so on",
		OPTIONAL),
	NUMBER("port_count", node_total, "number of ports, with and without a link"),
	FILL("ports", fill_ports, port_table, "ports with a link"), END};
#undef OF

static int fill_nodes(struct out *out, const void *of)
{
	const struct vfctl_subnet *s = ((const struct subnet_view *)of)->subnet;
	int r = 0;

	for (size_t i = 0; i < s->node_count && r == 0; i++)
		r = answer_put(out, NULL, subnet_node_table, &(struct node_view){s, &s->nodes[s->order[i]]});
	return r;
}

#define OF struct subnet_view
TEXT_OF(subnet_file, OF, it->file)
TEXT_OF(subnet_time, OF, it->subnet->generated)
NUMBER_OF(subnet_links, OF, true, it->subnet->link_count)
NUMBER_OF(subnet_slow, OF, true, it->subnet->slow_count)
NUMBER_OF(subnet_levels, OF, true, it->subnet->levels)
const struct member answer_subnet[] = {
	TEXT("file", subnet_file, "the file that was read; null: ibnetdiscover was run", NULLABLE),
	TEXT("generated", subnet_time, "when ibnetdiscover read the fabric, as it prints the time",
	NULLABLE),
	NUMBER("levels", subnet_levels, "number of levels of switches"),
	NUMBER("links", subnet_links, "number of links"),
	NUMBER("slow_links", subnet_slow, "number of links with fewer or slower lanes than most links "
		"beside them"),
	FILL("nodes", fill_nodes, subnet_node_table,
		"switches from the highest level down, then HCAs, routers and aggregation nodes by name"),
	END};
#undef OF
