/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_BOUND_H
#define VFCTL_SRIOV_BOUND_H

#include "sriov/attrs.h"

/*
 * After a driver of this host has probed a VF, check that the VF's own RDMA device shows the GUIDs
 * of @change. A VF without an RDMA device is skipped with a warning. -EIO if it differs.
 */
int bound_check_guids(struct vfctl_ctx *ctx, const struct vf_attr_change *change);
/*
 * Check this for RoCE, where the driver derives the node GUID from the MAC: zero crashes rdma_cm,
 * and binding the VF again helps (sriov-network-device-plugin issue 267).
 */
int bound_check_roce(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

/*
 * Check that the VF's network device has the MAC of @change. igbvf and others choose a random one
 * if their PF is "still in reset", and do not ask again: they are bound again, a few times, until
 * it is right. -EIO if it stays wrong. A VF without a network device here is skipped.
 */
int bound_check_mac(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

/*
 * A guest's run ends: libvirt may have bound the VF to a driver of this host before the PF got the
 * VF's former MAC back, and igbvf and others read it only when they probe. If the network device
 * shows another MAC than @change, bind the VF again. A call that failed or was killed is finished
 * by the next one: the override names the driver until the VF is bound.
 */
int bound_refresh_mac(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

/* Bind a VF whose GUID was changed again, if it has a driver of this host, and check it. */
int bound_rebind(struct vfctl_ctx *ctx, const struct vf_attr_change *change);

#endif
