// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The picture of a subnet: a row of cards for each level of switches, the highest level at the top,
 * and lines between the cards. A card has a box for each HCA.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>

#include "base/parse.h"
#include "subnet/subnet.h"
#include "topology/picture.h"
#include "topology/picture_style.h"
#include "topology/svg.h"

#define WIDTH_MIN 1200
#define CARD 220     /* width of a switch */
#define COLUMNS 10   /* cards in a row */
#define LEVEL_GAP 64 /* between two rows, for the lines */
#define BOX 11	     /* an HCA */
#define NAMED 6	     /* a switch with so many HCAs or fewer has their names in its card */

#define COLOUR_HCA 0xaec7e8u
#define COLOUR_LOCAL 0xff7f0eu
#define COLOUR_SLOW 0xd62728u
#define COLOUR_LINE 0x8c959fu

/* The place of a switch in the picture. */
struct spot {
	int x, y, height;
};

struct sketch {
	struct vfctl_ctx *ctx;
	const struct vfctl_subnet *subnet;
	struct spot *spots; /* one for each node; only those of switches are used */
	struct buf lines, cards;
	int width;
	int error;
};

/* ---- a switch ---- */

/* The links of a switch as bundles, and the number of links to each kind of node. */
struct summary {
	struct vfctl_subnet_bundle *bundles;
	size_t count;
	size_t links[VFCTL_SUBNET_KINDS];
	size_t switches; /* other switches that it is linked to */
	size_t slow;
};

static bool summarize_switch(struct sketch *k, const struct vfctl_subnet_node *n,
	struct summary *ret)
{
	int r = vfctl_subnet_bundles(k->ctx, k->subnet, n, &ret->bundles, &ret->count);

	if (r < 0) {
		k->error = r;
		return false;
	}
	for (size_t i = 0; i < ret->count; i++) {
		const struct vfctl_subnet_bundle *b = &ret->bundles[i];

		if (!b->peer)
			continue;
		ret->links[b->peer->kind] += b->count;
		ret->slow += b->slow ? b->count : 0;
		ret->switches += b->peer->kind == VFCTL_SUBNET_SWITCH &&
			(!i || ret->bundles[i - 1].peer != b->peer);
	}
	return true;
}

/* "node-1 mlx5_0, port 3, 4x HDR, this host: mlx5_0 port 1" */
static void put_link(struct buf *b, const struct vfctl_subnet *s, const struct vfctl_subnet_port *p)
{
	const struct vfctl_subnet_port *peer = subnet_peer_port(s, p);
	char rate[VFCTL_SUBNET_LINK_TEXT], guid[VFCTL_GUID_TEXT];

	buf_printf(b, "%s, switch port %u", vfctl_subnet_node_name(&s->nodes[p->peer], guid), p->number);
	if (vfctl_subnet_link_text(p, rate)[0])
		buf_printf(b, ", %s", rate);
	if (p->slow)
		buf_puts(b, ", slower than its neighbours");
	if (peer && peer->device)
		buf_printf(b, ", this host: %s", peer->device);
}

static uint32_t link_colour(const struct vfctl_subnet_port *p)
{
	return p->local ? COLOUR_LOCAL : p->slow ? COLOUR_SLOW : COLOUR_HCA;
}

static void put_box(struct svg_card *c, const struct vfctl_subnet *s,
	const struct vfctl_subnet_port *p,
	int x)
{
	_buf_ struct buf hint = {0};

	put_link(&hint, s, p);
	svg_rect(&c->body, x, c->y + 1, BOX, BOX, link_colour(p));
	svg_end_rect(&c->body, hint.failed ? NULL : hint.data);
	c->body.failed |= hint.failed;
}

static bool is_to_hca(const struct vfctl_subnet_bundle *b)
{
	return b->peer && b->peer->kind == VFCTL_SUBNET_HCA;
}

/* Their number, with all names in the tooltip. */
static void put_hca_count(struct svg_card *c, const struct summary *m, size_t hcas)
{
	char guid[VFCTL_GUID_TEXT];

	buf_printf(&c->body, "<text x=\"%d\" y=\"%d\">%zu link%s<title>", SVG_PAD,
		c->y + SVG_LINE - 5, hcas, hcas == 1 ? " to an HCA" : "s to HCAs");
	for (size_t i = 0; i < m->count; i++)
		if (is_to_hca(&m->bundles[i])) {
			style_put_xml(&c->body, vfctl_subnet_node_name(m->bundles[i].peer, guid));
			buf_puts(&c->body, "&#10;");
		}
	buf_puts(&c->body, "</title></text>\n");
	c->y += SVG_LINE;
}

/* A box for each HCA, or a line with its name if there are few. */
static void put_hcas(struct svg_card *c, const struct vfctl_subnet *s, const struct summary *m)
{
	size_t columns = (size_t)(c->width - 2 * SVG_PAD) / (BOX + 2), at = 0;
	size_t hcas = m->links[VFCTL_SUBNET_HCA];
	char guid[VFCTL_GUID_TEXT];

	if (!hcas)
		return;
	put_hca_count(c, m, hcas);
	for (size_t i = 0; i < m->count; i++) {
		const struct vfctl_subnet_port *p = m->bundles[i].first;
		_buf_ struct buf name = {0};

		if (!is_to_hca(&m->bundles[i]))
			continue;
		if (hcas <= NAMED) {
			buf_printf(&name, "%u: %s", p->number,
				vfctl_subnet_node_name(m->bundles[i].peer, guid));
			svg_swatch(c, link_colour(p), p->local ? "b" : p->slow ? "r" : NULL, &name);
			continue;
		}
		put_box(c, s, p, SVG_PAD + (int)(at % columns) * (BOX + 2));
		if (++at % columns == 0 || at == hcas)
			c->y += BOX + 2;
	}
}

/* This host's ports, each with its colour. */
static void put_own(struct svg_card *c, const struct vfctl_subnet *s, const struct summary *m)
{
	for (size_t i = 0; i < m->count; i++) {
		const struct vfctl_subnet_port *p = m->bundles[i].first, *peer = subnet_peer_port(s, p);
		_buf_ struct buf text = {0};

		if (!peer || !peer->device)
			continue;
		buf_printf(&text, "this host: %s", peer->device);
		svg_swatch(c, COLOUR_LOCAL, "b", &text);
	}
}

static void put_count(struct svg_card *c, const char *class, size_t count, const char *one,
	const char *many)
{
	_buf_ struct buf text = {0};

	if (count)
		buf_printf(&text, "%zu %s", count, count == 1 ? one : many);
	svg_line(c, SVG_PAD, class, &text);
}

static void put_switch(struct svg_card *c, const struct vfctl_subnet *s,
	const struct vfctl_subnet_node *n,
	const struct summary *m)
{
	char guid[VFCTL_GUID_TEXT];
	_buf_ struct buf name = {0}, about = {0}, text = {0};

	buf_puts(&name, vfctl_subnet_node_name(n, guid));
	svg_line(c, SVG_PAD, "b", &name);
	if (n->lid)
		buf_printf(&about, "LID %u, ", n->lid);
	buf_printf(&about, "%zu of %u ports", n->port_count, n->port_total);
	svg_line(c, SVG_PAD, "s", &about);
	if (m->switches)
		buf_printf(&text, "%zu link%s to %zu switch%s", m->links[VFCTL_SUBNET_SWITCH],
			plural(m->links[VFCTL_SUBNET_SWITCH]), m->switches,
			m->switches == 1 ? "" : "es");
	svg_line(c, SVG_PAD, NULL, &text);
	put_hcas(c, s, m);
	put_own(c, s, m);
	put_count(c, NULL, m->links[VFCTL_SUBNET_ROUTER], "router", "routers");
	put_count(c, NULL, m->links[VFCTL_SUBNET_AGGREGATION], "aggregation node", "aggregation nodes");
	put_count(c, "r", m->slow, "slow link", "slow links");
}

/* ---- rows of switches ---- */

static int draw_row(struct sketch *k, const size_t *nodes, size_t count, int y)
{
	struct svg_card cards[COLUMNS] = {0};
	int highest = 0, x = (k->width - (int)count * (CARD + SVG_GAP) + SVG_GAP) / 2;

	for (size_t i = 0; i < count; i++) {
		struct summary m = {0};

		cards[i] = (struct svg_card){.width = CARD, .y = SVG_PAD - 4};
		if (summarize_switch(k, &k->subnet->nodes[nodes[i]], &m))
			put_switch(&cards[i], k->subnet, &k->subnet->nodes[nodes[i]], &m);
		free(m.bundles);
		highest = cards[i].y > highest ? cards[i].y : highest;
	}
	for (size_t i = 0; i < count; i++) {
		k->spots[nodes[i]] = (struct spot){x, y, highest + SVG_PAD};
		svg_add_card(&k->cards, &cards[i], x, y, highest + SVG_PAD);
		x += CARD + SVG_GAP;
	}
	return y + highest + SVG_PAD;
}

/* The number of switches, from position @at of the order on, that have the same level. */
static size_t level_size(const struct vfctl_subnet *s, size_t at)
{
	size_t end = at;

	while (end < s->counts[VFCTL_SUBNET_SWITCH] &&
		s->nodes[s->order[end]].level == s->nodes[s->order[at]].level)
		end++;
	return end - at;
}

static int draw_levels(struct sketch *k, int y)
{
	const struct vfctl_subnet *s = k->subnet;

	for (size_t at = 0; at < s->counts[VFCTL_SUBNET_SWITCH];) {
		size_t size = level_size(s, at), rows = (size + COLUMNS - 1) / COLUMNS;

		for (size_t row = 0; row < rows; row++) {
			size_t count = size * (row + 1) / rows - size * row / rows;

			y = draw_row(k, &s->order[at], count, y) + (row + 1 < rows ? SVG_GAP : LEVEL_GAP);
			at += count;
		}
	}
	return y - LEVEL_GAP + SVG_GAP;
}

/* ---- lines ---- */

static void put_line(struct sketch *k, const struct spot *from, const struct spot *to,
	const char *hint,
	uint32_t colour, double stroke)
{
	int x1 = from->x + CARD / 2, x2 = to->x + CARD / 2;
	const struct spot *upper = from->y <= to->y ? from : to, *lower = upper == from ? to : from;

	buf_printf(&k->lines, "<path fill=\"none\" stroke=\"#%06" PRIx32 "\" stroke-width=\"%g\" "
		"stroke-opacity=\"%s\" ",
		colour, stroke, colour == COLOUR_LINE ? ".4" : ".9");
	if (from->y == to->y) /* an arc above two cards of one row */
		buf_printf(&k->lines, "d=\"M%d %dQ%d %d %d %d\">", x1, from->y, (x1 + x2) / 2,
			from->y - 50, x2, to->y);
	else
		buf_printf(&k->lines, "d=\"M%d %dL%d %d\">", upper == from ? x1 : x2,
			upper->y + upper->height, upper == from ? x2 : x1, lower->y);
	buf_puts(&k->lines, "<title>");
	style_put_xml(&k->lines, hint);
	buf_puts(&k->lines, "</title></path>\n");
}

static void draw_bundle(struct sketch *k, const struct vfctl_subnet_node *n,
	const struct vfctl_subnet_bundle *b)
{
	const struct vfctl_subnet *s = k->subnet;
	char one[VFCTL_GUID_TEXT], other[VFCTL_GUID_TEXT], rate[VFCTL_SUBNET_LINK_TEXT];
	_buf_ struct buf hint = {0};

	buf_printf(&hint, "%s to %s: %zu link%s %s%s", vfctl_subnet_node_name(n, one),
		vfctl_subnet_node_name(b->peer, other), b->count, plural(b->count),
		vfctl_subnet_link_text(b->first, rate), b->slow ? ", slower than the neighbours" : "");
	if (!hint.failed)
		put_line(k, &k->spots[n - s->nodes], &k->spots[b->peer - s->nodes], hint.data,
			b->slow ? COLOUR_SLOW : COLOUR_LINE, b->count < 8 ? 0.8 + 0.4 * (double)b->count : 4);
	k->lines.failed |= hint.failed;
}

/* Each pair of switches once. */
static void draw_lines(struct sketch *k)
{
	const struct vfctl_subnet *s = k->subnet;

	for (size_t at = 0; at < s->counts[VFCTL_SUBNET_SWITCH] && !k->error; at++) {
		const struct vfctl_subnet_node *n = &s->nodes[s->order[at]];
		_free_ struct vfctl_subnet_bundle *bundles = NULL;
		size_t count = 0;

		k->error = vfctl_subnet_bundles(k->ctx, s, n, &bundles, &count);
		for (size_t i = 0; !k->error && i < count; i++)
			if (bundles[i].peer && bundles[i].peer > n &&
				bundles[i].peer->kind == VFCTL_SUBNET_SWITCH)
				draw_bundle(k, n, &bundles[i]);
	}
}

/* ---- the whole picture ---- */

static int draw_legend(struct sketch *k, int y)
{
	static const struct {
		uint32_t colour;
		const char *text;
	} entries[] = {
		{COLOUR_HCA, "a link to an HCA, with the port of the switch; where many HCAs are boxes, "
			"the tooltip has the name"},
		{COLOUR_LOCAL, "a link to this host"},
		{COLOUR_SLOW, "a link with fewer or slower lanes than most of its neighbours"},
		{COLOUR_LINE, "links between two switches; the wider the line, the more links"},
	};
	struct svg_card c = {.width = k->width - 2 * SVG_MARGIN, .y = SVG_PAD - 4};
	_buf_ struct buf text = {0};
	int height;

	buf_puts(&text, "Legend");
	svg_line(&c, SVG_PAD, "h", &text);
	for (size_t i = 0; i < ARRAY_SIZE(entries); i++) {
		buf_reset(&text);
		buf_puts(&text, entries[i].text);
		svg_swatch(&c, entries[i].colour, NULL, &text);
	}
	height = c.y + SVG_PAD;
	svg_add_card(&k->cards, &c, SVG_MARGIN, y, height);
	return y + height + SVG_MARGIN;
}

/* Without a switch: two HCAs with a cable between them. */
static int draw_others(struct sketch *k, int y)
{
	const struct vfctl_subnet *s = k->subnet;
	struct svg_card c = {.width = k->width - 2 * SVG_MARGIN, .y = SVG_PAD - 4};
	char guid[VFCTL_GUID_TEXT];
	int height;

	if (s->counts[VFCTL_SUBNET_SWITCH])
		return y;
	for (size_t i = 0; i < s->node_count; i++) {
		const struct vfctl_subnet_node *n = &s->nodes[s->order[i]];
		bool local = false;
		_buf_ struct buf text = {0};

		for (size_t p = 0; p < n->port_count; p++)
			local |= n->ports[p].device != NULL;
		buf_puts(&text, vfctl_subnet_node_name(n, guid));
		svg_swatch(&c, local ? COLOUR_LOCAL : COLOUR_HCA, NULL, &text);
	}
	height = c.y + SVG_PAD;
	svg_add_card(&k->cards, &c, SVG_MARGIN, y, height);
	return y + height + SVG_GAP;
}

static size_t widest_row(const struct vfctl_subnet *s)
{
	size_t widest = 1;

	for (size_t at = 0; at < s->counts[VFCTL_SUBNET_SWITCH];) {
		size_t size = level_size(s, at);

		widest = size > widest ? size : widest;
		at += size;
	}
	return widest < COLUMNS ? widest : COLUMNS;
}

static int sketch_subnet(struct sketch *k, const char *title, struct buf *ret)
{
	int row = (int)widest_row(k->subnet) * (CARD + SVG_GAP) - SVG_GAP + 2 * SVG_MARGIN, y;

	k->width = row > WIDTH_MIN ? row : WIDTH_MIN;
	y = draw_legend(k, draw_others(k, draw_levels(k, SVG_TOP + LEVEL_GAP / 2)));
	draw_lines(k);
	if (k->error)
		return k->error;
	/* The lines are behind the cards. */
	if (k->cards.data)
		buf_add(&k->lines, k->cards.data, k->cards.len);
	k->lines.failed |= k->cards.failed;
	svg_document(ret, title, k->width, y, &k->lines);
	return ret->failed ? ctx_oom(k->ctx) : 0;
}

int vfctl_subnet_draw(struct vfctl_ctx *ctx, const struct vfctl_subnet *subnet, const char *title,
	enum vfctl_picture format, const char *path)
{
	struct sketch k = {.ctx = ctx, .subnet = subnet,
		.spots = calloc(subnet->node_count, sizeof(*k.spots))};
	_buf_ struct buf picture = {0};
	int r = k.spots ? sketch_subnet(&k, title, &picture) : ctx_oom(ctx);

	buf_free(&k.lines);
	buf_free(&k.cards);
	free(k.spots);
	return r < 0 ? r : picture_write(ctx, &picture, format, path);
}
