/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_VECTORS_H
#define VFCTL_PCI_VECTORS_H

#include "base/ctx.h"

/*
 * The MSI-X vectors of a function: the Table Size of its capability, which a write to a VF's
 * sriov_vf_msix_count changes (Documentation/ABI/testing/sysfs-bus-pci; the file itself is
 * write-only).
 * @return 0: not known. Only root can read more than the first 64 bytes, and the capability comes
 * after them.
 */
unsigned pci_vectors(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);

/*
 * The vectors of a VF whose number can be set (it has an sriov_vf_msix_count); 0 for other
 * functions.
 * @return 0; -EIO: the number can be set, but is not known.
 */
int pci_own_vectors(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, unsigned *ret);

#endif
