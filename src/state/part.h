/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_PART_H
#define VFCTL_STATE_PART_H

#include "base/ctx.h"

/*
 * A database that is made under another name, PATH.part, and has its own when it is whole: no reader
 * sees a part of it. Its maker holds a lock (flock) on it; what one that died left is emptied.
 */
struct part {
	char *path; /* of the part; never a name that SQLite takes for a URI or for memory */
	int fd;
};
#define NO_PART ((struct part){.fd = -1})

/*
 * Make it, empty and of mode 0600, in the directory of @path, and wait for another maker if @wait, else
 * -EBUSY. -EEXIST when @path is there; -EPERM when the part is a file of another user.
 */
int part_open(struct vfctl_ctx *ctx, const char *path, bool wait, struct part *ret);
/* Bring it to the disk and give it the name @path. -EEXIST: that is there by now. */
int part_publish(struct vfctl_ctx *ctx, struct part *part, const char *path);
/* What was not published is removed. */
void part_clear(struct part *part);

#endif
