/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_HOLDER_H
#define VFCTL_SRIOV_HOLDER_H

#include "netlink/link.h"
#include "core/inventory.h"

/* Fill in vf->holder from what the kernel shows: open in VFIO, in use by the host. */
void holder_of_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_vf *vf,
	const struct nl_links *links);

/* Name the processes behind all VFs that are open in VFIO: one pass over /proc. */
void holder_name_all(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory);

/* Has anybody the VF open, or its network device in use? */
bool vf_is_open(const struct vfctl_vf *vf);
/* Or is it leased, or in a domain's definition, so that it must not be taken away? */
bool vf_is_busy(const struct vfctl_vf *vf);
/* "in use by the running domain old, while it is leased to domain two" into @buf. */
const char *vf_describe_user(const struct vfctl_vf *vf, char *buf, size_t size);

#endif
