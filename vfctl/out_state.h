/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_OUT_STATE_H
#define VFCTL_OUT_STATE_H

#include <stddef.h>

#include "out.h"

/* What out.c and out_json.c share. */

#define DEPTH_MAX 16

struct out {
	FILE *file;
	/* table */
	unsigned indent;
	size_t columns;
	char **cells;
	size_t cell_count, cell_room;
	bool headed;		/* the first row is of headings */
	const signed char *give; /* how columns give way; NULL: they do not */
	const unsigned *widths; /* of a table that is printed as it comes */
	unsigned width;		/* of the terminal; 0: no limit */
	void (*start)(void);	/* to be called before the first byte */
	/* JSON */
	char closing[DEPTH_MAX];
	bool filled[DEPTH_MAX];
	size_t depth;
	bool lines;    /* a document is one line */
	bool answered; /* a whole document was written */
	bool failed;
};

/* Before anything is written. */
void out_begin(struct out *out);

/*
 * Length of the UTF-8 character at @text: 0 when the bytes are none, or a control
 * character. Names come from devices, files and other programs, and a terminal obeys
 * what it is sent (U+0080 to U+009F included).
 */
size_t text_character(const char *text);

#endif
