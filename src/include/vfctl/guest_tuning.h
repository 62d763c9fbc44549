/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_TUNING_H
#define VFCTL_GUEST_TUNING_H

#include "vfctl/hostspec.h"
#include "vfctl/lease.h"
#include "vfctl/tuning.h"
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfctl/hypervisor.h"
#include "vfctl/tuning.h"
#include "vfctl/types.h"

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
/**
 * The guest's half of a profile. Interrupt moderation of a VF belongs to the driver that made its
 * queues, and that of a passed-through VF is the guest's: the host cannot set it, but can say what
 * the guest is to set, as files.
 */

/** A VF as its guest sees it. */
struct vfctl_guest_tuning_vf {
	struct vfctl_mac mac; /**< Ethernet: the guest's interface is found by it */
	bool infiniband;      /**< its interface is IPoIB */
	bool rdma;	      /**< it has an RDMA device as well, or is one */
	uint32_t mtu;	      /**< that the interface shall have; 0: as it is */
	const char *pf_driver; /**< on the host: "igb", "mlx5_core", ... */
};

struct vfctl_guest_file {
	char *path; /**< in the guest */
	char *text;
};

/** A plain tree; freed as a whole. */
struct vfctl_guest_tuning {
	struct vfctl_guest_file *files;
	size_t file_count;
	char ***commands; /**< what makes them so at once, without a reboot: argument lists */
	size_t command_count;
	char **notes; /**< what a driver of the guest cannot do, and what it does instead */
	size_t note_count;
};

/** What drives a VF of that PF in a guest, by ethtool -i: "igbvf"; the PF's own where it is one. */
const char *vfctl_guest_driver(const char *pf_driver);

/**
 * Make the files. Pure: the same profile and VFs give the same bytes.
 * @return 0; -ENODATA there is nothing that the profile asks of such a guest; -ENOMEM.
 */
int vfctl_guest_tuning_make(struct vfctl_ctx *ctx, const struct vfctl_profile *profile,
	const struct vfctl_guest_tuning_vf *vfs, size_t count, struct vfctl_guest_tuning **ret_tuning);
void vfctl_guest_tuning_free(struct vfctl_guest_tuning *tuning); /**< NULL is fine */

/** The same as user-data of cloud-init; may be run again. The caller frees it. @return 0; -ENOMEM. */
int vfctl_guest_tuning_cloud_init(struct vfctl_ctx *ctx, const struct vfctl_guest_tuning *tuning,
	char **ret_text);

/** What came of one VF, or of one file, in a running guest. */
struct vfctl_guest_outcome {
	char *what;  /**< the path, or "52:54:00:00:00:01" */
	char *words; /**< "written", "eth1 has rx-usecs=0", or why not */
	bool done;
};

/**
 * Write the files into a running guest by its agent, set the moderation of its interfaces there now
 * and read it back. May be repeated.
 * @param ret_outcomes	one for each file and VF; vfctl_guest_outcomes_free().
 * @return 0, also when some are not done; -EOPNOTSUPP no agent answers, with what to do.
 */
int vfctl_guest_tuning_apply(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_profile *profile,
	const struct vfctl_guest_tuning_vf *vfs, size_t vf_count,
	const struct vfctl_guest_tuning *tuning, struct vfctl_guest_outcome **ret_outcomes,
	size_t *ret_count);
void vfctl_guest_outcomes_free(struct vfctl_guest_outcome *outcomes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
