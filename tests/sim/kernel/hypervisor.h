/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef SIM_HYPERVISOR_H
#define SIM_HYPERVISOR_H

#include "sim.h"
#include "types/hypervisor.h"

/* libvirt over the files of the context's host, which is a simulator's. */
int sim_hypervisor_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor **ret);

#endif
