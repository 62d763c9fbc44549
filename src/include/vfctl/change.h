/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_H
#define VFCTL_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * A change that was planned and checked against a snapshot of the host, but not made
 * yet: a list of steps. Printing it is the dry run.
 */
struct vfctl_change;

/** Number of steps; 0 when the host is already as asked. */
size_t vfctl_change_count(const struct vfctl_change *change);
/** What step @p index will do, in words. Owned by the change; NULL past the end. */
const char *vfctl_change_describe(const struct vfctl_change *change, size_t index);
/** One effect of a step, as data. Its texts are owned by the change. */
struct vfctl_operation {
	const char *type;   /**< what is done: "numvfs", "vf-attrs", "vf-driver", "file", ... */
	const char *target; /**< a PF's address, "PF/INDEX", a path */
	const char *want;   /**< NULL: nothing by itself, it goes with another one */
	const char *before; /**< what a failure puts back; NULL: nothing was there */
};
/**
 * Operation @p number of step @p index.
 * @return false past the last one. Steps whose effects are no operations yet have none.
 */
bool vfctl_change_operation(const struct vfctl_change *change, size_t index, size_t number,
	struct vfctl_operation *ret);
/**
 * Why there are no steps, in words ("domain web does not have VF 0000:11:10.0"), where more can be
 * said than that all is as asked; else NULL. Owned by the change.
 */
const char *vfctl_change_nothing(const struct vfctl_change *change);
/**
 * What is left for the operator once the steps are done (a module to reload), in words; NULL
 * when the change is complete by itself. Owned by the change.
 */
const char *vfctl_change_pending(const struct vfctl_change *change);
/**
 * What is so once the steps are done, in words, where that differs from one change of its kind to
 * another ("domain web is defined anew"); else NULL. Owned by the change.
 */
const char *vfctl_change_result(const struct vfctl_change *change);
/**
 * Do GUIDs, MACs or P_Keys of pools change hands? Then run the host's after-change command
 * (vfctl_host_spec_after_change()) once it is done.
 */
bool vfctl_change_moves_ids(const struct vfctl_change *change);
/**
 * Carry the steps out, each verified by reading back. On a failure what was done is
 * undone. Steps are logged at VFCTL_LOG_INFO as they begin.
 * @return 0; -EAGAIN somebody else was given a MAC or GUID since it was proposed to this change:
 * plan again, and another is; -EINTR after vfctl_ctx_cancel(); -ESTALE when the failure could not be
 * rolled back entirely (the words say what is left); otherwise the errno of the step that
 * failed, the host being as it was before.
 */
int vfctl_change_run(struct vfctl_ctx *ctx, struct vfctl_change *change);
/** Free a change, run or not, and let go of the locks it holds. NULL is allowed. */
void vfctl_change_free(struct vfctl_change *change);

#ifdef __cplusplus
}
#endif
#endif
