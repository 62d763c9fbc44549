// SPDX-License-Identifier: GPL-2.0-or-later
#include "state/part.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

static void remove_files(const char *path, bool all)
{
	static const char *const suffixes[] = {"-wal", "-shm", "-journal"};

	for (size_t i = 0; i < ARRAY_SIZE(suffixes); i++) {
		_free_ char *file = str_format("%s%s", path, suffixes[i]);

		if (file)
			unlink(file);
	}
	if (all)
		unlink(path);
}

void part_clear(struct part *part)
{
	if (part->fd >= 0 && part->path)
		remove_files(part->path, true);
	close_fd(&part->fd);
	free(steal(part->path));
}

static int fail_path(struct vfctl_ctx *ctx, const char *path, int error)
{
	return ctx_fail(ctx, error, "make %s: %s", path, strerror(-error));
}

/*
 * 1: it is still the file of that name, and belongs to this user; 0: its creator has published or
 * removed it meanwhile.
 */
static int check_file(struct vfctl_ctx *ctx, const char *path, int fd)
{
	struct stat st, named;

	if (fstat(fd, &st) < 0)
		return fail_path(ctx, path, -errno);
	if (lstat(path, &named) < 0 || named.st_ino != st.st_ino || named.st_dev != st.st_dev)
		return 0;
	if (!S_ISREG(st.st_mode) || st.st_uid != geteuid() || st.st_nlink != 1)
		return ctx_fail(ctx, -EPERM, "%s is not a file that vfctl made; remove it", path);
	return 1;
}

/* 1: it exists and is locked; 0: try again. */
static int lock_file(struct vfctl_ctx *ctx, const char *path, bool wait, int *ret_fd)
{
	_close_ int fd = open(path, O_RDWR | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, 0600);
	int r;

	if (fd < 0)
		return ctx_mark_usage_error(ctx, fail_path(ctx, path, -errno));
	if (flock(fd, LOCK_EX | (wait ? 0 : LOCK_NB)) < 0)
		return errno == EWOULDBLOCK
			? ctx_fail(ctx, -EBUSY, "another vfctl is writing %s; wait until it ends", path)
			: fail_path(ctx, path, -errno);
	r = check_file(ctx, path, fd);
	if (r <= 0)
		return r;
	if (fchmod(fd, 0600) < 0 || ftruncate(fd, 0) < 0)
		return fail_path(ctx, path, -errno);
	*ret_fd = fd;
	fd = -1;
	return 1;
}

int part_open(struct vfctl_ctx *ctx, const char *path, bool wait, struct part *ret)
{
	_free_ char *name = str_format("%s%s.part", *path == '/' ? "" : "./", path);
	struct stat st;
	int r = name ? 0 : ctx_oom(ctx), fd = -1;

	if (!*path || path[strlen(path) - 1] == '/')
		return ctx_usage_error(ctx, -EINVAL, "'%s' is not a file name", path);
	while (r == 0) {
		if (lstat(path, &st) == 0)
			return ctx_fail(ctx, -EEXIST, "%s already exists", path);
		r = lock_file(ctx, name, wait, &fd);
	}
	if (r < 0)
		return r;
	*ret = (struct part){steal(name), fd};
	remove_files(ret->path, false);
	/* Was it published before it was locked? */
	return lstat(path, &st) < 0 ? 0 : ctx_fail(ctx, -EEXIST, "%s already exists", path);
}

static int sync_directory(const char *path)
{
	const char *slash = strrchr(path, '/');
	_free_ char *dir = slash ? strndup(path, slash == path ? 1 : (size_t)(slash - path)) : strdup(".");
	_close_ int fd = dir ? open(dir, O_RDONLY | O_DIRECTORY | O_CLOEXEC) : -1;

	return !dir ? -ENOMEM : fd < 0 || fsync(fd) < 0 ? -errno : 0;
}

/* File systems without RENAME_NOREPLACE support link(). */
static int rename_new(const char *from, const char *to)
{
	if (renameat2(AT_FDCWD, from, AT_FDCWD, to, RENAME_NOREPLACE) == 0)
		return 0;
	if (errno != EINVAL && errno != ENOSYS)
		return -errno;
	return link(from, to) < 0 || unlink(from) < 0 ? -errno : 0;
}

int part_publish(struct vfctl_ctx *ctx, struct part *part, const char *path)
{
	int r = fsync(part->fd) < 0 ? -errno : 0;

	if (r == 0)
		remove_files(part->path, false);
	if (r == 0)
		r = rename_new(part->path, path);
	if (r == -EEXIST)
		return ctx_fail(ctx, r, "%s already exists", path);
	if (r < 0)
		return ctx_fail(ctx, r, "write %s to its disk: %s", path, strerror(-r));
	close_fd(&part->fd);
	part->fd = -1;
	r = sync_directory(path);
	return r < 0 ? ctx_fail(ctx, r, "write the directory of %s to its disk: %s", path,
		strerror(-r)) : 0;
}
