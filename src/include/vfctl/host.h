/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_HOST_H
#define LIBVFCTL_HOST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Host: the physical functions (PFs) with SR-IOV, their VFs, and the users of the VFs, as an
 * immutable snapshot. Members that most programs need have getters; all others are read by key.
 */

/** A snapshot of the host's PFs and VFs, of the leases, and of libvirt's domains with VFs. */
struct vfctl_snapshot;
/** A physical function; owned by its snapshot. */
struct vfctl_pf;
/** A virtual function; owned by its snapshot. */
struct vfctl_vf;

/** Size of a buffer for any PCI address ("0000:3b:00.2", "10000:01:00.0") with its NUL. */
#define VFCTL_BDF_TEXT 20
/** NUMA node of a device without one, as the kernel prints it. */
#define VFCTL_NODE_NONE (-1)

/** What uses a VF now. Its lease is separate: see the key "leased-to". @since 0.1 */
enum vfctl_holder_kind {
	VFCTL_HOLDER_NONE,   /**< the VF is not in use */
	VFCTL_HOLDER_DOMAIN, /**< a running libvirt domain: its QEMU has it open in VFIO */
	VFCTL_HOLDER_VFIO,   /**< open in VFIO by another process, or by an unknown one */
	VFCTL_HOLDER_NETNS,  /**< its network device is in another network namespace */
	VFCTL_HOLDER_HOST,   /**< the host uses its network device: it is up, a port of a bridge or bond,
				  below a macvtap or VLAN, or has an XDP program */
	VFCTL_HOLDER_PROCESS, /**< a process has it open through UIO, RDMA verbs or vDPA; @since 0.1 */
	VFCTL_HOLDER_VDPA,   /**< a vDPA device of the host is on it; @since 0.1 */
};

/**
 * Read the PFs, the VFs, the leases, and the domains that have VFs. The domains are read from
 * libvirt's files, without a connection to libvirt. The call does not fail if leases or domains
 * cannot be read: see vfctl_snapshot_gap().
 *
 * @param only  name of a PF or VF: only the VFs of that PF are read, and other PFs are listed
 *              without their VFs; NULL to read everything.
 * @param ret   receives the snapshot; free it with vfctl_snapshot_free().
 * @return 0, or the negative errno of the first read that failed.
 * @since 0.1
 */
int vfctl_snapshot_read(struct vfctl_ctx *ctx, const char *only, struct vfctl_snapshot **ret);

/**
 * Free a snapshot with its PFs and VFs.
 *
 * @param snapshot  may be NULL.
 * @since 0.1
 */
void vfctl_snapshot_free(struct vfctl_snapshot *snapshot);

/**
 * The PFs, in ascending order of their PCI addresses.
 *
 * @param index  position, starting at 0.
 * @return the PF, owned by the snapshot; NULL past the last PF.
 * @since 0.1
 */
const struct vfctl_pf *vfctl_snapshot_pf(const struct vfctl_snapshot *snapshot, size_t index);

/**
 * Find a PF by name: PCI address, network device, alternative name or RDMA device.
 *
 * @param name  the name, as a user would type it.
 * @param ret   receives the PF, owned by the snapshot.
 * @return 0; -ENOENT: there is no such PF, and the message names those that exist.
 * @since 0.1
 */
int vfctl_snapshot_find_pf(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const char *name, const struct vfctl_pf **ret);

/**
 * Find a VF by "PF/INDEX" or by its PCI address.
 *
 * @param name    the name, as a user would type it.
 * @param ret_pf  receives its PF, owned by the snapshot; may be NULL.
 * @param ret     receives the VF, owned by the snapshot.
 * @return 0; -EINVAL: the name is neither of these; -ENOENT: there is no such PF or VF.
 * @since 0.1
 */
int vfctl_snapshot_find_vf(struct vfctl_ctx *ctx, const struct vfctl_snapshot *snapshot,
	const char *name, const struct vfctl_pf **ret_pf, const struct vfctl_vf **ret);

/**
 * What could not be read, one by one: leases, files of libvirt, a part of a domain, a device. If
 * there is anything, a VF may be in use although the snapshot does not show it.
 *
 * @param index  position, starting at 0.
 * @return a sentence, owned by the snapshot; NULL past the last one.
 * @since 0.1
 */
const char *vfctl_snapshot_gap(const struct vfctl_snapshot *snapshot, size_t index);

/**
 * The usual name of a PF: its network device, or else its RDMA device, or else its PCI address.
 *
 * @param buf  VFCTL_BDF_TEXT bytes, used when the name is the address.
 * @return a string owned by the snapshot, or @p buf.
 * @since 0.1
 */
const char *vfctl_pf_name(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT]);

/**
 * The PCI address of a PF, as the kernel prints it.
 *
 * @param buf  VFCTL_BDF_TEXT bytes, receives the text.
 * @return @p buf.
 * @since 0.1
 */
char *vfctl_pf_address(const struct vfctl_pf *pf, char buf[VFCTL_BDF_TEXT]);

/**
 * The NUMA node of a PF.
 *
 * @return the kernel's number, or VFCTL_NODE_NONE.
 * @since 0.1
 */
int vfctl_pf_node(const struct vfctl_pf *pf);

/**
 * The number of VFs that a PF can have: the driver's limit, which may be lower than that of the
 * device.
 *
 * @return the number of VFs, 0 to 65535.
 * @since 0.1
 */
uint32_t vfctl_pf_total_vfs(const struct vfctl_pf *pf);

/**
 * The number of VFs that a PF has.
 *
 * @return the number of VFs, 0 to vfctl_pf_total_vfs().
 * @since 0.1
 */
uint32_t vfctl_pf_vf_count(const struct vfctl_pf *pf);

/**
 * The VFs of a PF, in ascending order of their indexes.
 *
 * @param at  position in this list, starting at 0. It differs from the VF's index if VFs are
 *            missing.
 * @return the VF, owned by the snapshot; NULL past the last VF, or when the VFs of this PF were not
 *         read.
 * @since 0.1
 */
const struct vfctl_vf *vfctl_pf_vf(const struct vfctl_pf *pf, size_t at);

/**
 * A member of a PF by its key, as a string: "driver", "netdev", "rdma", "mac", "guid", "port-id",
 * "vendor", "device", "iommu-group", "link-layer", "up", "carrier", "speed-mbps", "mtu", "eswitch",
 * "acs", "bond", "autoprobe", "unread" and others: vfctl_pf_key() lists them.
 *
 * @param key   one of the keys.
 * @param buf   receives the text, cut to @p size - 1 bytes if it is longer; may be NULL if size is
 *              0.
 * @param size  bytes of @p buf.
 * @return the length of the whole text in bytes; -ENODATA: the PF has no such value, or it is not
 * known (@p buf is then unchanged); -ENOENT: there is no such key.
 * @since 0.1
 */
int vfctl_pf_get(const struct vfctl_pf *pf, const char *key, char *buf, size_t size);

/**
 * The keys of vfctl_pf_get(), one by one.
 *
 * @param index     position, starting at 0.
 * @param ret_help  receives a static line that describes the value; may be NULL.
 * @return a static string; NULL past the last key.
 * @since 0.1
 */
const char *vfctl_pf_key(size_t index, const char **ret_help);

/**
 * The index of a VF in its PF: the N of "PF/N" and of the kernel's virtfnN.
 *
 * @return the index, starting at 0.
 * @since 0.1
 */
uint32_t vfctl_vf_index(const struct vfctl_vf *vf);

/**
 * The PCI address of a VF, as the kernel prints it.
 *
 * @param buf  VFCTL_BDF_TEXT bytes, receives the text.
 * @return @p buf.
 * @since 0.1
 */
char *vfctl_vf_address(const struct vfctl_vf *vf, char buf[VFCTL_BDF_TEXT]);

/**
 * The NUMA node of a VF.
 *
 * @return the kernel's number, or VFCTL_NODE_NONE.
 * @since 0.1
 */
int vfctl_vf_node(const struct vfctl_vf *vf);

/**
 * What uses a VF now. vfctl_vf_get() returns the name of the user for the key "holder-name".
 *
 * @return one of the kinds; new releases may add kinds.
 * @since 0.1
 */
enum vfctl_holder_kind vfctl_vf_holder(const struct vfctl_vf *vf);

/**
 * Whether a VF is free: not in use, not leased, not in the definition of a domain, and not to be
 * cleaned after its last guest.
 *
 * @return true if it is free.
 * @since 0.1
 */
bool vfctl_vf_is_free(const struct vfctl_vf *vf);

/**
 * A member of a VF by its key, as a string: "driver", "netdev", "rdma", "iommu-group", "holder",
 * "holder-name", "leased-to", "defined-in", "to-clean", "representor", "bridge", and every VF
 * attribute ("mac", "vlan", "trust", ...) that its driver reports. vfctl_vf_key() lists them.
 *
 * @param key   one of the keys.
 * @param buf   receives the text, cut to @p size - 1 bytes if it is longer; may be NULL if size is
 *              0.
 * @param size  bytes of @p buf.
 * @return the length of the whole text in bytes; -ENODATA: the VF has no such value, or it is not
 * known (@p buf is then unchanged); -ENOENT: there is no such key.
 * @since 0.1
 */
int vfctl_vf_get(const struct vfctl_vf *vf, const char *key, char *buf, size_t size);

/**
 * The keys of vfctl_vf_get(), one by one; the VF attributes come last.
 *
 * @param index     position, starting at 0.
 * @param ret_help  receives a static line that describes the value; may be NULL.
 * @return a static string; NULL past the last key.
 * @since 0.1
 */
const char *vfctl_vf_key(size_t index, const char **ret_help);

/**
 * The VF attributes that can be set ("mac", "vlan", "max-rate", ...), one by one, in the order in
 * which vfctl prints them. docs/reference/host-yaml.md and vfctl set --help describe their values.
 *
 * @param index     position, starting at 0.
 * @param ret_help  receives a static line that describes the attribute and its range with units;
 *                  may be NULL.
 * @return a static string; NULL past the last attribute.
 * @since 0.1
 */
const char *vfctl_attr_key(size_t index, const char **ret_help);

#ifdef __cplusplus
}
#endif
#endif
