/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MAIN_H
#define VFCTL_MAIN_H

#include "types/hypervisor.h"
#include "vfctl/context.h"

/*
 * Open the default host, without --host: the running kernel in vfctl, the simulator in the test
 * program. Each program links its own function.
 */
int main_open_host(struct vfctl_ctx *ctx);

/* Do this for libvirt; @uri NULL: the system's. As vfctl_libvirt_open(). */
int main_open_hypervisor(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor);

/* The program that carries out `vfctl bench`, in the same directory. */
extern const char main_bench_program[];

#endif
