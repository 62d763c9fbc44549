// SPDX-License-Identifier: GPL-2.0-or-later
#include "infiniband/vf.h"

#include <errno.h>

#include "host/host.h"
#include "infiniband/gid.h"
#include "pci/device.h"

#define POLL_MS 100

static const struct ib_guid_ops ib_vf_netlink = {.name = "rtnetlink"};

const struct ib_guid_ops *ib_guid_ops_of(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	static const struct ib_guid_ops *const ways[] = {&ib_vf_mlx4, &ib_vf_ofed};

	for (size_t i = 0; pf->infiniband && i < ARRAY_SIZE(ways); i++)
		if (ways[i]->present(ctx, pf))
			return ways[i];
	return &ib_vf_netlink;
}

/* ---- a function's own view ---- */

static int read_identity(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf,
	const char *device, struct ib_identity *ret)
{
	_free_ char *node = NULL, *gid = NULL;
	struct ib_identity id = {0};
	int r;

	str_copy(id.device, sizeof(id.device), device);
	r = host_read(ctx, &node, PCI_SYSFS "%s/infiniband/%s/node_guid", TEXT(bdf), device);
	if (r == 0)
		r = host_read(ctx, &gid, PCI_SYSFS "%s/infiniband/%s/ports/1/gids/0", TEXT(bdf),
			device);
	if (r < 0)
		return r;
	if (vfctl_guid_parse(node, &id.node_guid) < 0 || gid_parse_guid(gid, &id.port_guid) < 0)
		return ctx_fail(ctx, -EIO, "%s: node GUID '%s' or GID '%s' is not valid", device,
			node, gid);
	*ret = id;
	return 0;
}

int ib_identity_read(struct vfctl_ctx *ctx, const struct vfctl_bdf *bdf, struct ib_identity *ret)
{
	unsigned waited = 0;

	ctx_progress(ctx, "waiting for the RDMA device of %s", TEXT(bdf));
	for (;;) {
		_strv_ char **names = NULL;

		if (pci_children(ctx, bdf, "infiniband", &names) == 0 && names[0])
			return read_identity(ctx, bdf, names[0], ret);
		if (!host_wait_ms(ctx, POLL_MS, &waited))
			return ctx_fail(ctx, -ENOENT, "%s has no RDMA device (load the InfiniBand "
				"module of its driver)", TEXT(bdf));
	}
}
