/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CONTEXT_H
#define VFCTL_BASE_CONTEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "vfctl/context.h"

struct vfctl_ctx;

/**
 * Set the file that stores the leases (default /var/lib/vfctl/state.db).
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_set_state_path(struct vfctl_ctx *ctx, const char *path);

/**
 * Set the directory for temporary files (default /tmp), such as the CPUs and nodes of a captured
 * host while hwloc reads them.
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_set_temp_dir(struct vfctl_ctx *ctx, const char *path);

/** The file that stores the leases. Owned by the context. */
const char *vfctl_ctx_state_path(const struct vfctl_ctx *ctx);

/**
 * Time limit of one write to the kernel, in ms. The default is 120000: mlx5 waits 60 s for a
 * firmware command, and one change needs several.
 */
void vfctl_ctx_set_write_timeout_ms(struct vfctl_ctx *ctx, unsigned timeout_ms);

/** Milliseconds of CLOCK_MONOTONIC. */
int64_t now_ms(void);

/** How long to wait for a lock that another process holds, in ms (default 30000). */
void vfctl_ctx_set_lock_wait_ms(struct vfctl_ctx *ctx, unsigned wait_ms);

/**
 * Say on whose behalf changes are made, for the audit lines in the system's log, such as
 * "libvirt hook, domain web". The default names the user of this process.
 * @param origin  copied.
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_set_origin(struct vfctl_ctx *ctx, const char *origin);

/** Whether vfctl_ctx_cancel() was called. */
bool vfctl_ctx_is_cancelled(const struct vfctl_ctx *ctx);

/**
 * A function that decides whether to keep a change.
 * @return 0: keep it; -EINTR: roll it back because it was cancelled; another negative errno: roll
 * it back.
 */
typedef int (*vfctl_confirm_fn)(struct vfctl_ctx *ctx, void *data);

/**
 * Call @fn once in each change, after all steps that can be rolled back, and before the first step
 * that cannot. If @fn returns an error, the change is rolled back and vfctl_change_run() returns
 * that error, or -ESTALE if the rollback failed. The locks of the change are held while @fn waits.
 * @param fn  NULL, the default: each change is kept.
 */
void vfctl_ctx_set_confirm(struct vfctl_ctx *ctx, vfctl_confirm_fn fn, void *data);

#endif
