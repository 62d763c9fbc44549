// SPDX-License-Identifier: GPL-2.0-or-later
#include "ids/live.h"

#include <errno.h>
#include <stdio.h>

#include "host/host.h"
#include "netlink/link.h"

void live_values_clear(struct live_values *live)
{
	free(live->v);
	*live = (struct live_values){0};
}

/* Zero is not a value: it means that none was set. */
static int add_live(struct vfctl_ctx *ctx, struct live_values *live, struct live_value row)
{
	if (!row.value)
		return 0;
	if (!array_grow(live->v, live->count))
		return ctx_oom(ctx);
	live->v[live->count++] = row;
	return 0;
}

static int add_attrs(struct vfctl_ctx *ctx, struct live_values *live, struct live_value row,
	const struct vfctl_vf_attrs *a)
{
	int r = 0;

	row.kind = VFCTL_ID_MAC;
	row.value = a->mask & VFCTL_ATTR_MAC ? mac_number(&a->mac) : 0;
	r = add_live(ctx, live, row);
	row.kind = VFCTL_ID_GUID;
	row.value = a->mask & VFCTL_ATTR_PORT_GUID ? a->port_guid : 0;
	if (r == 0)
		r = add_live(ctx, live, row);
	row.value = a->mask & VFCTL_ATTR_NODE_GUID && a->node_guid != row.value ? a->node_guid : 0;
	return r < 0 ? r : add_live(ctx, live, row);
}

int live_add_pf(struct vfctl_ctx *ctx, struct live_values *live, const struct vfctl_pf *pf)
{
	struct live_value row = {.pf = pf->bdf, .vf = LIVE_OF_PF};
	char address[VFCTL_BDF_TEXT];
	int r;

	snprintf(row.name, sizeof(row.name), "%s", vfctl_pf_name(pf, address));
	row.kind = VFCTL_ID_MAC;
	row.value = mac_number(&pf->mac);
	r = add_live(ctx, live, row);
	row.kind = VFCTL_ID_GUID;
	row.value = pf->guid;
	if (r == 0)
		r = add_live(ctx, live, row);
	for (uint32_t i = 0; pf->vfs && i < pf->num_vfs && r == 0; i++) {
		row.vf = pf->vfs[i].index;
		r = add_attrs(ctx, live, row, &pf->vfs[i].attrs);
	}
	return r;
}

int live_add_vf(struct vfctl_ctx *ctx, struct live_values *io, const struct vfctl_pf *pf,
	uint32_t vf, const struct vfctl_vf_attrs *attrs)
{
	struct live_value row = {.pf = pf->bdf, .vf = vf};

	snprintf(row.name, sizeof(row.name), "%s", vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}));
	return add_attrs(ctx, io, row, attrs);
}

int live_from_inventory(struct vfctl_ctx *ctx, const struct vfctl_inventory *inventory,
	struct live_values *ret)
{
	int r = 0;

	*ret = (struct live_values){0};
	for (size_t i = 0; i < inventory->pf_count && r == 0; i++)
		r = live_add_pf(ctx, ret, &inventory->pfs[i]);
	if (r < 0)
		live_values_clear(ret);
	return r;
}

void live_drop_vfs_of(struct live_values *io, const struct vfctl_bdf *pf)
{
	size_t n = 0;

	for (size_t i = 0; i < io->count; i++)
		if (io->v[i].vf == LIVE_OF_PF || vfctl_bdf_compare(&io->v[i].pf, pf))
			io->v[n++] = io->v[i];
	io->count = n;
}

/* ---- reading from the kernel ---- */

static int add_vfs(struct vfctl_ctx *ctx, struct live_values *live,
	const struct nl_link *link, struct live_value row)
{
	struct nl_vfs vfs = {0};
	int r = nl_vfs_read(ctx, link->ifindex, &vfs);

	for (size_t i = 0; i < vfs.count && r == 0; i++) {
		row.vf = vfs.v[i].vf;
		r = add_attrs(ctx, live, row, &vfs.v[i].attrs);
	}
	nl_vfs_free(&vfs);
	return r;
}

#define ETHERNET_TYPE 1 /* ARPHRD_ETHER */

static int add_link(struct vfctl_ctx *ctx, struct live_values *live,
	const struct nl_link *link)
{
	struct live_value row = {.kind = VFCTL_ID_MAC, .vf = LIVE_OF_PF};
	_free_ char *address = NULL;
	int r;

	if (link->type != ETHERNET_TYPE ||
		!host_exists(ctx, "/sys/class/net/%s/device/sriov_totalvfs", link->name))
		return 0;
	r = host_try_link_name(ctx, &address, "/sys/class/net/%s/device", link->name);
	if (r < 0 || vfctl_bdf_parse(address, &row.pf) < 0)
		return r == -ENOMEM ? ctx_oom(ctx) : 0; /* removed meanwhile, or not a PCI device */
	snprintf(row.name, sizeof(row.name), "%s", link->name);
	if (link->address_len == 6)
		row.value = mac_number(&(const struct vfctl_mac){{link->address[0],
			link->address[1], link->address[2], link->address[3],
			link->address[4], link->address[5]}});
	r = add_live(ctx, live, row);
	if (r < 0 || !host_exists(ctx, "/sys/class/net/%s/device/virtfn0", link->name))
		return r;
	return add_vfs(ctx, live, link, row);
}

int live_macs_read(struct vfctl_ctx *ctx, struct live_values *ret)
{
	struct nl_links links = {0};
	int r = nl_links_read(ctx, &links);

	*ret = (struct live_values){0};
	for (size_t i = 0; i < links.count && r == 0; i++)
		r = add_link(ctx, ret, &links.v[i]);
	nl_links_free(&links);
	if (r < 0)
		live_values_clear(ret);
	return r;
}
