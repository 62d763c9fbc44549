// SPDX-License-Identifier: GPL-2.0-or-later
#include "tuning/coalesce.h"

#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "drivers/driver.h"
#include "host/host.h"
#include "netlink/ethtool.h"
#include "pci/device.h"
#include "sriov/inventory.h"

#define BIT VFCTL_COALESCE_BIT
#define POLL_MS 200

int coalesce_read(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, struct vfctl_coalesce *ret)
{
	struct nl_coalesce row = {.ifindex = pf->ifindex};
	int r;

	if (!pf->ifindex)
		return ctx_fail(ctx, -ENODEV, "%s has no network device here, so it has no interrupt "
			"moderation to set (check that its driver is bound, and its network namespace)",
			TEXT(&pf->bdf));
	r = nl_coalesce_read(ctx, &row, 1);
	if (r < 0)
		return r;
	if (row.error == -EOPNOTSUPP)
		return ctx_fail(ctx, -EOPNOTSUPP, "the driver %s of %s has no interrupt moderation to set",
			pf->driver, pf->netdev);
	if (row.error < 0)
		return ctx_fail(ctx, row.error, "read the interrupt moderation of %s: %s", pf->netdev,
			row.text[0] ? row.text : strerror(-row.error));
	*ret = row.values;
	return 0;
}

/* ---- the operation ---- */

static int open_pf(struct vfctl_ctx *ctx, const struct op *op, struct vfctl_inventory **ret)
{
	struct vfctl_bdf bdf;

	if (vfctl_bdf_parse(op->target, &bdf) < 0)
		return op_fail_target(ctx, op);
	return inventory_read_values(ctx, &bdf, ret);
}

/* The settings of @c that @of contains. A driver that lost one since does not report it. */
static struct vfctl_coalesce only(const struct vfctl_coalesce *c, uint32_t of)
{
	struct vfctl_coalesce some = *c;

	some.mask &= of;
	return some;
}

static int read_text(struct vfctl_ctx *ctx, const struct op *op, const char *text,
	struct vfctl_coalesce *ret)
{
	return vfctl_coalesce_read(ctx, text, ret) < 0 ? op_fail_value(ctx, op, text) : 0;
}

static int observe_coalesce(struct vfctl_ctx *ctx, const struct op *op, char **ret)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_coalesce want, now, some;
	int r = read_text(ctx, op, op->want, &want);

	if (r == 0)
		r = open_pf(ctx, op, &inv);
	if (r == 0)
		r = coalesce_read(ctx, &inv->pfs[0], &now);
	if (r < 0)
		return r;
	some = only(&now, want.mask);
	return op_give(ctx, vfctl_coalesce_format(&some), ret);
}

/* Find the setting that the driver rejects. The accepted ones stay set meanwhile. */
static void find_refused(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *c, struct buf *ret_names)
{
	for (size_t i = 0; i < VFCTL_COALESCE_KEYS; i++) {
		struct nl_coalesce row = {.ifindex = pf->ifindex, .values = only(c, BIT(i))};
		_free_ char *text = row.values.mask ? vfctl_coalesce_format(&row.values) : NULL;

		if (text && nl_coalesce_write(ctx, &row, 1) == 0 && row.error < 0)
			buf_printf(ret_names, "%s%s", ret_names->len ? ", " : "", text);
	}
}

static int fail_refused(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct nl_coalesce *row)
{
	_free_ char *text = vfctl_coalesce_format(&row->values);
	_buf_ struct buf refused = {0};

	if (row->error == -EINVAL || row->error == -ERANGE || row->error == -EOPNOTSUPP)
		find_refused(ctx, pf, &row->values, &refused);
	return ctx_fail(ctx, row->error, "set the interrupt moderation of %s to %s: driver %s rejects "
		"%s: %s; for the values that it accepts: vfctl tune show %s", pf->netdev,
		text ? text : "", pf->driver, refused.len ? refused.data : "that",
		row->text[0] ? row->text : strerror(-row->error), pf->netdev);
}

/*
 * List the settings of @want for which the driver has another value, such as "rx-usecs=10"; "" if
 * all are equal.
 */
static int read_differences(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *want, struct buf *ret)
{
	struct vfctl_coalesce now;
	int r = coalesce_read(ctx, pf, &now);

	for (size_t i = 0; i < VFCTL_COALESCE_KEYS && r == 0; i++) {
		struct vfctl_coalesce has = only(&now, BIT(i)), asked = only(want, BIT(i));
		_free_ char *text = NULL;

		if (!asked.mask || (has.mask && has.values[i] == asked.values[i]))
			continue;
		text = vfctl_coalesce_format(&has);
		buf_printf(ret, "%s%s", ret->len ? ", " : "", text && *text ? text
			: vfctl_coalesce_name((enum vfctl_coalesce_key)i));
	}
	return r;
}

/* be2net shows a new time after its worker has run. */
static int wait_for_values(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *want, struct buf *differs)
{
	const struct driver *d = driver_moderation(pf->driver, pf->infiniband);
	int r = 0;

	for (unsigned waited = 0; d && waited < d->late_ms && differs->len && r == 0; waited += POLL_MS) {
		host_sleep_ms(ctx, POLL_MS);
		buf_free(differs);
		r = read_differences(ctx, pf, want, differs);
	}
	return r;
}

static int send_values(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *values, struct buf *ret_differs)
{
	struct nl_coalesce row = {.ifindex = pf->ifindex, .values = *values};
	int r = nl_coalesce_write(ctx, &row, 1);

	if (r == 0 && row.error < 0)
		r = fail_refused(ctx, pf, &row);
	if (r == 0)
		r = read_differences(ctx, pf, values, ret_differs);
	return r < 0 ? r : wait_for_values(ctx, pf, values, ret_differs);
}

/*
 * With the request that changes the mode, a driver may ignore the values (bnxt). Linux 6.12 then
 * calls it a second time (net/ethtool/coalesce.c), Linux 6.1 does not, so a second request sets
 * them. A driver may also accept a value and keep what it had (netdevsim does with CQE modes).
 */
int coalesce_write(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_coalesce *values)
{
	_buf_ struct buf differs = {0};
	int r = 0;

	if (!values->mask)
		return 0;
	if (!pf->ifindex)
		return ctx_fail(ctx, -ENODEV, "%s has no network device here", TEXT(&pf->bdf));
	for (unsigned requests = 0; requests < 2 && r == 0 && (differs.len || !requests); requests++) {
		buf_free(&differs);
		r = send_values(ctx, pf, values, &differs);
	}
	return r == 0 && differs.len ? ctx_fail(ctx, -EIO, "driver %s of %s accepted the change but kept "
		"%s; use that value, or omit the setting", pf->driver, pf->netdev, differs.data) : r;
}

static int write_text(struct vfctl_ctx *ctx, const struct op *op, const char *text)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	struct vfctl_coalesce values;
	int r = read_text(ctx, op, text, &values);

	if (r == 0)
		r = open_pf(ctx, op, &inv);
	return r < 0 ? r : coalesce_write(ctx, &inv->pfs[0], &values);
}

OP_WRITTEN(coalesce, observe_coalesce, write_text)
const struct op_type op_coalesce = {.name = "coalesce", OP_CALLS(coalesce), .lost_on_reboot = true,
	.is_gone = pci_op_is_gone};

/* ---- the step ---- */

int coalesce_add_step(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_tuning_fit *fit, struct steps *steps)
{
	struct vfctl_coalesce before = {0};
	_free_ char *want = NULL, *had = NULL;

	if (!fit->changes)
		return 0;
	for (size_t i = 0; i < fit->count; i++)
		if (fit->rows[i].known && fit->set.mask & BIT(fit->rows[i].key)) {
			before.mask |= BIT(fit->rows[i].key);
			before.values[fit->rows[i].key] = fit->rows[i].now;
		}
	want = vfctl_coalesce_format(&fit->set);
	had = vfctl_coalesce_format(&before);
	if (!want || !had)
		return ctx_oom(ctx);
	step_add_op(steps, &op_coalesce, want, had, TEXT(&pf->bdf),
		"%s: set the interrupt moderation to %s (was %s)%s", pf->netdev, want, had,
		fit->resets ? "; this resets the PF and takes the link of each VF down" : "");
	return 0;
}
