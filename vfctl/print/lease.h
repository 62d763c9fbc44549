/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_LEASE_H
#define VFCTL_PRINT_LEASE_H

#include "out.h"
#include "vfctl/snapshot.h"

/* What a domain holds, and of each of its VFs what it was leased with beside what it has. */
void print_lease(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_lease *lease);
void print_lease_json(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_lease *lease);

#endif
