/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TUNING_GUEST_HALF_H
#define VFCTL_TUNING_GUEST_HALF_H

#include "base/address.h"
#include "base/cleanup.h"
#include "types/guest.h"
#include "types/tuning.h"

struct vfctl_ctx;

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

/* Adapt the profile to the driver that such a VF has in a guest. */
void guest_half_fit(const struct vfctl_profile *profile, const struct vfctl_guest_half_vf *vf,
	struct vfctl_tuning_fit *ret);
/* The key of systemd.link(5) for a setting; NULL if there is none. @ret_unit: "us", "s" or "". */
const char *guest_half_link_key(enum vfctl_coalesce_key key, const char **ret_unit);

/* guest_ipoib.c: "" if udev sets neither mode nor MTU. NULL: out of memory. */
char *guest_ipoib_rule(const struct vfctl_guest_half_vf *vf);
/*
 * A file of that program for all IPoIB interfaces of the guest; it must be freed. Without a path:
 * the program needs none. False: out of memory.
 */
bool guest_ipoib_file(enum vfctl_guest_network network, const struct vfctl_guest_half_vf *vf,
	struct vfctl_guest_file *ret);

#endif
