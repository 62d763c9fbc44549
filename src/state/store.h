/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_STORE_H
#define VFCTL_STATE_STORE_H

#include "base/ctx.h"
#include "vfctl/lease.h"

/*
 * What must survive: which VF, CPUs and memory belong to which domain. One SQLite file;
 * each call below is one transaction. A VF and a CPU are primary keys, so that two
 * commands at once cannot hand out the same one whatever they planned.
 */
struct store;

enum store_mode { STORE_READ, STORE_WRITE };

/*
 * Open the context's state file. STORE_READ gives -ENOENT when there is none; STORE_WRITE
 * makes file and directory and brings an older schema up to date.
 */
int store_open(struct vfctl_ctx *ctx, enum store_mode mode, struct store **ret_store);
void store_close(struct store *store);
static inline void store_closep(struct store **store)
{
	store_close(*store);
}
#define _store_ _cleanup_(store_closep)

/* Insert a lease with all it holds. -EEXIST, naming the holder, when anything is taken. */
int store_take(struct store *store, const struct vfctl_lease *lease);
/* Forget a lease and what it holds. -ENOENT when there is none with that id. */
int store_drop(struct store *store, const char *id);
/* Add one VF to a lease (-EEXIST as above), or take one away (-ENOENT). */
int store_add_vf(struct store *store, const char *id, const struct vfctl_lease_vf *vf);
int store_remove_vf(struct store *store, const char *id, const struct vfctl_bdf *vf);
/*
 * Remember what a VF had before the guest's policy was written. What is remembered
 * already stays: a second start without a release in between must not take the first
 * one's policy for what was there before.
 */
int store_save_attrs(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *attrs);
/* It was given back. */
int store_forget_attrs(struct store *store, const struct vfctl_bdf *vf);
/*
 * The domain begins to run, in the boot of that id; libvirt may call it by another name by
 * now. -ENOENT when the lease was dropped meanwhile.
 */
int store_begin_run(struct store *store, const char *id, const char *name,
	const char *boot_id);
int store_end_run(struct store *store, const char *id);
/* The lease ends with the run that goes on now. */
int store_make_transient(struct store *store, const char *id);
/* What the VF is leased with from now on. */
int store_set_intent(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *intent);
/* All leases, or (@domain_uuid not NULL) the one of that domain. */
int store_read(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases);

#endif
