// SPDX-License-Identifier: GPL-2.0-or-later
/* The parts of a plan: assignments and reasons. */
#include "placement/model/assignment.h"

#include <stdarg.h>

#include "base/util.h"
#include "placement/model/host_model.h"

bool reason_add(struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *fmt, ...)
{
	va_list args;
	char *text;

	va_start(args, fmt);
	text = str_vformat(fmt, args);
	va_end(args);
	if (!text || !array_grow(a->reasons, a->reason_count)) {
		free(text);
		return false;
	}
	a->reasons[a->reason_count++] = (struct vfctl_reason){.kind = kind, .text = text};
	return true;
}

static void clear_assignment(struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->reason_count; i++)
		free(a->reasons[i].text);
	free(a->reasons);
	free(a->remedies);
	free(a->cells);
	free(a->vf_cells);
	free(a->vcpus);
	free(a->vfs);
	free(a->vf_wants);
}

void vfctl_plan_free(struct vfctl_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->count; i++)
		clear_assignment(&plan->assignments[i]);
	free(plan->assignments);
	free(plan);
}

enum vfctl_plan_cut plan_cut(const struct vfctl_plan *plan, bool clock)
{
	if (clock)
		return VFCTL_CUT_CLOCK;
	return plan->gap_level < VFCTL_LEVELS && !plan->partial ? VFCTL_CUT_STEPS : VFCTL_CUT_NONE;
}
