// SPDX-License-Identifier: GPL-2.0-or-later
/* Compare a guest's requested values of a VF with the present ones. */
#include "facts/snapshot/policy.h"

#include "base/buf.h"
#include "base/vfattr.h"
#include "sriov/unused.h"

struct vfctl_vf_attrs policy_complete(const struct vfctl_vf_attrs *want,
	const struct vfctl_vf *now)
{
	const uint32_t policy = attrs_with(VFCTL_ATTR_HAS_DEFAULT | VFCTL_ATTR_FROM_LINK);
	struct vfctl_vf_attrs change = *want, safe = attrs_safe(policy & now->attrs.mask & ~want->mask);

	attrs_copy(&change, &safe, UINT32_MAX);
	/* Priority and protocol belong to a VLAN tag. */
	if (!change.vlan)
		change.mask &= ~(uint32_t)(VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO);
	/* A default that the driver does not report need not be written. */
	change.mask &= ~(vfctl_vf_attrs_default(&change) & policy & ~now->attrs.mask);
	/* mlx4 has no node GUID, and only mlx4 maps P_Keys on the host. */
	if (now->attrs.mask & VFCTL_ATTR_PORT_GUID && !(now->attrs.mask & VFCTL_ATTR_NODE_GUID))
		change.mask &= ~(uint32_t)VFCTL_ATTR_NODE_GUID;
	if (!(now->attrs.mask & VFCTL_ATTR_PKEY))
		change.mask &= ~(uint32_t)VFCTL_ATTR_PKEY;
	return change;
}

uint32_t vfctl_lease_vf_policy(const struct vfctl_lease_vf *leased, const struct vfctl_vf *now,
	struct vfctl_vf_attrs *ret_want)
{
	const struct vfctl_vf_attrs want = policy_complete(&leased->intent, now);

	*ret_want = want;
	return want.mask & now->attrs.mask & ~attrs_equal(&want, &now->attrs);
}

uint32_t policy_unmet(const struct vfctl_lease *lease, const struct vfctl_lease_vf *leased,
	const struct vfctl_vf *now, struct vfctl_vf_attrs *ret_want)
{
	return lease->active && !lease->running ? vfctl_lease_vf_policy(leased, now, ret_want) : 0;
}

/* Identities cannot change while the guest uses the VF. */
char *vfctl_lease_vf_remedy(const struct vfctl_vf *vf, const char *pf, const char *domain,
	const struct vfctl_vf_attrs *want, uint32_t differs)
{
	_buf_ struct buf text = {0}, now = {0};
	uint32_t later = differs & VF_ATTRS_UNUSED;

	attrs_put(&now, want, differs & ~later);
	if (now.len)
		buf_printf(&text, "set it now: vfctl set %s/%u %s --live", pf, vf->index, now.data);
	if (later)
		buf_printf(&text, "%s: virsh shutdown %s, then virsh start %s",
			now.len ? "; the rest is only set at a start" : "it is only set at a start", domain,
			domain);
	return now.failed ? NULL : buf_steal(&text);
}
