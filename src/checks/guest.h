/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_GUEST_H
#define VFCTL_CHECKS_GUEST_H

#include "checks/check.h"
#include "facts/snapshot/domains.h"
#include "core/domain.h"

/*
 * A domain with host devices by its definition, which is what its next start has, running or not.
 * Read once for all checks.
 */
struct guest {
	char name[256];
	char *xml;			/* its definition; NULL: it cannot be read */
	struct vfctl_parsed_domain *parsed; /* the same; NULL: it is none */
	uint64_t bar_bytes;		/* of its devices */
};

/* libvirt's domains with host devices, running ones with their process; NULL: out of memory. */
const struct known_domains *exam_domains(struct exam *e);
/* Those whose definition can be read. */
void each_guest(struct exam *e, void (*look)(struct exam *e, const struct guest *g, void *data),
	void *data);
/* Of those that cannot be, once for all checks. */
void tell_unread_guests(struct exam *e);

/* The VF at that address; NULL: it is none of this host's. @ret_pf may be NULL. */
static inline const struct vfctl_vf *vf_at(const struct exam *e, const struct vfctl_bdf *bdf,
	const struct vfctl_pf **ret_pf)
{
	return vfctl_inventory_vf_at(e->snapshot->inventory, bdf, ret_pf);
}
bool guest_has(const struct guest *g, const struct vfctl_bdf *bdf);

#endif
