// SPDX-License-Identifier: GPL-2.0-or-later
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/random.h>
#include <sys/stat.h>

#include "base/ctx.h"
#include "host/files.h"
#include "host/plain.h"
#include "host/tree.h"

#define NAME_TRIES 100

struct vfctl_output {
	char *path;       /* for messages */
	const char *name; /* its last part */
	char *temporary;  /* name in that directory; NULL: it has none */
	int dir, fd;
	bool replace, is_there;
	struct stat old;
};

static int fail_write(struct vfctl_ctx *ctx, const struct vfctl_output *o, int error)
{
	return ctx_fail(ctx, error, "write %s: %s", o->path, strerror(-error));
}

/* Check which file has that name now, and whether it may be replaced. */
static int look_output(struct vfctl_ctx *ctx, struct vfctl_output *o)
{
	o->is_there = fstatat(o->dir, o->name, &o->old, AT_SYMLINK_NOFOLLOW) == 0;
	if (!o->is_there)
		return errno == ENOENT ? 0 : fail_write(ctx, o, -errno);
	if (!S_ISREG(o->old.st_mode))
		return ctx_usage_error(ctx, -EEXIST, "%s is %s; name a regular file",
			o->path, plain_what(o->old.st_mode));
	return o->replace ? 0 : ctx_fail(ctx, -EEXIST, "%s exists; remove it or name another "
		"file", o->path);
}

/* ".NAME.x7rb2k", which is unique. */
static int name_temporary(struct vfctl_output *o)
{
	static const char letters[] = "abcdefghijklmnopqrstuvwxyz234567";
	unsigned char random[6];
	char end[sizeof(random) + 1] = {0};

	if (getrandom(random, sizeof(random), 0) != sizeof(random))
		return -EIO;
	for (size_t i = 0; i < sizeof(random); i++)
		end[i] = letters[random[i] % 32];
	free(o->temporary);
	/* A name has 255 bytes at most. */
	o->temporary = str_format(".%.200s.%s", o->name, end);
	return o->temporary ? 0 : -ENOMEM;
}

/*
 * Without a name while it is being written, if the file system supports that: a killed process
 * leaves nothing behind.
 */
static int make_file(struct vfctl_output *o)
{
	mode_t mode = o->is_there ? 0600 : 0666; /* no user may get more access than before */
	int r = -EEXIST;

	o->fd = openat(o->dir, ".", O_TMPFILE | O_WRONLY | O_CLOEXEC, mode);
	if (o->fd >= 0)
		return 0;
	if (errno != EOPNOTSUPP && errno != EISDIR && errno != ENOENT)
		return -errno;
	for (int tries = 0; r == -EEXIST && tries < NAME_TRIES; tries++) {
		r = name_temporary(o);
		if (r < 0)
			return r;
		o->fd = openat(o->dir, o->temporary,
			O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, mode);
		r = o->fd < 0 ? -errno : 0;
	}
	if (r < 0)
		free(steal(o->temporary));
	return r;
}

static int open_dir(struct vfctl_output *o)
{
	size_t len = (size_t)(o->name - o->path);
	_free_ char *dir = len ? strndup(o->path, len) : strdup(".");

	if (!dir)
		return -ENOMEM;
	o->dir = open(dir, O_PATH | O_DIRECTORY | O_CLOEXEC);
	return o->dir < 0 ? -errno : 0;
}

/* @dir: directory of the file, closed with the output; -1: that of @path. */
static int open_output(struct vfctl_ctx *ctx, const char *path, int dir, bool replace,
	struct vfctl_output **ret_output)
{
	_cleanup_(vfctl_output_freep) struct vfctl_output *o = calloc(1, sizeof(*o));
	const char *slash;
	int r;

	if (!o) {
		close_fd(&dir);
		return ctx_oom(ctx);
	}
	o->dir = dir;
	o->fd = -1;
	o->replace = replace;
	o->path = strdup(path);
	if (!o->path)
		return ctx_oom(ctx);
	slash = strrchr(o->path, '/');
	o->name = slash ? slash + 1 : o->path;
	if (!*o->name || str_eq(o->name, ".") || str_eq(o->name, ".."))
		return ctx_usage_error(ctx, -EEXIST, "'%s' is not a file name", path);
	r = o->dir < 0 ? open_dir(o) : 0;
	if (r < 0)
		return ctx_mark_usage_error(ctx, fail_write(ctx, o, r));
	r = look_output(ctx, o);
	if (r < 0)
		return r;
	r = make_file(o);
	if (r < 0)
		return fail_write(ctx, o, r);
	*ret_output = steal(o);
	return 0;
}

int vfctl_output_open(struct vfctl_ctx *ctx, const char *path, bool replace,
	struct vfctl_output **ret_output)
{
	return open_output(ctx, path, -1, replace, ret_output);
}

static int write_all(int fd, const char *text, size_t len)
{
	while (len) {
		ssize_t n = write(fd, text, len);

		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			return n < 0 ? -errno : -ENOSPC;
		text += n;
		len -= (size_t)n;
	}
	return 0;
}

int vfctl_output_write(struct vfctl_ctx *ctx, struct vfctl_output *o, const char *text, size_t len)
{
	int r = write_all(o->fd, text, len);

	return r < 0 ? fail_write(ctx, o, r) : 0;
}

static int write_output(struct vfctl_ctx *ctx, struct vfctl_output *o, const char *text, size_t len)
{
	int r = vfctl_output_write(ctx, o, text, len);

	return r < 0 ? r : vfctl_output_commit(ctx, o);
}

int vfctl_file_write(struct vfctl_ctx *ctx, const char *path, const char *text, size_t len)
{
	_close_ int fd = str_eq(path, "/dev/null") ? open(path, O_WRONLY | O_CLOEXEC)
						   : plain_inherited(path);
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	int r;

	if (fd >= 0) {
		r = write_all(fd, text, len);
		return r < 0 ? ctx_fail(ctx, r, "write %s: %s", path, strerror(-r)) : 0;
	}
	r = vfctl_output_open(ctx, path, true, &output);
	return r < 0 ? r : write_output(ctx, output, text, len);
}

int vfctl_tree_open(struct vfctl_ctx *ctx, const char *dir, const char *name, bool replace,
	struct vfctl_output **ret_output)
{
	_free_ char *path = str_format("%s/%s", dir, name), *parents = strdup(name);
	int r, fd;

	if (!path || !parents)
		return ctx_oom(ctx);
	parents[strrchr(parents, '/') ? strrchr(parents, '/') - parents : 0] = '\0';
	r = tree_make_dirs(dir, parents);
	fd = r < 0 ? r : tree_open_parent(dir, name);
	if (fd == -ELOOP || fd == -ENOTDIR)
		return ctx_fail(ctx, fd, "write %s: a directory on the way is a symbolic link or a file; "
			"vfctl follows no link below %s", path, dir);
	if (fd < 0)
		return ctx_fail(ctx, fd, "write %s: %s", path, strerror(-fd));
	return open_output(ctx, path, fd, replace, ret_output);
}

int vfctl_tree_write(struct vfctl_ctx *ctx, const char *dir, const char *name, bool replace,
	const char *text, size_t len)
{
	_cleanup_(vfctl_output_freep) struct vfctl_output *output = NULL;
	int r = vfctl_tree_open(ctx, dir, name, replace, &output);

	return r < 0 ? r : write_output(ctx, output, text, len);
}

int vfctl_output_fd(const struct vfctl_output *output)
{
	return output->fd;
}

/* Link the file to an unused name. */
static int link_as(const struct vfctl_output *o, const char *name)
{
	char self[64];

	if (o->temporary)
		return linkat(o->dir, o->temporary, o->dir, name, 0) < 0 ? -errno : 0;
	snprintf(self, sizeof(self), "/proc/self/fd/%d", o->fd);
	return linkat(AT_FDCWD, self, o->dir, name, AT_SYMLINK_FOLLOW) < 0 ? -errno : 0;
}

static int take_over(struct vfctl_output *o)
{
	int r = o->temporary ? 0 : -EEXIST;

	for (int tries = 0; r == -EEXIST && tries < NAME_TRIES; tries++) {
		_free_ char *named = NULL;

		r = name_temporary(o);
		named = r == 0 ? steal(o->temporary) : NULL;
		if (named)
			r = link_as(o, named);
		if (r == 0)
			o->temporary = steal(named);
	}
	if (r == 0 && renameat(o->dir, o->temporary, o->dir, o->name) < 0)
		r = -errno;
	if (r == 0)
		free(steal(o->temporary));
	return r;
}

/* Without root privileges both may be refused: then the writer owns it, like any new file. */
static int keep_owner(const struct vfctl_output *o)
{
	if (fchown(o->fd, o->old.st_uid, o->old.st_gid) < 0 && errno != EPERM)
		return -errno;
	return fchmod(o->fd, o->old.st_mode & 0777) < 0 ? -errno : 0;
}

int vfctl_output_commit(struct vfctl_ctx *ctx, struct vfctl_output *o)
{
	int r = o->is_there ? keep_owner(o) : 0;

	if (r == 0 && fsync(o->fd) < 0 && errno != EINVAL)
		r = -errno;
	if (r == 0 && !o->is_there) {
		r = link_as(o, o->name);
		if (r != -EEXIST)
			return r < 0 ? fail_write(ctx, o, r) : 0;
	}
	if (r < 0 && r != -EEXIST)
		return fail_write(ctx, o, r);
	/* Another program may have created something there meanwhile. */
	r = look_output(ctx, o);
	if (r < 0)
		return r;
	r = take_over(o);
	return r < 0 ? fail_write(ctx, o, r) : 0;
}

void vfctl_output_free(struct vfctl_output *output)
{
	if (!output)
		return;
	if (output->temporary)
		unlinkat(output->dir, output->temporary, 0);
	close_fd(&output->fd);
	close_fd(&output->dir);
	free(output->temporary);
	free(output->path);
	free(output);
}
