/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_IMAGE_H
#define VFCTL_CAPTURE_IMAGE_H

#include <limits.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * A tree of files in memory: the contents of an archive that was read, or of one to be written. It
 * is never written to a file system, so its names and links cannot refer to anything outside of it.
 */
enum image_kind {
	IMAGE_NONE,
	IMAGE_DIR,
	IMAGE_FILE,
	IMAGE_LINK,
};

struct image_entry {
	char *path; /* "sys/class/net": without "/" at the ends, and without "." or ".." */
	char *data; /* content of a file, or target of a link; NUL-terminated */
	size_t len;
	enum image_kind kind;
};

struct image {
	struct image_entry *v; /* by path, after sorting */
	size_t count;
	size_t bytes; /* of paths and data */
};

/* Far above the size of any host: a server with 1000 VFs has 60,000 files and 80 MB. */
#define IMAGE_ENTRIES_MAX 250000
#define IMAGE_BYTES_MAX ((size_t)256 << 20)
#define IMAGE_FILE_MAX ((size_t)16 << 20)

/*
 * Add a file (its @len bytes at @data), a link (to @data) or a directory. Directories with contents
 * need not be added.
 * @return 0; -EINVAL the path is empty or has a ".."; -ENAMETOOLONG; -EFBIG the file, and
 * -E2BIG the whole is too large; -ENOMEM.
 */
int image_add(struct image *im, enum image_kind kind, const char *path, const void *data,
	size_t len);
/* To be called once, before any look-up; of equal paths the last one is kept. */
int image_sort(struct image *im);
/* Make the contents of @dir (a name without "/") the whole image; it is sorted before and after. */
void image_descend(struct image *im, const char *dir);
void image_clear(struct image *im);

/*
 * Read as from a disk whose "/" is the image: links, also absolute ones, stay inside.
 * -ENOENT, -ENOTDIR, -EISDIR, -ELOOP, -ENAMETOOLONG; readlink: -EINVAL if it is not a link.
 */
int image_read(const struct image *im, const char *path, struct buf *ret_text);
int image_readlink(const struct image *im, const char *path, char **ret_target);
/* Names in a directory, sorted, without dot files. NULL-terminated. */
int image_list(const struct image *im, const char *path, char ***ret_names);
enum image_kind image_kind_of(const struct image *im, const char *path);

#endif
