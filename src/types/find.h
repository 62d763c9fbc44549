/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_FIND_H
#define VFCTL_TYPES_FIND_H

#include <stdbool.h>

#include "types/domain.h"
#include "types/lease.h"

/*
 * Find a PCI address in the lists of a host, a lease or a domain; NULL or false if it is not there
 * or if there is no list. For a VF of the inventory see vfctl_inventory_vf_at().
 */
bool bdf_list_has(const struct vfctl_bdf *list, size_t count, const struct vfctl_bdf *bdf);
const struct vfctl_pf *find_pf_at(const struct vfctl_inventory *inv, const struct vfctl_bdf *bdf);
/* Whether @name is the PF's network device, RDMA device, PCI address or another of its names. */
bool pf_answers_to(const struct vfctl_pf *pf, const char *name);
const struct vfctl_pf *find_pf_named(const struct vfctl_inventory *inv, const char *name);
const struct vfctl_lease_vf *find_leased_vf(const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf);
/* Find a VF in all leases. */
const struct vfctl_lease_vf *find_vf_in_leases(const struct vfctl_leases *leases,
	const struct vfctl_bdf *vf);
const struct vfctl_domain_vf *find_domain_vf(const struct vfctl_domain_vf *vfs, size_t count,
	const struct vfctl_bdf *vf);
const struct vfctl_domain_vf *find_intent_vf(const struct vfctl_domain_intent *intent,
	const struct vfctl_bdf *vf);
const struct vfctl_domain_device *find_domain_device(const struct vfctl_parsed_domain *parsed,
	const struct vfctl_bdf *device);
/* Find a VF by its index in its PF. */
const struct vfctl_vf *find_vf_number(const struct vfctl_vf *vfs, uint32_t count, uint32_t index);

#endif
