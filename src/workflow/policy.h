/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_WORKFLOW_POLICY_H
#define VFCTL_WORKFLOW_POLICY_H

#include "state/store.h"
#include "vfctl/domain.h"

/*
 * Give VFs that are leased to a guest the policy it asks for: what differs is written, all
 * VFs of a PF at once, and read back; what was there before is kept in the lease, so that
 * policy_restore() can return it. On a failure every VF is as it was.
 * @return 0; -ENOENT a VF is not there (PF and index in the words); -EBUSY another process
 * has it open; -ESTALE it failed and not every VF is as it was: keep the lease; else as
 * attrs_write().
 */
int policy_apply(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_domain_vf *vfs, size_t count);

/*
 * Return what policy_apply() found on the VFs of @lease, or on @vf alone. VFs that are gone or
 * were never written are passed over; all are tried, the first failure is returned. What was
 * found in an earlier boot is forgotten: that boot's VFs are gone.
 */
int policy_restore(struct vfctl_ctx *ctx, struct store *store, const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf);

#endif
