/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_SNAPSHOT_POLICY_H
#define VFCTL_FACTS_SNAPSHOT_POLICY_H

#include "core/snapshot.h"

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
