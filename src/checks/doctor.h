/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_DOCTOR_H
#define VFCTL_CHECKS_DOCTOR_H

#include "checks/check.h"

/* The requirements of a host before any guest can have a VF. */
extern const struct check host_checks[];
/* Fill in @d->prerequisites from the results of the checks. */
int doctor_list_prerequisites(struct vfctl_ctx *ctx, struct vfctl_doctor_report *d);

/* Report PFs whose MTU is below that for which guests on them were defined. */
void doctor_check_mtu(struct check_ctx *e);

/*
 * Keep those MACs of a bridge that do not belong to a lease, VF, PF, pool or the default gateway;
 * warn about each of the others.
 */
int doctor_filter_macs(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	struct vfctl_mac *macs,
	size_t *io_count);

#endif
