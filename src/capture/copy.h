/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CAPTURE_COPY_H
#define VFCTL_CAPTURE_COPY_H

#include <signal.h>

#include "base/ctx.h"

/*
 * A copy of the parts of a captured host that a library (hwloc) reads by itself: CPUs and NUMA
 * nodes, as plain files and directories in a private directory below the context's temporary one,
 * without links, and only with plausible numbers. Signals that end the process are delayed until it
 * is removed, so keep it only briefly.
 */
struct host_copy {
	char *dir; /* NULL if there is none */
	sigset_t before;
};

/* @return 0; -ENOENT there is no CPU in it; -EINVAL, -E2BIG it is not valid; -ENOMEM. */
int host_copy_make(struct vfctl_ctx *ctx, struct host_copy *ret);
void host_copy_remove(struct host_copy *copy);

#endif
