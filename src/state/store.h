/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_STORE_H
#define VFCTL_STATE_STORE_H

#include "base/ctx.h"
#include "base/util.h"
#include "state/sqlite.h"
#include "core/lease.h"

/*
 * What must survive: which VF, CPUs and memory belong to which domain. One SQLite file;
 * each call below is one transaction. A VF and a CPU are primary keys, so that two
 * commands at once cannot hand out the same one whatever they planned.
 */
struct store {
	struct db *db;
};
struct journal_entry;
struct op;

enum store_mode { STORE_READ, STORE_WRITE };

/*
 * Open the context's state file. STORE_READ gives -ENOENT when there is none; STORE_WRITE
 * makes file and directory and brings an older schema up to date.
 */
int store_open(struct vfctl_ctx *ctx, enum store_mode mode, struct store **ret_store);
void store_close(struct store *store);
/* For who is in a hurry: see db_leave_log(). */
void store_leave_log(struct store *store);
DEFINE_FREEP(struct store, store_close)

/*
 * Insert a lease with all it holds. Whether its domain runs, and what its VFs had before, is the
 * journal's (lease/guest_run.h). -EEXIST, naming the holder, when anything is taken.
 */
int store_take(struct store *store, const struct vfctl_lease *lease);
/*
 * The same of a guest that runs: its run begins with it, or neither is there. @entry says whose run,
 * @mark what marks it (state/journal.h).
 */
int store_take_running(struct store *store, const struct vfctl_lease *lease,
	const struct journal_entry *entry, const struct op *mark);
/*
 * Lease @id ends, and @lease is taken in its place, in one transaction. -ENOENT when there is no
 * lease @id, -EEXIST as above.
 */
int store_replace(struct store *store, const char *id, const struct vfctl_lease *lease);
/* Forget a lease and what it holds. -ENOENT when there is none with that id. */
int store_drop(struct store *store, const char *id);
/* Add one VF to a lease (-EEXIST as above), or take one away (-ENOENT). */
int store_add_vf(struct store *store, const char *id, const struct vfctl_lease_vf *vf);
/* With the mark of its run, as above. */
int store_add_vf_running(struct store *store, const char *id, const struct vfctl_lease_vf *vf,
	const struct journal_entry *entry, const struct op *mark);
int store_remove_vf(struct store *store, const char *id, const struct vfctl_bdf *vf);
/* Its domain is called otherwise by now. -ENOENT when there is no lease of that id. */
int store_rename(struct store *store, const char *id, const char *name);
/* It is another domain's, and with it the values of pools that the former has. -ENOENT as above. */
int store_hand_over(struct store *store, const char *id, const char *uuid, const char *name);
/* The lease ends with the run that goes on now. */
int store_make_transient(struct store *store, const char *id);
/* Other CPUs, memory and cells for the same lease (-EEXIST as above); its VFs stay as they are. */
int store_set_shape(struct store *store, const char *id, const struct vfctl_lease *shape);
/* Whether the VF leaves the lease when the run that goes on ends, and gives its values back then. */
enum store_leaving { STORE_STAYS, STORE_LEAVES, STORE_LEAVES_WITH_VALUES };
int store_set_leaving(struct store *store, const struct vfctl_bdf *vf, enum store_leaving leaving);
/* What its PF is known by (vfctl_pf.port_id); "": not noted. */
int store_set_port(struct store *store, const struct vfctl_bdf *vf, const char *port_id);
/* What the VF is leased with from now on. */
int store_set_intent(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *intent);
/* All leases, or (@domain_uuid not NULL) the one of that domain. */
int store_read(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases);

#endif
