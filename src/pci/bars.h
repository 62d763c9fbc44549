/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_BARS_H
#define VFCTL_PCI_BARS_H

#include <stdint.h>

#include "base/ctx.h"

/* The size of the function's 64-bit memory BARs, in bytes. 0: none, or they cannot be read. */
uint64_t pci_bar_bytes(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf);

#endif
