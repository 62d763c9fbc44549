/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_INFINIBAND_RDMA_H
#define VFCTL_INFINIBAND_RDMA_H

#include "base/ctx.h"
#include "core/rdma.h"

/*
 * Add what only libibverbs reports. If the library or its provider is missing, or the device cannot
 * be opened, nothing is added, and this is not a failure.
 */
void rdma_read_verbs(struct vfctl_ctx *ctx, struct vfctl_rdma_device *io);

/* Read "200 Gb/sec (4X HDR)" or "10 Gb/sec (4X)"; false if the text is something else. */
bool rdma_parse_rate(const char *text, struct vfctl_rdma_port *io);

#endif
