/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_STORE_H
#define VFCTL_STATE_STORE_H

#include "base/ctx.h"
#include "base/util.h"
#include "state/sqlite.h"
#include "types/lease.h"

/*
 * The leases: which VFs, CPUs and memory belong to which domain. They are in an SQLite file, and
 * each call below is one transaction. VFs and CPUs are primary keys, so two concurrent commands
 * cannot lease the same one, whatever they planned.
 */
struct store {
	struct db *db;
};
struct journal_entry;
struct op;

enum store_mode { STORE_READ, STORE_WRITE };

/*
 * Open the context's state file. STORE_READ: -ENOENT if there is none; STORE_WRITE: create the file
 * and its directory.
 */
int store_open(struct vfctl_ctx *ctx, enum store_mode mode, struct store **ret_store);
void store_close(struct store *store);
/* For callers with little time: see db_leave_log(). */
void store_leave_log(struct store *store);
DEFINE_FREEP(struct store, store_close)

/*
 * Insert a lease with all its resources. The journal records whether its domain runs, and the
 * previous values of its VFs (lease/guest_run.h). -EEXIST if a resource is taken; the message names
 * the holder.
 */
int store_take(struct store *store, const struct vfctl_lease *lease);
/*
 * Insert the lease of a running guest and begin its run, both or neither. @entry describes the run,
 * @mark is the op that marks it (state/journal.h).
 */
int store_take_running(struct store *store, const struct vfctl_lease *lease,
	const struct journal_entry *entry, const struct op *mark);
/*
 * End lease @id and insert @lease in its place, in one transaction. -ENOENT if there is no lease
 * @id, -EEXIST as above.
 */
int store_replace(struct store *store, const char *id, const struct vfctl_lease *lease);
/* Delete a lease with all its resources. -ENOENT if there is no lease with that id. */
int store_drop(struct store *store, const char *id);
/* Add one VF to a lease (-EEXIST as above), or remove one (-ENOENT). */
int store_add_vf(struct store *store, const char *id, const struct vfctl_lease_vf *vf);
/* Add it with the mark of its run, as above. */
int store_add_vf_running(struct store *store, const char *id, const struct vfctl_lease_vf *vf,
	const struct journal_entry *entry, const struct op *mark);
int store_remove_vf(struct store *store, const char *id, const struct vfctl_bdf *vf);
/* Store the domain's new name. -ENOENT if there is no lease with that id. */
int store_rename(struct store *store, const char *id, const char *name);
/*
 * Transfer the lease to another domain, with the former domain's values of pools. -ENOENT as above.
 */
int store_hand_over(struct store *store, const char *id, const char *uuid, const char *name);
/* The lease will end with the current run. */
int store_make_transient(struct store *store, const char *id);
/* Replace CPUs, memory and cells of the lease (-EEXIST as above); its VFs are kept. */
int store_set_shape(struct store *store, const char *id, const struct vfctl_lease *shape);
/*
 * Whether the VF leaves the lease when the current run ends, and whether its values are released
 * then.
 */
enum store_leaving { STORE_STAYS, STORE_LEAVES, STORE_LEAVES_WITH_VALUES };
int store_set_leaving(struct store *store, const struct vfctl_bdf *vf, enum store_leaving leaving);
/* Store the identification of its PF (vfctl_pf.port_id); "": not recorded. */
int store_set_port(struct store *store, const struct vfctl_bdf *vf, const char *port_id);
/* Store the values with which the VF is leased from now on. */
int store_set_intent(struct store *store, const struct vfctl_bdf *vf,
	const struct vfctl_vf_attrs *intent);
/* All leases, or (@domain_uuid not NULL) the one of that domain. */
int store_read(struct store *store, const char *domain_uuid,
	struct vfctl_leases **ret_leases);

#endif
