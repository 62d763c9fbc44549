/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_RDMA_H
#define VFCTL_PRINT_RDMA_H

#include "out.h"
#include "vfctl/rdma.h"

void print_rdma(struct out *out, const struct vfctl_rdma_device *device);
void print_rdma_json(struct out *out, const char *key,
	const struct vfctl_rdma_device *device);

#endif
