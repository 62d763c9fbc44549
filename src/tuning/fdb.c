// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VFs, and a bridge on their PF: if a VF sends to a MAC that is not in the card's table, the packet
 * leaves through the port, and never reaches the PF (yujincheng08/mlx4_br#1, DPDK/grout#653).
 */
#include "tuning/fdb.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "netlink/fdb.h"
#include "pci/device.h"
#include "sriov/inventory.h"

#define SELF "self"

static bool is_in(const struct nl_fdb *fdb, int ifindex, const struct vfctl_mac *mac)
{
	for (size_t i = 0; i < fdb->count; i++)
		if (fdb->v[i].ifindex == ifindex && !fdb->v[i].master &&
			memcmp(&fdb->v[i].mac, mac, sizeof(*mac)) == 0)
			return true;
	return false;
}

/* The bridge of the device; 0 if there is none. */
static int bridge_of(struct vfctl_ctx *ctx, const char *netdev)
{
	_free_ char *master = NULL, *text = NULL;
	uint32_t ifindex;

	if (!netdev[0] || host_try_link_name(ctx, &master, "/sys/class/net/%s/master", netdev) < 0)
		return 0;
	if (!host_exists(ctx, "/sys/class/net/%s/bridge", master) ||
		host_try_read(ctx, &text, "/sys/class/net/%s/ifindex", master) < 0)
		return 0;
	return parse_u32(text, 1, INT32_MAX, &ifindex) == 0 ? (int)ifindex : 0;
}

int fdb_missing(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_mac **ret,
	size_t *ret_count)
{
	_cleanup_(nl_fdb_free) struct nl_fdb fdb = {0};
	_free_ struct vfctl_mac *macs = NULL;
	int bridge = bridge_of(ctx, pf->netdev), r;
	size_t count = 0;

	*ret = NULL;
	*ret_count = 0;
	r = bridge ? nl_fdb_read(ctx, &fdb) : 0;
	for (size_t i = 0; i < fdb.count && r == 0; i++) {
		const struct nl_fdb_entry *e = &fdb.v[i];

		/*
		 * A port's own MAC is the host's end of a cable; the device behind it has another
		 * one.
		 */
		if (e->master != bridge || e->ifindex == pf->ifindex || e->ifindex == bridge || e->local ||
			is_in(&fdb, pf->ifindex, &e->mac))
			continue;
		if (!array_grow(macs, count))
			return ctx_oom(ctx);
		macs[count++] = e->mac;
	}
	if (r == 0 && count) {
		*ret = steal(macs);
		*ret_count = count;
	}
	return r;
}

/* ---- the operation ---- */

static int parse_target(struct vfctl_ctx *ctx, const struct op *op, int *ret_ifindex,
	struct vfctl_mac *ret_mac)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const char *slash = strchr(op->target, '/');
	char pf[VFCTL_BDF_TEXT] = "";
	struct vfctl_bdf bdf;
	int r;

	if (slash && (size_t)(slash - op->target) < sizeof(pf))
		memcpy(pf, op->target, (size_t)(slash - op->target));
	if (!slash || vfctl_bdf_parse(pf, &bdf) < 0 || vfctl_mac_parse(slash + 1, ret_mac) < 0)
		return op_fail_target(ctx, op);
	r = inventory_read_values(ctx, &bdf, &inv);
	if (r == 0 && !inv->pfs[0].ifindex)
		r = ctx_fail(ctx, -ENODEV, "%s has no network device here", pf);
	if (r == 0)
		*ret_ifindex = inv->pfs[0].ifindex;
	return r;
}

static int observe_fdb(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(nl_fdb_free) struct nl_fdb fdb = {0};
	struct vfctl_mac mac;
	int ifindex = 0, r = parse_target(ctx, op, &ifindex, &mac);

	if (r == 0)
		r = nl_fdb_read(ctx, &fdb);
	return r < 0 ? r : op_say(ctx, is_in(&fdb, ifindex, &mac) ? SELF : "", ret);
}

static int set(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_free_ char *now = NULL;
	struct vfctl_mac mac;
	int ifindex = 0, r = parse_target(ctx, op, &ifindex, &mac);

	if (r == 0 && !str_eq(text, SELF) && text[0])
		r = op_fail_value(ctx, op, text);
	if (r == 0)
		r = nl_fdb_set(ctx, ifindex, &mac, text[0]);
	if (r == 0)
		r = observe_fdb(ctx, op, &now);
	return r < 0 || str_eq(now, text) ? r : ctx_fail(ctx, -EIO, "%s: the card accepted the change, "
		"but its table is unchanged", op->target);
}

OP_WRITTEN(fdb, observe_fdb, set)
const struct op_type op_fdb = {.name = "fdb", OP_CALLS(fdb), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone};

void fdb_add_steps(const struct vfctl_pf *pf, const struct vfctl_mac *macs, size_t count,
	struct steps *steps)
{
	for (size_t i = 0; i < count; i++) {
		char mac[VFCTL_MAC_TEXT], target[VFCTL_BDF_TEXT + VFCTL_MAC_TEXT + 1];

		vfctl_mac_format(&macs[i], mac);
		snprintf(target, sizeof(target), "%s/%s", TEXT(&pf->bdf), mac);
		step_add_op(steps, &op_fdb, SELF, "", target, "%s: add %s, which is behind the PF, to "
			"the table of the card",
			pf->netdev, mac);
	}
}
