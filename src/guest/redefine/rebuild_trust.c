// SPDX-License-Identifier: GPL-2.0-or-later
#include "guest/redefine/rebuild_trust.h"

#include "base/buf.h"
#include "base/vfattr.h"

/* The attributes that exceed the safe defaults. A rate limit, and a link that is down, do not. */
static uint32_t grants_in(const struct vfctl_vf_attrs *a)
{
	uint32_t less = vfctl_vf_attrs_default(a) |
		VFCTL_ATTR_MAX_RATE | VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS;

	if (a->link_state == VFCTL_LINK_STATE_DISABLE)
		less |= VFCTL_ATTR_LINK_STATE;
	/* Priority and protocol belong to a VLAN tag. */
	return a->mask & (a->vlan ? ~(less & ~(uint32_t)VFCTL_ATTR_VLAN) : ~(less | VFCTL_ATTR_VLAN));
}

void rebuild_grant_defaults(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct vfctl_lease *l)
{
	for (size_t i = 0; i < l->vf_count; i++) {
		struct vfctl_lease_vf *vf = &l->vfs[i];
		uint32_t grants = grants_in(&vf->intent);
		_buf_ struct buf asked = {0};
		const struct vfctl_pf *pf;
		bool there = vfctl_inventory_vf_at(inv, &vf->bdf, &pf);
		char name[VFCTL_BDF_TEXT];

		if (!grants)
			continue;
		attrs_put(&asked, &vf->intent, grants);
		vf->intent.mask &= ~grants;
		log_warn(ctx, "the metadata of domain %s asks for more than the safe defaults of VF "
			"%s/%u, which vfctl does not grant: %s; to grant it: vfctl recover --rebuild "
			"--trust-metadata, or afterwards vfctl set %s %s --config", l->domain_name,
			there ? vfctl_pf_name(pf, name) : vfctl_bdf_format(&vf->pf, name), vf->index,
			asked.data ? asked.data : "", TEXT(&vf->bdf), asked.data ? asked.data : "");
	}
}

char *rebuild_vfs_text(const struct vfctl_lease *l)
{
	_buf_ struct buf text = {0};

	for (size_t i = 0; i < l->vf_count; i++) {
		_buf_ struct buf attrs = {0};

		attrs_put(&attrs, &l->vfs[i].intent, UINT32_MAX);
		buf_printf(&text, "%sVF %s%s%s", i ? ", " : "", TEXT(&l->vfs[i].bdf),
			attrs.len ? " with " : "",
			attrs.len ? attrs.data : "");
	}
	return text.failed ? NULL : text.data ? buf_steal(&text) : strdup("");
}
