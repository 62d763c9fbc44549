/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_SVG_H
#define VFCTL_TOPOLOGY_SVG_H

#include <stdint.h>

#include "base/buf.h"

/*
 * The parts of a picture: cards with lines of text, and boxes with tooltips. Lengths are in pixels.
 */

#define SVG_MARGIN 16
#define SVG_GAP 12
#define SVG_PAD 10   /* between the edge of a card and its contents */
#define SVG_LINE 17  /* of text */
#define SVG_LETTER 7 /* width of an average letter */
#define SVG_TOP 52   /* height of the title */

/* A card that is being drawn; the origin is its upper left corner. */
struct svg_card {
	const void *of; /* what it shows */
	struct buf body;
	int width, y; /* y: position of the next element */
};

/* Begin a box; svg_end_rect() adds the tooltip (NULL: none) and closes it. */
void svg_rect(struct buf *b, int x, int y, int width, int height, uint32_t colour);
void svg_end_rect(struct buf *b, const char *hint);
/*
 * Text at @x of the current line. Text that is too long is truncated, and complete in the tooltip.
 * @class: a class of the style sheet; NULL: ordinary text.
 */
void svg_text(struct svg_card *c, int x, const char *class, const char *text);
/* Add a line of text; an empty @text adds nothing. */
void svg_line(struct svg_card *c, int x, const char *class, const struct buf *text);
/* Add a line that begins with a coloured box. */
void svg_swatch(struct svg_card *c, uint32_t colour, const char *class, const struct buf *text);
/* Add a finished card with this height, and free it. */
void svg_add_card(struct buf *b, struct svg_card *c, int x, int y, int height);
/* The whole document: the title, then @body. */
void svg_document(struct buf *b, const char *title, int width, int height, const struct buf *body);

#endif
