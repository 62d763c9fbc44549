/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_OPS_H
#define VFCTL_SRIOV_OPS_H

#include "base/op.h"
#include "types/inventory.h"

/*
 * Operations on PFs and VFs. A PF's target is its address; a VF's is "PF/INDEX", because a VF has
 * no address before it exists.
 *
 * op_autoprobe    PF   "0" or "1": do drivers probe new VFs?
 * op_numvfs       PF   the number of VFs
 * op_vf_attrs     VF   attributes as JSON; what is not named stays
 * op_vf_identity  VF   the same for a new VF, whose driver may know no attributes (ena, nvme)
 * op_guest_attrs  VF   the same for one whose guest starts: no driver of this host gets it next
 * op_vf_driver    VF   "DRIVER OVERRIDE", "-" for none; want also "vfio-pci", "host" or "none"
 * op_module       -    a kernel module, loaded; want "tried": if it cannot be, a warning
 * op_pf_mtu       PF   the MTU of its network device
 * op_ipoib_mode   PF   datagram or connected
 * op_rdma_adaptive PF  on or off: adaptive moderation of its RDMA device
 * op_pf_link      PF   "up" or "down"
 */
extern const struct op_type op_autoprobe, op_numvfs, op_vf_attrs, op_vf_identity,
	op_guest_attrs, op_vf_driver, op_module, op_pf_mtu, op_ipoib_mode, op_rdma_adaptive, op_pf_link;

/* Whether the kernel has this module, built in or loaded. */
bool module_is_here(struct vfctl_ctx *ctx, const char *name);

const char *vf_driver_word(enum vfctl_vf_driver driver);
/*
 * The driver of a VF and its override, in the form of op_vf_driver's before; the caller frees it.
 */
int vf_driver_text(struct vfctl_ctx *ctx, const struct vfctl_vf *vf, char **ret_text);

/* The override that keeps a VF without a driver. */
#define VF_NO_DRIVER "none"

/* Read the IFF_ flags of a network device; with a message. */
int netdev_flags_read(struct vfctl_ctx *ctx, const char *netdev, unsigned *ret);
/* Set it up or down; nothing is written if it already is. */
int netdev_set_up(struct vfctl_ctx *ctx, const char *netdev, bool up);

#endif
