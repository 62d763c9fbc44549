/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HOOKS_OPEN_HOST_H
#define HOOKS_OPEN_HOST_H

#include "vfctl/context.h"

/* Open the running kernel in the hook; in the test program, the simulator. */
int hook_open_host(struct vfctl_ctx *ctx);

#endif
