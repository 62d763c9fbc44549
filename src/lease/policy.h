/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_POLICY_H
#define VFCTL_LEASE_POLICY_H

#include "base/steps.h"
#include "vfctl/domain.h"

/*
 * What VFs need for the policy that their guest asks for, as operations: what differs from how
 * they are now, a step for each PF. None when nothing differs. The PFs' locks are held.
 * @return 0; -ENOENT a VF is not there (PF and index in the words); -EBUSY another process
 * has it open; -EIO it cannot be read; -ENOMEM.
 */
int policy_plan(struct vfctl_ctx *ctx, const struct vfctl_domain_vf *vfs, size_t count,
	struct steps *steps);

#endif
