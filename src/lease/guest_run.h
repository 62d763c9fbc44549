/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_GUEST_RUN_H
#define VFCTL_LEASE_GUEST_RUN_H

#include "base/steps.h"
#include "core/lease.h"

struct store;

/*
 * A domain's run, from the hook's "prepare" to its "release", is one change that stays open in
 * the journal: its operations are what the guest's start changed on the host, and the end of the
 * run takes them back, whoever ends it. The locks of the PFs concerned are held by the caller.
 *
 * op_run     domain  "LEASE NAME": the domain runs, under a lease; without one of vfctl define
 *                    it has one for this run, which ends with it
 * op_run_vf  VF      "PF/INDEX ATTRIBUTES": the VF is the domain's, with these values; one that
 *                    it had no lease of is its own for this run
 */
extern const struct op_type op_run, op_run_vf;

/*
 * Carry out more of a run, which may not have begun yet. A failure takes back what was done
 * here; -ESTALE when not all of that could be, and then the journal keeps it.
 */
int run_add(struct vfctl_ctx *ctx, const char *uuid, const char *name, struct steps *steps);
/* Note what a run did, or is about to do, without doing it. */
int run_note(struct vfctl_ctx *ctx, const char *uuid, const char *name, const struct op *ops,
	size_t count);
/* The domain runs, and all that it holds has its policy: as if the hook had prepared it. */
int run_mark(struct vfctl_ctx *ctx, const char *uuid, const char *lease, const char *name);
/* The same, and lease all of that, or (@vf not NULL) that VF more, to it; both or neither. */
int run_take(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf);

enum run_state {
	RUN_NONE,
	RUN_OF_EARLIER_BOOT, /* and nobody has ended it yet */
	RUN_GOES_ON,	     /* or it was never released */
};
int run_look(struct vfctl_ctx *ctx, const char *uuid, enum run_state *ret);
/*
 * One of an earlier boot is over, though nobody said so, and what it noted is of VFs that are gone.
 * Whatever is added to a run does this first.
 */
int run_close_old(struct vfctl_ctx *ctx, const char *uuid);
/* Give one VF of @lease what it had before the run; what it had in an earlier boot is gone. */
int run_restore_vf(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf);
/* The same for all its VFs. All are tried; the first failure is returned. */
int run_restore(struct vfctl_ctx *ctx, const struct vfctl_lease *lease);
/*
 * The run is over: its VFs get back what they had before, what was plugged in for the run alone
 * is the domain's no more, and neither is a lease that a start took. 0 also when there is none.
 * All that is known is kept when it fails, so that it can be done again.
 */
int run_end(struct vfctl_ctx *ctx, const char *uuid);

#endif
