/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_ASSIGNMENT_H
#define VFCTL_PLACEMENT_MODEL_ASSIGNMENT_H

#include "base/ctx.h"
#include "types/placement.h"

/* False if memory is exhausted. */
bool reason_add(struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *fmt, ...)
	_printf_(3, 4);
/* Why the search ended early, if it did. @clock: the deadline was reached. */
enum vfctl_plan_cut plan_cut(const struct vfctl_plan *plan, bool clock);

#endif
