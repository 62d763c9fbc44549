// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * VF-LAG: the VFs of a card use its ports as one. It consists of a bond of the PFs, and its state
 * in the driver.
 */
#include "eswitch/lag.h"

#include <errno.h>
#include <limits.h>
#include <linux/if.h>
#include <stdio.h>

#include "base/buf.h"
#include "base/parse.h"
#include "eswitch/eswitch.h"
#include "host/host.h"
#include "pci/device.h"
#include "sriov/eswitch.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"

#define NET "/sys/class/net/"
#define MASTERS "/sys/class/net/bonding_masters"
#define MIIMON_MS "100" /* otherwise a bond does not monitor the links of its ports */
#define WAIT_MS 100
#define WAIT_TRIES 300

/* ---- reading ---- */

static int compare_texts(const void *a, const void *b)
{
	return strcmp(*(char *const *)a, *(char *const *)b);
}

/* Split a text into words; freed by the caller. NULL if memory is exhausted. */
static char **split_lag(const char *text)
{
	_strv_ char **message = calloc(1, sizeof(*message));
	size_t count = 0;

	for (const char *at = text; message && *at; at += strspn(at, " ")) {
		size_t len = strcspn(at, " ");

		if (!array_grow(message, count + 1))
			return NULL;
		message[count] = strndup(at, len);
		if (!message[count])
			return NULL;
		message[++count] = NULL;
		at += len;
	}
	return steal(message);
}

int lag_bond_text(struct vfctl_ctx *ctx, const char *bond, char **ret)
{
	_free_ char *mode = NULL, *ports = NULL;
	_strv_ char **names = NULL;
	_buf_ struct buf text = {0};
	int r;

	if (!host_exists(ctx, NET "%s/bonding", bond))
		return op_say(ctx, LAG_NO_BOND, ret);
	r = host_read(ctx, &mode, NET "%s/bonding/mode", bond);
	if (r == 0)
		r = host_read(ctx, &ports, NET "%s/bonding/slaves", bond);
	if (r < 0)
		return r;
	names = split_lag(ports);
	if (!names)
		return ctx_oom(ctx);
	qsort(names, strv_len(names), sizeof(*names), compare_texts);
	buf_printf(&text, "%.*s", (int)strcspn(mode, " "), mode); /* "802.3ad 4" */
	for (size_t i = 0; names[i]; i++)
		buf_printf(&text, " %s", names[i]);
	*ret = buf_steal(&text);
	return *ret ? 0 : ctx_oom(ctx);
}

static bool port_address(struct vfctl_ctx *ctx, const char *netdev, struct vfctl_bdf *ret)
{
	_free_ char *address = NULL;

	return host_try_link_name(ctx, &address, NET "%s/device", netdev) == 0 &&
		vfctl_bdf_parse(address, ret) == 0;
}

int lag_other(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_bdf *ret)
{
	_free_ char *ports = NULL;
	_strv_ char **names = NULL;
	int r = pf->lag == VFCTL_LAG_ACTIVE ? host_read(ctx, &ports, NET "%s/bonding/slaves",
		pf->bond) : 0;

	if (r < 0 || !ports)
		return r;
	names = split_lag(ports);
	if (!names)
		return ctx_oom(ctx);
	for (size_t i = 0; names[i]; i++)
		if (port_address(ctx, names[i], ret) && vfctl_bdf_compare(ret, &pf->bdf) != 0)
			return 1;
	return 0;
}

/* ---- the bond ---- */

static bool has(char *const *message, const char *word)
{
	for (size_t i = 0; message[i]; i++)
		if (str_eq(message[i], word))
			return true;
	return false;
}

static int write_signed(struct vfctl_ctx *ctx, char sign, const char *name, const char *path)
{
	char text[32];

	snprintf(text, sizeof(text), "%c%.20s", sign, name);
	return host_write(ctx, text, "%s", path);
}

static int write_port(struct vfctl_ctx *ctx, const char *bond, char sign, const char *port)
{
	_free_ char *path = str_format(NET "%s/bonding/slaves", bond);
	int r = path ? 0 : ctx_oom(ctx);

	/* bond_enslave() rejects a device that is up. */
	if (r == 0 && sign == '+')
		r = netdev_set_up(ctx, port, false);
	if (r == 0)
		r = write_signed(ctx, sign, port, path);
	return r < 0 ? ctx_prefix(ctx, r, sign == '+' ? "add %s to %s" : "remove %s from %s", port, bond)
		     : 0;
}

/* The words of "MODE PORT PORT": ports from 1 on. */
static int change_ports(struct vfctl_ctx *ctx, const char *bond, char *const *now,
	char *const *want)
{
	bool other_mode = now[0] && !str_eq(now[0], want[0]);
	int r = 0;

	for (size_t i = 1; now[0] && now[i] && r == 0; i++)
		if (other_mode || !has(want + 1, now[i]))
			r = write_port(ctx, bond, '-', now[i]);
	/* The mode can be changed only while the bond is down and has no ports. */
	if (r == 0 && other_mode)
		r = netdev_set_up(ctx, bond, false);
	if (r == 0 && other_mode)
		r = host_write(ctx, want[0], NET "%s/bonding/mode", bond);
	for (size_t i = 1; want[i] && r == 0; i++)
		if (other_mode || !has(now + 1, want[i]))
			r = write_port(ctx, bond, '+', want[i]);
	return r == 0 && want[1] ? netdev_set_up(ctx, bond, true) : r;
}

static int make_bond(struct vfctl_ctx *ctx, const char *bond)
{
	int r = 0;

	if (!host_exists(ctx, MASTERS))
		r = host_load_module(ctx, "bonding");
	if (r == 0 && !host_exists(ctx, NET "%s", bond))
		r = write_signed(ctx, '+', bond, MASTERS);
	return r < 0 ? r : host_write(ctx, MIIMON_MS, NET "%s/bonding/miimon", bond);
}

static bool is_name(const char *text)
{
	return text[0] && strlen(text) < 16 && !strchr(text, '/') && !str_eq(text, ".") &&
		!str_eq(text, "..");
}

static int check_text(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	char *const *message)
{
	bool bad = !is_name(op->target) || !message[0];

	for (size_t i = 0; message[i]; i++)
		bad |= !is_name(message[i]);
	return bad ? op_fail_value(ctx, op, text) : 0;
}

static int write_bond(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_strv_ char **want = split_lag(text), **had = NULL;
	_free_ char *now = NULL;
	int r = want ? check_text(ctx, op, text, want) : ctx_oom(ctx);

	if (r == 0)
		r = lag_bond_text(ctx, op->target, &now);
	if (r < 0 || str_eq(now, text))
		return r;
	if (str_eq(text, LAG_NO_BOND))
		return write_signed(ctx, '-', op->target, MASTERS);
	if (str_eq(now, LAG_NO_BOND)) {
		r = make_bond(ctx, op->target);
		free(steal(now));
		if (r == 0)
			r = lag_bond_text(ctx, op->target, &now);
	}
	if (r < 0)
		return r;
	had = split_lag(now);
	return had ? change_ports(ctx, op->target, had, want) : ctx_oom(ctx);
}

static int observe_bond(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	return is_name(op->target) ? lag_bond_text(ctx, op->target, ret)
		: op_fail_target(ctx, op);
}

OP_WRITTEN(bond, observe_bond, write_bond)

static int check_bond(struct vfctl_ctx *ctx, const struct op *op,
	const struct vfctl_inventory *inv, const struct vfctl_pf *pf)
{
	_free_ char *now = NULL;
	int r = lag_bond_text(ctx, op->target, &now);

	if (r < 0 || op_is(op->type, op->before, now))
		return r;
	return eswitch_check_unused(ctx, pf, "the VF-LAG of both ports is removed");
}

const struct op_type op_bond = {.name = "bond", OP_CALLS(bond), .lost_on_reboot = true,
	.of_all_vfs = true, .check_unused = check_bond};

/* ---- link monitoring of the bond ---- */

static int observe_miimon(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	if (!is_name(op->target))
		return op_fail_target(ctx, op);
	if (!host_exists(ctx, NET "%s/bonding", op->target))
		return op_say(ctx, LAG_NO_BOND, ret);
	return host_read(ctx, ret, NET "%s/bonding/miimon", op->target);
}

/* A bond that was removed since is not restored. */
static int write_miimon(struct vfctl_ctx *ctx, const struct op *op, bool back)
{
	const char *text = back ? op->before : op->want;
	_free_ char *now = NULL;
	int ms, r = observe_miimon(ctx, op, &now);

	if (back && r == 0 && str_eq(now, LAG_NO_BOND))
		return 0;
	if (r == 0 && parse_int(text, 0, INT_MAX, &ms) < 0)
		r = op_fail_value(ctx, op, text);
	return r < 0 || str_eq(now, text) ? r : host_write(ctx, text, NET "%s/bonding/miimon", op->target);
}

OP_APPLY_OR_REVERT(miimon, observe_miimon, write_miimon)
const struct op_type op_miimon = {.name = "bond-miimon", OP_CALLS(miimon), .lost_on_reboot = true};

/*
 * A bond with ARP monitoring keeps it: setting miimon would disable it (bond_option_miimon_set()).
 */
void lag_add_miimon(struct vfctl_ctx *ctx, const char *bond, struct steps *steps)
{
	_free_ char *now = NULL, *arp = NULL;

	if (host_try_read(ctx, &now, NET "%s/bonding/miimon", bond) < 0 || !str_eq(now, "0") ||
		(host_try_read(ctx, &arp, NET "%s/bonding/arp_interval", bond) == 0 && !str_eq(arp, "0")))
		return;
	step_add_op(steps, &op_miimon, MIIMON_MS, "0", bond, "%s: make it check the links of its ports, "
		"every " MIIMON_MS " ms (miimon)", bond);
}

/* ---- the state in the driver ---- */

static int read_pf(struct vfctl_ctx *ctx, const struct op *op, enum vfctl_lag *ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_bdf bdf;
	int r = vfctl_bdf_parse(op->target, &bdf) < 0
		? op_fail_target(ctx, op)
		: inventory_read_pf(ctx, &bdf, &inv);

	if (r == 0)
		*ret = inv->pfs[0].bond[0] ? inv->pfs[0].lag : VFCTL_LAG_OFF;
	return r;
}

static int observe_lag(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	enum vfctl_lag state = VFCTL_LAG_UNKNOWN;
	int r = read_pf(ctx, op, &state);

	return r < 0 ? r : op_say(ctx, vfctl_lag_name(state), ret);
}

/* The driver handles a change of the bond with a delay, and later again if it is busy. */
static int apply_lag(struct vfctl_ctx *ctx, const struct op *op)
{
	enum vfctl_lag state = VFCTL_LAG_UNKNOWN;
	int r = read_pf(ctx, op, &state);

	for (int i = 0; r == 0 && state == VFCTL_LAG_OFF && i < WAIT_TRIES && !ctx->cancelled; i++) {
		ctx_progress(ctx, "waiting for the driver to create the VF-LAG");
		host_sleep_ms(ctx, WAIT_MS);
		r = read_pf(ctx, op, &state);
	}
	if (r == 0 && state == VFCTL_LAG_OFF && ctx->cancelled)
		return ctx_fail(ctx, -EINTR, "interrupted; rolled back");
	if (r == 0 && state == VFCTL_LAG_OFF)
		return ctx_fail(ctx, -ETIMEDOUT, "the driver did not create a VF-LAG for the bond "
			"within %d s: dmesg may tell why (more than 64 VFs on a port need a newer "
			"firmware; both ports need the same RoCE state; the bond must have no other "
			"members)",
			WAIT_TRIES * WAIT_MS / 1000);
	return r;
}

static int revert_lag(struct vfctl_ctx *ctx, const struct op *op)
{
	return 0; /* it disappeared with the bond */
}

OP_ONE_BY_ONE(lag, observe_lag, apply_lag, revert_lag)
const struct op_type op_lag = {.name = "lag", OP_CALLS(lag), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone};

int lag_check_other(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_pf *pf,
	const char *meanwhile)
{
	int r = 0;

	for (size_t i = 0; i < inv->pf_count && pf->lag == VFCTL_LAG_ACTIVE && r == 0; i++)
		if (&inv->pfs[i] != pf && str_eq(inv->pfs[i].bond, pf->bond))
			r = eswitch_check_unused(ctx, &inv->pfs[i], meanwhile);
	return r;
}
