/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_REDEFINE_OP_H
#define VFCTL_GUEST_REDEFINE_REDEFINE_OP_H

#include "domain/domain.h"
#include "guest/guest.h"
#include "guest/redefine/diff.h"
#include "guest/redefine/has.h"
#include "guest/redefine/redefine.h"
#include "lease/lease.h"

/* One VF that the file requests. */
struct slot {
	size_t entry; /* entry of the file */
	int cell;
	int has; /* the domain's VF that matches it; -1: it gets a new one */
	bool moves; /* that VF is replaced, usually by one of another PF, with the same identity */
};

/* State while a guest is defined again. */
struct redefine_op {
	const struct redefine_request *q;
	struct vfctl_placement *placed;
	const struct vfctl_lease *lease;
	struct vfctl_lease shape;     /* CPUs, memory and cells that its present definition needs */
	struct vfctl_lease new_shape; /* and those that its new one needs */
	bool running;
	struct file_diff diff;
	struct domain_has has; /* from its definition */
	bool attached[VFCTL_GUEST_VFS_MAX]; /* given by vfctl attach, not by the file */
	struct slot slots[VFCTL_GUEST_VFS_MAX];
	size_t slot_count;
	bool kept[VFCTL_GUEST_VFS_MAX]; /* for each VF: the domain keeps it */
	bool edited; /* its metadata states other values than the lease of a VF */
	bool place; /* the planner was called */
	struct vfctl_cell_want cells[VFCTL_CELLS_MAX]; /* for these cells, each on its node */
	struct identities lost; /* values of pools that it no longer has */
	char *xml;
};

/* vfs.c: match its VFs with the entries. -EEXIST: another program changed its VFs. */
int redefine_match(struct vfctl_ctx *ctx, struct redefine_op *r);
/* Whether a VF is to be changed, removed or added. */
bool redefine_vfs_differ(struct vfctl_ctx *ctx, const struct redefine_op *r);
/* Fill in @r->placed->vfs: the VFs that it keeps, with the values of the file, and new ones. */
int redefine_fill_vfs(struct vfctl_ctx *ctx, struct redefine_op *r);
/* The present lease of a VF, or NULL if the VF is new to the domain. */
const struct vfctl_lease_vf *redefine_leased(const struct redefine_op *r,
	const struct vfctl_bdf *vf);

/*
 * The present PF of the card from which that VF was leased; NULL: it is not on this host, or was
 * not recorded.
 */
const struct vfctl_pf *redefine_moved_pf(const struct redefine_op *r, const struct vfctl_bdf *vf);

/*
 * place.c: fill in @r->placed->plan: the present place or, if the file requests it, the new one.
 */
int redefine_place(struct vfctl_ctx *ctx, struct redefine_op *r);

/* steps.c: add all steps. */
int redefine_add_steps(struct vfctl_ctx *ctx, struct redefine_op *r, struct vfctl_change *change);

#endif
