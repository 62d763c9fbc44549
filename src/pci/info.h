/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_INFO_H
#define VFCTL_PCI_INFO_H

#include "base/address.h"
#include "types/pci.h"

struct vfctl_ctx;

/**
 * Read name and SR-IOV capability of one function through libpci.
 * @return 0; -ENOENT no such function; -ENOPKG libpci is not installed; -EIO.
 */
int vfctl_pci_info_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *ret_info);

#endif
