/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef HOOKS_OPEN_HOST_H
#define HOOKS_OPEN_HOST_H

#include "core/context.h"

/* The running kernel in the hook; the simulator in the program that the tests run. */
int hook_open_host(struct vfctl_ctx *ctx);

#endif
