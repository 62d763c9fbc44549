/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_MAIN_H
#define VFCTL_MAIN_H

#include "core/context.h"
#include "core/hypervisor.h"

/*
 * The host the program works on when --host is not given: the running kernel in vfctl,
 * the simulator in the program that the tests run. Each links its own.
 */
int main_open_host(struct vfctl_ctx *ctx);

/* The same of libvirt; @uri NULL: the system's. As vfctl_libvirt_open(). */
int main_open_hypervisor(struct vfctl_ctx *ctx, const char *uri,
	struct vfctl_hypervisor **ret_hypervisor);

/* The program that carries out `vfctl bench`, in the directory of this one. */
extern const char main_bench_program[];

#endif
