/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_HOST_CHECKS_H
#define VFCTL_CHECKS_HOST_CHECKS_H

#include "checks/check.h"
#include "ids/values.h"

/* The requirements of a host before any guest can have a VF. */
extern const struct check host_checks[];
/* Fill in @d->prerequisites from the results of the checks. */
int doctor_list_prerequisites(struct vfctl_ctx *ctx, struct vfctl_doctor_report *d);

/* Report PFs whose MTU is below that for which guests on them were defined. */
void doctor_check_mtu(struct check_ctx *e);

/* What decides whether a MAC behind a bridge may be written into a card's table. */
struct mac_filter {
	struct value_rows rows;
	struct value_facts facts;
};

/* @leases: must exist until it is closed. */
int mac_filter_open(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	struct mac_filter *ret);
void mac_filter_close(struct mac_filter *filter);
/*
 * 0: it may be written; 1: it belongs to a lease, VF, PF, pool or the default gateway, which the
 * context's message names.
 */
int mac_filter_ask(struct vfctl_ctx *ctx, struct mac_filter *filter, const struct vfctl_mac *mac);

/* Keep those that may be written; warn about each of the others. */
int doctor_filter_macs(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	struct vfctl_mac *macs, size_t *io_count);

#endif
