/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SRIOV_INVENTORY_H
#define VFCTL_SRIOV_INVENTORY_H

#include "base/cleanup.h"
#include "types/inventory.h"
#include "vfctl/host.h"

struct vfctl_ctx;

/**
 * Read all PFs, and the VFs of those that match.
 * @param only  NULL for all; otherwise a PF, a VF, or VFs of one PF with spaces between: only that
 * PF is
 *              read, and if VFs are named, the directories in sysfs and the holders of these alone.
 *              If it is the name of an RDMA device or unknown, other PFs are listed without VFs,
 *              but with num_vfs.
 * @param ret_inventory  freed with vfctl_inventory_free().
 * @return 0; -ENOMEM; or the negative errno of the first read that failed completely. Attributes
 * that cannot be read are left unknown.
 */
int vfctl_inventory_read(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_inventory **ret_inventory);
void vfctl_inventory_free(struct vfctl_inventory *inventory);
DEFINE_FREEP(struct vfctl_inventory, vfctl_inventory_free)

/**
 * Find a PF by PCI address, network device, alternative name or RDMA device.
 * @return 0; -ENOENT, and the message names the PFs.
 */
int vfctl_inventory_find_pf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const char *name, const struct vfctl_pf **ret_pf);
/**
 * Find a VF by PF/INDEX or by its PCI address.
 * @return 0; -EINVAL when the text is neither; -ENOENT no such PF or VF.
 */
int vfctl_inventory_find_vf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const char *name, const struct vfctl_pf **ret_pf, const struct vfctl_vf **ret_vf);

/**
 * The mode of a PF's IPoIB interface: "datagram" or "connected".
 * @param ret_mode  freed by the caller.
 * @return 0; the negative errno of the file, such as -ENOENT of an Ethernet PF.
 */
int vfctl_pf_ipoib_mode(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, char **ret_mode);

/** "none", "domain", "vfio", "netns", "host", "process", "vdpa". */
const char *vfctl_holder_kind_name(enum vfctl_holder_kind kind);

/*
 * Read one PF by address, with its VFs, and nothing else of the host: for the hook, which has
 * little time. -ENOENT: no PF or other network function has that address; -EIO: a part of it cannot
 * be read.
 */
int inventory_read_pf(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory);

/*
 * As vfctl_inventory_read(), and of the VFs of other PFs the identities and policies: what a value
 * must differ from. @only "": of every PF only these; NULL: all of every PF.
 */
int inventory_read_with_values(struct vfctl_ctx *ctx, const char *only,
	struct vfctl_inventory **ret_inventory);

/*
 * Read the network functions that are neither PFs nor VFs: cards without SR-IOV, and those on which
 * it is off. As PFs without VFs; inventory_read_pf() reads them too.
 */
int inventory_read_others(struct vfctl_ctx *ctx, struct vfctl_inventory **ret_inventory);

/*
 * Read it likewise, but of its VFs only address, number, identity and policy, which takes the same
 * time for any number of VFs, and of one of them everything.
 */
int inventory_read_values(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_inventory **ret_inventory);
int inventory_complete(struct vfctl_ctx *ctx, struct vfctl_pf *pf, struct vfctl_vf *vf);

/*
 * List the addresses of the PFs that have an RDMA device, and of their VFs; nothing else is read.
 */
int inventory_list_pfs(struct vfctl_ctx *ctx, struct vfctl_inventory **ret_inventory);

/*
 * Find the PF to which @name refers (a network device or PCI address of a PF, PF/INDEX, a VF's
 * address), without reading anything else. -ENOENT: it was not found this way;
 * vfctl_inventory_read() may find it.
 */
int inventory_locate(struct vfctl_ctx *ctx, const char *name, struct vfctl_bdf *ret_pf);

/*
 * port.c. Whether that PF is another one than that with the identification @port_id
 * (vfctl_pf.port_id). If a card is added, the firmware may number the buses differently, and
 * another PF gets the address. An unknown identification counts as equal.
 */
bool pf_is_another(const struct vfctl_pf *pf, const char *port_id);
/* "MAC 00:..", "GUID 00:.." */
#define PORT_WORDS (VFCTL_PORT_ID_TEXT + 8)
char *port_text(const char *port_id, char buf[PORT_WORDS]);
/* The PF with that identification, wherever it is now; NULL: it is not on this host. */
const struct vfctl_pf *inventory_find_port(const struct vfctl_inventory *inventory,
	const char *port_id);

#endif
