/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_RECOVER_H
#define VFCTL_LEASE_RECOVER_H

#include "base/cleanup.h"
#include "change/recovered.h"
#include "vfctl/recover.h"

struct vfctl_ctx;

DEFINE_FREEP(struct vfctl_recovery, vfctl_recovery_free)

/**
 * Bring the host to the state before (or after) each change whose process died in the middle. The
 * next change of the same PF, the hook and the boot do the same.
 * @param options  NULL: all false
 * @param ret  freed by the caller with vfctl_recovery_free(); set on -ESTALE too
 * @return 0; -ESTALE when a change could not be recovered (its message says why); -EROFS on a
 * captured host; -EACCES and other errno values when the state file cannot be read or written.
 */
int vfctl_recover(struct vfctl_ctx *ctx, const struct vfctl_recover_options *options,
	struct vfctl_recovery **ret);

#endif
