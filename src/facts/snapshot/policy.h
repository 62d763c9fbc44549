/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_POLICY_H
#define VFCTL_FACTS_SNAPSHOT_POLICY_H

#include "base/vfattr.h"
#include "types/inventory.h"
#include "types/lease.h"
#include "vfctl/host.h"

/**
 * The values that a VF has during a guest's run: those of its lease, and safe defaults for the
 * other attributes of its driver (no VLAN, no rate limits, spoof check on, trust off).
 * @param now       the VF as it is.
 * @param ret_want  receives them.
 * @return VFCTL_ATTR_ bits of the attributes that differ now; attributes that the driver does not
 * report count as equal.
 */
uint32_t vfctl_lease_vf_policy(const struct vfctl_lease_vf *leased, const struct vfctl_vf *now,
	struct vfctl_vf_attrs *ret_want);
/**
 * How to set the differing values of a VF that a running domain has: at once, or at its next start.
 * @param pf       name of its PF.
 * @param want     as returned by vfctl_lease_vf_policy().
 * @param differs  the same; not 0.
 * @return the text, to be freed by the caller; NULL: no memory.
 */
char *vfctl_lease_vf_remedy(const struct vfctl_vf *vf, const char *pf, const char *domain,
	const struct vfctl_vf_attrs *want, uint32_t differs);

/*
 * A guest that states no VLAN or rate gets none, and no trust: otherwise it would inherit what an
 * earlier user left. Safe defaults that a driver does not support are not required.
 */
struct vfctl_vf_attrs policy_complete(const struct vfctl_vf_attrs *want,
	const struct vfctl_vf *now);

/*
 * The attributes (VFCTL_ATTR_ bits) in which a VF differs from its lease though its domain runs,
 * because libvirt did not run the hook at the start. 0: the hook did, or nothing differs.
 */
uint32_t policy_unmet(const struct vfctl_lease *lease, const struct vfctl_lease_vf *leased,
	const struct vfctl_vf *now, struct vfctl_vf_attrs *ret_want);

#endif
