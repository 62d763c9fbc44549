/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_TARGET_H
#define VFCTL_WORKFLOW_TARGET_H

#include "base/change.h"
#include "workflow/identity.h"
#include "workflow/snapshot.h"

/* What a change of one PF or of its VFs is planned from: locked, then looked at. */
struct target {
	struct vfctl_snapshot *snapshot;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int lock_fd, placement_fd;
};
#define NO_TARGET ((struct target){.lock_fd = -1, .placement_fd = -1})
void target_clear(struct target *t);
#define _target_ _cleanup_(target_clear)

/*
 * Lock the PF that @name is (or, with @is_vf, that it is a VF of) and read the host. @only
 * NULL: the VFs of all PFs are needed, else as for vfctl_inventory_read(). A dry run locks
 * nothing. @alone: no other change of this host goes on meanwhile, be it of another PF: for
 * what must be unique on the host.
 */
int target_open(struct vfctl_ctx *ctx, const char *name, bool is_vf, bool dry_run,
	bool alone, const char *only, struct target *ret);

/* What the steps of a change point into, and lasts as long as they do. */
struct kept {
	struct vfctl_snapshot *snapshot;
	struct identities identities;
};
void target_free_kept(void *kept);
static inline void kept_freep(struct kept **kept)
{
	if (*kept)
		target_free_kept(*kept);
}
#define _kept_ _cleanup_(kept_freep)

/* The change keeps the snapshot and holds the locks. */
void target_keep(struct vfctl_change *change, struct kept *kept, struct target *t);

#endif
