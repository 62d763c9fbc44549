// SPDX-License-Identifier: GPL-2.0-or-later
/* Read host.yaml and the PFs that it names, and open the pools. */

#include "base/ctx.h"
#include "facts/hostfile.h"
#include "fleet/fleet.h"
#include "ids/pools.h"
#include "spec/host_yaml.h"
#include "sriov/inventory.h"

int vfctl_host_spec_resolve(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = 0;

	for (size_t i = 0; i < spec->pool_count && r == 0; i++) {
		const struct vfctl_pf *pf;

		if (spec->pools[i].source != VFCTL_ID_SOURCE_HOST)
			continue;
		if (!inv)
			r = vfctl_inventory_read(ctx, "", &inv);
		if (r == 0 && vfctl_inventory_find_pf(ctx, inv, spec->pool_pfs[i], &pf) == 0 &&
			pf->guid)
			r = vfctl_host_spec_set_pf_guid(ctx, spec, i, pf->guid);
	}
	if (r == 0)
		ctx_clear(ctx);
	return r;
}

int vfctl_host_ids_open(struct vfctl_ctx *ctx, const char *path, bool write,
	struct vfctl_host_spec **ret_spec, struct vfctl_ids **ret_ids)
{
	struct vfctl_host_spec *spec;
	struct vfctl_ids *ids = NULL;
	int r = vfctl_host_spec_read(ctx, path, &spec);

	if (r < 0)
		return r;
	r = vfctl_host_spec_resolve(ctx, spec);
	if (r == 0 && (spec->pool_count || spec->partition_count))
		r = vfctl_ids_open(ctx, spec, write, &ids);
	if (r < 0) {
		vfctl_host_spec_free(spec);
		return r;
	}
	*ret_spec = spec;
	*ret_ids = ids;
	return 0;
}
