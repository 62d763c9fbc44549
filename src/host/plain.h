/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_PLAIN_H
#define VFCTL_HOST_PLAIN_H

#include "host/host.h"

/*
 * Open for reading what is a plain file, and nothing else: a FIFO would be waited on, and
 * to open a device does something. A path is looked at before it is opened, and what was
 * looked at is what is opened. Inherited descriptors may be anything: they are open already.
 * @return a descriptor; -EMEDIUMTYPE it is something else; another negative errno.
 */
int plain_open(const char *path);
/*
 * A descriptor that the caller of this program left open for it, named as a file: /dev/stdout,
 * /dev/fd/63 (a shell's <(...)), /proc/self/fd/3. One of its own is none of them.
 * @return a duplicate of it; -ENOENT when @path is no such name; another negative errno.
 */
int plain_inherited(const char *path);
/* The same inside the tree of a host. */
int plain_open_in(struct host *h, const char *path);
/* "a FIFO" for a mode that is not that of a plain file. */
const char *plain_what(unsigned mode);
/* The whole of it behind @text; -EFBIG when that is then longer than @max. */
int plain_read(int fd, size_t max, struct buf *text);

#endif
