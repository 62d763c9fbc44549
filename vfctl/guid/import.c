// SPDX-License-Identifier: GPL-2.0-or-later
/* guid import: from a vfctl export, or the output of an InfiniBand tool. */
#include <string.h>

#include "guid/guid.h"
#include "host/files.h"
#include "host_ids.h"
#include "ids/pools.h"

static void print_import(struct guid *g, const struct vfctl_id_import *i)
{
	char text[VFCTL_ID_TEXT];

	for (size_t k = 0; k < i->changed_count; k++) {
		const struct vfctl_id *id = &i->changed[k];

		if (id->state == VFCTL_ID_QUARANTINED)
			out_line(g->in->out, "%s %s of %s%s: it has no owner",
				g->in->dry_run ? "would quarantine" : "quarantined",
				vfctl_id_format(id->kind, id->value, text),
				id->pool[0] ? "pool " : "no pool", id->pool);
	}
	out_line(g->in->out, "%zu values: %zu known, %zu restored, %zu quarantined, %zu outside the "
		"pools", i->found, i->known, i->restored, i->quarantined, i->elsewhere);
}

#define OF struct vfctl_id_import
static const struct member counts_table[] = {
	FIELD(found, "values in the file"),
	FIELD(known, "values that were allocated, in their cooldown or quarantined already"),
	FIELD(restored, "values that were allocated to their owners again"),
	FIELD(quarantined, "values without an owner that belong to a pool"),
	FIELD(elsewhere, "values without an owner that belong to no pool"),
	LIST("changes", changed, changed_count, answer_id, "restored and quarantined values"), END};
#undef OF

struct import_view {
	bool dry_run, done;
	const struct vfctl_id_import *import;
};

#define OF struct import_view
static const struct member import_table[] = {
	FIELD(dry_run, "true: this would be done", OPTIONAL),
	FIELD(done, "true: this was done", OPTIONAL),
	PART_AT(import, counts_table), END};
#undef OF
const struct answer guid_import_answer[] = {{NULL, import_table, false}, {0}};

int guid_import(struct guid *g)
{
	const char *path = g->in->args[1];
	_cleanup_(vfctl_id_import_clear) struct vfctl_id_import import = {0};
	_free_ char *text = NULL;
	size_t len = 0;
	int r = vfctl_file_read(g->in->ctx, path, VFCTL_ID_IMPORT_MAX, &text, &len);

	if (r < 0)
		return fail(g->in, r);
	r = vfctl_ids_import(g->ids, strcmp(path, "-") ? path : "standard input", text, len,
		g->in->dry_run, &import);
	if (r < 0)
		return fail(g->in, r);
	if (g->in->json)
		answer_put(g->in->out, NULL, import_table, &(struct import_view){g->in->dry_run,
			!g->in->dry_run, &import});
	else if (!g->in->quiet)
		print_import(g, &import);
	/* Quarantined values are in no partition: the subnet manager need not be informed. */
	return import.restored && !g->in->dry_run ? run_after_change(g->in, g->spec) : EXIT_DONE;
}
