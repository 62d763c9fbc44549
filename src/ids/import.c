// SPDX-License-Identifier: GPL-2.0-or-later
/* Import the values of a text: check all of it first, then change everything or nothing. */
#include "ids/import.h"

#include <errno.h>
#include <stdio.h>

#include "ids/ids.h"
#include "ids/owner.h"
#include "ids/pools.h"

void vfctl_id_import_clear(struct vfctl_id_import *import)
{
	free(import->changed);
	*import = (struct vfctl_id_import){0};
}

struct work {
	struct vfctl_ids *ids;
	const char *file;
	bool dry_run;
	struct id_rows rows;
	struct vfctl_id_import import;
};

static void clear_work(struct work *w)
{
	id_rows_clear(&w->rows);
	vfctl_id_import_clear(&w->import);
}

static int compare_rows(const void *left, const void *right)
{
	const struct vfctl_id *a = left, *b = right;

	if (a->kind != b->kind)
		return (int)a->kind - (int)b->kind;
	if (a->value != b->value)
		return a->value < b->value ? -1 : 1;
	return (int)a->state - (int)b->state; /* the row with the most information comes first */
}

static int keep_changed(struct work *w, const struct vfctl_id *id)
{
	struct vfctl_id_import *i = &w->import;

	if (!array_grow(i->changed, i->changed_count))
		return ctx_oom(w->ids->ctx);
	i->changed[i->changed_count++] = *id;
	return 0;
}

/*
 * The result that vfctl_ids_claim() would have, without claiming: the store may be open only for
 * reading.
 */
static int check_claim(struct work *w, const struct vfctl_id *row,
	const struct vfctl_id *has)
{
	struct id_store *s = w->ids->store;
	char text[VFCTL_ID_TEXT], who[ID_OWNER_WORDS];
	struct vfctl_id other;
	int r;

	if (has && (has->state == VFCTL_ID_QUARANTINED || !id_same_owner(&has->owner, &row->owner)))
		return ids_fail_held(w->ids, has);
	r = s->ops->find_owner(s, row->kind, &row->owner, &other);
	if (r < 0 && r != -ENOENT)
		return r;
	if (r == 0 && other.state == VFCTL_ID_LEASED && other.value != row->value)
		return ctx_fail(w->ids->ctx, -EEXIST, "%s already has %s; release that first",
			id_owner_text(&row->owner, who),
			vfctl_id_format(other.kind, other.value, text));
	return 0;
}

static int restore_imported(struct work *w, const struct vfctl_id *row)
{
	struct vfctl_id has;
	int r = vfctl_ids_find(w->ids, row->kind, row->value, &has);
	bool found = r == 0;

	if (r < 0 && r != -ENOENT)
		return r;
	if (found && has.state == VFCTL_ID_LEASED && id_same_owner(&has.owner, &row->owner) &&
		has.pkey == row->pkey) {
		w->import.known++;
		return 0;
	}
	if (w->dry_run)
		r = check_claim(w, row, found ? &has : NULL);
	else
		r = vfctl_ids_claim(w->ids, row->kind, row->value, &row->owner, row->pkey, &has);
	if (r < 0)
		return ctx_prefix(w->ids->ctx, r, "%s", w->file);
	w->import.restored++;
	return keep_changed(w, w->dry_run ? row : &has);
}

/* 1, or 0 if it is already known. */
static int quarantine_imported(struct work *w, struct vfctl_id *id)
{
	struct vfctl_id has;
	int r;

	if (!id->note[0])
		snprintf(id->note, sizeof(id->note), "seen in %s", w->file);
	if (!w->dry_run)
		return vfctl_ids_quarantine(w->ids, id->kind, id->value, NULL, id->note);
	r = vfctl_ids_find(w->ids, id->kind, id->value, &has);
	return r == -ENOENT ? 1 : r;
}

static int set_apart(struct work *w, const struct vfctl_id *row)
{
	const struct vfctl_id_pool *pool = vfctl_ids_pool_of(w->ids, row->kind, row->value);
	struct vfctl_id id = *row;
	int r;

	if (!pool && row->state != VFCTL_ID_QUARANTINED) {
		w->import.elsewhere++;
		return 0;
	}
	r = quarantine_imported(w, &id);
	if (r <= 0) {
		w->import.known += r == 0;
		return r;
	}
	id.state = VFCTL_ID_QUARANTINED;
	str_copy(id.pool, sizeof(id.pool), pool ? pool->name : "");
	w->import.quarantined++;
	return keep_changed(w, &id);
}

/* Rows of one value are adjacent, the one with the most information first. */
static int check_rows(struct work *w)
{
	const struct id_rows *rows = &w->rows;
	char text[VFCTL_ID_TEXT];

	for (size_t i = 1; i < rows->count; i++) {
		const struct vfctl_id *row = &rows->v[i];

		if (row->kind == row[-1].kind && row->value == row[-1].value &&
			row->state == VFCTL_ID_LEASED && !id_same_owner(&row->owner, &row[-1].owner))
			return ctx_fail(w->ids->ctx, -EINVAL, "%s: %s is leased to two owners in it",
				w->file, vfctl_id_format(row->kind, row->value, text));
	}
	return 0;
}

static int apply(struct work *w)
{
	const struct id_rows *rows = &w->rows;
	int r = 0;

	for (size_t i = 0; i < rows->count && r >= 0; i++) {
		const struct vfctl_id *row = &rows->v[i];

		if (i && row->kind == row[-1].kind && row->value == row[-1].value)
			continue; /* tools often name a port's GUID several times */
		w->import.found++;
		r = row->state == VFCTL_ID_LEASED ? restore_imported(w, row) : set_apart(w, row);
	}
	return r < 0 ? r : 0;
}

int vfctl_ids_import(struct vfctl_ids *ids, const char *file, const char *text, size_t len,
	bool dry_run, struct vfctl_id_import *ret_import)
{
	_cleanup_(clear_work) struct work w = {.ids = ids, .file = file, .dry_run = dry_run};
	int r = id_import_parse(ids->ctx, file, text, len, &w.rows), end;

	if (r < 0)
		return r;
	if (w.rows.count)
		qsort(w.rows.v, w.rows.count, sizeof(*w.rows.v), compare_rows);
	r = check_rows(&w);
	if (r == 0)
		r = vfctl_ids_begin(ids);
	if (r < 0)
		return r;
	r = apply(&w);
	end = vfctl_ids_end(ids, r == 0);
	if (r < 0 || end < 0)
		return r < 0 ? r : end;
	*ret_import = w.import;
	w.import = (struct vfctl_id_import){0};
	return 0;
}
