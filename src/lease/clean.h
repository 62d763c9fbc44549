/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_CLEAN_H
#define VFCTL_LEASE_CLEAN_H

#include "base/change.h"
#include "core/workflow.h"

/*
 * op_clean  "PF/INDEX"  a VF that is not in use: reset, if the kernel supports it, and
 *                       with these values, as JSON. If the VF is leased meanwhile, it belongs to
 *                       its guest: the operation then counts as done, and is not rolled back.
 */
extern const struct op_type op_clean;
/*
 * op_new_identity  "PF/INDEX"  the MAC or GUIDs, as JSON, of a VF that leaves its domain, because
 *                              the domain keeps its MAC or GUIDs on another VF. Not while a process
 *                              has the VF open.
 */
extern const struct op_type op_new_identity;

/*
 * Before VFs are given to a domain: add a step for each of them that is to be cleaned. Clean VFs
 * and VFs in use are skipped.
 */
int clean_add_steps(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, const struct vfctl_domain_vf *vfs, size_t count,
	struct steps *steps);

#endif
