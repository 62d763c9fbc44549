/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_FILES_H
#define VFCTL_HOST_FILES_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "vfctl/capture.h"
#include "vfctl/context.h"

struct vfctl_ctx;

/**
 * A file that is being written. It gets its name when it is complete, so readers see either the old
 * file or the new one. Only plain files are replaced, and symbolic links are not followed. The new
 * file keeps the owner and the mode of the old one.
 */
struct vfctl_output;

/**
 * Begin to write @p path.
 * @param replace  whether the file may already exist.
 * @return 0; -EEXIST the file exists (with @p replace: and is not a plain file); -ENOENT, -EACCES
 * and other errors of its directory; -ENOMEM.
 */
int vfctl_output_open(struct vfctl_ctx *ctx, const char *path, bool replace,
	struct vfctl_output **ret_output);

/** The descriptor to write to; owned by the output. */
int vfctl_output_fd(const struct vfctl_output *output);

/** Sync the complete file and give it its name. */
int vfctl_output_commit(struct vfctl_ctx *ctx, struct vfctl_output *output);

/** Free it. Without a commit, what was written is discarded. NULL is allowed. */
void vfctl_output_free(struct vfctl_output *output);
DEFINE_FREEP(struct vfctl_output, vfctl_output_free)

/**
 * Write a whole file whose name an administrator typed, as @ref vfctl_output_open() with replace
 * does. /dev/stdout, /dev/fd/N and the like are the descriptors that this process was started with;
 * /dev/null is accepted.
 * @return 0; as vfctl_output_open(); a negative errno of the write.
 */
int vfctl_file_write(struct vfctl_ctx *ctx, const char *path, const char *text, size_t len);

/**
 * Begin to write a file below a directory that other users may write to (a guest's image, a
 * result), as vfctl_output_open() does. Symbolic links below @p dir are not followed; missing
 * directories are created.
 * @param name  relative to @p dir.
 * @return 0; -ELOOP, -ENOTDIR a component is a link or a file; as vfctl_output_open().
 */
int vfctl_tree_open(struct vfctl_ctx *ctx, const char *dir, const char *name, bool replace,
	struct vfctl_output **ret_output);
/** Write to an output that is not committed yet. @return 0 or a negative errno, with a message. */
int vfctl_output_write(struct vfctl_ctx *ctx, struct vfctl_output *output, const char *text,
	size_t len);
/** Both, and commit it. */
int vfctl_tree_write(struct vfctl_ctx *ctx, const char *dir, const char *name, bool replace,
	const char *text, size_t len);

/**
 * Read a plain file below such a directory.
 * @return 0; -ELOOP it is a symbolic link, or is reached through one; else as vfctl_file_read().
 */
int vfctl_tree_read(struct vfctl_ctx *ctx, const char *dir, const char *name, size_t max,
	char **ret_text, size_t *ret_len);

/**
 * Whether root may run the commands in a file: the file, the directories above it and a link to it
 * belong to root, to this process's user or to @p caller_uid, and no other user can write to them
 * (except in a sticky directory). The check applies only to root: other users may use each file.
 * Inherited descriptors and "-" are accepted.
 * @param caller_uid  the user who called sudo, or 0.
 * @return 0; -EPERM with the reason and the remedy; -ENOENT and others; -ENOMEM.
 */
int vfctl_file_check_owner(struct vfctl_ctx *ctx, const char *path, unsigned caller_uid);

/**
 * Read a file from an untrusted source; "-" is standard input. The descriptors that this process
 * was started with are accepted too (/dev/stdin, /dev/fd/63), whatever their type.
 * @param max       largest size, bytes.
 * @param ret_text  receives the content, NUL-terminated; free() it.
 * @return 0; -EMEDIUMTYPE it is a FIFO, a device or a directory, which is not opened; -EFBIG it is
 * longer; another negative errno.
 */
int vfctl_file_read(struct vfctl_ctx *ctx, const char *path, size_t max, char **ret_text,
	size_t *ret_len);

#endif
