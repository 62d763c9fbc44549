// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations on a PF's own devices: MTU, IPoIB mode, adaptive moderation, and the link state. */
#include "sriov/ops.h"

#include <errno.h>
#include <linux/if.h>
#include <stdio.h>

#include "base/parse.h"
#include "host/host.h"
#include "netlink/rdma.h"
#include "netlink/routes.h"
#include "pci/device.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"

#define UP "up"
#define DOWN "down"

static int open_function(struct vfctl_ctx *ctx, const struct op *op,
	struct vfctl_inventory **ret_inventory)
{
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(op->target, &bdf) < 0)
		return op_fail_target(ctx, op);
	return inventory_read_values(ctx, &bdf, ret_inventory);
}

/* Read the present PF; it must have a network device. */
static int open_pf(struct vfctl_ctx *ctx, const struct op *op,
	struct vfctl_inventory **ret_inventory)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_function(ctx, op, &inv);

	if (r < 0)
		return r;
	if (!inv->pfs[0].netdev[0])
		return ctx_fail(ctx, -ENODEV, "%s has no network device here", op->target);
	*ret_inventory = steal(inv);
	return 0;
}

/* ---- MTU ---- */

static int observe_mtu(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_pf(ctx, op, &inv);

	return r < 0 ? r : host_read(ctx, ret, "/sys/class/net/%s/mtu", inv->pfs[0].netdev);
}

static int write_mtu(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	uint32_t mtu;
	int r = open_pf(ctx, op, &inv);

	if (r < 0)
		return r;
	if (parse_u32(text, 0, UINT16_MAX, &mtu) < 0)
		return op_fail_value(ctx, op, text);
	r = host_write(ctx, text, "/sys/class/net/%s/mtu", inv->pfs[0].netdev);
	if (r == -EINVAL)
		return ctx_append(ctx, r, "; driver %s does not accept an MTU of %s (for its limits: ip "
			"-d link show %s)", inv->pfs[0].driver, text, inv->pfs[0].netdev);
	return r;
}

OP_WRITTEN(pf_mtu, observe_mtu, write_mtu)

static int check_vfs_closed(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *what)
{
	char name[VFCTL_BDF_TEXT], message[256];

	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &pf->vfs[i];

		if (vf_is_open(vf) || vf->lease.running)
			return ctx_fail(ctx, -EBUSY, "VF %s/%u is %s; %s", vfctl_pf_name(pf, name),
				vf->index, vf_describe_user(vf, message, sizeof(message)), what);
	}
	return 0;
}

/* The host's own routes follow the present MTU; a guest does not. */
static int check_mtu(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	uint32_t before;

	if (parse_u32(op->before, 0, UINT16_MAX, &before) < 0 || before >= pf->mtu)
		return 0; /* the roll-back reports it */
	return check_vfs_closed(ctx, pf, "the MTU of its PF cannot be lowered again");
}

const struct op_type op_pf_mtu = {.name = "pf-mtu", OP_CALLS(pf_mtu), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .check_unused = check_mtu};

/* ---- IPoIB: datagram or connected ---- */

int vfctl_pf_ipoib_mode(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, char **ret_mode)
{
	return host_read(ctx, ret_mode, "/sys/class/net/%s/mode", pf->netdev);
}

static int observe_mode(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_pf(ctx, op, &inv);

	return r < 0 ? r : vfctl_pf_ipoib_mode(ctx, &inv->pfs[0], ret);
}

/* Enhanced IPoIB of mlx5 supports only datagram, and rejects anything else (ipoib_main.c). */
static int write_mode(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_pf(ctx, op, &inv);

	if (r < 0)
		return r;
	if (!str_eq(text, "datagram") && !str_eq(text, "connected"))
		return op_fail_value(ctx, op, text);
	r = host_write(ctx, text, "/sys/class/net/%s/mode", inv->pfs[0].netdev);
	return r == -EINVAL || r == -EPERM || r == -EOPNOTSUPP ? ctx_append(ctx, r, "; IPoIB of driver "
		"%s does not support %s mode (mlx5: only with module option ipoib_enhanced=0 of "
		"ib_ipoib)",
		inv->pfs[0].driver, text) : r;
}

OP_WRITTEN(ipoib_mode, observe_mode, write_mode)
const struct op_type op_ipoib_mode = {.name = "ipoib-mode", OP_CALLS(ipoib_mode),
	.lost_on_reboot = true,
	.is_gone = pci_op_is_gone};

/* ---- the completion queues of kernel users of RDMA ---- */

static int open_rdma(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_inventory **ret_inv)
{
	int r = open_function(ctx, op, ret_inv);

	return r < 0 || (*ret_inv)->pfs[0].rdma[0] ? r : ctx_fail(ctx, -ENODEV, "%s has no RDMA device "
		"(load the RDMA module of its driver, such as mlx5_ib)", op->target);
}

static int observe_adaptive(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	bool on;
	int r = open_rdma(ctx, op, &inv);

	if (r == 0)
		r = nl_rdma_adaptive_read(ctx, inv->pfs[0].rdma, &on);
	return r < 0 ? r : op_say(ctx, on ? "on" : "off", ret);
}

static int write_adaptive(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_rdma(ctx, op, &inv);

	if (r < 0)
		return r;
	if (!str_eq(text, "on") && !str_eq(text, "off"))
		return op_fail_value(ctx, op, text);
	return nl_rdma_adaptive_write(ctx, inv->pfs[0].rdma, str_eq(text, "on"));
}

static int apply_adaptive(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = write_adaptive(ctx, op, op->want);

	/* Some drivers report success without an effect. */
	if (r == 0)
		r = observe_adaptive(ctx, op, &now);
	return r == 0 && !str_eq(now, op->want) ? ctx_fail(ctx, -EIO, "the kernel accepted adaptive "
		"moderation %s for %s but still reports %s", op->want, op->target, now) : r;
}

static int revert_adaptive(struct vfctl_ctx *ctx, const struct op *op)
{
	_free_ char *now = NULL;
	int r = observe_adaptive(ctx, op, &now);

	/* If the kernel refused the change, it would refuse the roll-back too. */
	return r < 0 || str_eq(now, op->before) ? r : write_adaptive(ctx, op, op->before);
}

OP_ONE_BY_ONE(rdma_adaptive, observe_adaptive, apply_adaptive, revert_adaptive)
const struct op_type op_rdma_adaptive = {.name = "rdma-adaptive-moderation",
	OP_CALLS(rdma_adaptive), .lost_on_reboot = true, .is_gone = pci_op_is_gone};

/* ---- up or down ---- */

int netdev_flags_read(struct vfctl_ctx *ctx, const char *netdev, unsigned *ret)
{
	_free_ char *text = NULL;
	int r = host_read(ctx, &text, "/sys/class/net/%s/flags", netdev);

	if (r == 0 && sscanf(text, "%x", ret) != 1)
		r = ctx_fail(ctx, -EBADMSG, "/sys/class/net/%s/flags has '%.20s'", netdev, text);
	return r;
}

/* The file sets all flags at once (net/core/net-sysfs.c, flags_store). */
int netdev_set_up(struct vfctl_ctx *ctx, const char *netdev, bool up)
{
	unsigned flags;
	char number[16];
	int r = netdev_flags_read(ctx, netdev, &flags);

	if (r < 0 || !(flags & IFF_UP) == !up)
		return r;
	snprintf(number, sizeof(number), "0x%x", flags ^ IFF_UP);
	return host_write(ctx, number, "/sys/class/net/%s/flags", netdev);
}

static int observe_link(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	unsigned flags;
	int r = open_pf(ctx, op, &inv);

	if (r == 0)
		r = netdev_flags_read(ctx, inv->pfs[0].netdev, &flags);
	return r < 0 ? r : op_say(ctx, flags & IFF_UP ? UP : DOWN, ret);
}

static int write_link(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_pf(ctx, op, &inv);

	if (r == 0 && !str_eq(text, UP) && !str_eq(text, DOWN))
		r = op_fail_value(ctx, op, text);
	return r < 0 ? r : netdev_set_up(ctx, inv->pfs[0].netdev, str_eq(text, UP));
}

OP_WRITTEN(pf_link, observe_link, write_link)

static int check_routes(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, const char *what)
{
	_strv_ char **names = NULL;
	_cleanup_(routes_clear) struct routes routes = {0};
	const char *through;
	int r = routes_read(ctx, &routes);

	if (r == 0)
		r = routes_devices(ctx, pf->netdev, &names);
	through = r == 0 ? routes_through(&routes, names, false) : NULL;
	return through ? ctx_fail(ctx, -EBUSY, "the host has routes through %s; %s", through, what) : r;
}

/* Guests and the host may use the port since then. */
static int check_link(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	static const char what[] = "its link cannot be set down again";
	int r;

	if (!str_eq(op->before, DOWN) || !pf->up)
		return 0;
	r = check_vfs_closed(ctx, pf, what);
	return r < 0 ? r : check_routes(ctx, pf, what);
}

const struct op_type op_pf_link = {.name = "pf-link", OP_CALLS(pf_link), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .check_unused = check_link};
