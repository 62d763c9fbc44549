/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_HOLDER_H
#define VFCTL_SRIOV_HOLDER_H

#include "netlink/link.h"
#include "core/inventory.h"

/* Fill in vf->holder from the kernel's view: open in VFIO, or in use by the host. */
void holder_of_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_links *links);

/* Find the processes of all VFs that are open in VFIO, in one pass over /proc. */
void holder_name_all(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory);

/* Whether a process has the VF open, or its network device is in use. */
bool vf_is_open(const struct vfctl_vf *vf);
/* Whether it is in use, leased, or in a domain's definition, so that it must not be removed. */
bool vf_is_busy(const struct vfctl_vf *vf);
/* "in use by the running domain old, while it is leased to domain two" into @buf. */
const char *vf_describe_user(const struct vfctl_vf *vf, char *buf, size_t size);

#endif
