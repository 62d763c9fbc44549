/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_CONTEXT_H
#define VFCTL_CORE_CONTEXT_H

#include <stdbool.h>

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * Set the file that keeps leases (default /var/lib/vfctl/state.db).
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_set_state_path(struct vfctl_ctx *ctx, const char *path);

/**
 * Set the directory for what must be in a file for a moment (default /tmp): the CPUs and
 * nodes of a captured host, while hwloc reads them.
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_set_temp_dir(struct vfctl_ctx *ctx, const char *path);

/** The file that keeps leases. Owned by the context. */
const char *vfctl_ctx_state_path(const struct vfctl_ctx *ctx);

/**
 * Longest time one write to the kernel may take before it is given up, in ms.
 * The default is 120000: a sick firmware answers that late (facts: mlx5).
 */
void vfctl_ctx_set_write_timeout_ms(struct vfctl_ctx *ctx, unsigned timeout_ms);

/**
 * Say on whose behalf changes are made, for the audit lines in the system's log, such as
 * "libvirt hook, domain web". The default names the user of this process.
 * @param origin  copied.
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_set_origin(struct vfctl_ctx *ctx, const char *origin);

#ifdef __cplusplus
}
#endif
#endif
