/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_ADDRESS_H
#define VFCTL_FACTS_SNAPSHOT_ADDRESS_H

#include "base/ctx.h"
#include "types/domain.h"

/*
 * The width of addresses on this host: of the CPUs from /proc/cpuinfo, of the narrowest IOMMU from
 * the capability registers of VT-d (AMD's driver does not report them). What cannot be read is 0;
 * bar_bytes is not changed.
 */
void address_widths_read(struct vfctl_ctx *ctx, struct vfctl_address_space *io);

#endif
