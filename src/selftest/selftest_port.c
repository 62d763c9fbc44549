// SPDX-License-Identifier: GPL-2.0-or-later
/* The trials on the PF's own network device: interrupt moderation and MTU. */
#include <errno.h>
#include <stdio.h>

#include "base/buf.h"
#include "eswitch/eswitch.h"
#include "netlink/ethtool.h"
#include "selftest/trials.h"
#include "sriov/ops.h"

#define BIT VFCTL_COALESCE_BIT

/* ---- interrupt moderation ---- */

static void name_keys(struct buf *b, uint32_t keys)
{
	for (int i = 0; i < VFCTL_COALESCE_KEYS; i++)
		if (keys & BIT(i))
			buf_printf(b, " %s", vfctl_coalesce_name((enum vfctl_coalesce_key)i));
}

void selftest_try_settings(struct vfctl_selftest *t, struct trial *x)
{
	uint32_t has = t->moderation.mask, said = t->moderates ? t->moderates->keys : has;
	_buf_ struct buf text = {0};

	if (t->moderation_error) {
		x->differs = t->moderates && t->moderation_error == -EOPNOTSUPP;
		selftest_say(t, x, t->moderation_error == -EOPNOTSUPP ? VFCTL_SELFTEST_UNSUPPORTED
			: VFCTL_SELFTEST_FAIL, "%s", strerror(-t->moderation_error));
		return;
	}
	name_keys(&text, has);
	if (!t->moderates)
		buf_puts(&text, "; vfctl has no table to compare this with");
	if (said & ~has)
		buf_puts(&text, "; in the table but not found:");
	name_keys(&text, said & ~has);
	if (has & ~said)
		buf_puts(&text, "; found but not in the table:");
	name_keys(&text, has & ~said);
	x->differs = has != said;
	selftest_say(t, x, x->differs ? VFCTL_SELFTEST_FAIL : VFCTL_SELFTEST_PASS, "%s",
		text.data + strspn(text.data, " "));
}

static int write_one(struct vfctl_selftest *t, enum vfctl_coalesce_key key, uint32_t value,
	struct nl_coalesce *ret)
{
	struct nl_coalesce row = {.ifindex = t->pf->ifindex, .values.mask = BIT(key)};
	int r;

	row.values.values[key] = value;
	r = nl_coalesce_write(t->ctx, &row, 1);
	*ret = row;
	return r < 0 ? r : row.error;
}

static int read_now(struct vfctl_selftest *t, struct nl_coalesce *ret)
{
	struct nl_coalesce row = {.ifindex = t->pf->ifindex};
	int r = nl_coalesce_read(t->ctx, &row, 1);

	*ret = row;
	return r < 0 ? r : row.error;
}

/*
 * While the driver adapts to the load it ignores values, and it ignores a value that equals the
 * present one.
 */
static int make_room(struct vfctl_selftest *t, const struct trial *x)
{
	const enum vfctl_coalesce_key modes[] = {VFCTL_ADAPTIVE_RX, VFCTL_ADAPTIVE_TX};
	struct nl_coalesce now, row;
	int r = read_now(t, &now);

	for (size_t i = 0; i < ARRAY_SIZE(modes) && r == 0; i++)
		if (!vfctl_coalesce_is_switch(x->key) && now.values.mask & BIT(modes[i]) &&
			now.values.values[modes[i]])
			r = write_one(t, modes[i], 0, &row);
	if (r < 0 || now.values.values[x->key] != x->value)
		return r;
	for (size_t i = 0; i < t->count; i++) {
		const struct trial *other = &t->trials[i];

		if (other->try == selftest_try_coalesce && other->key == x->key &&
			other->value != x->value && other->expect != EXPECT_REFUSED &&
			write_one(t, x->key, other->value, &row) == 0)
			break;
	}
	ctx_clear(t->ctx);
	return 0;
}

void selftest_try_coalesce(struct vfctl_selftest *t, struct trial *x)
{
	struct nl_coalesce row = {0}, now = {0};
	int r = make_room(t, x);

	if (r == 0)
		r = write_one(t, x->key, x->value, &row);
	if (r == 0 && x->expect != EXPECT_REFUSED) {
		r = read_now(t, &now);
		if (r == 0 && now.values.values[x->key] != x->value)
			r = ctx_fail(t->ctx, -EIO, "the driver accepted it but kept %u",
				now.values.values[x->key]);
	} else if (r < 0 && !vfctl_ctx_error(t->ctx)[0]) {
		ctx_fail(t->ctx, r, "%s%s%s", errno_name(r), row.text[0] ? ": " : "", row.text);
	}
	if (r < 0 && x->expect == EXPECT_REFUSED) {
		selftest_say(t, x, VFCTL_SELFTEST_PASS, "%s", errno_name(r));
		ctx_clear(t->ctx);
		return;
	}
	selftest_judge(t, x, r);
}

/* ---- MTU ---- */

void selftest_try_mtu(struct vfctl_selftest *t, struct trial *x)
{
	_free_ char *want = str_format("%u", x->value), *before = NULL;
	const struct op now = {&op_pf_mtu, t->bdf, NULL, NULL};
	struct vfctl_change *change = NULL;
	int r = want ? op_observe(t->ctx, &now, &before) : ctx_oom(t->ctx);

	if (r == 0)
		r = change_new(t->ctx, &change);
	if (r == 0) {
		step_add_op(&change->steps, &op_pf_mtu, want, before, t->bdf, "set the MTU to %s", want);
		r = selftest_carry_out(t, change);
	}
	selftest_judge(t, x, r);
}

/* ---- eswitch ---- */

static int change_mode(struct vfctl_selftest *t, const char *from, const char *to)
{
	struct vfctl_change *change = NULL;
	int r = change_new(t->ctx, &change);

	if (r < 0)
		return r;
	step_add_op(&change->steps, &op_eswitch, to, from, t->bdf, "set the eswitch to %s mode", to);
	return selftest_carry_out(t, change);
}

/* This is the last trial, without VFs: then all drivers permit it. */
void selftest_try_eswitch(struct vfctl_selftest *t, struct trial *x)
{
	enum vfctl_eswitch now = t->pf->eswitch;
	const char *is = vfctl_eswitch_name(now);
	const char *other = vfctl_eswitch_name(now == VFCTL_ESWITCH_LEGACY ? VFCTL_ESWITCH_SWITCHDEV
		: VFCTL_ESWITCH_LEGACY);
	int r;

	if (now == VFCTL_ESWITCH_NONE) {
		selftest_say(t, x, VFCTL_SELFTEST_UNSUPPORTED, "the driver does not support modes");
		return;
	}
	if (now != VFCTL_ESWITCH_LEGACY && now != VFCTL_ESWITCH_SWITCHDEV) {
		selftest_say(t, x, VFCTL_SELFTEST_UNTRIED, now == VFCTL_ESWITCH_UNKNOWN
			? "its mode cannot be read" : "its mode is %s", is);
		return;
	}
	r = change_mode(t, is, other);
	if (r == 0)
		r = change_mode(t, other, is);
	selftest_judge(t, x, r);
}
