/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_TREE_H
#define VFCTL_HOST_TREE_H

#include <stddef.h>
#include <sys/types.h>

/*
 * Files below a directory that other users may write to: a guest's image, a result directory. The
 * path of the directory itself is followed normally. Below it no symbolic link is followed, nothing
 * above it can be reached, and only plain files are opened. @name is relative, such as
 * "raw/00001-client.out". All return a negative errno: -ELOOP for a symbolic link, -EMEDIUMTYPE if
 * it is not a plain file.
 */

/*
 * Open a plain file. @flags as of open(2); O_CREAT creates it with mode 0644. Returns a descriptor.
 */
int tree_open(const char *dir, const char *name, int flags);
/*
 * Create a new, empty file in place of the file or link of that name; the old file is not written
 * to.
 */
int tree_fresh(const char *dir, const char *name);
/* tree_fresh() for a path whose last two components are below such a directory. */
int tree_fresh_path(const char *path);
/* Create the directory @name and its parents below @dir. They may already exist. */
int tree_make_dirs(const char *dir, const char *name);
/* Open the directory of @name below @dir as an O_PATH descriptor. */
int tree_open_parent(const char *dir, const char *name);

#endif
