// SPDX-License-Identifier: GPL-2.0-or-later
#include "host/tree.h"

#include <errno.h>
#include <fcntl.h>
#include <linux/openat2.h>
#include <stdio.h>
#include <sys/stat.h>
#include <sys/syscall.h>

#include "host/host.h"
#include "host/plain.h"

/* As in files.c: the kernel asks for another attempt if something was renamed meanwhile. */
#define RENAME_TRIES 1000

static int open_below(int dir, const char *name, int flags, mode_t mode)
{
	struct open_how how = {.flags = (uint64_t)(unsigned)(flags | O_CLOEXEC), .mode = mode,
		.resolve = RESOLVE_BENEATH | RESOLVE_NO_SYMLINKS | RESOLVE_NO_MAGICLINKS};
	int fd, tries = 0;

	do
		fd = (int)syscall(SYS_openat2, dir, name, &how, sizeof(how));
	while (fd < 0 && errno == EAGAIN && ++tries < RENAME_TRIES);
	return fd < 0 ? -errno : fd;
}

static int open_dir(const char *dir)
{
	int fd = open(*dir ? dir : "/", O_PATH | O_DIRECTORY | O_CLOEXEC);

	return fd < 0 ? -errno : fd;
}

static int only_plain(int fd)
{
	struct stat st;
	int r = 0;

	if (fd < 0)
		return fd;
	if (fstat(fd, &st) < 0)
		r = -errno;
	else if (!S_ISREG(st.st_mode))
		r = S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;
	if (r == 0)
		return fd;
	close_fd(&fd);
	return r;
}

int tree_open(const char *dir, const char *name, int flags)
{
	_close_ int root = open_dir(dir);
	int fd;

	if (root < 0)
		return root;
	/* O_NONBLOCK: opening a FIFO would block. ENXIO is a FIFO that is opened for writing. */
	fd = open_below(root, name, flags | O_NONBLOCK | O_NOCTTY, flags & O_CREAT ? 0644 : 0);
	return fd == -ENXIO ? -EMEDIUMTYPE : only_plain(fd);
}

int tree_open_parent(const char *dir, const char *name)
{
	const char *slash = strrchr(name, '/');
	_free_ char *parent = slash ? strndup(name, (size_t)(slash - name)) : strdup(".");
	_close_ int root = open_dir(dir);

	if (!parent)
		return -ENOMEM;
	return root < 0 ? root : open_below(root, parent, O_PATH | O_DIRECTORY, 0);
}

int tree_fresh(const char *dir, const char *name)
{
	const char *slash = strrchr(name, '/'), *leaf = slash ? slash + 1 : name;
	_close_ int parent = tree_open_parent(dir, name);
	struct stat st;
	int fd;

	if (parent < 0)
		return parent;
	if (fstatat(parent, leaf, &st, AT_SYMLINK_NOFOLLOW) == 0) {
		if (!S_ISREG(st.st_mode) && !S_ISLNK(st.st_mode))
			return S_ISDIR(st.st_mode) ? -EISDIR : -EMEDIUMTYPE;
		if (unlinkat(parent, leaf, 0) < 0)
			return -errno;
	}
	fd = openat(parent, leaf, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, 0644);
	return fd < 0 ? -errno : fd;
}

int tree_fresh_path(const char *path)
{
	_free_ char *dir = strdup(path);
	char *slash;

	if (!dir)
		return -ENOMEM;
	for (int parts = 0; parts < 2; parts++) {
		slash = strrchr(dir, '/');
		if (!slash)
			return -EINVAL;
		*slash = '\0';
	}
	return tree_fresh(dir, path + strlen(dir) + 1);
}

int tree_make_dirs(const char *dir, const char *name)
{
	_close_ int at = open_dir(dir);
	_free_ char *copy = strdup(name);
	char *save = NULL;

	if (at < 0 || !copy)
		return at < 0 ? at : -ENOMEM;
	for (char *part = strtok_r(copy, "/", &save); part; part = strtok_r(NULL, "/", &save)) {
		int next;

		if (mkdirat(at, part, 0755) < 0 && errno != EEXIST)
			return -errno;
		next = open_below(at, part, O_PATH | O_DIRECTORY | O_NOFOLLOW, 0);
		if (next < 0)
			return next;
		close_fd(&at);
		at = next;
	}
	return 0;
}
