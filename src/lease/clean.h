/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_CLEAN_H
#define VFCTL_LEASE_CLEAN_H

#include "types/domain.h"
#include "types/hostspec.h"
#include "types/snapshot.h"
#include "vfctl/guest.h"

struct op_type;
struct steps;
struct vfctl_change;
struct vfctl_ctx;

/**
 * Mark (to_clean) the VFs of @p snapshot that are not in use, that no driver of this host uses, and
 * that have settings that host.yaml does not declare for them: trust on, a VLAN, rate limits, or
 * the MAC of another VF in a domain's lease. Nothing is marked if the users of the VFs are not
 * known, nor on PFs that are not managed.
 * @param spec  what this host declares; NULL: nothing.
 */
void vfctl_snapshot_mark_left(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec);
/**
 * Plan to clean the VFs that are marked: reset each one, if the kernel supports that, and set what
 * host.yaml declares for it, or safe defaults. define and attach do the same before they give a VF
 * to a guest. Without such VFs the change has no steps.
 * @param spec  declaration of this host; NULL: nothing is declared.
 * @return 0; -EACCES the users of the VFs are not known; -EROFS.
 */
int vfctl_clean_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool dry_run,
	struct vfctl_change **ret_change);

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
