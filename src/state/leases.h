/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_LEASES_H
#define VFCTL_STATE_LEASES_H

#include "base/cleanup.h"
#include "types/lease.h"

struct vfctl_ctx;

/**
 * Read all leases. A state file that does not exist yet holds none.
 * @param ret_leases  freed with vfctl_leases_free().
 * @return 0; -EACCES when the file cannot be read by this user; -EBADF if it is not a state file of
 * vfctl, or has another schema; -ENOMEM.
 */
int vfctl_leases_read(struct vfctl_ctx *ctx, struct vfctl_leases **ret_leases);
void vfctl_leases_free(struct vfctl_leases *leases);
DEFINE_FREEP(struct vfctl_leases, vfctl_leases_free)

#endif
