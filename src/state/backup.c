// SPDX-License-Identifier: GPL-2.0-or-later
/* Copy the state file consistently while other processes use it. */
#include <errno.h>

#include "state/file.h"
#include "state/part.h"
#include "vfctl/recover.h"

static int copy_to(struct vfctl_ctx *ctx, struct db *db, const char *path)
{
	_cleanup_(part_clear) struct part part = NO_PART;
	int r = part_open(ctx, path, false, &part);

	if (r == -EEXIST)
		return ctx_append(ctx, r, "; name another file, or move the existing one");
	if (r == 0)
		r = db_run(db, "VACUUM INTO ?", "s", part.path);
	return r < 0 ? r : part_publish(ctx, &part, path);
}

int vfctl_backup(struct vfctl_ctx *ctx, const char *path)
{
	struct db *db = NULL;
	int r = state_file_open(ctx, false, &db);

	if (r == -ENOENT)
		return ctx_fail(ctx, r, "state file %s does not exist yet, so there is nothing to back "
			"up", ctx->state_path);
	if (r < 0)
		return r;
	r = copy_to(ctx, db, path);
	db_close(db);
	return r;
}
