// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/svg.h"

#include <inttypes.h>
#include <string.h>

#include "topology/picture_style.h"

void svg_rect(struct buf *b, int x, int y, int width, int height, uint32_t colour)
{
	buf_printf(b, "<rect x=\"%d\" y=\"%d\" width=\"%d\" height=\"%d\" fill=\"#%06" PRIx32
		"\" stroke=\"#6e7781\" stroke-width=\".6\"", x, y, width, height, colour);
}

/* Add the tooltip of a shape, and close the shape. */
void svg_end_rect(struct buf *b, const char *hint)
{
	if (!hint) {
		buf_puts(b, "/>\n");
		return;
	}
	buf_puts(b, "><title>");
	style_put_xml(b, hint);
	buf_puts(b, "</title></rect>\n");
}

/* The number of bytes of @text that fit into @room pixels: whole characters. */
static size_t fitting(const char *text, int room)
{
	size_t at = 0, letters = room > 0 ? (size_t)room / SVG_LETTER : 0;

	while (text[at] && letters) {
		letters -= ((unsigned char)text[at + 1] & 0xc0) != 0x80;
		at++;
	}
	return at;
}

/*
 * Text at @x of the current line. Text that is too long is truncated, and complete in the tooltip.
 */
void svg_text(struct svg_card *c, int x, const char *class, const char *text)
{
	int room = c->width - SVG_PAD - x;
	size_t shown = fitting(text, room);
	_free_ char *cut = NULL;

	buf_printf(&c->body, "<text x=\"%d\" y=\"%d\"%s%s%s>", x, c->y + SVG_LINE - 5,
		class ? " class=\"" : "", class ? class : "", class ? "\"" : "");
	if (text[shown]) {
		cut = strndup(text, fitting(text, room - 2 * SVG_LETTER));
		c->body.failed |= !cut;
		buf_puts(&c->body, "<title>");
		style_put_xml(&c->body, text);
		buf_puts(&c->body, "</title>");
	}
	style_put_xml(&c->body, cut ? cut : text);
	buf_puts(&c->body, cut ? "\u2026</text>\n" : "</text>\n");
}

void svg_line(struct svg_card *c, int x, const char *class, const struct buf *text)
{
	if (text->failed)
		c->body.failed = true;
	if (text->len) {
		svg_text(c, x, class, text->data);
		c->y += SVG_LINE;
	}
}

/* Begin a line with a coloured box. */
void svg_swatch(struct svg_card *c, uint32_t colour, const char *class, const struct buf *text)
{
	svg_rect(&c->body, SVG_PAD, c->y + 3, 11, 11, colour);
	svg_end_rect(&c->body, NULL);
	svg_line(c, SVG_PAD + 17, class, text);
}

/* Add a finished card, with the height of the highest card in its row, and free it. */
void svg_add_card(struct buf *b, struct svg_card *c, int x, int y, int height)
{
	buf_printf(b, "<g transform=\"translate(%d %d)\">\n<rect width=\"%d\" height=\"%d\" rx=\"6\" "
		"fill=\"#f6f8fa\" stroke=\"#d0d7de\"/>\n", x, y, c->width, height);
	if (c->body.data)
		buf_add(b, c->body.data, c->body.len);
	b->failed |= c->body.failed;
	buf_puts(b, "</g>\n");
	buf_free(&c->body);
}

void svg_document(struct buf *b, const char *title, int width, int height, const struct buf *body)
{
	buf_printf(b, "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n"
		"<svg xmlns=\"http://www.w3.org/2000/svg\" width=\"%d\" height=\"%d\" "
		"viewBox=\"0 0 %d %d\" font-family=\"DejaVu Sans,Noto Sans,sans-serif\" "
		"font-size=\"12\">\n<title>", width, height, width, height);
	style_put_xml(b, title);
	buf_puts(b, "</title>\n<style>text{fill:#1b1f24}.h{font-size:15px;font-weight:bold}"
		".b{font-weight:bold}.s{fill:#57606a}.m{text-anchor:middle;font-size:11px}"
		".r{fill:#a40e26;font-weight:bold}.t{font-size:20px;font-weight:bold}</style>\n"
		"<rect width=\"100%\" height=\"100%\" fill=\"#fff\"/>\n");
	buf_printf(b, "<text x=\"%d\" y=\"34\" class=\"t\">", SVG_MARGIN);
	style_put_xml(b, title);
	buf_puts(b, "</text>\n");
	if (body->data)
		buf_add(b, body->data, body->len);
	b->failed |= body->failed;
	buf_puts(b, "</svg>\n");
}
