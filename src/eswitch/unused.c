// SPDX-License-Identifier: GPL-2.0-or-later
#include "eswitch/eswitch.h"

#include <errno.h>

#include "sriov/holder.h"

int eswitch_check_unused(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *meanwhile)
{
	char buf[VFCTL_BDF_TEXT], message[256], remedy[256];
	const char *name = vfctl_pf_name(pf, buf);

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (vf_is_open(&pf->vfs[i]) || pf->vfs[i].lease.running)
			return ctx_fail(ctx, -EBUSY,
				"%s/%u (%s) is %s, and would lose its link while %s; %s", name,
				pf->vfs[i].index, TEXT(&pf->vfs[i].bdf),
				vf_describe_user(&pf->vfs[i], message, sizeof(message)), meanwhile,
				vf_how_to_free(&pf->vfs[i], name, remedy, sizeof(remedy)));
	return 0;
}
