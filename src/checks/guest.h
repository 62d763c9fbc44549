/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHECKS_GUEST_H
#define VFCTL_CHECKS_GUEST_H

#include "checks/check.h"
#include "facts/snapshot/domains.h"
#include "types/domain.h"

/*
 * A domain with host devices in its definition, which applies at its next start, whether it runs or
 * not. Read once for all checks.
 */
struct guest {
	char name[256];
	char *xml;			/* its definition; NULL: it cannot be read */
	struct vfctl_parsed_domain *parsed; /* the parsed definition; NULL: it is not valid */
	uint64_t bar_bytes;		/* BARs of its devices */
};

/*
 * libvirt's domains with host devices, running ones with their process; NULL if memory is
 * exhausted.
 */
const struct known_domains *check_ctx_domains(struct check_ctx *e);
/* Call @look for each one whose definition can be read. */
void each_guest(struct check_ctx *e, void (*look)(struct check_ctx *e, const struct guest *g,
	void *data),
	void *data);
/* Report those that cannot be read, once for all checks. */
void tell_unread_guests(struct check_ctx *e);

/* The VF at that address; NULL: it is not a VF of this host. @ret_pf may be NULL. */
static inline const struct vfctl_vf *vf_at(const struct check_ctx *e, const struct vfctl_bdf *bdf,
	const struct vfctl_pf **ret_pf)
{
	return vfctl_inventory_vf_at(e->snapshot->inventory, bdf, ret_pf);
}
bool guest_has(const struct guest *g, const struct vfctl_bdf *bdf);

#endif
