/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_LEASE_H
#define VFCTL_PRINT_LEASE_H

#include "answer.h"
#include "types/snapshot.h"

/* Print the resources of a domain, and the leased and present values of each of its VFs. */
void print_lease(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_lease *lease);
/* The same as JSON. */
struct lease_view {
	const struct vfctl_inventory *inventory;
	const struct vfctl_lease *lease;
};
extern const struct member answer_lease[];

#endif
