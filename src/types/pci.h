/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_PCI_H
#define VFCTL_TYPES_PCI_H

#include <stdbool.h>
#include <stdint.h>

/** The settings of a PF's PCI Express capability. */
struct vfctl_pci_express {
	unsigned max_read_request_bytes; /**< 128 .. 16384: size of the largest read request */
	unsigned max_payload_bytes;	 /**< 128 .. 16384: largest payload of one write packet */
	bool larger_reads_help; /**< larger reads may help large messages with this driver */
	bool relaxed_ordering; /**< its writes may be reordered; VFs follow their PF */
};
/**
 * What is between two PCI functions, in the words of nvidia-smi topo -m; the nearest first.
 * Functions with VFCTL_PCI_PIX or VFCTL_PCI_PXB exchange data without the host bridge.
 */
enum vfctl_pci_distance {
	VFCTL_PCI_DISTANCE_UNKNOWN,
	VFCTL_PCI_PIX,	/**< at most one PCIe switch */
	VFCTL_PCI_PXB,	/**< several PCIe switches */
	VFCTL_PCI_PHB,	/**< one PCIe host bridge, that is the CPU */
	VFCTL_PCI_NODE, /**< two host bridges of one NUMA node */
	VFCTL_PCI_SYS,	/**< two NUMA nodes */
};
/** "PIX", "PXB", "PHB", "NODE", "SYS"; "unknown". */
const char *vfctl_pci_distance_name(enum vfctl_pci_distance distance);

/** What libpci reports about a function, beyond sysfs. */
struct vfctl_pci_info {
	char name[128]; /**< vendor and device from pci.ids; "" if unknown */
	/**
	 * The SR-IOV capability was read. An unprivileged user can read only the first 64 bytes of
	 * the configuration space, so "not known" does not mean "absent".
	 */
	bool sriov_known;
	uint16_t sriov_total_vfs;   /**< TotalVFs of the capability (PCIe 6.0, 9.3.3.6) */
	uint16_t sriov_initial_vfs; /**< InitialVFs */
};

#endif
