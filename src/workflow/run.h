/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_RUN_H
#define VFCTL_WORKFLOW_RUN_H

#include "state/store.h"
#include "vfctl/inventory.h"

/* The locks of some PFs, taken in the order of their addresses so that nobody waits in a ring. */
#define PF_LOCKS_MAX 64
struct pf_locks {
	struct vfctl_bdf pfs[PF_LOCKS_MAX];
	int fds[PF_LOCKS_MAX];
	size_t count;
};
/* Name a PF, once or more often; -E2BIG past PF_LOCKS_MAX. */
int pf_locks_add(struct vfctl_ctx *ctx, struct pf_locks *locks, const struct vfctl_bdf *pf);
/* Take all that were named; as host_lock(). */
int pf_locks_take(struct vfctl_ctx *ctx, struct pf_locks *locks);
void pf_locks_clear(struct pf_locks *locks);
#define _pf_locks_ _cleanup_(pf_locks_clear)

/*
 * A domain's run is over: its VFs get back what they had before, what was plugged in for the
 * run alone is not its own any more, and so is a lease that a start took. All that is known
 * is kept when it fails, so that it can be done again.
 */
int run_end(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease);

#endif
