/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_H
#define VFCTL_TYPES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/** A PCI address. The domain has 32 bits: Intel VMD puts devices in domain 0x10000. */
struct vfctl_bdf {
	uint32_t domain;
	uint8_t bus;
	uint8_t slot;	  /**< 0..31 */
	uint8_t function; /**< 0..7 */
};

/** An Ethernet address, first byte first on the wire. */
struct vfctl_mac {
	uint8_t byte[6];
};

/** Bytes that hold any printed address, its terminating NUL included. */
#define VFCTL_BDF_TEXT 20
#define VFCTL_MAC_TEXT 18
#define VFCTL_GUID_TEXT 24

/** NUMA node of a device that has none, as the kernel prints it. */
#define VFCTL_NODE_NONE (-1)

/**
 * Read "0000:3b:00.2", "3b:00.2" (domain 0) or "10000:01:00.0"; hex digits in any case,
 * the whole text. @return 0, or -EINVAL when the text is no PCI address.
 */
int vfctl_bdf_parse(const char *text, struct vfctl_bdf *ret_bdf);
/** Print as the kernel does (dddd:bb:ss.f, lower case). Returns @p buf. */
char *vfctl_bdf_format(const struct vfctl_bdf *bdf, char buf[VFCTL_BDF_TEXT]);
/** Order by domain, bus, slot, function: <0, 0, >0. */
int vfctl_bdf_compare(const struct vfctl_bdf *a, const struct vfctl_bdf *b);

/**
 * Read six two-digit hex bytes, separated by ':' or '-' throughout.
 * @return 0, or -EINVAL.
 */
int vfctl_mac_parse(const char *text, struct vfctl_mac *ret_mac);
/** Print in lower case with colons. Returns @p buf. */
char *vfctl_mac_format(const struct vfctl_mac *mac, char buf[VFCTL_MAC_TEXT]);
bool vfctl_mac_is_zero(const struct vfctl_mac *mac);
/** True when the group bit (IEEE 802, bit 0 of the first byte) is set. */
bool vfctl_mac_is_multicast(const struct vfctl_mac *mac);

/** Print a GUID with colons, most significant byte first. Returns @p buf. */
char *vfctl_guid_format(uint64_t guid, char buf[VFCTL_GUID_TEXT]);

#ifdef __cplusplus
}
#endif
#endif
