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

/** What libpci tells of a function beyond sysfs. */
struct vfctl_pci_info {
	char name[128]; /**< vendor and device from pci.ids; "" when unknown */
	/**
	 * The SR-IOV capability was read. An unprivileged user sees the first 64 bytes of
	 * the configuration space only, so "not known" does not mean "absent".
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
