// SPDX-License-Identifier: GPL-2.0-or-later
/* Find PFs and VFs of an inventory by the names that people and libvirt use. */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/buf.h"
#include "base/ctx.h"
#include "base/nearest.h"
#include "base/parse.h"
#include "sriov/inventory.h"
#include "types/find.h"

/* A device that could not be read may be the requested one. */
static int not_found(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, int error)
{
	bool unread = inv->unread;

	for (size_t i = 0; i < inv->pf_count; i++)
		unread |= inv->pfs[i].unread != NULL;
	return unread ? error : ctx_mark_usage_error(ctx, error);
}

static int fail_no_pf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const char *name)
{
	struct nearest search = nearest_to(name);
	_buf_ struct buf known = {0};
	char text[VFCTL_BDF_TEXT];
	const char *best;

	for (size_t i = 0; i < inv->pf_count; i++) {
		buf_printf(&known, "%s%s", i ? ", " : "", vfctl_pf_name(&inv->pfs[i], text));
		nearest_offer_name(&search, inv->pfs[i].netdev);
		nearest_offer_name(&search, inv->pfs[i].rdma);
	}
	if (!known.len)
		return ctx_fail(ctx, -ENOENT, "PF '%s' not found: no device of this host offers SR-IOV "
			"(it may be disabled in firmware or BIOS)", name);
	best = nearest_only(&search);
	if (best)
		return ctx_fail(ctx, -ENOENT, "PF '%s' not found; did you mean %s? This host has %s", name,
			best, known.data);
	return ctx_fail(ctx, -ENOENT, "PF '%s' not found; this host has %s", name, known.data);
}

int vfctl_inventory_find_pf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const char *name, const struct vfctl_pf **ret_pf)
{
	const struct vfctl_pf *pf = find_pf_named(inventory, name);

	if (!pf)
		return not_found(ctx, inventory, fail_no_pf(ctx, inventory, name));
	*ret_pf = pf;
	return 0;
}

static int fail_no_vf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, uint32_t index)
{
	char text[VFCTL_BDF_TEXT];
	const char *name = vfctl_pf_name(pf, text);

	if (!pf->num_vfs)
		return ctx_fail(ctx, -ENOENT, "%s has no VFs; create some with: vfctl create %s N",
			name, name);
	return ctx_fail(ctx, -ENOENT, "%s has no VF %u; it has VFs %u to %u", name, index,
		pf->vfs[0].index, pf->vfs[pf->num_vfs - 1].index);
}

int vfctl_inventory_find_vf(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	const char *name, const struct vfctl_pf **ret_pf, const struct vfctl_vf **ret_vf)
{
	const char *slash = strrchr(name, '/');
	_free_ char *pf_name = NULL;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	struct vfctl_bdf bdf;
	uint32_t index;
	int r;

	if (vfctl_bdf_parse(name, &bdf) == 0) {
		vf = vfctl_inventory_vf_at(inventory, &bdf, ret_pf);
		if (!vf)
			return not_found(ctx, inventory, ctx_fail(ctx, -ENOENT, "%s is not a VF of this "
				"host (vfctl list shows the VFs)", TEXT(&bdf)));
		*ret_vf = vf;
		return 0;
	}
	if (!slash || parse_u32(slash + 1, 0, UINT16_MAX, &index) < 0)
		return ctx_usage_error(ctx, -EINVAL, "%s is not a VF; write PF/INDEX (such as ens1f0/3) "
			"or a PCI address", name);
	pf_name = strndup(name, (size_t)(slash - name));
	if (!pf_name)
		return ctx_oom(ctx);
	r = vfctl_inventory_find_pf(ctx, inventory, pf_name, &pf);
	if (r < 0)
		return r;
	vf = find_vf_number(pf->vfs, pf->num_vfs, index);
	if (!vf)
		return not_found(ctx, inventory, fail_no_vf(ctx, pf, index));
	*ret_pf = pf;
	*ret_vf = vf;
	return 0;
}
