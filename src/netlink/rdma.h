/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_NETLINK_RDMA_H
#define VFCTL_NETLINK_RDMA_H

#include "netlink/nl.h"

/*
 * Adaptive moderation of an RDMA device's completion queues, as rdma dev set DEVICE
 * adaptive-moderation sets it: it applies to queues that kernel users create afterwards
 * (ib_alloc_cq: NVMe over Fabrics, NFS, SRP, iSER), but not to those of IPoIB or of programs.
 * @return 0; -ENODEV no such device; -EOPNOTSUPP this kernel does not report it (before 5.4, or
 * without RDMA); -EROFS on a capture.
 */
int nl_rdma_adaptive_read(struct vfctl_ctx *ctx, const char *device, bool *ret_on);
int nl_rdma_adaptive_write(struct vfctl_ctx *ctx, const char *device, bool on);

#endif
