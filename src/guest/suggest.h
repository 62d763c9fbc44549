/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_GUEST_SUGGEST_H
#define VFCTL_GUEST_SUGGEST_H

#include "types/hypervisor.h"
#include "types/lease.h"

/*
 * Append "; did you mean NAME?" to the message of a failure to find @domain if the name of one
 * other domain is near: in libvirt (@hypervisor NULL: not connected), or with a lease (@leases may
 * be NULL). Returns @error.
 */
int suggest_domain(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const struct vfctl_leases *leases, const char *domain, int error);

#endif
