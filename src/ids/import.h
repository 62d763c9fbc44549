/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_IDS_IMPORT_H
#define VFCTL_IDS_IMPORT_H

#include "base/ctx.h"
#include "core/identity.h"

/* A fleet of a million identities; as JSON that are about 200 MiB. */
#define ID_IMPORT_ROWS_MAX 1000000

/*
 * What a text says, value by value in its order. state LEASED: the row names an owner;
 * QUARANTINED: the row says so (with its note); RESTING: only a value, nobody's.
 */
struct id_rows {
	struct vfctl_id *v;
	size_t *lines; /* or for JSON the number of the row, from 1 */
	size_t count;
	const char *unit; /* "line" or "row" */
};

int id_import_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct id_rows *ret);
void id_rows_clear(struct id_rows *rows);

#endif
