/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_PLAIN_H
#define VFCTL_HOST_PLAIN_H

#include "host/host.h"

/*
 * Open a plain file for reading, and nothing else: opening a FIFO blocks, and a device may react to
 * being opened. The type is checked before the file is opened, and it is the checked file that is
 * opened. Inherited descriptors may have any type, because they are already open.
 * @return a descriptor; -EMEDIUMTYPE it is something else; another negative errno.
 */
int plain_open(const char *path);
/*
 * Open a descriptor that this program inherited from its caller, under a file name: /dev/stdout,
 * /dev/fd/63 (a shell's <(...)), /proc/self/fd/3. Descriptors that this program opened itself do
 * not count. @return a duplicate of it; -ENOENT if @path is not such a name; another negative
 * errno.
 */
int plain_inherited(const char *path);
/* Open a plain file inside the tree of a host in the same way. */
int plain_open_in(struct host *h, const char *path);
/* "a FIFO" for a mode that is not that of a plain file. */
const char *plain_what(unsigned mode);
/* Append the whole file to @text; -EFBIG if that is then longer than @max. */
int plain_read(int fd, size_t max, struct buf *text);

#endif
