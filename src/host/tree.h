/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_TREE_H
#define VFCTL_HOST_TREE_H

#include <stddef.h>
#include <sys/types.h>

#include "core/host.h"

/*
 * Files below a directory in which other users may write: a guest's image, a result directory. The
 * directory itself is found as its name says; below it no symbolic link is followed, nothing above
 * it is reached, and only plain files are opened. @name is relative, such as "raw/00001-client.out".
 * All return a negative errno: -ELOOP for a symbolic link, -EMEDIUMTYPE for what is no plain file.
 */

/* Open a plain file. @flags as of open(2); O_CREAT makes one of mode 0644. Returns a descriptor. */
int tree_open(const char *dir, const char *name, int flags);
/* A new, empty file in place of the file or link of that name; the old file is not written to. */
int tree_fresh(const char *dir, const char *name);
/* tree_fresh() of a path whose last two parts are below such a directory. */
int tree_fresh_path(const char *path);
/* Make the directory @name and those above it, below @dir. That they are there is fine. */
int tree_make_dirs(const char *dir, const char *name);
/* The directory of @name below @dir, as an O_PATH descriptor. */
int tree_open_parent(const char *dir, const char *name);

#endif
