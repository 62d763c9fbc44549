/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOOK_GUEST_TUNING_H
#define VFCTL_HOOK_GUEST_TUNING_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/address.h"
#include "base/cleanup.h"
#include "base/cpuset.h"
#include "types/hostspec.h"
#include "types/lease.h"
#include "types/tuning.h"

struct vfctl_ctx;

/** A CPU that only this guest's lease holds. */
struct vfctl_tuned_cpu {
	unsigned cpu;
	char governor[VFCTL_GOVERNOR_MAX + 1]; /**< its present governor; "": no cpufreq */
};

/** An interrupt vector of one of its VFs. It exists once the guest's driver has enabled it. */
struct vfctl_tuned_vector {
	struct vfctl_bdf vf;
	unsigned irq;
	bool managed; /**< managed by the kernel, which accepts no other CPUs */
	struct vfctl_cpuset cpus;      /**< CPUs that are allowed now */
	struct vfctl_cpuset effective; /**< CPUs of its next interrupts; empty: unknown */
	struct vfctl_cpuset want;      /**< CPUs that it should go to; empty: no change */
};

/** The host tuning of a domain's run. Freed as a whole. */
struct vfctl_guest_tuned {
	char name[256];
	char uuid[VFCTL_UUID_TEXT];
	int pid; /**< process id of its QEMU */
	struct vfctl_guest_tuning asked; /**< what its metadata requests */
	char *problem; /**< why the request is ignored, as text; NULL: it is applied */
	/** The resulting settings, with the values of the profile. */
	char governor[VFCTL_GOVERNOR_MAX + 1]; /**< "": none */
	uint32_t cpu_latency_us; /**< or VFCTL_CPU_LATENCY_UNSAID */
	bool interrupts;
	bool watched; /**< the process that limits the C-states and steers the interrupts is alive */
	struct vfctl_tuned_cpu *cpus;
	size_t cpu_count;
	struct vfctl_tuned_vector *vectors;
	size_t vector_count;
	/**
	 * This machine can post interrupts into guests. For posted interrupts, their CPUs have no
	 * effect.
	 */
	bool may_be_posted;
	char *irqbalance; /**< why irqbalance may move the interrupts, with a remedy; NULL: it does not */
};

/**
 * Read the tuning of a running domain.
 * @param spec    host.yaml, or NULL.
 * @param domain  name or UUID of a running domain.
 * @param ret     free it with vfctl_guest_tuned_free().
 * @return 0; -ENOENT no domain of that name or UUID runs here; -EACCES libvirt's files cannot be
 * read; -ENOMEM.
 */
int vfctl_guest_tuning_read(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *domain, struct vfctl_guest_tuned **ret);
/** NULL is allowed. */
void vfctl_guest_tuned_free(struct vfctl_guest_tuned *tuned);
DEFINE_FREEP(struct vfctl_guest_tuned, vfctl_guest_tuned_free)

/**
 * Read the tuning that the definition of a domain requests, whether it runs or not. A zeroed result
 * requests nothing.
 * @return 0; -ENOENT it is not defined here; -EACCES libvirt's files cannot be read; -EINVAL its
 * metadata is damaged; -ENOMEM.
 */
int vfctl_guest_tuning_asked(struct vfctl_ctx *ctx, const char *domain,
	struct vfctl_guest_tuning *ret);

/**
 * Whether this domain needs vfctl_guest_tuning_watch() while it runs.
 * @param ret_uuid  of the domain; set when it does.
 * @return 1 or 0; -EINVAL if it is not a domain; -ENOMEM.
 */
int vfctl_guest_tuning_needed(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *xml, size_t len, char ret_uuid[VFCTL_UUID_TEXT]);

/**
 * Tune the host until the domain's QEMU ends: limit the C-states (/dev/cpu_dma_latency; the kernel
 * removes the limit whenever this process ends) and set the CPUs of its VFs' interrupts as the
 * guest's driver enables them. Each action is logged in the system's log.
 * @return 0 when QEMU has ended, if there is nothing to do, or if another process already does this
 * for the domain; -ENOENT it does not run; -ENOMEM.
 */
int vfctl_guest_tuning_watch(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *uuid);

#endif
