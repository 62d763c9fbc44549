// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/plain.h"

#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <sys/stat.h>

#include "vfctl/host.h"

/* The /proc name of a descriptor opens the very thing it stands for. */
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

int plain_open(const char *path)
{
	_close_ int fd = open(path, O_PATH | O_CLOEXEC);

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
		const char *words;
	} types[] = {{S_IFDIR, "a directory"}, {S_IFIFO, "a FIFO"}, {S_IFSOCK, "a socket"},
		{S_IFLNK, "a symbolic link"}, {S_IFBLK, "a block device"},
		{S_IFCHR, "a character device"}};

	for (size_t i = 0; i < ARRAY_SIZE(types); i++)
		if ((mode & S_IFMT) == types[i].type)
			return types[i].words;
	return "no plain file";
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
	return ctx_fail(ctx, -EMEDIUMTYPE, "%s is %s, not a file; to read from a program, name "
		"- and pipe it in", path, plain_what(st.st_mode));
}

static int fail_long(struct vfctl_ctx *ctx, const char *path, size_t max)
{
	return ctx_fail(ctx, -EFBIG, "%s has more than %zu MiB; is it the right file?", path,
		max >> 20);
}

int vfctl_file_read(struct vfctl_ctx *ctx, const char *path, size_t max, char **ret_text,
	size_t *ret_len)
{
	bool is_stdin = str_eq(path, "-");
	_close_ int fd = is_stdin ? -1 : plain_open(path);
	_buf_ struct buf text = {0};
	struct stat st;
	int r;

	if (!is_stdin && fd < 0)
		return fail_open(ctx, path, fd);
	if (is_stdin)
		path = "standard input";
	else if (fstat(fd, &st) == 0 && st.st_size > (off_t)max)
		return fail_long(ctx, path, max);
	r = plain_read(fd < 0 ? STDIN_FILENO : fd, max, &text);
	if (r == -ENOMEM)
		return ctx_oom(ctx);
	if (r == -EFBIG)
		return fail_long(ctx, path, max);
	if (r < 0)
		return ctx_fail(ctx, r, "%s: %s", path, strerror(-r));
	*ret_len = text.len;
	*ret_text = buf_steal(&text);
	return *ret_text ? 0 : ctx_oom(ctx);
}
