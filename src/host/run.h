/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_RUN_H
#define VFCTL_HOST_RUN_H

#include "base/ctx.h"

/*
 * Run a program of the operator's, without a shell, a terminal or our files, in a session
 * of its own; it is ended with all it started when @timeout_ms are over.
 * @param ret_last  the last line that it printed (standard output or error); "" none.
 * @return 0; -ENOENT, -EACCES, -ENOEXEC it cannot be run; -ETIMEDOUT; -EIO it failed: the
 * words have its status and last line.
 */
int host_run(struct vfctl_ctx *ctx, char *const argv[], unsigned timeout_ms,
	char **ret_last);

#endif
