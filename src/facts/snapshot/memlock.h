/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_MEMLOCK_H
#define VFCTL_FACTS_SNAPSHOT_MEMLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"

/*
 * Warn if the libvirt daemon of this host may not lock as much memory as the domain needs. There is
 * no warning if no daemon runs, or if the daemon may raise its own limit.
 */
void memlock_warn(
	struct vfctl_ctx *ctx, const char *name, const char *xml, uint64_t libvirt_version);

/*
 * The largest amount, in bytes, that this host's libvirt daemon can let a guest lock; false: no
 * limit.
 */
bool memlock_limit(struct vfctl_ctx *ctx, uint64_t *ret);
/* Whether processes that it starts may lock all memory, whatever privileges it has. */
bool memlock_is_unlimited(struct vfctl_ctx *ctx, uint32_t pid);
/* The soft limit of this process, in bytes, or VFCTL_MEMLOCK_UNLIMITED; false: not known. */
bool memlock_of_self(struct vfctl_ctx *ctx, uint64_t *ret_soft);

#endif
