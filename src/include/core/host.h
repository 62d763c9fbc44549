/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_HOST_H
#define VFCTL_CORE_HOST_H

#include <stdbool.h>
#include <stddef.h>

#include "core/cleanup.h"
#include "core/context.h"
#include "vfctl/capture.h"
#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/** What the context's host is read from, for words: a path; "" for the running host. */
const char *vfctl_ctx_host_root(struct vfctl_ctx *ctx);

/**
 * A file that is being written, and takes its name when it is whole: readers see the old
 * file or the new one, never half of one. Only plain files are replaced, and no symbolic
 * link is followed to one; who owns the old file and who may read it stays.
 */
struct vfctl_output;

/**
 * Begin to write @p path.
 * @param replace  whether a file of that name may be there already.
 * @return 0; -EEXIST there is one (with @p replace: and it is no plain file); -ENOENT,
 * -EACCES and others of its directory; -ENOMEM.
 */
int vfctl_output_open(struct vfctl_ctx *ctx, const char *path, bool replace,
	struct vfctl_output **ret_output);

/** Where to write to; it stays the output's. */
int vfctl_output_fd(const struct vfctl_output *output);

/** All is written: sync it and give it its name. */
int vfctl_output_commit(struct vfctl_ctx *ctx, struct vfctl_output *output);

/** Free it; what was not committed is gone. NULL is allowed. */
void vfctl_output_free(struct vfctl_output *output);
DEFINE_FREEP(struct vfctl_output, vfctl_output_free)

/**
 * Write a whole file that a person named, as @ref vfctl_output_open() with replace does. /dev/stdout,
 * /dev/fd/N and the like are the descriptors that this process was started with; /dev/null takes all.
 * @return 0; as vfctl_output_open(); a negative errno of writing.
 */
int vfctl_file_write(struct vfctl_ctx *ctx, const char *path, const char *text, size_t len);

/**
 * Write a file below a directory in which others may write (a guest's image, a result), as
 * vfctl_output_open() does. No symbolic link is followed below @p dir; directories on the way are
 * made.
 * @param name  relative to @p dir.
 * @return 0; -ELOOP, -ENOTDIR a link or a file is in the way; as vfctl_output_open().
 */
int vfctl_tree_write(struct vfctl_ctx *ctx, const char *dir, const char *name, bool replace,
	const char *text, size_t len);

/**
 * Read a plain file below such a directory.
 * @return 0; -ELOOP it is a symbolic link, or lies behind one; else as vfctl_file_read().
 */
int vfctl_tree_read(struct vfctl_ctx *ctx, const char *dir, const char *name, size_t max,
	char **ret_text, size_t *ret_len);

/**
 * Whether root may run what a file says: the file, the directories above it and a link to it belong to
 * root, to this process's user or to @p caller_uid, and nobody else can write them (a sticky directory
 * aside). Only asked of root: for other users each file is fine. Inherited descriptors and "-" are.
 * @param caller_uid  who called through sudo, or 0.
 * @return 0; -EPERM with what is wrong and what ends it; -ENOENT and others; -ENOMEM.
 */
int vfctl_file_check_owner(struct vfctl_ctx *ctx, const char *path, unsigned caller_uid);

/**
 * Read a file that comes from elsewhere, "-" being standard input. Descriptors that this process was
 * started with may be named too (/dev/stdin, /dev/fd/63), whatever they are.
 * @param max       bytes it may have, at most.
 * @param ret_text  receives them, with a NUL behind; free() it.
 * @return 0; -EMEDIUMTYPE when it is a FIFO, a device or a directory (which is not opened);
 * -EFBIG when it is longer; another negative errno.
 */
int vfctl_file_read(struct vfctl_ctx *ctx, const char *path, size_t max, char **ret_text,
	size_t *ret_len);

#ifdef __cplusplus
}
#endif
#endif
