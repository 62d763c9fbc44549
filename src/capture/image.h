/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_IMAGE_H
#define VFCTL_CAPTURE_IMAGE_H

#include <limits.h>
#include <stddef.h>

#include "base/buf.h"

/*
 * A tree of files in memory: what an archive holds, or what goes into one. Nothing of it is
 * ever made on a disk, so its names and links reach nothing outside it.
 */
enum image_kind {
	IMAGE_NONE,
	IMAGE_DIR,
	IMAGE_FILE,
	IMAGE_LINK,
};

struct image_entry {
	char *path; /* "sys/class/net": no "/" at its ends, no "." or ".." in it */
	char *data; /* of a file, or where a link leads; NUL-terminated */
	size_t len;
	enum image_kind kind;
};

struct image {
	struct image_entry *v; /* by path, once sorted */
	size_t count;
	size_t bytes; /* of paths and data */
};

/* Far above any host's: a server with 1000 VFs gives 60,000 files and 80 MB. */
#define IMAGE_ENTRIES_MAX 250000
#define IMAGE_BYTES_MAX ((size_t)256 << 20)
#define IMAGE_FILE_MAX ((size_t)16 << 20)

/*
 * Add a file (its @len bytes at @data), a link (to @data) or a directory. Directories that
 * only lead to something need not be added.
 * @return 0; -EINVAL the path is empty or has a ".."; -ENAMETOOLONG; -EFBIG the file, and
 * -E2BIG the whole is too large; -ENOMEM.
 */
int image_add(struct image *im, enum image_kind kind, const char *path, const void *data,
	size_t len);
/* To be called once, before anything is looked for; of equal paths the last one stays. */
int image_sort(struct image *im);
/*
 * Leave what is below @dir (a name without "/") as the whole; sorted before and after.
 */
void image_descend(struct image *im, const char *dir);
void image_clear(struct image *im);

/*
 * As on a disk whose "/" is the image: links, absolute ones too, stay inside.
 * -ENOENT, -ENOTDIR, -EISDIR, -ELOOP, -ENAMETOOLONG; readlink: -EINVAL for what is no link.
 */
int image_read(const struct image *im, const char *path, struct buf *ret_text);
int image_readlink(const struct image *im, const char *path, char **ret_target);
/* Names in a directory, sorted, without dot files. NULL-terminated. */
int image_list(const struct image *im, const char *path, char ***ret_names);
enum image_kind image_kind_of(const struct image *im, const char *path);

#endif
