/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_REDEFINE_REDEFINE_OP_H
#define VFCTL_GUEST_REDEFINE_REDEFINE_OP_H

#include "domain/domain.h"
#include "guest/guest.h"
#include "guest/redefine/diff.h"
#include "guest/redefine/has.h"
#include "guest/redefine/redefine.h"
#include "lease/lease.h"

/* One VF that the file asks for. */
struct slot {
	size_t entry; /* of the file */
	int cell;
	int has; /* the VF of the domain that answers it; -1: it gets a new one */
	bool moves; /* .. which it gets another for, mostly of another PF, with the same identity */
};

/* What is known while a guest is defined anew. */
struct redefine_op {
	const struct redefine_request *q;
	struct vfctl_placement *placed;
	const struct vfctl_lease *lease;
	struct vfctl_lease shape;     /* CPUs, memory and cells that its definition needs */
	struct vfctl_lease new_shape; /* .. and will need */
	bool running;
	struct file_diff diff;
	struct domain_has has; /* by its definition */
	bool attached[VFCTL_GUEST_VFS_MAX]; /* by vfctl attach, not by the file */
	struct slot slots[VFCTL_GUEST_VFS_MAX];
	size_t slot_count;
	bool kept[VFCTL_GUEST_VFS_MAX]; /* of its VFs: it has it afterwards too */
	bool edited; /* its metadata says of a VF what it is not leased with */
	bool place; /* the planner was asked */
	struct vfctl_cell_want cells[VFCTL_CELLS_MAX]; /* .. for these, each where it is */
	struct identities lost; /* values of pools that it has no more */
	char *xml;
};

/* redefine_vfs.c: which of its VFs answers which entry. -EEXIST: others changed its VFs. */
int redefine_match(struct vfctl_ctx *ctx, struct redefine_op *r);
/* A VF of it that the file asks to be otherwise, or no more; or the file asks for one more. */
bool redefine_vfs_differ(struct vfctl_ctx *ctx, const struct redefine_op *r);
/* Fill @r->placed->vfs: those that it keeps, with what the file says of them, and new ones. */
int redefine_fill_vfs(struct vfctl_ctx *ctx, struct redefine_op *r);
/* What a VF has been leased with, or NULL when it is new to the domain. */
const struct vfctl_lease_vf *redefine_leased(const struct redefine_op *r,
	const struct vfctl_bdf *vf);

/* Where the PF is now of which that VF was leased; NULL: not on this host, or it was not noted. */
const struct vfctl_pf *redefine_moved_pf(const struct redefine_op *r, const struct vfctl_bdf *vf);

/* redefine_place.c: fill @r->placed->plan: where it is, or, when the file asks, where it will be. */
int redefine_place(struct vfctl_ctx *ctx, struct redefine_op *r);

/* redefine_steps.c: all that is to do. */
int redefine_add_steps(struct vfctl_ctx *ctx, struct redefine_op *r, struct vfctl_change *change);

#endif
