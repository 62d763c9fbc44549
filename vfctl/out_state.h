/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_OUT_STATE_H
#define VFCTL_OUT_STATE_H

#include <stddef.h>

#include "out.h"

/* State that out.c and out_json.c share. */

#define DEPTH_MAX 16

struct cell {
	char *text;
	enum color color;
};

struct out {
	FILE *file;
	/* table */
	unsigned indent;
	size_t columns;
	struct cell *cells;
	size_t cell_count, cell_room;
	bool headed;		/* the first row is of headings */
	const signed char *give; /* how columns are reduced; NULL: not at all */
	const unsigned *widths; /* of a table whose rows are printed at once */
	unsigned width;		/* of the terminal; 0: no limit */
	void (*start)(void);	/* called before the first byte */
	enum color color;	/* of the next cell, or of @color_len bytes of the next line */
	size_t color_len;
	/* JSON; YAML if @yaml is not NULL */
	struct vfctl_yaml *yaml;
	char closing[DEPTH_MAX];
	bool filled[DEPTH_MAX];
	size_t depth;
	/* --get; without paths everything is printed */
	struct got {
		const char *path; /* "pfs.vfs.address"; not owned */
		char *value;	  /* of the open object; NULL: none */
	} get[GET_MAX];
	size_t get_count, get_deepest;
	const char *keys[DEPTH_MAX]; /* of all open objects; NULL in a list */
	bool lines;    /* a document is one line */
	bool answered; /* a whole document was written */
	bool failed;
};

/* With --get: handle a scalar (as text; NULL: null), and the end of an object. */
void get_value(struct out *out, const char *key, const char *value);
void get_close(struct out *out);

/* Called before anything is written. */
void out_begin(struct out *out);

/*
 * Length of the UTF-8 character at @text; 0 if the bytes are not one, or are a control character.
 * Names come from devices, files and other programs, and a terminal interprets control characters
 * (including U+0080 to U+009F).
 */
size_t text_character(const char *text);

#endif
