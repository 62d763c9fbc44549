/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PCI_ACS_H
#define VFCTL_PCI_ACS_H

#include "types/inventory.h"
#include "vfctl/host.h"

struct vfctl_ctx;

/** "unknown", "on", "off", "absent", "overridden". */
const char *vfctl_acs_name(enum vfctl_acs acs);

/*
 * Whether the ports above a PF redirect all requests of its VFs to the IOMMU (PCI Express base
 * specification, 6.12 and 7.7.11): each root port and each downstream port of a switch has to
 * validate sources, redirect requests and completions, and forward upstream. @ret_port is the port
 * that determines the result; it is not set for VFCTL_ACS_UNKNOWN and VFCTL_ACS_ON.
 */
enum vfctl_acs pci_acs_of_path(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	struct vfctl_bdf *ret_port);

/* Check one port's configuration space; for pci_acs_of_path() and for tests. */
enum vfctl_acs pci_acs_parse(const void *config, size_t len);
/* Whether the kernel's command line makes bridges without ACS count as if they had it. */
bool pci_acs_override_in(const char *cmdline);

#endif
