/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_DOCTOR_H
#define VFCTL_CHECKS_DOCTOR_H

#include "checks/check.h"

/* What a host needs before any guest can have a VF. */
extern const struct check host_checks[];
/* Fill @d->prerequisites from what the checks found. */
int doctor_list_prerequisites(struct vfctl_ctx *ctx, struct vfctl_diagnosis *d);

/* PFs whose MTU is below what guests on them were defined for. */
void doctor_check_mtu(struct exam *e);

/*
 * Of MACs that a bridge has learned keep those that no lease, VF, PF or pool has and that are not the
 * default gateway's; each other one is warned of.
 */
int doctor_filter_macs(struct vfctl_ctx *ctx, const struct vfctl_leases *leases, struct vfctl_mac *macs,
	size_t *io_count);

#endif
