// SPDX-License-Identifier: GPL-2.0-or-later
/* The layout of the picture; colours and texts are in picture_style.c. Lengths are in pixels. */
#include "topology/picture.h"

#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "topology/picture_style.h"
#include "topology/svg.h"

#define WIDTH 1200
#define BAR 14	       /* height of a bar of cores */
#define SQUARE 9       /* a VF */
#define COLUMNS_MAX 4  /* cards in one row */

/* The model that a card shows a part of. */
static const struct vfctl_host_model *model_of(const struct svg_card *c)
{
	return c->of;
}

/* ---- cores ---- */

/* Whether the core is on node @n and in one L3 cache, or in any if @l3 is negative. */
static bool in_bar(const struct vfctl_core *core, const struct vfctl_node *n, int l3)
{
	return core->node == (int)n->id && (l3 < 0 || core->l3 == l3);
}

static uint32_t core_colour(const struct vfctl_host_model *m, const struct vfctl_core *core)
{
	return style_cpu(m, (unsigned)vfctl_cpuset_next(&core->cpus, 0));
}

/*
 * Adjacent cores with the same colour are one box with their number: free cores need no separate
 * boxes.
 */
static void put_run(struct svg_card *c, int x, int width, size_t cores, uint32_t colour,
	const struct vfctl_cpuset *cpus)
{
	char number[24];
	_buf_ struct buf hint = {0};

	buf_puts(&hint, "CPUs ");
	style_put_cpus(&hint, cpus);
	style_put_holders(&hint, model_of(c), cpus);
	svg_rect(&c->body, x, c->y, width, BAR, colour);
	svg_end_rect(&c->body, hint.failed ? NULL : hint.data);
	snprintf(number, sizeof(number), "%zu", cores);
	if ((int)strlen(number) * SVG_LETTER + 2 <= width)
		buf_printf(&c->body, "<text x=\"%d\" y=\"%d\" class=\"m\" style=\"fill:#%06" PRIx32
			"\">%s</text>\n", x + width / 2, c->y + BAR - 3, style_text(colour), number);
}

static void put_bar(struct svg_card *c, const struct vfctl_node *n, int l3)
{
	const struct vfctl_topology *t = model_of(c)->topology;
	size_t width = (size_t)c->width - 2 * SVG_PAD, all = 0, done = 0;

	for (size_t i = 0; i < t->core_count; i++)
		all += in_bar(&t->cores[i], n, l3);
	for (size_t i = 0; i < t->core_count;) {
		struct vfctl_cpuset cpus = {0};
		uint32_t colour = core_colour(model_of(c), &t->cores[i]);
		size_t cores = 0;

		for (; i < t->core_count; i++) {
			if (!in_bar(&t->cores[i], n, l3))
				continue;
			if (cores && core_colour(model_of(c), &t->cores[i]) != colour)
				break;
			colour = core_colour(model_of(c), &t->cores[i]);
			vfctl_cpuset_or(&cpus, &t->cores[i].cpus);
			cores++;
		}
		if (cores) {
			int x = (int)(width * done / all), end = (int)(width * (done + cores) / all);

			put_run(c, SVG_PAD + x, end - x, cores, colour, &cpus);
		}
		done += cores;
	}
	c->y += BAR + 3;
}

/* Draw one bar for each L3 cache. */
static void put_cores(struct svg_card *c, const struct vfctl_node *n)
{
	const struct vfctl_topology *t = model_of(c)->topology;

	for (size_t i = 0; i < t->core_count; i++) {
		bool first = t->cores[i].node == (int)n->id;

		for (size_t k = 0; k < i && first; k++)
			first = t->cores[k].node != t->cores[i].node ||
				(t->cores[i].l3 >= 0 && t->cores[k].l3 != t->cores[i].l3);
		if (first)
			put_bar(c, n, t->cores[i].l3);
	}
	c->y += 3;
}

/* ---- PFs ---- */

static void put_vf(struct svg_card *c, const struct vfctl_model_pf *pf, uint32_t index, int x)
{
	_buf_ struct buf hint = {0};
	uint32_t colour = style_vf(model_of(c), pf, index, &hint);

	svg_rect(&c->body, x, c->y + 1, SQUARE, SQUARE, colour);
	svg_end_rect(&c->body, hint.failed ? NULL : hint.data);
}

/* Its name, its properties, and a square for each VF that exists. */
static void put_pf(struct svg_card *c, const struct vfctl_model_pf *pf)
{
	_buf_ struct buf name = {0}, card = {0}, port = {0}, vfs = {0}, gpus = {0};
	uint32_t columns = (uint32_t)(c->width - 2 * SVG_PAD) / (SQUARE + 2);

	c->y += 5;
	style_name_pf(pf, &name);
	style_pf_card(pf, &card);
	style_pf_port(pf, &port);
	style_pf_vfs(model_of(c), pf, &vfs);
	style_pf_gpus(model_of(c), pf, &gpus);
	svg_line(c, SVG_PAD, "b", &name);
	svg_line(c, SVG_PAD, NULL, &card);
	svg_line(c, SVG_PAD, NULL, &port);
	svg_line(c, SVG_PAD, NULL, &vfs);
	svg_line(c, SVG_PAD, NULL, &gpus);
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		put_vf(c, pf, i, SVG_PAD + (int)(i % columns) * (SQUARE + 2));
		if ((i + 1) % columns == 0 || i + 1 == pf->num_vfs)
			c->y += SQUARE + 2;
	}
}

static bool put_pfs(struct svg_card *c, int node)
{
	bool any = false;

	for (size_t i = 0; i < model_of(c)->pf_count; i++)
		if (model_of(c)->pfs[i].node == node) {
			put_pf(c, &model_of(c)->pfs[i]);
			any = true;
		}
	return any;
}

/* ---- cards ---- */

static void put_node(struct svg_card *c, const struct vfctl_node *n)
{
	const struct vfctl_host_model *m = model_of(c);
	_buf_ struct buf text = {0};

	buf_printf(&text, "Node %u", n->id);
	svg_line(c, SVG_PAD, "h", &text);
	for (unsigned i = 0; i < STYLE_NODE_LINES; i++) {
		buf_reset(&text);
		style_node_line(m, n, i, &text);
		svg_line(c, SVG_PAD, "s", &text);
	}
	put_cores(c, n);
	for (size_t i = 0; i < m->occupant_count; i++) {
		buf_reset(&text);
		if (!style_share(n, &m->occupants[i], &text))
			continue;
		svg_swatch(c, style_guest(i), NULL, &text);
		buf_reset(&text);
		style_remote(m, &m->occupants[i], &text);
		svg_line(c, SVG_PAD + 17, "r", &text);
	}
	put_pfs(c, (int)n->id);
}

static int put_nodes(struct buf *b, const struct vfctl_host_model *m, int y)
{
	const struct vfctl_topology *t = m->topology;
	size_t columns = t->node_count == 1 ? 1 : t->node_count <= 4 ? 2 : COLUMNS_MAX;
	int width = (WIDTH - 2 * SVG_MARGIN - SVG_GAP * (int)(columns - 1)) / (int)columns;

	for (size_t first = 0; first < t->node_count; first += columns) {
		struct svg_card cards[COLUMNS_MAX] = {0};
		int highest = 0;

		for (size_t i = 0; i < columns && first + i < t->node_count; i++) {
			cards[i] = (struct svg_card){.of = m, .width = width, .y = SVG_PAD - 4};
			put_node(&cards[i], &t->nodes[first + i]);
			highest = cards[i].y > highest ? cards[i].y : highest;
		}
		for (size_t i = 0; i < columns && first + i < t->node_count; i++)
			svg_add_card(b, &cards[i], SVG_MARGIN + (int)i * (width + SVG_GAP), y,
				highest + SVG_PAD);
		y += highest + SVG_PAD + SVG_GAP;
	}
	return y;
}

/* PFs of unknown locality, over the whole width. */
static int put_others(struct buf *b, const struct vfctl_host_model *m, double y)
{
	struct svg_card c = {.of = m, .width = WIDTH - 2 * SVG_MARGIN, .y = SVG_PAD - 4};
	_buf_ struct buf text = {0};
	int height;

	buf_puts(&text, "PFs without a NUMA node");
	svg_line(&c, SVG_PAD, "h", &text);
	if (!put_pfs(&c, VFCTL_NODE_NONE)) {
		buf_free(&c.body);
		return y;
	}
	height = c.y + SVG_PAD;
	svg_add_card(b, &c, SVG_MARGIN, y, height);
	return y + height + SVG_GAP;
}

static int put_legend(struct buf *b, const struct vfctl_host_model *m, double y)
{
	struct svg_card c = {.of = m, .width = WIDTH - 2 * SVG_MARGIN, .y = SVG_PAD - 4};
	_buf_ struct buf text = {0};
	int height;
	uint32_t colour;

	buf_puts(&text, "Legend");
	svg_line(&c, SVG_PAD, "h", &text);
	for (size_t i = 0; buf_reset(&text), style_legend(m, i, &colour, &text); i++)
		svg_swatch(&c, colour, NULL, &text);
	height = c.y + SVG_PAD;
	svg_add_card(b, &c, SVG_MARGIN, y, height);
	return y + height + SVG_MARGIN;
}

void picture_svg(const struct vfctl_host_model *model, const char *title, struct buf *ret)
{
	_buf_ struct buf body = {0};
	int y = put_legend(&body, model, put_others(&body, model, put_nodes(&body, model, SVG_TOP)));

	svg_document(ret, title, WIDTH, y, &body);
}
