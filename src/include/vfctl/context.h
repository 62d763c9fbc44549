/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CONTEXT_H
#define VFCTL_CONTEXT_H

#include <stdbool.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A context carries what every call needs: the host it works on, where state is
 * kept, the words of the last failure and the log. One context is used by one
 * thread at a time; different contexts are independent of each other.
 */
struct vfctl_ctx;

enum vfctl_log_level {
	VFCTL_LOG_ERROR,
	VFCTL_LOG_WARNING,
	VFCTL_LOG_INFO, /**< what is being done, one line per step */
	VFCTL_LOG_DEBUG,
};

/** Receives one log line (no newline at its end). @p text is valid during the call. */
typedef void (*vfctl_log_fn)(void *data, enum vfctl_log_level level, const char *text);

/**
 * Make a context that works on the running kernel.
 * @param ret_ctx  receives the context; free it with vfctl_ctx_free().
 * @return 0, or -ENOMEM.
 */
int vfctl_ctx_new(struct vfctl_ctx **ret_ctx);

/** Free a context and the host behind it. NULL is allowed. */
void vfctl_ctx_free(struct vfctl_ctx *ctx);

/**
 * The reason of the last failed call, in words: what was tried, on what, what the
 * kernel said, what to do. Owned by the context, valid until the next call with it;
 * an empty string when nothing failed.
 */
const char *vfctl_ctx_error(const struct vfctl_ctx *ctx);

/**
 * Whether the last failed call was asked wrongly: a name that nothing here has, a value that
 * cannot be, a file that says what no file may. Of what this host lacks, refuses or holds for
 * others it is false: there the same call may succeed another time.
 */
bool vfctl_ctx_mistaken(const struct vfctl_ctx *ctx);

/** Set the log function. The default, NULL, logs nothing. */
void vfctl_ctx_set_log(struct vfctl_ctx *ctx, vfctl_log_fn fn, void *data);

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

/**
 * Whether a write to the kernel did not end in time and goes on by itself: what it changes
 * is still to come. Of other time-outs (-ETIMEDOUT: of an answer, of etcd, of libvirt)
 * nothing is left.
 */
bool vfctl_ctx_unfinished(const struct vfctl_ctx *ctx);

/** The file that keeps leases. Owned by the context. */
const char *vfctl_ctx_state_path(const struct vfctl_ctx *ctx);

/**
 * Ask the running call to stop at the next step and roll back; it then returns
 * -EINTR. Safe in a signal handler.
 */
void vfctl_ctx_cancel(struct vfctl_ctx *ctx);

/**
 * Longest time one write to the kernel may take before it is given up, in ms.
 * The default is 120000: a sick firmware answers that late (facts: mlx5).
 */
void vfctl_ctx_set_write_timeout_ms(struct vfctl_ctx *ctx, unsigned timeout_ms);

/**
 * Give all that is done with this context from now on one budget: locks, writes, answers of
 * the kernel and of the store are waited for no longer than what is left of it, and fail
 * with -EBUSY or -ETIMEDOUT then. A roll-back is carried out even when it is used up.
 * @param budget_ms  milliseconds from now; 0: no limit besides each wait's own (default).
 */
void vfctl_ctx_set_deadline_ms(struct vfctl_ctx *ctx, unsigned budget_ms);

/** Bytes that hold any words of a vfctl_doing_fn, the NUL included. */
#define VFCTL_DOING_SIZE 256
/**
 * Receives what is being done or waited for now, such as "3 of 16 VFs: writing 'vfio-pci' to
 * FILE". @p text is valid during the call.
 */
typedef void (*vfctl_doing_fn)(void *data, const char *text);

/**
 * Have told what is being waited for, whenever that changes: for a watcher that shows it, or
 * that outlives a process which is stuck in the kernel.
 * @param fn  called by the thread that uses the context. NULL: nobody looks (default).
 */
void vfctl_ctx_set_doing(struct vfctl_ctx *ctx, vfctl_doing_fn fn, void *data);

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
