/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_PF_LOCKS_H
#define VFCTL_CHANGE_PF_LOCKS_H

#include "base/ctx.h"

/* The locks of some PFs, taken in the order of their addresses so that no deadlock is possible. */
#define PF_LOCKS_MAX 64
struct pf_locks {
	struct vfctl_bdf pfs[PF_LOCKS_MAX];
	int fds[PF_LOCKS_MAX];
	size_t count;
};
/* Add a PF, also repeatedly; -E2BIG past PF_LOCKS_MAX. */
int pf_locks_add(struct vfctl_ctx *ctx, struct pf_locks *locks, const struct vfctl_bdf *pf);
/* Add the PFs of the VFs that the domain holds. */
int pf_locks_add_of(struct vfctl_ctx *ctx, struct pf_locks *locks, const char *domain_uuid);
/* Take all locks that were added; as host_lock(). */
int pf_locks_take(struct vfctl_ctx *ctx, struct pf_locks *locks);
void pf_locks_clear(struct pf_locks *locks);

#endif
