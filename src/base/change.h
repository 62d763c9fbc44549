/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CHANGE_H
#define VFCTL_BASE_CHANGE_H

#include <stdbool.h>
#include <stddef.h>

#include "base/cleanup.h"
#include "vfctl/change.h"

DEFINE_FREEP(struct vfctl_change, vfctl_change_free)

/** One effect of a step, as data. Its texts are owned by the change. */
struct vfctl_operation {
	const char *type;   /**< type of the operation: "numvfs", "vf-attrs", "vf-driver", "file", ... */
	const char *target; /**< a PF's address, "PF/INDEX", a path */
	const char *want;   /**< NULL: it has no value of its own and belongs to another operation */
	const char *before; /**< what a roll-back restores; NULL: no value existed */
};
/**
 * Operation @p number of step @p index.
 * @return false past the last one. A step may have none.
 */
bool vfctl_change_operation(const struct vfctl_change *change, size_t index, size_t number,
	struct vfctl_operation *ret);

#endif
