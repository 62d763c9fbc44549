// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Check that the PF does not carry the host's own traffic: its link goes down for a moment, with
 * some drivers for seconds.
 */
#include <errno.h>
#include <stdio.h>

#include "facts/snapshot/snapshot.h"
#include "host/host.h"
#include "netlink/routes.h"
#include "selftest/trials.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"

#define SSH_PORT 22

static int check_master(struct vfctl_ctx *ctx, const char *netdev, const char *what)
{
	_free_ char *master = NULL;

	if (!netdev[0] || host_try_link_name(ctx, &master, "/sys/class/net/%s/master", netdev) < 0)
		return 0;
	return ctx_fail(ctx, -EBUSY, "%s%s is a port of %s, which a self-test would disconnect: remove "
		"it first (ip link set %s nomaster)", what, netdev, master, netdev);
}

/* A bond of two ports may be a VF-LAG, which would not be restored by itself. */
int selftest_check_ports(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	int r = check_master(ctx, pf->netdev, "");

	for (uint32_t i = 0; i < pf->num_vfs && r == 0; i++)
		r = check_master(ctx, pf->vfs[i].representor, "the representor ");
	return r;
}

static int refuse_pf(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *through,
	const char *what)
{
	bool itself = str_eq(through, pf->netdev);
	const char *stands = itself ? "" : ", which uses ";

	return ctx_fail(ctx, -EBUSY, "%s goes through %s%s%s, and a self-test briefly takes its "
		"link down: test another port, or move that traffic first; to test it "
		"nevertheless, best from the console of the machine: --force",
		what, through, stands, itself ? "" : pf->netdev);
}

static int check_connections(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct routes *routes,
	char *const *names)
{
	const char *through;
	unsigned port;
	char what[96];
	int r = routes_connection(ctx, routes, names, &through, &port);

	if (r <= 0)
		return r;
	snprintf(what, sizeof(what), port == SSH_PORT ? "an ssh session of this host (its port %u)"
		: "a connection of this host (its TCP port %u)", port);
	return refuse_pf(ctx, pf, through, what);
}

int selftest_check_traffic(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	_cleanup_(routes_clear) struct routes routes = {0};
	_strv_ char **names = NULL;
	const char *through;
	int r = pf->netdev[0] ? routes_read(ctx, &routes) : 0;

	if (r < 0 || !routes.count)
		return r;
	r = routes_devices(ctx, pf->netdev, &names);
	if (r < 0)
		return r;
	through = routes_through(&routes, names, true);
	return through ? refuse_pf(ctx, pf, through, "this host's default route")
		       : check_connections(ctx, pf, &routes, names);
}

int selftest_check_pf_idle(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	char name[VFCTL_BDF_TEXT], message[256];

	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (vf_is_busy(&pf->vfs[i]))
			return ctx_fail(ctx, -EBUSY, "%s/%u is %s; a self-test removes all VFs of the "
				"PF for some time: stop that user, or detach the VF, first",
				vfctl_pf_name(pf, name), pf->vfs[i].index,
				vf_describe_user(&pf->vfs[i], message, sizeof(message)));
	return 0;
}

int selftest_check_idle(struct vfctl_selftest *t)
{
	_cleanup_(vfctl_snapshot_freep) struct vfctl_snapshot *now = NULL;
	const struct vfctl_pf *pf = NULL;
	int r = vfctl_snapshot_read(t->ctx, t->bdf, &now);

	if (r == 0)
		r = snapshot_need_leases(t->ctx, now);
	if (r == 0)
		r = vfctl_inventory_find_pf(t->ctx, now->inventory, t->bdf, &pf);
	return r < 0 ? r : selftest_check_pf_idle(t->ctx, pf);
}
