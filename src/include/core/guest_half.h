/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_GUEST_HALF_H
#define VFCTL_CORE_GUEST_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/hypervisor.h"
#include "core/tuning.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The guest's half of a profile. Interrupt moderation of a VF belongs to the driver that made its
 * queues, and that of a passed-through VF is the guest's: the host cannot set it, but can say what
 * the guest is to set, as files.
 */

/** A VF as its guest sees it. */
struct vfctl_guest_half_vf {
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
struct vfctl_guest_half {
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
int vfctl_guest_half_make(struct vfctl_ctx *ctx, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vfs, size_t count, struct vfctl_guest_half **ret_tuning);
void vfctl_guest_half_free(struct vfctl_guest_half *tuning); /**< NULL is fine */
DEFINE_FREEP(struct vfctl_guest_half, vfctl_guest_half_free)

/** The same as user-data of cloud-init; may be run again. The caller frees it. @return 0; -ENOMEM. */
int vfctl_guest_half_cloud_init(struct vfctl_ctx *ctx, const struct vfctl_guest_half *tuning,
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
int vfctl_guest_half_apply(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vfs, size_t vf_count,
	const struct vfctl_guest_half *tuning, struct vfctl_guest_outcome **ret_outcomes,
	size_t *ret_count);
void vfctl_guest_outcomes_free(struct vfctl_guest_outcome *outcomes, size_t count);

#ifdef __cplusplus
}
#endif
#endif
