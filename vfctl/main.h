/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MAIN_H
#define VFCTL_MAIN_H

#include "vfctl/context.h"

/*
 * The host the program works on when --host is not given: the running kernel in vfctl,
 * the simulator in the program that the tests run. Each links its own.
 */
int main_open_host(struct vfctl_ctx *ctx);

#endif
