// SPDX-License-Identifier: GPL-2.0-or-later
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <time.h>

#include "host/host.h"

#define RENAME_TRIES 1000

/*
 * Below a root, links are followed as if that root were "/": a captured tree contains absolute
 * links, which plain openat() would follow out of it. openat2(2) returns EAGAIN if any rename took
 * place while it followed a "..": the call is then repeated.
 */
int files_open(struct host *h, const char *path, int flags)
{
	struct open_how how = {.flags = (uint64_t)(flags | O_CLOEXEC),
		.resolve = RESOLVE_IN_ROOT};
	int fd, tries = 0;

	if (h->root_fd < 0) {
		fd = open(path, flags | O_CLOEXEC);
		return fd < 0 ? -errno : fd;
	}
	do
		fd = (int)syscall(SYS_openat2, h->root_fd, path, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < RENAME_TRIES);
	return fd < 0 ? -errno : fd;
}

int files_read_open(int fd, const char *path, struct buf *ret_text)
{
	char block[4096];
	ssize_t n;

	for (;;) {
		n = read(fd, block, sizeof(block));
		if (n < 0 && errno == EINTR)
			continue;
		if (n <= 0)
			break;
		if (ret_text->len + (size_t)n > HOST_FILE_MAX)
			return -EFBIG;
		buf_add(ret_text, block, (size_t)n);
		/* An attribute is read as a whole (Documentation/filesystems/sysfs.rst). */
		if ((size_t)n < sizeof(block) && str_starts(path, "/sys/"))
			break;
	}
	if (n < 0)
		return -errno;
	buf_add(ret_text, "", 0);
	return ret_text->failed ? -ENOMEM : 0;
}

int files_read(struct host *h, const char *path, struct buf *ret_text)
{
	_close_ int fd = files_open(h, path, O_RDONLY | O_NOCTTY | O_NONBLOCK);

	size_t before = ret_text->len;
	struct stat st;
	int r = fd < 0 ? fd : files_read_open(fd, path, ret_text);

	/* A FIFO without a writer looks like an empty file. */
	if (r == 0 && ret_text->len == before && fstat(fd, &st) == 0 && S_ISFIFO(st.st_mode))
		return -EMEDIUMTYPE;
	return r;
}

int files_write(struct host *h, const char *path, const char *text)
{
	/* O_TRUNC: sysfs ignores it, a tree of plain files needs it. */
	_close_ int fd = files_open(h, path, O_WRONLY | O_TRUNC);
	size_t len = strlen(text);
	ssize_t n;

	if (fd < 0)
		return fd;
	do
		n = write(fd, text, len);
	while (n < 0 && errno == EINTR);
	if (n < 0)
		return -errno;
	return (size_t)n == len ? 0 : -EIO;
}

/* Files below /run do not survive a reboot, so they need not survive a loss of power. */
static bool must_last(const char *path)
{
	return !str_starts(path, "/run/");
}

static int write_new(int dir, const char *name, const char *text, bool lasting)
{
	_close_ int fd = openat(dir, name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0644);
	size_t len = strlen(text);

	if (fd < 0)
		return -errno;
	if (write(fd, text, len) != (ssize_t)len || (lasting && fsync(fd) < 0))
		return errno ? -errno : -ENOSPC;
	return 0;
}

/*
 * Create the last part of a path, for a file in the directory of a unit or a library
 * ("libvirtd.service.d").
 */
static int make_dir(struct host *h, const char *path)
{
	_free_ char *whole = str_format("%s%s", h->root, path);

	if (!whole)
		return -ENOMEM;
	return mkdir(whole, 0755) < 0 ? -errno : 0;
}

int files_replace(struct host *h, const char *path, const char *text)
{
	const char *name = strrchr(path, '/') + 1;
	_free_ char *parent = strndup(path, (size_t)(name - path));
	_free_ char *fresh = str_format(".%s.new", name);
	_close_ int dir = -1;
	int r;

	if (!parent || !fresh)
		return -ENOMEM;
	dir = files_open(h, parent, O_RDONLY | O_DIRECTORY);
	if (dir == -ENOENT && text && make_dir(h, parent) == 0)
		dir = files_open(h, parent, O_RDONLY | O_DIRECTORY);
	if (dir < 0)
		return !text && dir == -ENOENT ? 0 : dir;
	if (!text)
		return unlinkat(dir, name, 0) < 0 && errno != ENOENT ? -errno : 0;
	r = write_new(dir, fresh, text, must_last(path));
	if (r == 0 && renameat(dir, fresh, dir, name) < 0)
		r = -errno;
	if (r < 0)
		unlinkat(dir, fresh, 0);
	return r;
}

int files_readlink(struct host *h, const char *path, char **ret_target)
{
	_close_ int fd = h->root_fd < 0 ? -1 : files_open(h, path, O_PATH | O_NOFOLLOW);
	char target[4096];
	ssize_t n;

	if (h->root_fd >= 0 && fd < 0)
		return fd;
	/* On the running host this takes one call: a listing reads three links for each VF. */
	n = fd < 0 ? readlink(path, target, sizeof(target) - 1)
		   : readlinkat(fd, "", target, sizeof(target) - 1);
	if (n < 0)
		return fd >= 0 && errno == ENOENT ? -EINVAL : -errno; /* not a link */
	target[n] = '\0';
	*ret_target = strdup(target);
	return *ret_target ? 0 : -ENOMEM;
}

int files_mode(struct host *h, const char *path, unsigned *ret_mode)
{
	_close_ int fd = files_open(h, path, O_PATH);
	struct stat st;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		return -errno;
	*ret_mode = st.st_mode & 07777;
	return 0;
}

int files_hold(struct host *h, const char *path, const void *data, size_t len, int *ret_fd)
{
	_close_ int fd = files_open(h, path, O_WRONLY);
	ssize_t n;

	if (fd < 0)
		return fd;
	n = write(fd, data, len);
	if (n != (ssize_t)len)
		return n < 0 ? -errno : -EIO;
	*ret_fd = fd;
	fd = -1;
	return 0;
}

static void close_dir(DIR **dir)
{
	if (*dir)
		closedir(*dir);
}

int files_list(struct host *h, const char *path, char ***ret_names)
{
	_cleanup_(close_dir) DIR *dir = NULL;
	_strv_ char **names = NULL;
	size_t count = 0;
	struct dirent *entry;
	int fd = files_open(h, path, O_RDONLY | O_DIRECTORY);

	if (fd < 0)
		return fd;
	dir = fdopendir(fd);
	if (!dir) {
		close(fd);
		return -errno;
	}
	if (!array_grow(names, 0))
		return -ENOMEM;
	while ((entry = readdir(dir))) {
		if (entry->d_name[0] == '.')
			continue;
		names[count] = strdup(entry->d_name);
		if (!names[count])
			return -ENOMEM;
		if (!array_grow(names, ++count)) {
			free(names[--count]);
			names[count] = NULL;
			return -ENOMEM;
		}
		names[count] = NULL;
	}
	*ret_names = steal(names);
	return 0;
}

#define LOCK_POLL_MS 50
/*
 * Waiting processes are not queued: one that has waited for long retries more often than a new one.
 */
#define LOCK_LONG_MS 5000
#define LOCK_POLL_LONG_MS 5

int files_lock(struct host *h, const char *name, bool shared, unsigned timeout_ms,
	int *ret_fd)
{
	_free_ char *dir = str_format("%s" HOST_LOCK_DIR, h->root);
	_free_ char *path = str_format("%s" HOST_LOCK_DIR "/%s.lock", h->root, name);
	int64_t start = now_ms();
	_close_ int fd = -1;

	if (!dir || !path)
		return -ENOMEM;
	if (mkdir(dir, 0755) < 0 && errno != EEXIST)
		return -errno;
	fd = open(path, O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0600);
	if (fd < 0)
		return -errno;
	while (flock(fd, (shared ? LOCK_SH : LOCK_EX) | LOCK_NB) < 0) {
		int64_t waited = now_ms() - start;

		if (errno != EWOULDBLOCK && errno != EINTR)
			return -errno;
		if (waited >= timeout_ms)
			return -EBUSY;
		files_sleep(h, waited < LOCK_LONG_MS ? LOCK_POLL_MS : LOCK_POLL_LONG_MS);
	}
	*ret_fd = fd;
	fd = -1;
	return 0;
}

void files_sleep(struct host *h, unsigned ms)
{
	struct timespec t = {ms / 1000, (long)(ms % 1000) * 1000000};

	nanosleep(&t, NULL);
}

void files_free(struct host *h)
{
	if (!h)
		return;
	close_fd(&h->root_fd);
	free(h->root);
	free(h);
}

int files_host_new(const struct host_ops *ops, const char *root, size_t size,
	struct host **ret_host)
{
	struct host *h = calloc(1, size);

	if (!h)
		return -ENOMEM;
	h->ops = ops;
	h->root_fd = -1;
	h->root = strdup(root ? root : "");
	if (!h->root) {
		files_free(h);
		return -ENOMEM;
	}
	if (root && *root) {
		h->root_fd = open(root, O_PATH | O_DIRECTORY | O_CLOEXEC);
		if (h->root_fd < 0) {
			int error = -errno;

			files_free(h);
			return error;
		}
	}
	*ret_host = h;
	return 0;
}
