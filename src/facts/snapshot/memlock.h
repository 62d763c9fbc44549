/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_MEMLOCK_H
#define VFCTL_FACTS_SNAPSHOT_MEMLOCK_H

#include <stdbool.h>
#include <stdint.h>

#include "base/ctx.h"

/*
 * Say in a warning when the libvirt daemon of this host may not lock what the domain needs.
 * Silent when there is no daemon, or when it may raise its own limit.
 */
void memlock_warn(
	struct vfctl_ctx *ctx, const char *name, const char *xml, uint64_t libvirt_version);

/* The bytes that this host's libvirt daemon lets a guest lock at most; false: as many as it needs. */
bool memlock_limit(struct vfctl_ctx *ctx, uint64_t *ret);
/* May what that process starts lock all memory, whatever rights it has? */
bool memlock_is_unlimited(struct vfctl_ctx *ctx, uint32_t pid);

#endif
