/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_PART_H
#define VFCTL_STATE_PART_H

#include "base/ctx.h"

/*
 * A database that is created as PATH.part and renamed when it is complete, so that readers never
 * see an incomplete one. Its creator holds a lock (flock) on it; the file of a creator that died is
 * emptied.
 */
struct part {
	char *path; /* path of the part; never a name that SQLite takes for a URI or for memory */
	int fd;
};
#define NO_PART ((struct part){.fd = -1})

/*
 * Create it, empty and with mode 0600, in the directory of @path. If another process is creating
 * it, wait if @wait, else -EBUSY. -EEXIST: @path exists; -EPERM: the part is a file of another
 * user.
 */
int part_open(struct vfctl_ctx *ctx, const char *path, bool wait, struct part *ret);
/* Sync it to the disk and give it the name @path. -EEXIST: a file of that name exists now. */
int part_publish(struct vfctl_ctx *ctx, struct part *part, const char *path);
/* Remove a part that was not published. */
void part_clear(struct part *part);

#endif
