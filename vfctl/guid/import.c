// SPDX-License-Identifier: GPL-2.0-or-later
/* guid import: our own export, or what a tool of the fabric saw. */
#include <stdlib.h>
#include <string.h>

#include "guid/guid.h"
#include "host_ids.h"
#include "vfctl/host.h"

static void print_import(struct guid *g, const struct vfctl_id_import *i)
{
	char text[VFCTL_ID_TEXT];

	for (size_t k = 0; k < i->changed_count; k++) {
		const struct vfctl_id *id = &i->changed[k];

		if (id->state == VFCTL_ID_QUARANTINED)
			out_line(g->in->out, "%s %s of %s%s: nobody has it",
				g->in->dry_run ? "would quarantine" : "quarantined",
				vfctl_id_format(id->kind, id->value, text),
				id->pool[0] ? "pool " : "no pool", id->pool);
	}
	out_line(g->in->out, "%zu values: %zu known, %zu restored, %zu quarantined, %zu of no "
		"pool of ours", i->found, i->known, i->restored, i->quarantined, i->elsewhere);
}

static void put_import(struct guid *g, const struct vfctl_id_import *i)
{
	struct out *out = g->in->out;

	out_open(out, NULL, '{');
	out_bool(out, g->in->dry_run ? "dry_run" : "done", true);
	out_int(out, "found", (int64_t)i->found);
	out_int(out, "known", (int64_t)i->known);
	out_int(out, "restored", (int64_t)i->restored);
	out_int(out, "quarantined", (int64_t)i->quarantined);
	out_int(out, "elsewhere", (int64_t)i->elsewhere);
	out_open(out, "changes", '[');
	for (size_t k = 0; k < i->changed_count; k++)
		guid_put_id(out, NULL, &i->changed[k]);
	out_shut(out);
	out_shut(out);
}

int guid_import(struct guid *g)
{
	const char *path = g->in->args[1];
	struct vfctl_id_import import;
	bool restored;
	char *text = NULL;
	size_t len = 0;
	int r = vfctl_file_read(g->in->ctx, path, VFCTL_ID_IMPORT_MAX, &text, &len);

	if (r < 0)
		return fail(g->in, r);
	r = vfctl_ids_import(g->ids, strcmp(path, "-") ? path : "standard input", text, len,
		g->in->dry_run, &import);
	free(text);
	if (r < 0)
		return fail(g->in, r);
	if (g->in->json)
		put_import(g, &import);
	else if (!g->in->quiet)
		print_import(g, &import);
	restored = import.restored && !g->in->dry_run;
	vfctl_id_import_clear(&import);
	/* What is quarantined is in no partition: the subnet manager need not know. */
	return restored ? run_after_change(g->in, g->spec) : EXIT_DONE;
}
