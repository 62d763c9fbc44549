/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_LEASE_GUEST_TUNING_H
#define VFCTL_LEASE_GUEST_TUNING_H

#include "base/buf.h"
#include "base/steps.h"
#include "state/journal.h"
#include "core/domain.h"
#include "core/hostspec.h"
#include "core/lease.h"

/*
 * What a guest's run changes on its host besides its VFs. The metadata asks, and whoever may
 * define domains wrote that: it gets governors for CPUs that its lease has alone, a limit of
 * C-states if it has such CPUs, and interrupts of its own VFs on CPUs of no other guest. No start
 * fails for it: what is not to be had is a warning.
 */
struct tuning_wanted {
	char governor[VFCTL_GOVERNOR_MAX + 1]; /* "": none */
	uint32_t cpu_latency_us; /* or VFCTL_CPU_LATENCY_UNSAID */
	bool interrupts;
};

/* The profile, and what the guest wants otherwise. -ENOENT: this host has no such profile. */
int tuning_resolve(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_guest_tuning *asked, struct tuning_wanted *ret);

/*
 * CPUs of a node (VFCTL_NODE_NONE: of all) for the host's own work: those that host.yaml reserves
 * there, else those that neither the kernel's command line isolates nor guests have. May be empty.
 */
void tuning_housekeeping(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, int node, struct vfctl_cpuset *ret);
/*
 * Where the interrupts of a guest's VF go: to the CPUs of QEMU's own threads, else to those of
 * tuning_housekeeping(); to none that another guest has for its vCPUs.
 */
void tuning_vector_cpus(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_leases *leases, const struct vfctl_domain_intent *intent,
	const struct vfctl_bdf *vf, struct vfctl_cpuset *ret);

/* The CPUs that it may have governors for; empty: none, and no limit of C-states either. */
struct vfctl_cpuset tuning_own_cpus(const struct vfctl_lease *lease);

struct tuning_start {
	const struct vfctl_host_spec *spec; /* may be NULL */
	const struct vfctl_domain_intent *intent;
	const struct vfctl_lease *lease; /* that vfctl made, or NULL */
	const struct vfctl_domain_vf *vfs; /* that it gets */
	size_t vf_count;
	int lock; /* -1; held until the steps are carried out when CPUs share a governor */
	struct buf left_out; /* what is not to be had, in words; for when the guest starts */
};
/* Steps of the start. The words and the lock are the caller's. */
int tuning_plan(struct vfctl_ctx *ctx, struct tuning_start *start, struct steps *steps);

/* Is it an effect of tuning, which the end of the run takes back whatever its lease is? */
bool tuning_is_effect(const struct op *op);
/* Is this VF, and by that what becomes of its interrupts, that domain's? */
bool tuning_is_kept(struct vfctl_ctx *ctx, const char *uuid, const struct vfctl_bdf *vf);
/* It is no more, nor are (@only NULL) all of the lease: also those that were plugged in. */
int tuning_forget_kept(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_bdf *only);
/*
 * The end of a run: its governors that another guest's run wants as well are left, and that run
 * takes them back to what they were before this one. @ops, of @run, become those that are to be
 * taken back now; *@io_count. @ret_lock (-1) is held until the run is closed.
 */
int tuning_hand_over(struct vfctl_ctx *ctx, const struct open_change *run, struct op *ops,
	size_t *io_count, int *ret_lock);

#endif
