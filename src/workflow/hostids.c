// SPDX-License-Identifier: GPL-2.0-or-later
/* host.yaml and the PFs it names, to pools that are ready. */
#include "base/ctx.h"
#include "vfctl/workflow.h"

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
