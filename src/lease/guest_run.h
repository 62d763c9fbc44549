/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_GUEST_RUN_H
#define VFCTL_LEASE_GUEST_RUN_H

#include "base/steps.h"
#include "types/lease.h"

struct store;

/*
 * The operations of a domain's run. A run lasts from the hook's "prepare" to its "release" and is
 * one change that stays open in the journal: its operations are the effects of the guest's start on
 * the host. The end of the run rolls them back, whether the hook or recovery ends it. The caller
 * holds the locks of the PFs concerned.
 *
 * op_run     domain  "LEASE NAME": the domain runs with that lease; if vfctl define made none,
 *                    the lease is made for this run and ends with it
 * op_run_vf  VF      "PF/INDEX ATTRIBUTES": the domain has the VF, with these values; a VF
 *                    that is not leased to it is leased for this run
 */
extern const struct op_type op_run, op_run_vf;

/*
 * Carry out further operations of a run, which begins if it has not yet. On a failure they are
 * rolled back; -ESTALE if the roll-back is incomplete, and the rest then stays in the journal.
 */
int run_add(struct vfctl_ctx *ctx, const char *uuid, const char *name, struct steps *steps);
/* Record what a run did, or is about to do, without doing it. */
int run_note(struct vfctl_ctx *ctx, const char *uuid, const char *name, const struct op *ops,
	size_t count);
/*
 * Record that the domain runs, with the policy of all its resources, as if the hook had prepared
 * it.
 */
int run_mark(struct vfctl_ctx *ctx, const char *uuid, const char *lease, const char *name);
/*
 * In one transaction, do the same and lease to the domain all of @lease, or only @vf if it is not
 * NULL.
 */
int run_take(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf);

enum run_state {
	RUN_NONE,
	RUN_OF_EARLIER_BOOT, /* and the run was not ended yet */
	RUN_GOES_ON,	     /* or it was not released */
};
int run_look(struct vfctl_ctx *ctx, const char *uuid, enum run_state *ret);
/*
 * A run of an earlier boot is over although its end was not recorded, and its effects are on VFs
 * that no longer exist. Every addition to a run calls this first.
 */
int run_close_old(struct vfctl_ctx *ctx, const char *uuid);
/*
 * Restore one VF of @lease to its values before the run; values from an earlier boot do not exist
 * any more.
 */
int run_restore_vf(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf);
/* Do this for all its VFs. All are tried; the first failure is returned. */
int run_restore(struct vfctl_ctx *ctx, const struct vfctl_lease *lease);
/*
 * End the run: restore its VFs, and end the leases of VFs that were plugged in only for the run and
 * a lease that its start made. 0 also if there is no run. On a failure nothing is deleted, so that
 * the call can be repeated.
 */
int run_end(struct vfctl_ctx *ctx, const char *uuid);

#endif
