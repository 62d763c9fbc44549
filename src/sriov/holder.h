/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_HOLDER_H
#define VFCTL_SRIOV_HOLDER_H

#include "netlink/link.h"
#include "vfctl/inventory.h"

/* Fill in vf->holder from what the kernel shows: open in VFIO, in use by the host. */
void holder_of_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_links *links);

/* Name the processes behind all VFs that are open in VFIO: one pass over /proc. */
void holder_name_all(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory);

/*
 * Is the VF used by someone, so that it must not be disturbed? A lease alone counts too.
 * The words then say by whom.
 */
bool holder_is_busy(const struct vfctl_holder *holder);
/* "domain hpc1", "qemu-system-x86 (pid 4711)", ... into @buf. */
const char *holder_describe(const struct vfctl_holder *holder, char *buf, size_t size);

#endif
