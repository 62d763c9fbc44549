// SPDX-License-Identifier: GPL-2.0-or-later
#include "lease/ops.h"

#include <errno.h>
#include <stdio.h>

#include "types/find.h"
#include "lease/lease.h"

void op_uuid(const struct op *op, char ret[VFCTL_UUID_TEXT])
{
	snprintf(ret, VFCTL_UUID_TEXT, "%.*s", (int)strcspn(op->target, "/"), op->target);
}

int op_ask_domain(struct vfctl_ctx *ctx, const struct op *op, bool config,
	struct vfctl_domain_info *ret)
{
	struct vfctl_hypervisor *hv = ctx->hypervisor;
	char uuid[VFCTL_UUID_TEXT];
	int r;

	if (!hv)
		return ctx_fail(ctx, -ENOTCONN, "vfctl needs libvirt to change domain %s", op->target);
	op_uuid(op, uuid);
	r = hv->get(ctx, hv, uuid, config, ret);
	return r == 0 ? 1 : ctx_ignore_error(ctx, r, -ENOENT);
}

int op_vf(struct vfctl_ctx *ctx, const struct op *op, char ret_uuid[VFCTL_UUID_TEXT],
	struct vfctl_bdf *ret)
{
	const char *slash = strchr(op->target, '/');

	op_uuid(op, ret_uuid);
	return slash && vfctl_bdf_parse(slash + 1, ret) == 0 ? 0 : op_fail_target(ctx, op);
}

int op_leased_vf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_leases **ret,
	const struct vfctl_lease_vf **ret_vf)
{
	char uuid[VFCTL_UUID_TEXT];
	struct vfctl_bdf bdf;
	int r = op_vf(ctx, op, uuid, &bdf);

	if (r == 0)
		r = lease_read(ctx, uuid, ret);
	*ret_vf = r == 0 ? find_vf_in_leases(*ret, &bdf) : NULL;
	return r;
}
