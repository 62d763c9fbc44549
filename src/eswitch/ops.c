// SPDX-License-Identifier: GPL-2.0-or-later
/* Operations: the mode of a PF's switch, and the bridge of a representor. */
#include <errno.h>
#include <linux/if.h>

#include "base/parse.h"
#include "eswitch/eswitch.h"
#include "eswitch/lag.h"
#include "host/host.h"
#include "pci/device.h"
#include "sriov/eswitch.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"

/* ---- the mode ---- */

static int observe_mode(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	enum vfctl_eswitch mode = VFCTL_ESWITCH_UNKNOWN;
	struct vfctl_bdf pf;
	int r = vfctl_bdf_parse(op->target, &pf) < 0 ? op_fail_target(ctx, op)
		: eswitch_read(ctx, &pf, &mode);

	return r < 0 ? r : op_say(ctx, vfctl_eswitch_name(mode), ret);
}

static const char *mode_hint(int error)
{
	switch (error) {
	case -EBUSY:
		return "; remove rate groups first (devlink port function rate show); a firmware reset "
		       "must not be in progress";
	case -EPERM:
		return "; it needs root; cards with Socket Direct do not support the change";
	case -EINVAL:
		return "; the PF's network device must be in the network namespace of its devlink "
		       "instance";
	case -EOPNOTSUPP:
		return "; the driver does not support the mode, or existing VFs (ice), IPsec offloads "
		       "or traps (mlx5) prevent the change";
	default:
		return "; dmesg may tell why";
	}
}

static int check_unused_pf(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf,
	struct vfctl_inventory **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	char message[256];
	int r = inventory_read_pf(ctx, pf, &inv);

	if (r < 0)
		return r;
	holder_find_all(ctx, inv);
	for (uint32_t i = 0; i < inv->pfs[0].num_vfs; i++)
		if (vf_is_open(&inv->pfs[0].vfs[i]))
			return ctx_fail(ctx, -EBUSY, "VF %u of %s is %s, so the eswitch mode stays as it is",
				inv->pfs[0].vfs[i].index,
				vfctl_pf_name(&inv->pfs[0], (char[VFCTL_BDF_TEXT]){0}),
				vf_describe_user(&inv->pfs[0].vfs[i], message, sizeof(message)));
	*ret = steal(inv);
	return 0;
}

/*
 * A change of mode removes everything that VFs use to send and receive, and with it a VF-LAG: no
 * guest may have a VF of this PF, or of the other port.
 */
static int check_unused(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL, *second = NULL;
	struct vfctl_bdf other;
	int r = check_unused_pf(ctx, pf, &inv);

	if (r == 0)
		r = lag_other(ctx, &inv->pfs[0], &other);
	return r <= 0 ? r : check_unused_pf(ctx, &other, &second);
}

static int check_mode(struct vfctl_ctx *ctx, const struct vfctl_bdf *pf, const char *want)
{
	enum vfctl_eswitch now = VFCTL_ESWITCH_UNKNOWN;
	int r = eswitch_read(ctx, pf, &now);

	if (r == 0 && !str_eq(vfctl_eswitch_name(now), want))
		return ctx_fail(ctx, -EIO, "the driver accepted eswitch mode %s but reports %s (dmesg "
			"may tell why)", want, vfctl_eswitch_name(now));
	return r;
}

static int write_mode(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	const struct nl_devlink device = {"pci", op->target};
	enum vfctl_eswitch want, now = VFCTL_ESWITCH_UNKNOWN;
	struct vfctl_bdf pf;
	int r = vfctl_bdf_parse(op->target, &pf) < 0 ? op_fail_target(ctx, op) : 0;

	if (r == 0 && !eswitch_parse(text, &want))
		r = op_fail_value(ctx, op, text);
	if (r == 0)
		r = eswitch_read(ctx, &pf, &now);
	if (r < 0 || now == want)
		return r;
	r = check_unused(ctx, &pf);
	if (r < 0)
		return r;
	ctx_progress(ctx, "changing the eswitch mode of %s", op->target);
	r = nl_eswitch_write(ctx, &device, eswitch_number(want));
	if (r < 0)
		return ctx_append(ctx, r, "%s", mode_hint(r));
	return check_mode(ctx, &pf, text);
}

OP_WRITTEN(eswitch, observe_mode, write_mode)

/* The mode is not changed under a guest: it stays as the interrupted change left it. */
static int check_eswitch(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	enum vfctl_eswitch before;
	int r;

	if (!eswitch_parse(op->before, &before) || before == pf->eswitch)
		return 0;
	r = eswitch_check_unused(ctx, pf, ESWITCH_MEANWHILE);
	return r < 0 ? r : lag_check_other(ctx, inv, pf, ESWITCH_MEANWHILE);
}

const struct op_type op_eswitch = {.name = "eswitch", OP_CALLS(eswitch), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone, .check_unused = check_eswitch};

/* ---- representors ---- */

#define NO_BRIDGE "-"
#define DOWN " down"
#define WAIT_MS 50

/* The present PF of these ops: representors are created and removed with VFs and with the mode. */
static int open_pf(struct vfctl_ctx *ctx, const struct op *op,
	struct vfctl_inventory **ret_inventory)
{
	size_t len = strcspn(op->target, "/");
	char text[VFCTL_BDF_TEXT] = "";
	struct vfctl_bdf pf;

	if (len < sizeof(text))
		memcpy(text, op->target, len);
	return vfctl_bdf_parse(text, &pf) < 0 ? op_fail_target(ctx, op) : inventory_read_pf(ctx, &pf,
		ret_inventory);
}

/* "" if it has none. */
static int find_representor(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_pf *pf,
	const char **ret_name)
{
	const char *slash = strchr(op->target, '/');
	uint32_t index;

	if (!slash || parse_u32(slash + 1, 0, UINT16_MAX, &index) < 0)
		return op_fail_target(ctx, op);
	*ret_name = "";
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (pf->vfs[i].index == index)
			*ret_name = pf->vfs[i].representor;
	return 0;
}

int representor_text(struct vfctl_ctx *ctx, const char *netdev, char **ret)
{
	_free_ char *master = NULL;
	unsigned flags = 0;
	int r;

	if (!netdev[0]) /* a device that does not exist is in no bridge */
		return op_say(ctx, NO_BRIDGE DOWN, ret);
	r = host_try_link_name(ctx, &master, "/sys/class/net/%s/master", netdev);
	if (r < 0 && r != -ENOENT)
		return ctx_fail(ctx, r, "read which bridge %s is a port of: %s", netdev, strerror(-r));
	r = netdev_flags_read(ctx, netdev, &flags);
	if (r < 0)
		return r;
	return op_give(ctx, str_format("%s%s", master ? master : NO_BRIDGE, flags & IFF_UP ? "" : DOWN),
		ret);
}

static int observe_ports(struct vfctl_ctx *ctx, const struct op *ops, size_t count,
	char **ret_texts)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_pf(ctx, ops, &inv);

	for (size_t i = 0; i < count && r == 0; i++) {
		const char *name = "";

		r = find_representor(ctx, &ops[i], &inv->pfs[0], &name);
		if (r == 0)
			r = representor_text(ctx, name, &ret_texts[i]);
	}
	return r;
}

static int read_index(struct vfctl_ctx *ctx, const char *netdev, int *ret)
{
	_free_ char *text = NULL;
	int r = host_read(ctx, &text, "/sys/class/net/%s/ifindex", netdev);

	if (r == 0 && parse_int(text, 1, INT32_MAX, ret) < 0)
		r = ctx_fail(ctx, -EBADMSG, "/sys/class/net/%s/ifindex has '%.20s'", netdev, text);
	return r;
}

static bool is_unnamed(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		_free_ char *text = NULL;

		if (pf->vfs[i].representor[0] && host_try_read(ctx, &text, "/sys/class/net/%s/ifindex",
			pf->vfs[i].representor) == 0 && !host_exists(ctx, "/run/udev/data/n%s", text))
			return true;
	}
	return false;
}

/*
 * udev renames a new device, and the kernel does not rename a device that is up (before 6.2). So
 * wait until udev is finished, for at most 30 s, and find the device again.
 */
static int open_named(struct vfctl_ctx *ctx, const struct op *op,
	struct vfctl_inventory **ret_inventory)
{
	int r = open_pf(ctx, op, ret_inventory);
	unsigned waited = 0;

	while (r == 0 && host_exists(ctx, "/run/udev/control") &&
		is_unnamed(ctx, &(*ret_inventory)->pfs[0]) && host_wait_ms(ctx, WAIT_MS, &waited)) {
		vfctl_inventory_free(steal(*ret_inventory));
		r = open_pf(ctx, op, ret_inventory);
	}
	return r;
}

static int fail_none(struct vfctl_ctx *ctx, const struct op *op)
{
	return ctx_fail(ctx, -ENOENT, "VF %s has no representor on this host (a network device with "
		"the phys_switch_id of its PF and pfNvf%s as phys_port_name)", op->target,
		strchr(op->target, '/') + 1);
}

/* "br0", "-", or either with " down". */
static bool split_text(const char *text, char ret_bridge[16], bool *ret_up)
{
	size_t len = strcspn(text, " ");

	if (!len || len >= 16 || (text[len] && !str_eq(text + len, DOWN)))
		return false;
	memcpy(ret_bridge, text, len);
	ret_bridge[len] = '\0';
	*ret_up = !text[len];
	return strchr(ret_bridge, '/') == NULL;
}

/*
 * The bridge is set last: after a crash before that, recovery sees that the device is not one of
 * its ports.
 */
static int join_mode(struct vfctl_ctx *ctx, const struct op *op, const struct vfctl_pf *pf,
	const char *text)
{
	int ifindex, master = 0;
	char bridge[16];
	const char *name = "";
	bool up = false, none;
	int r = find_representor(ctx, op, pf, &name);

	if (r == 0 && !split_text(text, bridge, &up))
		r = op_fail_value(ctx, op, text);
	if (r < 0)
		return r;
	none = str_eq(bridge, NO_BRIDGE);
	if (!name[0]) /* it disappeared with its VF, or with the mode */
		return none ? 0 : fail_none(ctx, op);
	if (!none)
		r = read_index(ctx, bridge, &master);
	if (r == 0)
		r = read_index(ctx, name, &ifindex);
	if (r == 0)
		r = netdev_set_up(ctx, name, up);
	if (r == 0)
		r = nl_link_set_master(ctx, ifindex, master);
	return r < 0 ? ctx_prefix(ctx, r, none ? "remove %s, the representor of VF %s, from its bridge"
		: "add %s, the representor of VF %s, to a bridge", name, op->target) : 0;
}

static int apply_ports(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_named(ctx, ops, &inv);

	for (size_t i = 0; i < count && r == 0; i++)
		r = join_mode(ctx, &ops[i], &inv->pfs[0], ops[i].want);
	return r;
}

static int revert_ports(struct vfctl_ctx *ctx, const struct op *ops, size_t count)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	int r = open_pf(ctx, ops, &inv);

	for (size_t i = 0; i < count && r == 0; i++)
		if (ops[i].before)
			r = join_mode(ctx, &ops[i], &inv->pfs[0], ops[i].before);
	return r;
}

const struct op_type op_representor = {.name = "representor", .lost_on_reboot = true,
	.is_gone = pci_op_is_gone,
	.observe = observe_ports, .apply = apply_ports, .revert = revert_ports};
