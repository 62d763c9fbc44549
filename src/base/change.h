/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_CHANGE_H
#define VFCTL_BASE_CHANGE_H

#include "base/steps.h"
#include "base/util.h"
#include "core/change.h"

struct vfctl_change {
	struct steps steps;
	struct journal_entry entry;
	char *pending; /* what is still to be done by hand afterwards, or NULL */
	char *result; /* what is so when all is done, or NULL */
	char *nothing; /* why there are no steps, or NULL */
	bool dry_run; /* it cannot be run */
	bool ids_changed; /* GUIDs, MACs or P_Keys change hands */
	int lock_fd; /* -1: a dry run holds no lock */
	int placement_fd;
	int other_fd; /* the lock of another PF; -1: it is of one */
	/* What its operations ask; not owned, and NULL where they ask none. */
	struct vfctl_hypervisor *hypervisor;
	struct vfctl_ids *ids;
};

int change_new(struct vfctl_ctx *ctx, struct vfctl_change **ret_change);

/*
 * The end of planning with result @r. -EALREADY, whose words say why nothing is to do, is no
 * failure: the change has no steps then, and those words. Returns 0, or @r.
 */
int change_planned(struct vfctl_ctx *ctx, struct vfctl_change *change, int r);
/*
 * Observe all that the steps want: when it is so already, none is left. What cannot be observed is
 * carried out.
 */
void change_drop_done(struct vfctl_ctx *ctx, struct vfctl_change *change);

#endif
