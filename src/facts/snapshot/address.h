/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_ADDRESS_H
#define VFCTL_FACTS_SNAPSHOT_ADDRESS_H

#include "base/ctx.h"
#include "core/domain.h"

/*
 * How wide addresses are on this host: the CPUs' by /proc/cpuinfo, the narrowest IOMMU's by the
 * capability registers of VT-d (AMD's kernel interface does not tell). What cannot be read is 0;
 * bar_bytes is left as it is.
 */
void address_widths_read(struct vfctl_ctx *ctx, struct vfctl_address_space *io);

#endif
