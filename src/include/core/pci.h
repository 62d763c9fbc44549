/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_PCI_H
#define VFCTL_CORE_PCI_H

#include <stdbool.h>
#include <stdint.h>

#include "core/context.h"
#include "core/types.h"

#ifdef __cplusplus
extern "C" {
#endif

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

/**
 * Read name and SR-IOV capability of one function through libpci.
 * @return 0; -ENOENT no such function; -ENOPKG libpci is not installed; -EIO.
 */
int vfctl_pci_info_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	struct vfctl_pci_info *ret_info);

#ifdef __cplusplus
}
#endif
#endif
