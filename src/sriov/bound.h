/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_BOUND_H
#define VFCTL_SRIOV_BOUND_H

#include "sriov/attrs.h"

/*
 * After a driver of this host probed a VF: does the VF's own RDMA device show the GUIDs of
 * @change? One that has no RDMA device is passed over with a warning. -EIO when it differs.
 */
int bound_check_guids(struct vfctl_ctx *ctx, const struct vf_attr_change *change);
/*
 * The same for RoCE, where the driver makes the node GUID from the MAC: zero crashes
 * rdma_cm, and binding again is what helps (sriov-network-device-plugin issue 267).
 */
int bound_check_roce(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

/*
 * The VF's network device has the MAC of @change. igbvf and others make one up when they find
 * their PF "still in reset" and do not ask again: they are bound once more until it is right,
 * a few times. -EIO when it stays wrong. One without a network device here is passed over.
 */
int bound_check_mac(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

/* Bind a VF whose GUID was changed once more, if a driver of this host has it, and look. */
int bound_rebind(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

#endif
