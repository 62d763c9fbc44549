/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_INFINIBAND_RDMA_H
#define VFCTL_INFINIBAND_RDMA_H

#include "base/ctx.h"
#include "core/rdma.h"

/*
 * Add what only libibverbs knows. Nothing is added, and that is no failure, when the
 * library or its provider is missing or the device cannot be opened.
 */
void rdma_read_verbs(struct vfctl_ctx *ctx, struct vfctl_rdma_device *io);

/* "200 Gb/sec (4X HDR)", "10 Gb/sec (4X)": false when it is none of the kind. */
bool rdma_parse_rate(const char *text, struct vfctl_rdma_port *io);

#endif
