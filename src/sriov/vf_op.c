// SPDX-License-Identifier: GPL-2.0-or-later
#include "sriov/vf_op.h"

#include <errno.h>
#include <stdio.h>

#include "types/find.h"
#include "base/parse.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"

int vf_op_pf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_bdf *ret)
{
	char text[VFCTL_BDF_TEXT];
	size_t len = strcspn(op->target, "/");

	if (len >= sizeof(text))
		return op_fail_target(ctx, op);
	snprintf(text, sizeof(text), "%.*s", (int)len, op->target);
	return vfctl_bdf_parse(text, ret) < 0 ? op_fail_target(ctx, op) : 0;
}

int vf_op_index(struct vfctl_ctx *ctx, const struct op *op, uint32_t *ret)
{
	const char *slash = strchr(op->target, '/');

	if (!slash || parse_u32(slash + 1, 0, UINT16_MAX, ret) < 0)
		return op_fail_target(ctx, op);
	return 0;
}

int vf_op_fail_gone(struct vfctl_ctx *ctx, const struct op *op)
{
	return ctx_fail(ctx, -ENOENT, "VF %s no longer exists: it, its PF or the driver of the PF was "
		"removed meanwhile", op->target);
}

int vf_op_read_values(struct vfctl_ctx *ctx, const struct op *ops,
	struct vfctl_inventory **ret_inventory, const struct vfctl_pf **ret_pf)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_bdf pf;
	int r = vf_op_pf(ctx, ops, &pf);

	if (r == 0)
		r = inventory_read_values(ctx, &pf, &inv);
	if (r < 0)
		return r;
	*ret_pf = &inv->pfs[0];
	*ret_inventory = steal(inv);
	return 0;
}

int vf_op_find(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_pf *pf,
	const struct vfctl_vf **ret)
{
	uint32_t index;
	int r = vf_op_index(ctx, op, &index);

	if (r < 0)
		return r;
	*ret = find_vf_number(pf->vfs, pf->num_vfs, index);
	return 0;
}

const struct vfctl_vf *vf_op_in_use(const struct op *op, const struct vfctl_pf *pf)
{
	const char *slash = strchr(op->target, '/');
	const struct vfctl_vf *vf;
	uint32_t index;

	if (!slash || parse_u32(slash + 1, 0, UINT16_MAX, &index) < 0)
		return NULL;
	vf = find_vf_number(pf->vfs, pf->num_vfs, index);
	return vf && (vf_is_open(vf) || vf->lease.running) ? vf : NULL;
}
