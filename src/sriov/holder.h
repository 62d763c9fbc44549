/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_HOLDER_H
#define VFCTL_SRIOV_HOLDER_H

#include "netlink/link.h"
#include "types/inventory.h"

/*
 * Fill in vf->holder from the VF's own directory and the links: open in VFIO, in use by the host,
 * or in another namespace.
 * @netdevs  its network devices; empty: they are in another namespace; NULL: it has none.
 * @links    NULL: not read; then no use by the host is found.
 */
void holder_of_vf(struct vfctl_ctx *ctx, struct vfctl_vf *vf, char *const *netdevs,
	const struct nl_links *links);

/*
 * Complete the holders: vDPA devices, and the processes that have a VF open in VFIO, UIO, RDMA
 * verbs or vDPA, in one pass over /proc. Processes that may not be read (without root) are left
 * out.
 */
void holder_find_all(struct vfctl_ctx *ctx, struct vfctl_inventory *inventory);

/* Prefix of the device node of a vDPA device for guests. */
#define VHOST_VDPA "/dev/vhost-vdpa-"
/* The PCI function of the vDPA device with that node; -ENOENT: vDPA device not found. */
int vdpa_function(struct vfctl_ctx *ctx, const char *number, struct vfctl_bdf *ret);

/* Whether a process has the VF open, or its network device is in use. */
bool vf_is_open(const struct vfctl_vf *vf);
/* Whether it is in use, leased, or in a domain's definition, so that it must not be removed. */
bool vf_is_busy(const struct vfctl_vf *vf);
/*
 * The domains that are off and name it, in their definitions or through a network; the network, if
 * it has no domain yet.
 */
const char *vf_defined_in(const struct vfctl_vf *vf);
/*
 * Warn if a domain has the whole PF in its definition: when it starts, all VFs of the PF are
 * removed.
 */
void pf_warn_whole(struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* "in use by the running domain old, while it is leased to domain two" into @buf. */
const char *vf_describe_user(const struct vfctl_vf *vf, char *buf, size_t size);
/*
 * What an administrator does to free an open or prepared VF, a sentence with a command if there is
 * one.
 */
const char *vf_how_to_free(const struct vfctl_vf *vf, const char *pf, char *buf, size_t size);

#endif
