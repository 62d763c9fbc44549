/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_TARGET_H
#define VFCTL_CHANGE_TARGET_H

#include "base/planning.h"
#include "facts/snapshot/snapshot.h"

/* The input for planning a change of one PF or its VFs: locked first, then read. */
struct target {
	struct vfctl_snapshot *snapshot;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vfctl_bdf locked; /* the PF whose lock is held */
	int lock_fd, placement_fd;
	bool declared; /* it comes from host.yaml: a value that already applies is not a mistake */
};
#define NO_TARGET ((struct target){.lock_fd = -1, .placement_fd = -1})
void target_clear(struct target *t);

struct target_need {
	bool is_vf; /* the name is that of a VF */
	bool dry_run; /* take no lock */
	bool alone; /* no other change of this host may run meanwhile, not even of another PF */
	const char *only; /* NULL: read the VFs of all PFs; else as for vfctl_inventory_read() */
	bool values; /* with @only: read the identities and policies of the VFs of other PFs too */
	struct vfctl_hypervisor *hypervisor; /* with @alone: recover changes of guests first */
};

/* Lock the PF with that name, or of the VF with that name, and read the host. */
int target_open(struct vfctl_ctx *ctx, const char *name, const struct target_need *need,
	struct target *ret);

/* Pass the locks to the change; its name in the journal is the text of @fmt. */
int target_keep(struct vfctl_ctx *ctx, struct vfctl_change *change, struct target *t,
	const char *fmt, ...) _printf_(4, 5);

#endif
