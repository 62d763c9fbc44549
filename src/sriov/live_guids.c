// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/live_guids.h"

#include <errno.h>

#include "sriov/inventory.h"

static int add_infiniband(struct vfctl_ctx *ctx, struct live_values *live,
	const struct vfctl_bdf *pf)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *one = NULL;
	int r = inventory_read_values(ctx, pf, &one);

	if (r == 0)
		return one->pfs[0].infiniband ? live_add_pf(ctx, live, &one->pfs[0]) : 0;
	if (r != -ENOMEM)
		ctx_clear(ctx);
	return r == -ENOMEM ? r : 0;
}

int live_guids_add(struct vfctl_ctx *ctx, struct live_values *io)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *all = NULL;
	int r = inventory_list_pfs(ctx, &all);

	for (size_t i = 0; r == 0 && i < all->pf_count; i++)
		r = add_infiniband(ctx, io, &all->pfs[i].bdf);
	return r;
}
