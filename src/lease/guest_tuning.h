/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_GUEST_TUNING_H
#define VFCTL_LEASE_GUEST_TUNING_H

#include "base/buf.h"
#include "base/steps.h"
#include "state/journal.h"
#include "types/domain.h"
#include "types/lease.h"

/*
 * What a guest's run changes on its host besides its VFs. The metadata requests it, and every user
 * who may define domains can write metadata. So a guest gets only: governors for CPUs that no other
 * lease has, a limit of C-states if it has such CPUs, and interrupts of its own VFs on CPUs of no
 * other guest. A request that cannot be met is a warning and does not make the start fail.
 */
struct tuning_wanted {
	char governor[VFCTL_GOVERNOR_MAX + 1]; /* "" if none is requested */
	uint32_t cpu_latency_us; /* or VFCTL_CPU_LATENCY_UNSAID */
	bool interrupts;
};

/* Combine the profile with the guest's own settings. -ENOENT: this host has no such profile. */
int tuning_resolve(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_guest_tuning *asked, struct tuning_wanted *ret);

/*
 * The CPUs of a node (VFCTL_NODE_NONE: of all nodes) for the host's own work: those that host.yaml
 * reserves there, or else those that the kernel does not isolate and no guest holds. May be empty.
 */
void tuning_housekeeping(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, int node, struct vfctl_cpuset *ret);
/*
 * The CPUs for the interrupts of a guest's VF: those of QEMU's own threads, or else those of
 * tuning_housekeeping(), but never those of another guest's vCPUs.
 */
void tuning_vector_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, const struct vfctl_domain_intent *intent,
	const struct vfctl_bdf *vf, struct vfctl_cpuset *ret);

/* The CPUs for which the guest may have governors; empty: none, and no limit of C-states either. */
struct vfctl_cpuset tuning_own_cpus(const struct vfctl_lease *lease);

struct tuning_start {
	const struct vfctl_host_spec *spec; /* may be NULL */
	const struct vfctl_domain_intent *intent;
	const struct vfctl_lease *lease; /* the lease that vfctl made, or NULL */
	const struct vfctl_domain_vf *vfs; /* the VFs that the guest gets */
	size_t vf_count;
	int lock; /* -1: not held; if CPUs share a governor, held until the steps are done */
	struct buf left_out; /* requests that cannot be met, as text; logged when the guest starts */
};
/* Plan the steps of the start. The caller owns the text and the lock. */
int tuning_plan(struct vfctl_ctx *ctx, struct tuning_start *start, struct steps *steps);

/*
 * Whether the operation is an effect of tuning, which the end of the run rolls back regardless of
 * the lease.
 */
bool tuning_is_effect(const struct op *op);
/* Whether this VF, and so the handling of its interrupts, belongs to that domain. */
bool tuning_is_kept(struct vfctl_ctx *ctx, const char *uuid, const struct vfctl_bdf *vf);
/*
 * Drop the entries of an ended lease, or (@only NULL) of all VFs of the lease, including those that
 * were plugged in.
 */
int tuning_forget_kept(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_bdf *only);
/*
 * Handle the end of a run: governors that another guest's run also requests are kept. That run will
 * restore them to the values before this run. @ops, the operations of @run, are reduced to those
 * that are rolled back now; *@io_count. @ret_lock (-1) is held until the run is closed.
 */
int tuning_hand_over(struct vfctl_ctx *ctx, const struct open_change *run, struct op *ops,
	size_t *io_count, int *ret_lock);

#endif
