/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_HEALTH_H
#define VFCTL_CHECKS_HEALTH_H

#include "base/ctx.h"

#define PCI_HOPS_MAX 16

/*
 * A link between a function and the port above it. It should run at the best speed that both ends
 * support: comparing only with the card's own maximum gives false alarms in narrower slots
 * (mej/nhc#90, scitix/sichek#122).
 */
struct pci_hop {
	char parent[VFCTL_BDF_TEXT], child[VFCTL_BDF_TEXT];
	double gts, gts_possible;
	unsigned lanes, lanes_possible;
};

/*
 * The links whose speeds are known, from the root to the function; @ret has space for PCI_HOPS_MAX.
 */
size_t pci_hops_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct pci_hop *ret);

/* The errors that AER counted at that function since the boot; false: there are no counters. */
bool pci_errors_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, uint64_t *ret_correctable,
	uint64_t *ret_others);

#endif
