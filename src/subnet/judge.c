// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Derive the levels of switches, the slow links and the order from the nodes and links of a subnet.
 */
#include <errno.h>
#include <stdio.h>

#include "subnet/subnet.h"

#include "base/ctx.h"
#include "base/util.h"

/* ---- speeds ---- */

/* Mbit/s of a lane as vendors print it: 100 Gbit/s for 4x EDR, 200 for 4x HDR. */
static const struct {
	const char *name;
	uint32_t mbps;
} speeds[] = {{"SDR", 2500}, {"DDR", 5000}, {"QDR", 10000}, {"FDR10", 10000}, {"FDR", 14000},
	{"EDR", 25000},
	{"HDR", 50000}, {"NDR", 100000}, {"XDR", 200000}};

/* From 1, slowest first; 0: unknown. */
static unsigned speed_rank(const char *speed)
{
	for (unsigned i = 0; i < ARRAY_SIZE(speeds); i++)
		if (str_eq(speeds[i].name, speed))
			return i + 1;
	return 0;
}

uint32_t vfctl_subnet_rate(const struct vfctl_subnet_port *port)
{
	unsigned rank = speed_rank(port->speed);

	return rank ? port->lanes * speeds[rank - 1].mbps : 0;
}

const char *vfctl_subnet_link_text(const struct vfctl_subnet_port *port,
	char buf[VFCTL_SUBNET_LINK_TEXT])
{
	buf[0] = '\0';
	if (port->lanes)
		snprintf(buf, VFCTL_SUBNET_LINK_TEXT, "%ux %s", port->lanes, port->speed);
	return buf;
}

/* ---- nodes and ports ---- */

const char *vfctl_subnet_kind_name(enum vfctl_subnet_kind kind)
{
	static const char *const names[] = {"switch", "hca", "router", "aggregation"};

	return (unsigned)kind < ARRAY_SIZE(names) ? names[kind] : "unknown";
}

const char *vfctl_subnet_node_name(const struct vfctl_subnet_node *node, char buf[VFCTL_GUID_TEXT])
{
	return node->name[0] ? node->name : vfctl_guid_format(node->guid, buf);
}

static const struct vfctl_subnet_node *peer_of(const struct vfctl_subnet *s,
	const struct vfctl_subnet_port *p)
{
	return p->peer == VFCTL_SUBNET_UNKNOWN ? NULL : &s->nodes[p->peer];
}

struct vfctl_subnet_port *subnet_peer_port(const struct vfctl_subnet *s,
	const struct vfctl_subnet_port *port)
{
	const struct vfctl_subnet_node *n = peer_of(s, port);
	size_t low = 0, high = n ? n->port_count : 0;

	while (low < high) {
		size_t middle = low + (high - low) / 2;

		if (n->ports[middle].number < port->peer_port)
			low = middle + 1;
		else
			high = middle;
	}
	return n && low < n->port_count && n->ports[low].number == port->peer_port ? &n->ports[low] : NULL;
}

/* The number of links to nodes of this kind. */
static size_t links_to(const struct vfctl_subnet *s, const struct vfctl_subnet_node *n,
	enum vfctl_subnet_kind kind)
{
	size_t count = 0;

	for (size_t i = 0; i < n->port_count; i++) {
		const struct vfctl_subnet_node *peer = peer_of(s, &n->ports[i]);

		count += peer && peer->kind == kind;
	}
	return count;
}

/* ---- levels ---- */

/*
 * A few HCAs, such as a management host on a spine, do not make a switch a leaf if most of its
 * links to switches lead to switches with more HCAs.
 */
static bool is_leaf(const struct vfctl_subnet *s, const struct vfctl_subnet_node *n,
	const size_t *hcas)
{
	size_t own = hcas[n - s->nodes], links = 0, more = 0;

	if (own * 4 >= n->port_count)
		return own;
	for (size_t i = 0; own && i < n->port_count; i++) {
		const struct vfctl_subnet_node *peer = peer_of(s, &n->ports[i]);

		if (!peer || peer->kind != VFCTL_SUBNET_SWITCH || peer == n)
			continue;
		links++;
		more += hcas[peer - s->nodes] > own;
	}
	return own && more * 2 <= links;
}

/* Breadth first from the leaves; @queue has a place for each node. */
static void set_levels(struct vfctl_subnet *s, const size_t *hcas, size_t *queue)
{
	size_t head = 0, tail = 0;

	for (size_t i = 0; i < s->node_count; i++)
		if (s->nodes[i].kind == VFCTL_SUBNET_SWITCH && is_leaf(s, &s->nodes[i], hcas)) {
			s->nodes[i].level = 1;
			queue[tail++] = i;
		}
	for (; head < tail; head++) {
		const struct vfctl_subnet_node *n = &s->nodes[queue[head]];

		s->levels = n->level > s->levels ? n->level : s->levels;
		for (size_t i = 0; i < n->port_count; i++) {
			size_t at = n->ports[i].peer;

			if (at == VFCTL_SUBNET_UNKNOWN || s->nodes[at].kind != VFCTL_SUBNET_SWITCH ||
				s->nodes[at].level)
				continue;
			s->nodes[at].level = n->level + 1;
			queue[tail++] = at;
		}
	}
}

static int find_levels(struct vfctl_ctx *ctx, struct vfctl_subnet *s)
{
	_free_ size_t *hcas = calloc(s->node_count, sizeof(*hcas));
	_free_ size_t *queue = calloc(s->node_count, sizeof(*queue));

	if (!hcas || !queue)
		return ctx_oom(ctx);
	for (size_t i = 0; i < s->node_count; i++)
		hcas[i] = links_to(s, &s->nodes[i], VFCTL_SUBNET_HCA);
	set_levels(s, hcas, queue);
	return 0;
}

/* ---- slow links ---- */

#define RANKS (ARRAY_SIZE(speeds) + 1)
#define LANES_MAX 12

/*
 * Compare links to HCAs with each other, and links to switches; those of one level with each other.
 */
static bool is_class(const struct vfctl_subnet *s, const struct vfctl_subnet_port *p,
	unsigned class)
{
	const struct vfctl_subnet_node *peer = peer_of(s, p);

	if (!peer || !p->lanes)
		return false;
	return class ? peer->kind == VFCTL_SUBNET_SWITCH && peer->level == class - 1
		     : peer->kind == VFCTL_SUBNET_HCA;
}

/*
 * Mark the links with fewer or slower lanes than most of their class; in a tie, the faster links
 * count.
 */
static void judge_class(struct vfctl_subnet *s, struct vfctl_subnet_node *n, unsigned class)
{
	size_t counts[LANES_MAX + 1][RANKS] = {0}, most = 0;
	unsigned lanes = 0, rank = 0;

	for (size_t i = 0; i < n->port_count; i++)
		if (is_class(s, &n->ports[i], class))
			counts[n->ports[i].lanes][speed_rank(n->ports[i].speed)]++;
	for (unsigned w = 1; w <= LANES_MAX; w++)
		for (unsigned v = 1; v < RANKS; v++)
			if (counts[w][v] && counts[w][v] >= most &&
				(counts[w][v] > most ||
					w * speeds[v - 1].mbps >= lanes * speeds[rank - 1].mbps)) {
				most = counts[w][v];
				lanes = w;
				rank = v;
			}
	for (size_t i = 0; i < n->port_count; i++)
		if (is_class(s, &n->ports[i], class) &&
			(n->ports[i].lanes < lanes || speed_rank(n->ports[i].speed) < rank))
			n->ports[i].slow = true;
}

static void judge_links(struct vfctl_subnet *s)
{
	for (size_t i = 0; i < s->node_count; i++) {
		struct vfctl_subnet_node *n = &s->nodes[i];

		if (n->kind != VFCTL_SUBNET_SWITCH)
			continue;
		judge_class(s, n, 0);
		/* The switches next to one of level N have the levels N - 1 to N + 1, or all have 0. */
		for (unsigned level = n->level ? n->level - 1 : 0; level <= n->level + 1; level++)
			judge_class(s, n, level + 1);
	}
	for (size_t i = 0; i < s->node_count; i++)
		for (size_t k = 0; k < s->nodes[i].port_count; k++) {
			struct vfctl_subnet_port *p = &s->nodes[i].ports[k], *peer = subnet_peer_port(s, p);

			if (p->slow && peer)
				peer->slow = true;
		}
}

/* ---- order and numbers ---- */

static int compare_nodes(const void *a, const void *b, void *data)
{
	const struct vfctl_subnet *s = data;
	const struct vfctl_subnet_node *x = &s->nodes[*(const size_t *)a],
		*y = &s->nodes[*(const size_t *)b];
	int names;

	if (x->kind != y->kind)
		return x->kind < y->kind ? -1 : 1;
	if (x->level != y->level)
		return x->level > y->level ? -1 : 1;
	names = strverscmp(x->name, y->name);
	return names ? names : (x->guid > y->guid) - (x->guid < y->guid);
}

/* Each link counts once, also if only one of its ends is in the text. */
static void count_links(struct vfctl_subnet *s)
{
	for (size_t i = 0; i < s->node_count; i++)
		for (size_t k = 0; k < s->nodes[i].port_count; k++) {
			const struct vfctl_subnet_port *p = &s->nodes[i].ports[k];
			const struct vfctl_subnet_port *peer = subnet_peer_port(s, p);

			if (peer && (p->peer < i || (p->peer == i && peer->number < p->number)))
				continue;
			s->link_count++;
			s->slow_count += p->slow;
			s->unknown_count += p->peer == VFCTL_SUBNET_UNKNOWN;
		}
}

int subnet_judge(struct vfctl_ctx *ctx, struct vfctl_subnet *s)
{
	int r = find_levels(ctx, s);

	if (r < 0)
		return r;
	s->order = calloc(s->node_count, sizeof(*s->order));
	if (!s->order)
		return ctx_oom(ctx);
	for (size_t i = 0; i < s->node_count; i++) {
		s->order[i] = i;
		s->counts[s->nodes[i].kind]++;
	}
	judge_links(s);
	count_links(s);
	qsort_r(s->order, s->node_count, sizeof(*s->order), compare_nodes, s);
	return 0;
}

/* ---- bundles ---- */

struct link_key {
	const struct vfctl_subnet *subnet;
	const struct vfctl_subnet_port *port;
};

static int compare_links(const void *a, const void *b)
{
	const struct link_key *x = a, *y = b;
	const struct vfctl_subnet_node *p = peer_of(x->subnet, x->port), *q = peer_of(y->subnet, y->port);
	bool to_switch = p && p->kind == VFCTL_SUBNET_SWITCH, other = q && q->kind == VFCTL_SUBNET_SWITCH;
	int names;

	if (to_switch != other)
		return to_switch ? 1 : -1;
	if (to_switch && p != q) {
		names = strverscmp(p->name, q->name);
		return names ? names : p > q ? 1 : -1;
	}
	if (to_switch && x->port->lanes != y->port->lanes)
		return x->port->lanes < y->port->lanes ? 1 : -1;
	if (to_switch && !str_eq(x->port->speed, y->port->speed))
		return strcmp(x->port->speed, y->port->speed);
	return (x->port->number > y->port->number) - (x->port->number < y->port->number);
}

/* Whether a link belongs to the bundle: parallel links between two switches do. */
static bool is_in_bundle(const struct vfctl_subnet_bundle *b, const struct vfctl_subnet_node *peer,
	const struct vfctl_subnet_port *port)
{
	return peer && peer == b->peer && peer->kind == VFCTL_SUBNET_SWITCH &&
		port->lanes == b->first->lanes && str_eq(port->speed, b->first->speed);
}

int vfctl_subnet_bundles(struct vfctl_ctx *ctx, const struct vfctl_subnet *s,
	const struct vfctl_subnet_node *node, struct vfctl_subnet_bundle **ret, size_t *ret_count)
{
	_free_ struct link_key *keys = calloc(node->port_count + 1, sizeof(*keys));
	_free_ struct vfctl_subnet_bundle *bundles = calloc(node->port_count + 1, sizeof(*bundles));
	size_t count = 0;

	if (!keys || !bundles)
		return ctx_oom(ctx);
	for (size_t i = 0; i < node->port_count; i++)
		keys[i] = (struct link_key){s, &node->ports[i]};
	qsort(keys, node->port_count, sizeof(*keys), compare_links);
	for (size_t i = 0; i < node->port_count; i++) {
		const struct vfctl_subnet_port *port = keys[i].port;
		const struct vfctl_subnet_node *peer = peer_of(s, port);
		struct vfctl_subnet_bundle *b;

		if (!count || !is_in_bundle(&bundles[count - 1], peer, port))
			bundles[count++] = (struct vfctl_subnet_bundle){.first = port, .peer = peer};
		b = &bundles[count - 1];
		vfctl_cpuset_add(&b->ports, port->number);
		vfctl_cpuset_add(&b->peer_ports, port->peer_port);
		b->slow |= port->slow;
		b->local |= port->local;
		b->count++;
	}
	*ret = steal(bundles);
	*ret_count = count;
	return 0;
}
