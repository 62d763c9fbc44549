// SPDX-License-Identifier: GPL-2.0-or-later
/* A whole copy of the state file, as of one moment, while others work with it. */
#include <errno.h>
#include <fcntl.h>
#include <unistd.h>

#include "state/file.h"
#include "vfctl/recover.h"

/* Empty and root's alone before anything is in it; what was there before is never touched. */
static int make_empty(struct vfctl_ctx *ctx, const char *path)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0600);
	int r = fd < 0 ? -errno : 0;

	close_fd(&fd);
	if (r == -EEXIST)
		return ctx_fail(ctx, r, "%s is there already; name another file, or move it away", path);
	return r < 0 ? ctx_fail(ctx, r, "make %s: %s", path, strerror(-r)) : 0;
}

/* On the disk before anybody counts on it. */
static int keep_backup(struct vfctl_ctx *ctx, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	int r = fd < 0 || fsync(fd) < 0 ? -errno : 0;

	close_fd(&fd);
	return r < 0 ? ctx_fail(ctx, r, "write %s to its disk: %s", path, strerror(-r)) : 0;
}

int vfctl_backup(struct vfctl_ctx *ctx, const char *path)
{
	struct db *db = NULL;
	int r = state_file_open(ctx, false, &db);

	if (r == -ENOENT)
		return ctx_fail(ctx, r, "there is no state file %s yet, so there is nothing to back "
			"up", ctx->state_path);
	if (r < 0)
		return r;
	r = make_empty(ctx, path);
	if (r == 0) {
		r = db_run(db, "VACUUM INTO ?", "s", path);
		if (r == 0)
			r = keep_backup(ctx, path);
		if (r < 0)
			unlink(path);
	}
	db_close(db);
	return r;
}
