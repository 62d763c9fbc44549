/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_IMPORT_H
#define VFCTL_IDS_IMPORT_H

#include "base/ctx.h"
#include "types/identity.h"

/* A fleet of a million identities; as JSON they are about 200 MiB. */
#define ID_IMPORT_ROWS_MAX 1000000

/*
 * The values of a text, in the order of the text. state LEASED: the row names an owner;
 * QUARANTINED: the row is marked so (with its note); RESTING: only a value, without an owner.
 */
struct id_rows {
	struct vfctl_id *v;
	size_t *lines; /* for each value its line or, for JSON, the number of its row, from 1 */
	size_t count;
	const char *unit; /* "line" or "row" */
};

int id_import_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct id_rows *ret);
void id_rows_clear(struct id_rows *rows);

#endif
