/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_TARGET_H
#define VFCTL_CHANGE_TARGET_H

#include "base/change.h"
#include "facts/snapshot/snapshot.h"
#include "core/sriov.h"

/* What a change of one PF or of its VFs is planned from: locked, then looked at. */
struct target {
	struct vfctl_snapshot *snapshot;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vfctl_bdf locked; /* the PF whose lock this holds */
	int lock_fd, placement_fd;
	bool declared; /* it is host.yaml that asks: what is so already is no mistake */
};
#define NO_TARGET ((struct target){.lock_fd = -1, .placement_fd = -1})
void target_clear(struct target *t);

struct target_need {
	bool is_vf; /* the name is a VF's */
	bool dry_run; /* nothing is locked */
	bool alone; /* no other change of this host goes on meanwhile, be it of another PF */
	const char *only; /* NULL: the VFs of all PFs; else as for vfctl_inventory_read() */
	struct vfctl_hypervisor *hypervisor; /* with @alone: guests' changes are recovered first */
};

/* Lock the PF that @name is, or that it is a VF of, and read the host. */
int target_open(struct vfctl_ctx *ctx, const char *name, const struct target_need *need,
	struct target *ret);

/* The change holds the locks, and will be in the journal under the words of @fmt. */
int target_keep(struct vfctl_ctx *ctx, struct vfctl_change *change, struct target *t,
	const char *fmt, ...) _printf_(4, 5);

#endif
