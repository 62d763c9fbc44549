/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_COLUMNS_H
#define VFCTL_COLUMNS_H

#include "out.h"
#include "types/inventory.h"

/* The row of a table: a VF or, if @vf is NULL, a PF. */
struct column_row {
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vfctl_ctx *ctx; /* NULL: columns that need further reads are empty */
};

#define COLUMN_TEXT 320
#define COLUMN_NAME 16 /* bytes for the name of any column */
#define COLUMNS_MAX 40

/* The heading is the name in capitals. */
struct column {
	const char *name, *help;
	/*
	 * NULL: the attribute whose key is the name. "": the value is not known, or there is none.
	 */
	const char *(*text)(const struct column_row *row, char buf[COLUMN_TEXT]);
	bool own;	  /* it usually differs between VFs */
	signed char give; /* see out_table_fit() */
};

struct columns {
	struct column v[COLUMNS_MAX];
	size_t count;
};

/* Without a name if there is no such column. */
struct column column_find(const char *name);
const char *column_text(const struct column *column, const struct column_row *row,
	char buf[COLUMN_TEXT]);
/* The default columns for PFs, or for VFs. */
void columns_add_default(struct columns *columns, bool of_pfs);
/* The columns one by one, for help. */
bool column_term(size_t at, const char **ret_name, const char **ret_help);

/* "up 25000 Mbit/s" */
const char *link_text(const struct vfctl_pf *pf, char buf[COLUMN_TEXT]);
/* Whether a guest uses it or has it leased. */
bool vf_has_guest(const struct vfctl_vf *vf);
/* The present user of a VF. */
const char *holder_text(const struct vfctl_vf *vf, char buf[COLUMN_TEXT]);

#endif
