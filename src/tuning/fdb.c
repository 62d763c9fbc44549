// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * An entry of a function's own table: without it, what a VF sends to a MAC behind a bridge leaves
 * through the port, and never reaches the bridge (yujincheng08/mlx4_br#1, DPDK/grout#653).
 */
#include "tuning/fdb.h"

#include <errno.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "netlink/fdb.h"
#include "pci/device.h"
#include "sriov/pf.h"

#define SELF "self"

static bool is_in(const struct nl_fdb *fdb, int ifindex, const struct vfctl_mac *mac)
{
	for (size_t i = 0; i < fdb->count; i++)
		if (fdb->v[i].ifindex == ifindex && !fdb->v[i].master &&
			memcmp(&fdb->v[i].mac, mac, sizeof(*mac)) == 0)
			return true;
	return false;
}

/* The network device of the function: that of a PF or VF, not a representor. */
static int find_netdev(struct vfctl_ctx *ctx, const char *function, int *ret_ifindex)
{
	_strv_ char **names = NULL;
	uint32_t index;

	if (host_try_list(ctx, &names, PCI_SYSFS "%s/net", function) < 0)
		names = NULL;
	for (size_t i = 0; names && names[i]; i++) {
		_free_ char *text = NULL;

		if (pf_is_representor(ctx, names[i]) ||
			host_try_read(ctx, &text, "/sys/class/net/%s/ifindex", names[i]) < 0 ||
			parse_u32(text, 1, INT32_MAX, &index) < 0)
			continue;
		*ret_ifindex = (int)index;
		return 0;
	}
	return ctx_fail(ctx, -ENODEV, "%s has no network device here", function);
}

static int parse_target(struct vfctl_ctx *ctx, const struct op *op, int *ret_ifindex,
	struct vfctl_mac *ret_mac)
{
	const char *slash = strchr(op->target, '/');
	char function[VFCTL_BDF_TEXT] = "";
	struct vfctl_bdf bdf;

	if (slash && (size_t)(slash - op->target) < sizeof(function))
		memcpy(function, op->target, (size_t)(slash - op->target));
	if (!slash || vfctl_bdf_parse(function, &bdf) < 0 || vfctl_mac_parse(slash + 1, ret_mac) < 0)
		return op_fail_target(ctx, op);
	return find_netdev(ctx, function, ret_ifindex);
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

	/* Its table went with the device: to another namespace, or with the driver. */
	if (r == -ENODEV && !text[0]) {
		ctx_clear(ctx);
		return 0;
	}
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

void fdb_add_step(const struct vfctl_uplink *uplink, const struct vfctl_station *station,
	struct steps *steps)
{
	static const char *const words[] = {[VFCTL_STATION_HOST] = "the host's own",
		[VFCTL_STATION_GUEST] = "of a guest", [VFCTL_STATION_LEARNT] = "learnt"};
	char mac[VFCTL_MAC_TEXT], target[VFCTL_BDF_TEXT + VFCTL_MAC_TEXT + 1];

	vfctl_mac_format(&station->mac, mac);
	snprintf(target, sizeof(target), "%s/%s", TEXT(&uplink->bdf), mac);
	step_add_op(steps, &op_fdb, SELF, "", target, "%s: add %s to the card's table (%s, on %s)",
		uplink->netdev, mac, words[station->kind], station->port);
}

int fdb_remove(struct vfctl_ctx *ctx, const struct vfctl_bdf *function, const struct vfctl_mac *mac)
{
	char text[VFCTL_MAC_TEXT], target[VFCTL_BDF_TEXT + VFCTL_MAC_TEXT + 1];
	const struct op op = {&op_fdb, target, SELF, ""};

	snprintf(target, sizeof(target), "%s/%s", TEXT(function), vfctl_mac_format(mac, text));
	return set(ctx, &op, "");
}
