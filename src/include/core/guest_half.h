/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_GUEST_HALF_H
#define VFCTL_CORE_GUEST_HALF_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/guest.h"
#include "core/hypervisor.h"
#include "core/tuning.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * The guest's half of a profile. Interrupt moderation of a VF belongs to the driver that created
 * its queues. For a passed-through VF this is the guest's driver: the host cannot set it, but can
 * provide files with the settings for the guest.
 */

/** A VF from its guest's point of view. */
struct vfctl_guest_half_vf {
	struct vfctl_mac mac; /**< Ethernet: identifies the guest's interface */
	bool infiniband;      /**< its interface is IPoIB */
	bool rdma;	      /**< it has an RDMA device as well, or is one */
	uint32_t mtu;	      /**< requested MTU of the interface; 0: unchanged */
	enum vfctl_ipoib_mode ipoib_mode; /**< requested mode of an IPoIB interface */
	const char *pf_driver; /**< driver on the host: "igb", "mlx5_core", ... */
};

/** The program that configures IPoIB interfaces in the guest. */
enum vfctl_guest_network {
	VFCTL_NETWORK_ANY, /**< one that keeps the mode, which udev sets: ifupdown, systemd-networkd */
	VFCTL_NETWORK_NETWORKD,
	VFCTL_NETWORK_MANAGER,
	VFCTL_NETWORK_NETPLAN,
};

struct vfctl_guest_file {
	char *path; /**< path in the guest */
	char *text;
	bool secret; /**< its reader accepts it only with mode 0600; others have 0644 */
};

/** A plain tree; freed as a whole. */
struct vfctl_guest_half {
	struct vfctl_guest_file *files;
	size_t file_count;
	char ***commands; /**< argument lists that apply the settings without a reboot */
	size_t command_count;
	char **notes; /**< what a driver in the guest does not support, and what it does instead */
	size_t note_count;
};

/**
 * The driver of a VF of that PF in a guest, by ethtool -i: "igbvf"; the PF's own driver if it
 * drives both.
 */
const char *vfctl_guest_driver(const char *pf_driver);

/**
 * Make the files. Pure: the same profile and VFs give the same bytes.
 * @return 0; -ENODATA the profile requests nothing from such a guest; -ENOMEM.
 */
int vfctl_guest_half_make(struct vfctl_ctx *ctx, const struct vfctl_profile *profile,
	const struct vfctl_guest_half_vf *vfs, size_t count, enum vfctl_guest_network network,
	struct vfctl_guest_half **ret_tuning);
void vfctl_guest_half_free(struct vfctl_guest_half *tuning); /**< NULL is fine */
DEFINE_FREEP(struct vfctl_guest_half, vfctl_guest_half_free)

/**
 * Make the same settings as user-data of cloud-init. They can be applied repeatedly. The caller
 * frees it. @return 0; -ENOMEM.
 */
int vfctl_guest_half_cloud_init(struct vfctl_ctx *ctx, const struct vfctl_guest_half *tuning,
	char **ret_text);

/** The outcome for one VF or one file in a running guest. */
struct vfctl_guest_outcome {
	char *what;  /**< the path, or "52:54:00:00:00:01" */
	char *message; /**< "written", "eth1 has rx-usecs=0", or the reason of the failure */
	bool done;
};

/**
 * Write the files into a running guest through its agent, set the interrupt moderation of its
 * interfaces and read it back. The call can be repeated.
 * @param ret_outcomes	one for each file and VF; vfctl_guest_outcomes_free().
 * @return 0, also if some failed; -EOPNOTSUPP no agent answers, and the message has a remedy.
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
