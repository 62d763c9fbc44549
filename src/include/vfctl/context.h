/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_CONTEXT_H
#define LIBVFCTL_CONTEXT_H

#include <stdbool.h>
#include <stddef.h>

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Context: the host to work on, the message of the last failure, the log, cancellation and time
 * limits.
 */

/**
 * A context holds what every call needs. Only one thread at a time may use a context. Different
 * contexts are independent of each other.
 */
struct vfctl_ctx;

/**
 * The version of the library, "MAJOR.MINOR.PATCH".
 *
 * @return a static string.
 * @since 0.1
 */
const char *vfctl_version(void);

/**
 * Create a context that works on the running kernel.
 *
 * @param ret_ctx  receives the context; free it with vfctl_ctx_free().
 * @return 0, or -ENOMEM.
 * @since 0.1
 */
int vfctl_ctx_new(struct vfctl_ctx **ret_ctx);

/**
 * Free a context. Free every object that was made with it first.
 *
 * @param ctx  may be NULL.
 * @since 0.1
 */
void vfctl_ctx_free(struct vfctl_ctx *ctx);

/**
 * Use a captured host from now on: an archive that vfctl_host_capture() wrote (tar, plain or
 * compressed with gzip), an unpacked archive, or any directory that contains sys/. Calls that only
 * read work as on the host itself. Calls that would change the host fail with -EROFS.
 *
 * A capture may come from an untrusted source. An archive is read into memory. It may contain at
 * most 250,000 files, directories and symbolic links, of at most 16 MiB each and 256 MiB in total.
 * Links cannot lead out of the capture.
 *
 * @param path  the archive or the directory.
 * @return 0; -ENOENT: there is no such file; -EINVAL: it is not a capture, or contains something
 * other than files, directories and symbolic links; -EBADMSG: it is damaged; -EFBIG, -E2BIG: it is
 * too large; -ENOPKG: zlib is not installed.
 * @since 0.1
 */
int vfctl_ctx_open_host(struct vfctl_ctx *ctx, const char *path);

/**
 * Change a setting of a context.
 *
 * | key | value | default |
 * |---|---|---|
 * | state | path of the state file: leases, identities, the journal | /var/lib/vfctl/state.db |
 * | temp-dir | directory for short-lived files | /tmp |
 * | origin | who requests the changes, for the system log | the user of this process |
 * | write-timeout-ms | time limit of one write to the kernel, 1 to 3600000 ms | 120000 |
 *
 * @param key    one of the keys above.
 * @param value  the new value; it is copied.
 * @return 0; -EINVAL: the key is unknown, or the value is not valid.
 * @since 0.1
 */
int vfctl_ctx_set(struct vfctl_ctx *ctx, const char *key, const char *value);

/**
 * The message of the last failed call: what was attempted, on what, what the kernel or libvirt
 * said, and what to do.
 *
 * @return a string owned by the context, valid until the next call with it; "" if nothing failed.
 * @since 0.1
 */
const char *vfctl_ctx_error(const struct vfctl_ctx *ctx);

/**
 * The remedy in the message of the last failed call: what follows its first "; ".
 *
 * @return a part of the string that vfctl_ctx_error() returns, valid as long as that; "" if the
 * message names no remedy.
 * @since 0.1
 */
const char *vfctl_ctx_remedy(const struct vfctl_ctx *ctx);

/**
 * Whether the last call failed because of a mistake of the caller: a name that does not exist, a
 * value that is not valid, a file with an error. Such a call fails again when it is repeated. False
 * if the host lacks something, has it in use, or refuses the change now: the same call may then
 * succeed later.
 *
 * @return true if it was a mistake.
 * @since 0.1
 */
bool vfctl_ctx_usage_error(const struct vfctl_ctx *ctx);

/**
 * Whether a write to the kernel exceeded its time limit and is still in progress, so that its
 * effect is still to come. Other time-outs (-ETIMEDOUT while waiting for an answer of the kernel,
 * etcd or libvirt) leave nothing in progress.
 *
 * @return true if a write is still in progress.
 * @since 0.1
 */
bool vfctl_ctx_unfinished(const struct vfctl_ctx *ctx);

/** What a reason says; see vfctl_ctx_reason() and vfctl_assignment_reason(). @since 0.1 */
enum vfctl_reason_kind {
	VFCTL_REASON_CHOICE,  /**< what was chosen, and why */
	VFCTL_REASON_WARNING, /**< it works, but not as well as it could */
	VFCTL_REASON_SHORT,   /**< what is short, and where */
	VFCTL_REASON_REMEDY,  /**< what would make the guest fit */
};

/**
 * The reasons why a guest does not fit (-ENOSPC), one by one: what is short on which node, and what
 * would help. Other failures have only their message.
 *
 * @param index     position, starting at 0.
 * @param ret_kind  receives the kind; may be NULL.
 * @return one sentence, owned by the context and valid until the next call with it; NULL past the
 * last reason.
 * @since 0.1
 */
const char *vfctl_ctx_reason(const struct vfctl_ctx *ctx, size_t index,
	enum vfctl_reason_kind *ret_kind);

/** How important a line of the log is. @since 0.1 */
enum vfctl_log_level {
	VFCTL_LOG_ERROR,   /**< a failure that does not make the call fail */
	VFCTL_LOG_WARNING, /**< something that the administrator should know */
	VFCTL_LOG_INFO,	   /**< what is being done, one line per step */
	VFCTL_LOG_DEBUG,   /**< every write, and what was read back */
};

/**
 * A function that receives one line of the log, without a newline.
 *
 * @param data   as given to vfctl_ctx_set_log().
 * @param level  how important the line is.
 * @param text   the line; valid only during the call.
 */
typedef void (*vfctl_log_fn)(void *data, enum vfctl_log_level level, const char *text);

/**
 * Set the function that receives the log.
 *
 * @param fn    called by the thread that uses the context; NULL (the default): nothing is logged.
 * @param data  passed to @p fn.
 * @since 0.1
 */
void vfctl_ctx_set_log(struct vfctl_ctx *ctx, vfctl_log_fn fn, void *data);

/** Size of the longest text that a vfctl_progress_fn receives, in bytes with the NUL. */
#define VFCTL_PROGRESS_SIZE 256

/**
 * A function that receives a description of the current action or wait, such as "3 of 16 VFs:
 * writing 'vfio-pci' to FILE".
 *
 * @param data  as given to vfctl_ctx_set_progress().
 * @param text  the description, at most VFCTL_PROGRESS_SIZE bytes; valid only during the call.
 */
typedef void (*vfctl_progress_fn)(void *data, const char *text);

/**
 * Set the function that is called whenever the current action or wait changes. It can serve a
 * display, or a second process that reports what this process was doing when it is stuck in the
 * kernel.
 *
 * @param fn    called by the thread that uses the context; NULL (the default): nothing is called.
 * @param data  passed to @p fn.
 * @since 0.1
 */
void vfctl_ctx_set_progress(struct vfctl_ctx *ctx, vfctl_progress_fn fn, void *data);

/**
 * Set one time limit for everything that is done with this context from now on. Each wait for a
 * lock, a write, or an answer of the kernel or of the store ends at this limit, and the call fails
 * with -EBUSY or -ETIMEDOUT. A roll-back is carried out even if no time is left.
 *
 * @param budget_ms  milliseconds from now; 0 (the default): no common limit, only that of each
 *                   single wait.
 * @since 0.1
 */
void vfctl_ctx_set_deadline_ms(struct vfctl_ctx *ctx, unsigned budget_ms);

/**
 * Ask the running call to stop before its next step and to roll back; it then returns -EINTR. This
 * function may be called from a signal handler, and from another thread while the context exists.
 *
 * @since 0.1
 */
void vfctl_ctx_cancel(struct vfctl_ctx *ctx);

#ifdef __cplusplus
}
#endif
#endif
