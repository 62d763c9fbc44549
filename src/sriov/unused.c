// SPDX-License-Identifier: GPL-2.0-or-later
/* Refuse what would disturb the user of a VF. */
#include "sriov/unused.h"

#include <errno.h>

#include "sriov/holder.h"

int vf_check_unused(struct vfctl_ctx *ctx, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *attrs)
{
	uint32_t identity = attrs->mask & VF_ATTRS_UNUSED;
	const char *what = identity & VFCTL_ATTR_GUIDS ? "GUID"
		: identity & VFCTL_ATTR_PKEY	       ? "P_Key"
		: identity & VFCTL_ATTR_MAC	       ? "MAC" : "number of MSI-X vectors";
	char message[192];

	if (!identity || !vf_is_busy(vf))
		return 0;
	if (vf->holder.kind != VFCTL_HOLDER_HOST)
		return ctx_fail(ctx, -EBUSY, "VF %u is %s, so its %s cannot change now", vf->index,
			vf_describe_user(vf, message, sizeof(message)), what);
	if (identity & VFCTL_ATTR_GUIDS)
		return ctx_fail(ctx, -EBUSY, "VF %u is %s: a new GUID needs its driver bound again, so "
			"set its network device down first", vf->index,
			vf_describe_user(vf, message, sizeof(message)));
	return 0;
}

/* No process uses it: a command can end its lease. */
static bool vf_is_only_leased(const struct vfctl_vf *vf)
{
	return vf->lease.name[0] && !vf->lease.running && !vf_is_open(vf);
}

int pf_check_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *why)
{
	char buf[VFCTL_BDF_TEXT], message[256], remedy[256];
	const char *name = vfctl_pf_name(pf, buf);

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (vf_is_only_leased(&pf->vfs[i]))
			return ctx_fail(ctx, -EBUSY, "%s/%u (%s) is leased to domain %s, which is off; "
				"first run: vfctl detach %s --vf %s/%u, or vfctl undefine %s",
				name, pf->vfs[i].index, TEXT(&pf->vfs[i].bdf),
				pf->vfs[i].lease.name, pf->vfs[i].lease.name, name, pf->vfs[i].index,
				pf->vfs[i].lease.name);
		else if (vf_is_busy(&pf->vfs[i]) && !vf_is_open(&pf->vfs[i]) && !pf->vfs[i].lease.name[0])
			return ctx_fail(ctx, -EBUSY,
				"%s/%u (%s) is %s; to disregard that, run vfctl create or vfctl "
				"destroy with: --ignore-definitions %s", name, pf->vfs[i].index,
				TEXT(&pf->vfs[i].bdf),
				vf_describe_user(&pf->vfs[i], message, sizeof(message)),
				vf_defined_in(&pf->vfs[i]));
		else if (vf_is_busy(&pf->vfs[i]))
			return ctx_fail(ctx, -EBUSY, "%s/%u (%s) is %s%s%s; %s", name,
				pf->vfs[i].index, TEXT(&pf->vfs[i].bdf),
				vf_describe_user(&pf->vfs[i], message, sizeof(message)),
				why ? "; " : "", why ? why : "",
				vf_how_to_free(&pf->vfs[i], name, remedy, sizeof(remedy)));
	return 0;
}
