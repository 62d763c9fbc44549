/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_PF_H
#define VFCTL_SRIOV_PF_H

#include "netlink/link.h"
#include "types/inventory.h"

/*
 * Read the function @pf->bdf. @links NULL: of its own network devices only, from the kernel. False:
 * out of memory.
 */
bool pf_read(struct vfctl_ctx *ctx, struct vfctl_pf *pf, const struct nl_links *links);
/* Store the permanent address as the identification of the port, if there is one. */
void pf_note_port(struct vfctl_pf *pf, const struct vfctl_mac *permanent);

/* The PCI function of the network device with that name, if it has one. */
int pf_netdev_function(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_bdf);
/*
 * Since Linux 5.8 the representors of a switchdev PF are in its net/ directory too; their
 * phys_port_name contains a function: "pf0vf3", "c1pf0vf3", "pf0sf88". That of the uplink is "p0"
 * or absent.
 */
bool pf_is_representor(struct vfctl_ctx *ctx, const char *netdev);

#endif
