// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Find who else can change a file whose commands root runs, like sshd's StrictModes for
 * authorized_keys.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <sys/stat.h>
#include <unistd.h>

#include "host/files.h"
#include "host/plain.h"

static bool is_trusted(uid_t owner, unsigned caller)
{
	return owner == 0 || owner == geteuid() || owner == caller;
}

static int check_one(struct vfctl_ctx *ctx, const char *file, const char *path, unsigned caller)
{
	struct stat st;

	if (lstat(path, &st) < 0)
		return ctx_fail(ctx, -errno, "%s: %s", path, strerror(errno));
	if (!is_trusted(st.st_uid, caller))
		return ctx_fail(ctx, -EPERM, "%s is not used: its commands would run as root, and %s "
			"belongs to user %u; if you trust that user, copy it: install -m 600 %s "
			"/root/", file, path, (unsigned)st.st_uid, file);
	/*
	 * A link has no mode of its own; in a sticky directory users cannot replace the files of
	 * others.
	 */
	if (S_ISLNK(st.st_mode) || !(st.st_mode & (S_IWGRP | S_IWOTH)) ||
		(S_ISDIR(st.st_mode) && st.st_mode & S_ISVTX))
		return 0;
	return ctx_fail(ctx, -EPERM, "%s is not used: its commands would run as root, and other users "
		"can write %s (mode %03o); run: chmod go-w %s", file, path,
		(unsigned)st.st_mode & 07777, path);
}

/* Check @path and each directory above it. */
static int check_way(struct vfctl_ctx *ctx, const char *file, const char *path, unsigned caller)
{
	_free_ char *way = realpath(path, NULL);
	char *slash;
	int r;

	if (!way)
		return ctx_fail(ctx, -errno, "%s: %s", path, strerror(errno));
	r = check_one(ctx, file, way, caller);
	while (r == 0 && (slash = strrchr(way, '/')) && slash != way) {
		*slash = '\0';
		r = check_one(ctx, file, way, caller);
	}
	return r < 0 ? r : check_one(ctx, file, "/", caller);
}

int vfctl_file_check_owner(struct vfctl_ctx *ctx, const char *path, unsigned caller_uid)
{
	const char *slash = strrchr(path, '/');
	_free_ char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	int fd, r;

	if (geteuid() != 0 || str_eq(path, "-"))
		return 0;
	fd = plain_inherited(path);
	if (fd >= 0)
		close(fd);
	if (fd != -ENOENT)
		return 0;
	if (!dir)
		return ctx_oom(ctx);
	/* The later read or exec reports that it does not exist. */
	if (access(path, F_OK) < 0 && errno == ENOENT)
		return 0;
	r = check_one(ctx, path, path, caller_uid);
	if (r == 0)
		r = check_way(ctx, path, path, caller_uid);
	/* Check the path of the link itself, too. */
	return r < 0 ? r : check_way(ctx, path, dir, caller_uid);
}
