// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <limits.h>
#include <stdio.h>
#include <sys/stat.h>

#include "base/parse.h"
#include "host/files.h"
#include "host/tree.h"

/* Opening the /proc name of a descriptor opens the same file. */
static int reopen(int fd)
{
	char name[64];
	struct stat st;
	int again;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	if (S_ISDIR(st.st_mode))
		return -EISDIR;
	if (!S_ISREG(st.st_mode))
		return -EMEDIUMTYPE;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	again = open(name, O_RDONLY | O_NOCTTY | O_NONBLOCK | O_CLOEXEC);
	return again < 0 ? -errno : again;
}

int plain_inherited(const char *path)
{
	static const char *const names[] = {"/dev/stdin", "/dev/stdout", "/dev/stderr"};
	static const char *const dirs[] = {"/dev/fd/", "/proc/self/fd/"};
	int fd = -1, flags;

	for (int i = 0; i < (int)ARRAY_SIZE(names); i++)
		if (str_eq(path, names[i]))
			fd = i;
	for (size_t i = 0; i < ARRAY_SIZE(dirs); i++)
		if (str_starts(path, dirs[i]) && parse_int(path + strlen(dirs[i]), 0, INT_MAX, &fd) < 0)
			fd = -1;
	flags = fd < 0 ? -1 : fcntl(fd, F_GETFD);
	/* Descriptors that this program opened have the flag. */
	if (flags < 0 || flags & FD_CLOEXEC)
		return -ENOENT;
	fd = fcntl(fd, F_DUPFD_CLOEXEC, 3);
	return fd < 0 ? -errno : fd;
}

int plain_open(const char *path)
{
	int own = plain_inherited(path);
	_close_ int fd = own == -ENOENT ? open(path, O_PATH | O_CLOEXEC) : -1;

	if (own != -ENOENT)
		return own;
	return fd < 0 ? -errno : reopen(fd);
}

int plain_open_in(struct host *h, const char *path)
{
	_close_ int fd = files_open(h, path, O_PATH);

	return reopen(fd);
}

const char *plain_what(unsigned mode)
{
	static const struct {
		unsigned type;
		const char *message;
	} types[] = {{S_IFDIR, "a directory"}, {S_IFIFO, "a FIFO"}, {S_IFSOCK, "a socket"},
		{S_IFLNK, "a symbolic link"}, {S_IFBLK, "a block device"},
		{S_IFCHR, "a character device"}};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if ((mode & S_IFMT) == types[i].type)
			return types[i].message;
	return "not a regular file";
}

int plain_read(int fd, size_t max, struct buf *text)
{
	char block[16384];

	for (;;) {
		ssize_t n = read(fd, block, sizeof(block));

		if (n < 0 && errno == EINTR)
			continue;
		if (n < 0)
			return -errno;
		if (n == 0)
			break;
		if (text->len + (size_t)n > max)
			return -EFBIG;
		buf_add(text, block, (size_t)n);
	}
	buf_add(text, "", 0);
	return text->failed ? -ENOMEM : 0;
}

static int fail_open(struct vfctl_ctx *ctx, const char *path, int error)
{
	struct stat st;

	if (error != -EMEDIUMTYPE && error != -EISDIR)
		return ctx_fail(ctx, error, "%s: %s", path, strerror(-error));
	if (stat(path, &st) < 0)
		st.st_mode = 0;
	return ctx_fail(ctx, -EMEDIUMTYPE, "%s is %s, not a file%s", path, plain_what(st.st_mode),
		S_ISDIR(st.st_mode) ? "" : "; to read from a program, name - and pipe it in");
}

static int fail_long(struct vfctl_ctx *ctx, const char *path, size_t max)
{
	bool large = max >= 1 << 20;

	return ctx_fail(ctx, -EFBIG, "%s has more than %zu %s; is it the right file?", path,
		max >> (large ? 20 : 10), large ? "MiB" : "KiB");
}

static int read_all(struct vfctl_ctx *ctx, const char *path, int fd, size_t max, char **ret_text,
	size_t *ret_len)
{
	_buf_ struct buf text = {0};
	int r = plain_read(fd, max, &text);

	if (r == -ENOMEM)
		return ctx_oom(ctx);
	if (r == -EFBIG)
		return ctx_mark_usage_error(ctx, fail_long(ctx, path, max));
	if (r < 0)
		return ctx_fail(ctx, r, "%s: %s", path, strerror(-r));
	*ret_len = text.len;
	*ret_text = text.data ? buf_steal(&text) : strdup("");
	return *ret_text ? 0 : ctx_oom(ctx);
}

int vfctl_file_read(struct vfctl_ctx *ctx, const char *path, size_t max, char **ret_text,
	size_t *ret_len)
{
	bool is_stdin = str_eq(path, "-");
	_close_ int fd = is_stdin ? -1 : plain_open(path);
	struct stat st;

	if (!is_stdin && fd < 0)
		return ctx_mark_usage_error(ctx, fail_open(ctx, path, fd));
	if (is_stdin)
		path = "standard input";
	else if (fstat(fd, &st) == 0 && st.st_size > (off_t)max)
		return ctx_mark_usage_error(ctx, fail_long(ctx, path, max));
	return read_all(ctx, path, fd < 0 ? STDIN_FILENO : fd, max, ret_text, ret_len);
}

int vfctl_tree_read(struct vfctl_ctx *ctx, const char *dir, const char *name, size_t max,
	char **ret_text, size_t *ret_len)
{
	_free_ char *path = str_format("%s/%s", dir, name);
	_close_ int fd = tree_open(dir, name, O_RDONLY);

	if (!path)
		return ctx_oom(ctx);
	if (fd == -ELOOP)
		return ctx_fail(ctx, fd, "%s is or lies behind a symbolic link; vfctl follows none "
			"below %s", path, dir);
	if (fd < 0)
		return fail_open(ctx, path, fd);
	return read_all(ctx, path, fd, max, ret_text, ret_len);
}
