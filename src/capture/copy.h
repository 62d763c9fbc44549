/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_COPY_H
#define VFCTL_CAPTURE_COPY_H

#include <signal.h>

#include "base/ctx.h"

/*
 * What a library that reads a tree by itself (hwloc) needs of a captured host: its CPUs and
 * NUMA nodes, as plain files and directories of a private directory below the context's
 * temporary one, without links, and with no number that a kernel would not give. Signals
 * that end the process wait until it is removed: keep it for a moment only.
 */
struct host_copy {
	char *dir; /* NULL: none */
	sigset_t before;
};

/* @return 0; -ENOENT there is no CPU in it; -EINVAL, -E2BIG it holds nonsense; -ENOMEM. */
int host_copy_make(struct vfctl_ctx *ctx, struct host_copy *ret);
void host_copy_remove(struct host_copy *copy);

#endif
