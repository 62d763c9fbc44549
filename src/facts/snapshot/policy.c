// SPDX-License-Identifier: GPL-2.0-or-later
/* What a guest's VF is to have, beside what it has. */
#include "facts/snapshot/policy.h"

#include "base/vfattr.h"

struct vfctl_vf_attrs policy_complete(const struct vfctl_vf_attrs *want,
	const struct vfctl_vf *now)
{
	static const struct vfctl_vf_attrs safe = {
		.mask = VFCTL_ATTR_SPOOFCHK | VFCTL_ATTR_TRUST, .spoofchk = true};
	struct vfctl_vf_attrs change = *want;

	attrs_copy(&change, &safe, ~change.mask);
	if (now->attrs.mask & VFCTL_ATTR_VLAN_ID && !(change.mask & VFCTL_ATTR_VLAN_ID)) {
		change.mask |= VFCTL_ATTR_VLAN_ID;
		change.vlan = 0;
	}
	if (now->attrs.mask & VFCTL_ATTR_MAX_RATE || change.mask & VFCTL_ATTR_RATE) {
		change.min_rate_mbps = change.mask & VFCTL_ATTR_MIN_RATE ? change.min_rate_mbps : 0;
		change.max_rate_mbps = change.mask & VFCTL_ATTR_MAX_RATE ? change.max_rate_mbps : 0;
		change.mask |= VFCTL_ATTR_RATE;
	}
	if (now->attrs.mask & VFCTL_ATTR_LINK_STATE && !(change.mask & VFCTL_ATTR_LINK_STATE)) {
		change.mask |= VFCTL_ATTR_LINK_STATE;
		change.link_state = VFCTL_LINK_STATE_AUTO;
	}
	if (now->attrs.mask & VFCTL_ATTR_QUERY_RSS && !(change.mask & VFCTL_ATTR_QUERY_RSS)) {
		change.mask |= VFCTL_ATTR_QUERY_RSS;
		change.query_rss = false;
	}
	if (!(now->attrs.mask & VFCTL_ATTR_SPOOFCHK) && change.spoofchk)
		change.mask &= ~(uint32_t)VFCTL_ATTR_SPOOFCHK;
	if (!(now->attrs.mask & VFCTL_ATTR_TRUST) && !change.trust)
		change.mask &= ~(uint32_t)VFCTL_ATTR_TRUST;
	if (!(now->attrs.mask & VFCTL_ATTR_QUERY_RSS) && !change.query_rss)
		change.mask &= ~(uint32_t)VFCTL_ATTR_QUERY_RSS;
	/* mlx4 has no node GUID; P_Keys are mapped on the host by mlx4 alone. */
	if (now->attrs.mask & VFCTL_ATTR_PORT_GUID && !(now->attrs.mask & VFCTL_ATTR_NODE_GUID))
		change.mask &= ~(uint32_t)VFCTL_ATTR_NODE_GUID;
	if (!(now->attrs.mask & VFCTL_ATTR_LINK_STATE) &&
		change.link_state == VFCTL_LINK_STATE_AUTO)
		change.mask &= ~(uint32_t)VFCTL_ATTR_LINK_STATE;
	if (!(now->attrs.mask & VFCTL_ATTR_PKEY))
		change.mask &= ~(uint32_t)VFCTL_ATTR_PKEY;
	return change;
}

uint32_t vfctl_lease_vf_policy(const struct vfctl_lease_vf *leased, const struct vfctl_vf *now,
	struct vfctl_vf_attrs *ret_want)
{
	struct vfctl_vf_attrs want = {0};

	if (leased->has_intent)
		want = policy_complete(&leased->intent, now);
	*ret_want = want;
	return want.mask & now->attrs.mask & ~attrs_equal(&want, &now->attrs);
}

uint32_t policy_unmet(const struct vfctl_lease *lease, const struct vfctl_lease_vf *leased,
	const struct vfctl_vf *now, struct vfctl_vf_attrs *ret_want)
{
	return lease->active && !lease->running ? vfctl_lease_vf_policy(leased, now, ret_want) : 0;
}
