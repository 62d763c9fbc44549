/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_PLAIN_H
#define VFCTL_HOST_PLAIN_H

#include "host/host.h"

/*
 * Open for reading what is a plain file, and nothing else: a FIFO would be waited on, and
 * to open a device does something. A path is looked at before it is opened, and what was
 * looked at is what is opened.
 * @return a descriptor; -EMEDIUMTYPE it is something else; another negative errno.
 */
int plain_open(const char *path);
/* The same inside the tree of a host. */
int plain_open_in(struct host *h, const char *path);
/* "a FIFO" for a mode that is not that of a plain file. */
const char *plain_what(unsigned mode);
/* The whole of it behind @text; -EFBIG when that is then longer than @max. */
int plain_read(int fd, size_t max, struct buf *text);

#endif
