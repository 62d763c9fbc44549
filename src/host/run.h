/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOST_RUN_H
#define VFCTL_HOST_RUN_H

#include "base/ctx.h"

/*
 * Run a program of the administrator, without a shell, a terminal or vfctl's open files, in its own
 * session. After @timeout_ms it is killed with all its children.
 * @param ret_last  the last line that it printed (standard output or error); "" if there is none.
 * @return 0; -ENOENT, -EACCES, -ENOEXEC it cannot be run; -ETIMEDOUT; -EIO it failed: the message
 * has its exit status and last line.
 */
int host_run(struct vfctl_ctx *ctx, char *const argv[], unsigned timeout_ms,
	char **ret_last);

#endif
