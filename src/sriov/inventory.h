/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_INVENTORY_H
#define VFCTL_SRIOV_INVENTORY_H

#include "base/util.h"
#include "core/inventory.h"

/*
 * One PF by address, with its VFs, and nothing else of the host looked at: for the hook,
 * which has no time for more. -ENOENT when there is no such PF; -EIO when something about
 * it cannot be read.
 */
int inventory_read_pf(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory);

/*
 * The same, but of its VFs no more than address, number, identity and policy, which is what does not
 * take longer the more VFs there are; and the rest of one of them.
 */
int inventory_read_values(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory);
int inventory_complete(struct vfctl_ctx *ctx, struct vfctl_pf *pf, struct vfctl_vf *vf);

/*
 * The addresses of the PFs that have an RDMA device, and of their VFs, with nothing else read.
 */
int inventory_list_pfs(struct vfctl_ctx *ctx, struct vfctl_inventory **ret_inventory);

/*
 * The PF that @name is about (a network device or a PCI address of a PF, PF/INDEX, a VF's address),
 * with nothing else looked at. -ENOENT: such a short look does not tell; vfctl_inventory_read() may.
 */
int inventory_locate(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_pf);

/*
 * port.c. Is that PF another than the one that was called @port_id (vfctl_pf.port_id)? A card more, and the
 * firmware numbers the buses anew: then another has its address. What is not known differs from nothing.
 */
bool pf_is_another(const struct vfctl_pf *pf, const char *port_id);
/* "MAC 00:..", "GUID 00:.." */
#define PORT_WORDS (VFCTL_PORT_ID_TEXT + 8)
char *port_words(const char *port_id, char buf[PORT_WORDS]);
/* The PF of that name, wherever it is now; NULL: it is not on this host. */
const struct vfctl_pf *inventory_find_port(const struct vfctl_inventory *inventory,
	const char *port_id);

#endif
