/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_EXPRESS_H
#define VFCTL_PCI_EXPRESS_H

#include "base/ctx.h"
#include "types/pci.h"

/*
 * The device control register of the function's PCI Express capability.
 * @return 0; -EACCES without root privileges only the first 64 bytes can be read; -ENODATA it has
 * none.
 */
int pci_express_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_express *ret);

#endif
