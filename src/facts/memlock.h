/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_MEMLOCK_H
#define VFCTL_FACTS_MEMLOCK_H

#include <stdint.h>

#include "base/ctx.h"

/*
 * Say in a warning when the libvirt daemon of this host may not lock what the domain needs.
 * Silent when there is no daemon, or when it may raise its own limit.
 */
void memlock_warn(
	struct vfctl_ctx *ctx, const char *name, const char *xml, uint64_t libvirt_version);

#endif
