/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_PLANNING_H
#define VFCTL_BASE_PLANNING_H

#include "base/steps.h"
#include "base/util.h"
#include "vfctl/change.h"

struct vfctl_change {
	struct steps steps;
	struct journal_entry entry;
	char *pending; /* what the administrator still has to do afterwards, or NULL */
	char *result; /* what the change achieves, or NULL */
	char *nothing; /* why the change has no steps, or NULL */
	bool dry_run; /* it cannot be run */
	bool ids_changed; /* GUIDs, MACs or P_Keys get another owner */
	int lock_fd; /* -1: a dry run holds no lock */
	int placement_fd;
	int other_fd; /* lock of a second PF; -1: it needs one PF */
	/* The hypervisor for its operations; not owned, and NULL if they need none. */
	struct vfctl_hypervisor *hypervisor;
	struct vfctl_ids *ids;
};

int change_new(struct vfctl_ctx *ctx, struct vfctl_change **ret_change);

/*
 * Finish planning with result @r. -EALREADY is not a failure: the change then has no steps, and the
 * message becomes the reason why there is nothing to do. Returns 0, or @r.
 */
int change_planned(struct vfctl_ctx *ctx, struct vfctl_change *change, int r);
/*
 * Observe everything that the steps change. If the host is already as wanted, remove all steps. A
 * state that cannot be observed counts as different.
 */
void change_drop_done(struct vfctl_ctx *ctx, struct vfctl_change *change);

#endif
