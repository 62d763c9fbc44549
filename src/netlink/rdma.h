/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_RDMA_H
#define VFCTL_NETLINK_RDMA_H

#include "netlink/nl.h"

/*
 * Adaptive moderation of an RDMA device's completion queues, as rdma dev set DEVICE
 * adaptive-moderation has it: for those that the kernel's own users make from then on
 * (ib_alloc_cq: NVMe over Fabrics, NFS, SRP, iSER); neither IPoIB's nor a program's.
 * @return 0; -ENODEV no such device; -EOPNOTSUPP this kernel tells none (before 5.4, or without
 * RDMA); -EROFS on a capture.
 */
int nl_rdma_adaptive_read(struct vfctl_ctx *ctx, const char *device, bool *ret_on);
int nl_rdma_adaptive_write(struct vfctl_ctx *ctx, const char *device, bool on);

#endif
