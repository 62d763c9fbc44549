/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_RDMA_H
#define VFCTL_PRINT_RDMA_H

#include "answer.h"
#include "infiniband/rdma.h"

void print_rdma(struct out *out, const struct vfctl_rdma_device *device);
extern const struct member answer_rdma[]; /* of a struct vfctl_rdma_device */

#endif
