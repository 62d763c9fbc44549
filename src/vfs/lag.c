// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From host.yaml's lag: and the host, plan the change that combines two ports for their VFs. mlx5
 * does not create a VF-LAG while VFs are bound to drivers, and reports no error (lag/lag.c): so the
 * VFs are unbound, the bond is created, its state is waited for, and the VFs are bound again. All
 * requirements of the driver are checked first.
 */
#include "vfs/apply.h"

#include <errno.h>

#include "base/change.h"
#include "change/recover.h"
#include "change/target.h"
#include "drivers/driver.h"
#include "eswitch/eswitch.h"
#include "eswitch/lag.h"
#include "host/host.h"
#include "lease/declared.h"
#include "netlink/routes.h"
#include "sriov/eswitch.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"
#include "vfs/lag.h"

#define NAME(pf) vfctl_pf_name((pf), (char[VFCTL_BDF_TEXT]){0})

struct lag {
	const struct vfctl_host_spec *spec;
	const struct vfctl_lag_spec *lag;
	const struct vfctl_inventory *inventory;
	const struct vfctl_pf *pfs[2]; /* by address */
	bool planned; /* the mode that host.yaml declares will be set before */
	char *want, *now; /* in the form of op_bond */
};

static void lag_clear(struct lag *l)
{
	free(l->want);
	free(l->now);
}

/* ---- requirements ---- */

static enum driver_lag lag_of(const struct vfctl_pf *pf)
{
	const struct driver *d = driver_find(pf->driver);

	return d ? d->lag : DRIVER_LAG_NONE;
}

static bool is_of_all_ports(const struct lag *l)
{
	return lag_of(l->pfs[0]) == DRIVER_LAG_ALL_PORTS;
}

static int fail_no_lag(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	_buf_ struct buf can = {0};
	const struct driver *d;

	for (size_t i = 0; (d = driver_at(i)); i++)
		if (d->lag)
			buf_printf(&can, "%s%s", can.len ? ", " : "", d->name);
	return ctx_fail(ctx, -EOPNOTSUPP, "driver %s does not support VF-LAG (these drivers do: %s)",
		pf->driver[0] ? pf->driver : "(none)", can.failed ? "" : can.data);
}

static bool same_card(const struct vfctl_bdf *a, const struct vfctl_bdf *b)
{
	return a->domain == b->domain && a->bus == b->bus && a->slot == b->slot;
}

static int check_card(struct vfctl_ctx *ctx, const struct lag *l)
{
	const struct vfctl_pf *a = l->pfs[0], *b = l->pfs[1];

	if (!same_card(&a->bdf, &b->bdf) || !str_eq(a->driver, b->driver))
		return ctx_fail(ctx, -EINVAL, "%s (%s) and %s (%s) are not two ports of one card, which "
			"a VF-LAG needs", NAME(a), TEXT(&a->bdf), NAME(b), TEXT(&b->bdf));
	if (lag_of(a) == DRIVER_LAG_NONE)
		return fail_no_lag(ctx, a);
	for (size_t i = 0; i < l->inventory->pf_count && is_of_all_ports(l); i++) {
		const struct vfctl_pf *other = &l->inventory->pfs[i];

		if (other != a && other != b && same_card(&other->bdf, &a->bdf))
			return ctx_fail(ctx, -EINVAL, "the card has another port, %s (%s), and the driver "
				"makes a VF-LAG of all ports of a card", NAME(other), TEXT(&other->bdf));
	}
	if (lag_of(a) == DRIVER_LAG_ACTIVE_BACKUP && !str_eq(l->lag->mode, "active-backup"))
		return ctx_fail(ctx, -EOPNOTSUPP, "driver %s supports VF-LAG in mode active-backup, not "
			"in %s", a->driver, l->lag->mode);
	return 0;
}

static int check_netdevs(struct vfctl_ctx *ctx, const struct lag *l)
{
	for (size_t i = 0; i < 2; i++) {
		const struct vfctl_pf *pf = l->pfs[i];

		if (!pf->netdev[0])
			return ctx_fail(ctx, -ENODEV, "%s has no network device here; if it is in "
				"another network namespace, move it to that of its devlink instance: ip "
				"-n NAMESPACE link set DEVICE netns 1",
				TEXT(&pf->bdf));
		if (pf->infiniband)
			return ctx_fail(ctx, -EOPNOTSUPP, "%s is InfiniBand; a VF-LAG needs Ethernet "
				"ports", NAME(pf));
	}
	return 0;
}

/* The entry of the PF under pfs:; NULL if it has none. */
static const struct vfctl_pf_spec *entry_of(struct vfctl_ctx *ctx, const struct lag *l,
	const struct vfctl_pf *pf)
{
	for (size_t i = 0; i < l->spec->pf_count; i++) {
		const struct vfctl_pf *meant;

		if (declared_find(ctx, l->inventory, &l->spec->pfs[i], &meant) == 0 && meant == pf)
			return &l->spec->pfs[i];
		ctx_clear(ctx);
	}
	return NULL;
}

static int check_managed(struct vfctl_ctx *ctx, const struct lag *l)
{
	for (size_t i = 0; i < 2; i++) {
		const struct vfctl_pf_spec *entry = entry_of(ctx, l, l->pfs[i]);

		if (entry && entry->unmanaged)
			return ctx_fail(ctx, -EINVAL, "%s is not managed (managed: off in its entry "
				"under pfs:), so vfctl does not add it to a bond; remove one of the two",
				NAME(l->pfs[i]));
	}
	return 0;
}

/*
 * A bond that is created before the mode is set remains a LAG of the host only, which VFs never
 * use.
 */
static int check_modes(struct vfctl_ctx *ctx, const struct lag *l)
{
	for (size_t i = 0; i < 2; i++) {
		const struct vfctl_pf *pf = l->pfs[i];
		const struct vfctl_pf_spec *entry = entry_of(ctx, l, pf);
		enum vfctl_eswitch stated = entry ? entry->eswitch : VFCTL_ESWITCH_UNKNOWN;
		enum vfctl_eswitch mode = l->planned && stated ? stated : pf->eswitch;

		if (mode == VFCTL_ESWITCH_SWITCHDEV)
			continue;
		if (stated == VFCTL_ESWITCH_SWITCHDEV)
			return ctx_fail(ctx, -EINVAL, "%s differs from its declaration: its eswitch is "
				"in mode %s, but both ports of a VF-LAG need switchdev; its own entry "
				"tells the reason", NAME(pf), vfctl_eswitch_name(mode));
		return ctx_fail(ctx, -EINVAL, "the eswitch of %s is in mode %s, but both ports of a "
			"VF-LAG need switchdev; add eswitch: switchdev to its entry under pfs:", NAME(pf),
			vfctl_eswitch_name(mode));
	}
	return 0;
}

/* Once the LAG is active, both ports have one RDMA device. */
static int check_roce(struct vfctl_ctx *ctx, const struct lag *l)
{
	const struct vfctl_pf *a = l->pfs[0], *b = l->pfs[1];

	if (!is_of_all_ports(l) || a->lag == VFCTL_LAG_ACTIVE || !a->rdma[0] == !b->rdma[0])
		return 0;
	return ctx_fail(ctx, -EINVAL, "%s has an RDMA device but %s has none, and both must be alike: "
		"set the devlink parameter enable_roce of both to the same value (devlink dev param set "
		"pci/ADDRESS ...; devlink dev reload)", NAME(a->rdma[0] ? a : b), NAME(a->rdma[0] ? b : a));
}

/* ---- the bond ---- */

/* An address on it would be unreachable after it becomes a port. */
static int check_routes(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	_cleanup_(routes_clear) struct routes routes = {0};
	_strv_ char **names = NULL;
	const char *through;
	int r = routes_read(ctx, &routes);

	if (r == 0)
		r = routes_devices(ctx, pf->netdev, &names);
	if (r < 0)
		return r;
	through = routes_through(&routes, names, false);
	if (!through)
		return 0;
	if (!str_eq(through, pf->netdev))
		return ctx_fail(ctx, -EBUSY, "this host has routes through %s, which stands on %s, and they "
			"end when that becomes a port of a bond; make it on the bond instead first",
			through, pf->netdev);
	return ctx_fail(ctx, -EBUSY, "this host has routes through %s, which are lost when it joins a "
		"bond; move its addresses to the bond first, or let the network manager create the bond",
		pf->netdev);
}

static int check_masters(struct vfctl_ctx *ctx, const struct lag *l)
{
	for (size_t i = 0; i < 2; i++) {
		const char *netdev = l->pfs[i]->netdev;
		_free_ char *master = NULL;
		int r;

		if (host_try_link_name(ctx, &master, "/sys/class/net/%s/master", netdev) < 0) {
			r = check_routes(ctx, l->pfs[i]);
			if (r < 0)
				return r;
			continue;
		}
		if (!str_eq(master, l->lag->bond))
			return ctx_fail(ctx, -EBUSY, "%s is a port of %s; remove it from there first: "
				"ip link set %s nomaster", netdev, master, netdev);
	}
	return 0;
}

/* Any further member of the bond prevents a VF-LAG. */
static int check_bond(struct vfctl_ctx *ctx, const struct lag *l)
{
	if (str_eq(l->now, LAG_NO_BOND) && host_exists(ctx, "/sys/class/net/%s", l->lag->bond))
		return ctx_fail(ctx, -EEXIST, "%s exists but is not a bond; give the bond another name",
			l->lag->bond);
	for (const char *at = strchr(l->now, ' '); at; at = strchr(at, ' ')) {
		size_t len = strcspn(++at, " ");

		for (size_t i = 0; i < 2; i++)
			if (strlen(l->pfs[i]->netdev) == len && strncmp(at, l->pfs[i]->netdev, len) == 0)
				len = 0;
		if (len)
			return ctx_fail(ctx, -EBUSY, "%.*s is also a port of %s, but a VF-LAG has only "
				"its two PFs; remove it first", (int)len, at, l->lag->bond);
	}
	return 0;
}

static int read_bond(struct vfctl_ctx *ctx, struct lag *l)
{
	const char *a = l->pfs[0]->netdev, *b = l->pfs[1]->netdev;
	bool turned = strcmp(a, b) > 0;

	l->want = str_format("%s %s %s", l->lag->mode, turned ? b : a, turned ? a : b);
	return l->want ? lag_bond_text(ctx, l->lag->bond, &l->now) : ctx_oom(ctx);
}

/* ---- steps ---- */

static int add_drivers(struct vfctl_ctx *ctx, const struct lag *l, bool back, struct steps *steps)
{
	uint32_t bound = 0;
	int r = 0;

	for (size_t p = 0; p < 2; p++)
		for (uint32_t i = 0; i < l->pfs[p]->num_vfs && r == 0; i++) {
			const struct vfctl_vf *vf = &l->pfs[p]->vfs[i];
			_free_ char *had = NULL;

			if (!vf->driver[0])
				continue;
			if (!bound++)
				step_begin(steps, back ? "%s: bind the VFs to their drivers again"
					: "%s: unbind the VFs of both ports (required by the "
						"driver)", l->lag->bond);
			r = vf_driver_text(ctx, vf, &had);
			if (r == 0)
				step_op(steps, &op_vf_driver, back ? had : VF_NO_DRIVER, back
					? "- " VF_NO_DRIVER : had,
					"%s/%u", TEXT(&l->pfs[p]->bdf), vf->index);
		}
	return r;
}

/*
 * After a roll-back, the ports are up as before. The links also tell recover which two PFs are
 * affected.
 */
static void add_links(const struct lag *l, struct steps *steps)
{
	for (size_t i = 0; i < 2; i++)
		step_op(steps, &op_pf_link, NULL, l->pfs[i]->up ? "up" : "down", "%s",
			TEXT(&l->pfs[i]->bdf));
}

static void add_bond(const struct lag *l, struct steps *steps)
{
	bool again = str_eq(l->now, l->want);

	if (again) { /* the bond existed before the mode was set, or before the VFs were unbound */
		step_begin(steps, "%s: remove its ports, so that the driver checks again", l->lag->bond);
		step_op(steps, &op_bond, l->lag->mode, l->want, "%s", l->lag->bond);
	}
	step_begin(steps, "%s: add %s and %s as ports, in mode %s", l->lag->bond, l->pfs[0]->netdev,
		l->pfs[1]->netdev, l->lag->mode);
	add_links(l, steps);
	step_op(steps, &op_bond, l->want, again ? l->lag->mode : l->now, "%s", l->lag->bond);
}

static int add_steps(struct vfctl_ctx *ctx, const struct lag *l, struct vfctl_change *change)
{
	int r = 0;

	for (size_t i = 0; i < 2 && r == 0; i++)
		r = eswitch_check_unused(ctx, l->pfs[i], "the driver makes a VF-LAG of both ports");
	if (r < 0)
		return r;
	r = add_drivers(ctx, l, false, &change->steps);
	add_bond(l, &change->steps);
	if (is_of_all_ports(l))
		step_add_op(&change->steps, &op_lag, "active", "off", TEXT(&l->pfs[0]->bdf),
			"%s: wait until the driver has created the VF-LAG", l->lag->bond);
	if (r == 0)
		r = add_drivers(ctx, l, true, &change->steps);
	return r;
}

/* ---- planning ---- */

static int find_pfs(struct vfctl_ctx *ctx, struct lag *l)
{
	for (size_t i = 0; i < 2; i++) {
		int r = vfctl_inventory_find_pf(ctx, l->inventory, l->lag->pfs[i], &l->pfs[i]);

		if (r < 0)
			return r;
		if (l->pfs[i]->unread)
			return ctx_fail(ctx, -EIO, "nothing is changed: %s", l->pfs[i]->unread);
	}
	if (l->pfs[0] == l->pfs[1])
		return ctx_fail(ctx, -EINVAL, "%s and %s are the same PF; a VF-LAG needs two",
			l->lag->pfs[0], l->lag->pfs[1]);
	if (vfctl_bdf_compare(&l->pfs[0]->bdf, &l->pfs[1]->bdf) > 0) {
		const struct vfctl_pf *first = l->pfs[1];

		l->pfs[1] = l->pfs[0];
		l->pfs[0] = first;
	}
	return 0;
}

static int check_all(struct vfctl_ctx *ctx, const struct lag *l)
{
	int r = check_managed(ctx, l);

	if (r == 0)
		r = check_card(ctx, l);
	if (r == 0)
		r = check_netdevs(ctx, l);
	if (r == 0)
		r = check_modes(ctx, l);
	if (r == 0)
		r = check_roce(ctx, l);
	return r < 0 ? r : check_masters(ctx, l);
}

int lag_plan(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_host_spec *spec,
	const struct vfctl_lag_spec *lag, bool planned, struct vfctl_change *change)
{
	_cleanup_(lag_clear) struct lag l = {.spec = spec, .lag = lag, .inventory = inv,
		.planned = planned};
	int r = find_pfs(ctx, &l);

	if (r == 0)
		r = check_all(ctx, &l);
	if (r == 0)
		r = read_bond(ctx, &l);
	if (r == 0)
		r = check_bond(ctx, &l);
	if (r < 0)
		return r;
	if (!str_eq(l.now, l.want) || (is_of_all_ports(&l) && l.pfs[0]->lag == VFCTL_LAG_OFF))
		r = add_steps(ctx, &l, change);
	else if (l.pfs[0]->lag == VFCTL_LAG_UNKNOWN)
		change->pending = str_format("it is unknown whether the driver has a VF-LAG of %s: %s",
			lag->bond, is_of_all_ports(&l) ? "only root can read /sys/kernel/debug, and it "
				"must be mounted"
					       : "ice reports it only in dmesg");
	lag_add_miimon(ctx, lag->bond, &change->steps);
	return r;
}

/* ---- the entries ---- */

int lag_compare(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_host_spec *spec,
	struct vfctl_declared *all)
{
	all->lags = calloc(spec->lag_count + 1, sizeof(*all->lags));
	if (!all->lags)
		return ctx_oom(ctx);
	for (size_t i = 0; i < spec->lag_count; i++) {
		struct vfctl_declared_lag *d = &all->lags[i];
		int r;

		d->spec = &spec->lags[i];
		all->lag_count = i + 1;
		r = change_new(ctx, &d->change);
		if (r == 0)
			r = lag_plan(ctx, inv, spec, d->spec, true, d->change);
		if (r == 0 && d->change->steps.failed)
			r = ctx_oom(ctx);
		if (r == -ENOMEM)
			return r;
		d->error = r;
		if (r == -EINVAL || r == -ENOENT) /* the entry is wrong for this host */
			ctx_prefix(ctx, r, "%s:%u:%u", d->spec->file, d->spec->line, d->spec->column);
		if (r < 0) {
			d->message = strdup(vfctl_ctx_error(ctx));
			vfctl_change_free(steal(d->change));
		}
		ctx_clear(ctx);
	}
	return 0;
}

/* Lock both PFs, the one with the lower address first, in the same order as every other process. */
static int lock_other(struct vfctl_ctx *ctx, const struct vfctl_pf *pf, int *ret_fd)
{
	int r = host_lock(ctx, TEXT(&pf->bdf), false, ret_fd);

	return r < 0 ? r : recover_locked(ctx, TEXT(&pf->bdf));
}

int vfctl_apply_lag_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, size_t index,
	struct vfctl_change **ret_change)
{
	const struct target_need need = {.alone = true};
	struct lag l = {.spec = spec, .lag = &spec->lags[index]};
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	_close_ int other = -1;
	int r = vfctl_inventory_read(ctx, "", &inv);

	l.inventory = inv;
	if (r == 0)
		r = find_pfs(ctx, &l);
	if (r == 0)
		r = target_open(ctx, TEXT(&l.pfs[0]->bdf), &need, &t);
	if (r == 0)
		r = lock_other(ctx, l.pfs[1], &other);
	if (r == 0)
		r = change_new(ctx, &change);
	if (r == 0)
		r = lag_plan(ctx, t.snapshot->inventory, spec, l.lag, false, change);
	if (r == 0 && change->steps.failed)
		r = ctx_oom(ctx);
	if (r == 0)
		r = target_keep(ctx, change, &t, "apply lag %s", l.lag->bond);
	if (r < 0)
		return r;
	change->other_fd = other;
	other = -1;
	*ret_change = steal(change);
	return 0;
}
