/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_GUEST_TUNING_H
#define VFCTL_CORE_GUEST_TUNING_H

#include "core/cleanup.h"
#include "core/hostspec.h"
#include "core/lease.h"
#include "core/tuning.h"

#ifdef __cplusplus
extern "C" {
#endif

/** A CPU that the guest's lease has alone. */
struct vfctl_tuned_cpu {
	unsigned cpu;
	char governor[VFCTL_GOVERNOR_MAX + 1]; /**< that it has now; "": none, there is no cpufreq */
};

/** An interrupt vector of one of its VFs: there when the guest's driver has enabled it. */
struct vfctl_tuned_vector {
	struct vfctl_bdf vf;
	unsigned irq;
	bool managed; /**< the kernel spreads it by itself and takes no other CPUs */
	struct vfctl_cpuset cpus;      /**< that it may go to */
	struct vfctl_cpuset effective; /**< that it does go to, from its next one on; empty: not told */
	struct vfctl_cpuset want;      /**< where it is to go; empty: nowhere else */
};

/** What a domain's run has of its host's tuning. Freed as a whole. */
struct vfctl_guest_tuned {
	char name[256];
	char uuid[VFCTL_UUID_TEXT];
	int pid; /**< of its QEMU */
	struct vfctl_guest_tuning asked; /**< by its metadata */
	char *problem; /**< why that is not heeded, in words; NULL: it is */
	/** What that comes to, with the profile's values. */
	char governor[VFCTL_GOVERNOR_MAX + 1]; /**< "": none */
	uint32_t cpu_latency_us; /**< or VFCTL_CPU_LATENCY_UNSAID */
	bool interrupts;
	bool watched; /**< the process that holds the C-states and looks after the interrupts lives */
	struct vfctl_tuned_cpu *cpus;
	size_t cpu_count;
	struct vfctl_tuned_vector *vectors;
	size_t vector_count;
	/** This machine can post interrupts into guests: for those that it does, CPUs mean nothing. */
	bool may_be_posted;
	char *irqbalance; /**< why it may move the interrupts, with what helps; NULL: it does not */
};

/**
 * Read it.
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
 * What the definition of a domain asks for, whether it runs or not; zeroed: nothing.
 * @return 0; -ENOENT it is not defined here; -EACCES libvirt's files cannot be read; -EINVAL its
 * metadata is damaged; -ENOMEM.
 */
int vfctl_guest_tuning_asked(struct vfctl_ctx *ctx, const char *domain,
	struct vfctl_guest_tuning *ret);

/**
 * Does this domain need vfctl_guest_tuning_watch() while it runs?
 * @param ret_uuid  of the domain; set when it does.
 * @return 1 or 0; -EINVAL for what is no domain; -ENOMEM.
 */
int vfctl_guest_tuning_needed(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *xml, size_t len, char ret_uuid[VFCTL_UUID_TEXT]);

/**
 * Until the domain's QEMU has ended: hold the limit of C-states (/dev/cpu_dma_latency, which the
 * kernel drops when this process ends, however it does) and have interrupts of its VFs go where they
 * shall, as its guest's driver makes them. What is done is in the system's log.
 * @return 0 when it has ended, when there is nothing to do, or another process does this for the
 * domain already; -ENOENT it does not run; -ENOMEM.
 */
int vfctl_guest_tuning_watch(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const char *uuid);

#ifdef __cplusplus
}
#endif
#endif
