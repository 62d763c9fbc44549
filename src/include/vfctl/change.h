/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_CHANGE_H
#define LIBVFCTL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Change: the result of a plan. A change is a list of steps. Each step has operations, which are
 * data: the dry run, the journal, the roll-back and the log all use the same operations.
 */

/**
 * A change that was planned and checked, but not run yet. It holds the lock of its PF, or the lock
 * of all placements, until it is freed: do not wait for user input before you free it. A change
 * that was planned as a dry run holds no lock and cannot be run. It describes the host only as it
 * was when the change was planned.
 */
struct vfctl_change;

/**
 * The number of steps.
 *
 * @return the number of steps; 0 if there is nothing to do: see vfctl_change_nothing().
 * @since 0.1
 */
size_t vfctl_change_count(const struct vfctl_change *change);

/**
 * A description of what a step does, for people to read.
 *
 * @param index  position of the step, starting at 0.
 * @return a string owned by the change; NULL past the last step.
 * @since 0.1
 */
const char *vfctl_change_describe(const struct vfctl_change *change, size_t index);

/**
 * The type of an operation: "numvfs", "vf-attrs", "vf-driver", "vf-identity", "file", "lease",
 * "domain" and others; docs/dev/change-format.md lists them all. New releases may add types.
 *
 * @param step    position of the step, starting at 0.
 * @param number  position of the operation in its step, starting at 0.
 * @return a static string; NULL past the last operation of the step.
 * @since 0.1
 */
const char *vfctl_operation_type(const struct vfctl_change *change, size_t step, size_t number);

/**
 * What an operation changes: the PCI address of a PF, "PF/INDEX" of a VF, a path, or a domain.
 *
 * @param step    position of the step, starting at 0.
 * @param number  position of the operation in its step, starting at 0.
 * @return a string owned by the change; NULL past the last operation of the step.
 * @since 0.1
 */
const char *vfctl_operation_target(const struct vfctl_change *change, size_t step, size_t number);

/**
 * The value that an operation writes and then reads back, in the canonical form of its type.
 *
 * @param step    position of the step, starting at 0.
 * @param number  position of the operation in its step, starting at 0.
 * @return a string owned by the change; NULL if the operation has no value of its own, and past the
 * last operation.
 * @since 0.1
 */
const char *vfctl_operation_want(const struct vfctl_change *change, size_t step, size_t number);

/**
 * The value before the operation, which a roll-back restores.
 *
 * @param step    position of the step, starting at 0.
 * @param number  position of the operation in its step, starting at 0.
 * @return a string owned by the change; NULL if there was no value or if it is read only when the
 * change is run, and past the last operation.
 * @since 0.1
 */
const char *vfctl_operation_before(const struct vfctl_change *change, size_t step, size_t number);

/**
 * Why the change has no steps, such as "domain web does not have VF 0000:11:10.0".
 *
 * @return a string owned by the change; NULL if it has steps, or if there is no particular reason.
 * @since 0.1
 */
const char *vfctl_change_nothing(const struct vfctl_change *change);

/**
 * What the administrator still has to do after the steps, such as reloading a module.
 *
 * @return a string owned by the change; NULL if nothing is left to do.
 * @since 0.1
 */
const char *vfctl_change_pending(const struct vfctl_change *change);

/**
 * What the change achieves, where changes of the same kind can differ ("domain web is defined
 * anew").
 *
 * @return a string owned by the change; NULL if there is nothing to add.
 * @since 0.1
 */
const char *vfctl_change_result(const struct vfctl_change *change);

/**
 * Whether the change gives GUIDs, MACs or P_Keys of pools to another owner. If it does, call
 * vfctl_session_after_change() after the change was run.
 *
 * @return true if it does.
 * @since 0.1
 */
bool vfctl_change_moves_ids(const struct vfctl_change *change);

/**
 * The change as JSON. Format 1:
 *
 *     {"format": 1,
 *      "steps": [{"text": "create 2 VFs on ens1",
 *                 "operations": [{"type": "numvfs", "target": "0000:10:00.0",
 *                                 "want": "2", "before": "0"}]}],
 *      "nothing": null, "pending": null, "result": null, "moves_ids": true}
 *
 * "want" and "before" may be null. New releases may add members and operation types; the number
 * after "format" increases only when a member changes its meaning or is removed.
 *
 * @param change    a change, whether it was run or not.
 * @param ret_json  receives the string; free() it.
 * @return 0; -ENOMEM.
 * @since 0.1
 */
int vfctl_change_json(struct vfctl_ctx *ctx, const struct vfctl_change *change, char **ret_json);

/**
 * Carry out the steps. Each value that is written is read back and verified. If a step fails, the
 * steps before it are rolled back. Each step is logged at VFCTL_LOG_INFO when it begins.
 *
 * @param change  a change that was not planned as a dry run. It can be run only once.
 * @return 0, also for a change without steps; -EAGAIN: another process or host has meanwhile been
 * given a MAC or GUID that was proposed for this change; plan again to get another value; -EINTR:
 * vfctl_ctx_cancel() was called; -EINVAL: the change is a dry run; -ESTALE: a step failed and could
 * not be rolled back completely; the message says what is left, and vfctl_recover_open_changes() or
 * the next change continues the roll-back; otherwise the errno of the step that failed, and the
 * host is as before.
 * @since 0.1
 */
int vfctl_change_run(struct vfctl_ctx *ctx, struct vfctl_change *change);

/**
 * Free a change, whether it was run or not, and release its locks.
 *
 * @param change  may be NULL.
 * @since 0.1
 */
void vfctl_change_free(struct vfctl_change *change);

#ifdef __cplusplus
}
#endif
#endif
