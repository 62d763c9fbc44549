// SPDX-License-Identifier: GPL-2.0-or-later
#include "fleet/store.h"
#include "ids/ids.h"

int vfctl_ids_open(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, bool write,
	struct vfctl_ids **ret_ids)
{
	return ids_open(ctx, spec, write, id_etcd_open, ret_ids);
}
