/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_BASE_ADDRESS_H
#define VFCTL_BASE_ADDRESS_H

#include <stdbool.h>
#include <stdint.h>

#include "vfctl/host.h"

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

#define VFCTL_MAC_TEXT 18
#define VFCTL_PORT_ID_TEXT 24 /* bytes of a PF's permanent MAC or GUID as text */
#define VFCTL_GUID_TEXT 24
#define VFCTL_PKEY_TEXT 16

/** Bit 15 of a P_Key: set for a full member, clear for a limited one (IBTA 10.9.1.1). */
#define VFCTL_PKEY_FULL 0x8000

/**
 * Read "0000:3b:00.2", "3b:00.2" (domain 0) or "10000:01:00.0", or libvirt's name of the device,
 * "pci_0000_3b_00_2"; hex digits in upper or lower case. The whole text must match. @return 0, or
 * -EINVAL if the text is not a PCI address.
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

/**
 * Read an EUI-64 in any spelling that tools use: eight bytes separated by ':' or '-' throughout
 * ("00:02:c9:03:00:a1:b2:c0", ip), four groups of four digits ("0002:c903:00a1:b2c0", ibv_devinfo
 * and sysfs), sixteen digits, or 0x and up to sixteen (ibstat, opensm). Digits in upper or lower
 * case. The whole text must match.
 * @return 0, or -EINVAL; any 64-bit number is read, see vfctl_guid_fault().
 */
int vfctl_guid_parse(const char *text, uint64_t *ret_guid);
/**
 * Why vfctl_guid_parse() rejects @p text ("is 6 bytes, a MAC; a GUID has 8"): a static string, or
 * NULL if it accepts it.
 */
const char *vfctl_guid_parse_fault(const char *text);
/**
 * Why the number cannot be the GUID of a VF, a static string: zero (not set), all ones (mlx4:
 * delete), or with the group bit (IEEE EUI-64, bit 56). NULL if it can.
 */
const char *vfctl_guid_fault(uint64_t guid);
/**
 * Read a P_Key and its membership: "0x0010", "0x10:full", "0x10:limited"; without a membership it
 * means full. The number is 0x1..0x7fff with its prefix: the membership bit does not belong to it
 * (0x8010 is an error), and zero is not a P_Key (IBTA 10.9.2).
 * @param ret_pkey  as on the wire: bit 15 set for a full member.
 * @return 0, or -EINVAL.
 */
int vfctl_pkey_parse(const char *text, uint16_t *ret_pkey);
/** Print "0x0010:full", the canonical form. Returns @p buf. */
char *vfctl_pkey_format(uint16_t pkey, char buf[VFCTL_PKEY_TEXT]);
/**
 * Derive a GUID from that of a PF: its OUI with the local bit (IEEE EUI-64, bit 57), the last three
 * bytes of @p own, and a number. The results differ for the PFs of one vendor and for up to 65535
 * numbers each, and are the same for the same PF on every boot.
 * @param own  a port GUID of the PF.
 */
uint64_t vfctl_guid_derive(uint64_t own, uint16_t number);
/** Print a GUID with colons, most significant byte first. Returns @p buf. */
char *vfctl_guid_format(uint64_t guid, char buf[VFCTL_GUID_TEXT]);

#endif
