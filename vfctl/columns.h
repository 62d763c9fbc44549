/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_COLUMNS_H
#define VFCTL_COLUMNS_H

#include "out.h"
#include "core/inventory.h"

/* What a table tells of a VF or, where @vf is NULL, of a PF. */
struct column_row {
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vfctl_ctx *ctx; /* NULL: what has to be read first is not told */
};

#define COLUMN_TEXT 256
#define COLUMN_NAME 16 /* bytes that hold the name of any column */
#define COLUMNS_MAX 40

/* Its heading is its name in capitals. */
struct column {
	const char *name, *help;
	/* NULL: the attribute whose key is its name. "": not known, or there is none. */
	const char *(*text)(const struct column_row *row, char buf[COLUMN_TEXT]);
	bool own;	  /* it differs from VF to VF in any case */
	signed char give; /* see out_table_fit() */
};

struct columns {
	struct column v[COLUMNS_MAX];
	size_t count;
};

/* Without a name when there is none of that name. */
struct column column_find(const char *name);
const char *column_text(const struct column *column, const struct column_row *row,
	char buf[COLUMN_TEXT]);
/* Those that a person sees of PFs, or of VFs. */
void columns_add_default(struct columns *columns, bool of_pfs);
/* The columns one by one, for help. */
bool column_term(size_t at, const char **ret_name, const char **ret_help);

/* "up 25000 Mbit/s" */
const char *link_words(const struct vfctl_pf *pf, char buf[COLUMN_TEXT]);
/* A guest has it, or is promised it. */
bool vf_has_guest(const struct vfctl_vf *vf);
/* Who has it now. */
const char *holder_words(const struct vfctl_vf *vf, char buf[COLUMN_TEXT]);

#endif
