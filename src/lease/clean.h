/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_CLEAN_H
#define VFCTL_LEASE_CLEAN_H

#include "base/change.h"
#include "core/workflow.h"

/*
 * op_clean  "PF/INDEX"  a VF that nobody has: reset, where the kernel offers that, and with these
 *                       values, as JSON. One that is leased by now has gone on to its guest: then
 *                       it counts as done, and is not taken back.
 */
extern const struct op_type op_clean;
/*
 * op_new_identity  "PF/INDEX"  the MAC or GUIDs, as JSON, of a VF that leaves its domain, for the
 *                              domain takes those that it has along to another VF. Not while
 *                              somebody has it open.
 */
extern const struct op_type op_new_identity;

/*
 * Before VFs are handed out: a step for each of them that is to be cleaned. The others, and those
 * that somebody has, are passed over.
 */
int clean_add_steps(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, const struct vfctl_domain_vf *vfs, size_t count,
	struct steps *steps);

#endif
