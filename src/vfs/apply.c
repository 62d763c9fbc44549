// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * From host.yaml's PFs and the host, plan for each PF the change that makes it as declared: its
 * link, its VFs, and their values. A VF of a guest keeps the values of the guest's lease.
 */
#include "vfs/apply.h"

#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "change/recover.h"
#include "change/target.h"
#include "eswitch/eswitch.h"
#include "eswitch/lag.h"
#include "host/host.h"
#include "ids/live.h"
#include "ids/pools.h"
#include "ids/values.h"
#include "lease/declared.h"
#include "lease/guest_tuning.h"
#include "pci/device.h"
#include "sriov/eswitch.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/ops.h"
#include "sriov/vf_changes.h"
#include "tuning/coalesce.h"
#include "tuning/host.h"
#include "tuning/irq.h"
#include "vfs/apply_host.h"
#include "vfs/apply_other.h"
#include "vfs/lag.h"
#include "vfs/lifecycle.h"
#include "vfs/tune.h"

#define IDENTITY (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS)

/* ---- settings of present VFs ---- */

/* The differences on VFs that no guest uses. */
struct settings {
	struct vfctl_set_item *items;
	char (*names)[VFCTL_BDF_TEXT + 12];
	size_t count;
	struct buf kept; /* VFs that others use, with differences */
};

static void settings_clear(struct settings *s)
{
	free(s->items);
	free(s->names);
	buf_free(&s->kept);
}

static const struct vfctl_vf_attrs *asked_of(const struct vfctl_pf_spec *spec, uint32_t vf)
{
	for (size_t i = 0; i < spec->range_count; i++)
		if (vf >= spec->ranges[i].first && vf <= spec->ranges[i].last)
			return &spec->ranges[i].attrs;
	return NULL;
}

/*
 * It keeps its values until its guest, container or program ends. What this host itself uses gets
 * those of host.yaml.
 */
static bool is_others(const struct vfctl_vf *vf)
{
	return vf->lease.running || (vf_is_open(vf) && vf->holder.kind != VFCTL_HOLDER_HOST);
}

static int find_settings(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_pf_spec *spec, struct settings *s)
{
	s->items = calloc(pf->num_vfs + 1, sizeof(*s->items));
	s->names = calloc(pf->num_vfs + 1, sizeof(*s->names));
	if (!s->items || !s->names)
		return ctx_oom(ctx);
	for (uint32_t i = 0; i < pf->num_vfs; i++) {
		const struct vfctl_vf *vf = &pf->vfs[i];
		const struct vfctl_vf_attrs *asked = asked_of(spec, vf->index);
		struct vfctl_vf_attrs differs = asked ? *asked : (struct vfctl_vf_attrs){0};

		attrs_complete(&differs, &vf->attrs);
		attrs_drop_equal(&differs, &vf->attrs);
		if (!differs.mask)
			continue;
		if (is_others(vf)) {
			buf_printf(&s->kept, "%s%u", s->kept.len ? ", " : "VF ", vf->index);
			continue;
		}
		snprintf(s->names[s->count], sizeof(*s->names), "%s/%u", TEXT(&pf->bdf), vf->index);
		s->items[s->count] = (struct vfctl_set_item){s->names[s->count], *asked};
		s->items[s->count++].attrs.mask &= differs.mask;
	}
	return 0;
}

/* ---- MACs and GUIDs in the file ---- */

/* The VFs that get such values now: all new ones, and present ones that differ. */
static size_t list_given(const struct vfctl_pf *pf, const struct vfctl_pf_spec *spec,
	struct vfctl_domain_vf *ret)
{
	size_t n = 0;

	for (uint32_t i = 0; i < spec->count; i++) {
		const struct vfctl_vf_attrs *asked = asked_of(spec, i);
		struct vfctl_domain_vf vf = {.pf = pf->bdf, .index = i};

		if (!asked || !(asked->mask & IDENTITY))
			continue;
		vf.attrs = *asked;
		for (uint32_t k = 0; pf->num_vfs == spec->count && k < pf->num_vfs; k++)
			if (pf->vfs[k].index == i) {
				vf.bdf = pf->vfs[k].bdf;
				attrs_drop_equal(&vf.attrs, &pf->vfs[k].attrs);
			}
		vf.attrs.mask &= IDENTITY;
		if (vf.attrs.mask)
			ret[n++] = vf;
	}
	return n;
}

static int check_given(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_pf_spec *spec)
{
	_free_ struct vfctl_domain_vf *given = calloc(spec->count + 1, sizeof(*given));
	struct value_facts facts = {.leases = t->snapshot->leases, .changing = given};
	int r = given ? 0 : ctx_oom(ctx);

	if (r == 0)
		facts.changing_count = list_given(t->pf, spec, given);
	if (r < 0 || !facts.changing_count)
		return r;
	r = live_from_inventory(ctx, t->snapshot->inventory, &facts.live);
	if (r == 0 && t->pf->num_vfs != spec->count)
		live_drop_vfs_of(&facts.live, &t->pf->bdf);
	if (r == 0)
		r = values_check(ctx, ROAD_SET, &facts, "", given, facts.changing_count, NULL);
	live_values_clear(&facts.live);
	return r;
}

/* ---- one PF ---- */

struct wanted {
	const struct vfctl_host_spec *spec;
	const struct vfctl_pf_spec *pf;
	struct vfctl_ids *ids;
	bool dry_run;
};

static int plan_vfs(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change **ret_change)
{
	struct vfctl_create_options options = {.count = w->pf->count, .driver = w->pf->vf_driver,
		.keep_identities = w->pf->keep_identities, .ids = w->ids,
		.guid_pool = w->pf->guid_pool, .ranges = w->pf->ranges,
		.range_count = w->pf->range_count, .eswitch = w->pf->eswitch,
		.link_up = w->pf->link == VFCTL_PF_LINK_UP};
	int r = 0;

	if (!w->pf->counted)
		return change_new(ctx, ret_change);
	if (!w->pf->count)
		return destroy_plan_on(ctx, t, w->ids, ret_change);
	if (w->pf->pkey)
		r = vfctl_host_spec_pkey(ctx, w->spec, w->pf->pkey, &options.pkey);
	if (r == 0)
		r = check_given(ctx, t, w->pf);
	return r < 0 ? r : create_plan_on(ctx, t, &options, w->dry_run, ret_change);
}

static int add_settings(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change, char **ret_kept)
{
	_cleanup_(settings_clear) struct settings s = {0};
	int r;

	if (!w->pf->counted || t->pf->num_vfs != w->pf->count ||
		eswitch_renews_vfs(t->pf, w->pf->eswitch))
		return 0;
	r = find_settings(ctx, t->pf, w->pf, &s);
	if (r == 0 && s.count)
		r = vf_changes_add_set(ctx, t->snapshot->inventory, t->pf, s.items, s.count,
			&change->steps);
	if (r == 0 && s.kept.len && ret_kept)
		*ret_kept = buf_steal(&s.kept);
	return r;
}

/* Done before the MTU, because connected mode permits a larger one. */
static int add_ipoib_mode(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change)
{
	const char *want = w->pf->ipoib_mode, *bdf = TEXT(&t->pf->bdf);
	const struct op op = {&op_ipoib_mode, (char *)bdf, (char *)want, NULL};
	_free_ char *now = NULL;
	int r;

	if (!want)
		return 0;
	if (!t->pf->infiniband)
		return ctx_fail(ctx, -EINVAL, "ipoib-mode is for InfiniBand, but %s is Ethernet; remove "
			"it from its entry in host.yaml", bdf);
	r = op_observe(ctx, &op, &now);
	if (r < 0 || str_eq(now, want))
		return r;
	step_add_op(&change->steps, &op_ipoib_mode, want, now, bdf, "%s: set IPoIB to %s mode",
		t->pf->netdev, want);
	steps_put(&change->steps, change->ids ? 1 : 0);
	return 0;
}

static int add_rdma_adaptive(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change)
{
	const char *want = w->pf->rdma_adaptive ? "on" : "off", *bdf = TEXT(&t->pf->bdf);
	const struct op op = {&op_rdma_adaptive, (char *)bdf, (char *)want, NULL};
	_free_ char *now = NULL;
	int r;

	if (!w->pf->rdma_adaptive_stated)
		return 0;
	r = op_observe(ctx, &op, &now);
	if (r < 0)
		return ctx_append(ctx, r, "; remove rdma-adaptive-moderation from its entry in host.yaml");
	if (!str_eq(now, want))
		step_add_op(&change->steps, &op_rdma_adaptive, want, now, bdf,
			"%s: turn adaptive moderation "
			"of %s %s", t->pf->netdev[0] ? t->pf->netdev : bdf, t->pf->rdma, want);
	return 0;
}

/* Done before the VFs, because some drivers create them only while the PF is up. */
static int add_link(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change)
{
	const struct vfctl_pf *pf = t->pf;
	bool up = w->pf->link == VFCTL_PF_LINK_UP;
	size_t place = change->ids ? 1 : 0;
	char want[12], before[12];

	if ((w->pf->mtu || w->pf->link) && !pf->netdev[0])
		return ctx_fail(ctx, -ENODEV, "it has no network device here, so mtu and link cannot be "
			"set (check its driver)");
	if (w->pf->link && up != pf->up) {
		step_add_op(&change->steps, &op_pf_link, up ? "up" : "down", up ? "down" : "up",
			TEXT(&pf->bdf), "%s: set the link %s", pf->netdev, up ? "up" : "down");
		steps_put(&change->steps, place);
	}
	if (w->pf->mtu && w->pf->mtu != pf->mtu) {
		snprintf(want, sizeof(want), "%u", w->pf->mtu);
		snprintf(before, sizeof(before), "%u", pf->mtu);
		step_add_op(&change->steps, &op_pf_mtu, want, before, TEXT(&pf->bdf),
			"%s: set the MTU to %s", pf->netdev, want);
		steps_put(&change->steps, place);
	}
	return 0;
}

/* For a PF whose VFs are kept or removed; when VFs are created, vfs/create.c sets the mode. */
static int add_mode(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change)
{
	const struct vfctl_pf *pf = t->pf;
	int r = w->pf->count ? 0 : eswitch_changes(ctx, pf, w->pf->eswitch);

	if (r <= 0)
		return r;
	if (w->pf->counted) {
		eswitch_add_step(pf, w->pf->eswitch, &change->steps);
		return 0;
	}
	if (pf->num_vfs && eswitch_needs_no_vfs(pf))
		return ctx_fail(ctx, -EBUSY, "the driver %s changes the eswitch mode only without VFs, "
			"but there are %u; add count: to its entry in host.yaml, so that vfctl creates "
			"them again",
			pf->driver, pf->num_vfs);
	return eswitch_add_steps(ctx, pf, w->pf->eswitch, &change->steps);
}

static int check_bridge(struct vfctl_ctx *ctx, const char *bridge)
{
	if (host_exists(ctx, "/sys/class/net/%s/bridge", bridge))
		return 0;
	if (host_exists(ctx, "/sys/class/net/%s", bridge))
		return ctx_fail(ctx, -EOPNOTSUPP, "%s, the bridge for the representors, is not a bridge "
			"of the kernel; add them to an Open vSwitch bridge with: ovs-vsctl add-port %s "
			"REPRESENTOR",
			bridge, bridge);
	return ctx_fail(ctx, -ENOENT, "bridge %s for the representors does not exist; create it first: "
		"ip link add %s type bridge", bridge, bridge);
}

/* Done last: representors appear with the VFs or the mode, and disappear with them. */
static int add_representors(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change)
{
	const struct vfctl_pf *pf = t->pf;
	bool stay = (!w->pf->counted || pf->num_vfs == w->pf->count) && pf->eswitch == w->pf->eswitch;
	uint32_t count = w->pf->counted ? w->pf->count : pf->num_vfs, begun = 0;
	int r = w->pf->bridge && count ? check_bridge(ctx, w->pf->bridge) : 0;

	for (uint32_t i = 0; w->pf->bridge && i < count && r == 0; i++) {
		_free_ char *now = NULL;

		if (stay)
			r = representor_text(ctx, pf->vfs[i].representor, &now);
		if (r < 0 || (now && str_eq(now, w->pf->bridge)))
			continue;
		if (!begun++)
			step_begin(&change->steps, "%s: add the representors of its VFs to %s",
				vfctl_pf_name(pf, (char[VFCTL_BDF_TEXT]){0}), w->pf->bridge);
		step_op(&change->steps, &op_representor, w->pf->bridge, now, "%s/%u", TEXT(&pf->bdf),
			stay ? pf->vfs[i].index : i);
	}
	return r;
}

/* Done after the VFs: if the VFs cannot be created, nothing is tuned. */
static int add_tuning(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change *change)
{
	const struct vfctl_profile *profile;
	struct vfctl_pf_moderation m;
	struct vfctl_coalesce wanted;
	struct vfctl_cpuset cpus;
	int r = moderation_wanted(ctx, w->spec, w->pf, &wanted, &profile);

	if (r == 0 && profile && profile->interrupts) {
		tuning_housekeeping(ctx, w->spec, t->snapshot->leases, t->pf->numa_node, &cpus);
		r = irq_add_pf_steps(ctx, &t->pf->bdf, &cpus, &change->steps);
	}
	if (r < 0 || !wanted.mask)
		return r;
	r = vfctl_pf_moderation_read(ctx, NULL, t->pf, NULL, &wanted, &m, NULL);
	if (r < 0)
		return ctx_append(ctx, r, "; remove tuning: from its entry in host.yaml");
	r = moderation_check_reset(ctx, t->pf, &m.fit);
	return r < 0 ? r : coalesce_add_step(ctx, t->pf, &m.fit, &change->steps);
}

/* In a VF-LAG the mode of one port also affects the VFs of the other one. */
static int check_other_port(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w)
{
	int r = eswitch_changes(ctx, t->pf, w->pf->eswitch);

	if (r < 0) /* reported when the step is added */
		ctx_clear(ctx);
	return r <= 0 ? 0 : lag_check_other(ctx, t->snapshot->inventory, t->pf, ESWITCH_MEANWHILE);
}

/* The steps for the keys of a PF besides its VFs and their settings, in this order. */
static int (*const add_keys[])(struct vfctl_ctx *ctx, const struct target *t,
	const struct wanted *w, struct vfctl_change *change) = {
	add_representors, add_link, add_ipoib_mode, add_rdma_adaptive, add_tuning,
};

/* @t: the PF, and the snapshot from which it was read; @ret_kept may be NULL. */
static int plan(struct vfctl_ctx *ctx, const struct target *t, const struct wanted *w,
	struct vfctl_change **ret_change, char **ret_kept)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = t->pf->unread ? ctx_fail(ctx, -EIO, "nothing is changed: %s", t->pf->unread)
			      : check_other_port(ctx, t, w);

	if (r == 0)
		r = plan_vfs(ctx, t, w, &change);
	if (r == 0)
		r = add_mode(ctx, t, w, change);
	if (r == 0)
		r = add_settings(ctx, t, w, change, ret_kept);
	for (size_t i = 0; r == 0 && i < ARRAY_SIZE(add_keys); i++)
		r = add_keys[i](ctx, t, w, change);
	if (r == 0 && change->steps.failed)
		r = ctx_oom(ctx);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/* ---- all entries, without locks ---- */

void vfctl_declared_free(struct vfctl_declared *declared)
{
	for (size_t i = 0; declared && i < declared->count; i++) {
		free(declared->pfs[i].message);
		free(declared->pfs[i].kept);
		vfctl_change_free(declared->pfs[i].change);
	}
	if (declared) {
		for (size_t i = 0; i < declared->lag_count; i++) {
			free(declared->lags[i].message);
			vfctl_change_free(declared->lags[i].change);
		}
		vfctl_inventory_free(declared->others);
		free(declared->lags);
		free(declared->pfs);
		free(declared->host_text);
		vfctl_change_free(declared->host);
	}
	free(declared);
}

static int fail_twice(struct vfctl_ctx *ctx, const struct vfctl_declared_pf *a,
	const struct vfctl_declared_pf *b)
{
	if (str_eq(a->spec->file, b->spec->file))
		return ctx_usage_error(ctx, -EEXIST, "the entries in lines %u and %u of host.yaml "
			"both match %s (%s); each PF has one entry", a->spec->line, b->spec->line, b->name,
			b->address);
	return ctx_usage_error(ctx, -EEXIST, "the entries in %s:%u and %s:%u both match %s (%s); "
		"each PF has one entry", a->spec->file, a->spec->line, b->spec->file, b->spec->line, b->name,
		b->address);
}

/* Find the PF of the entry, which no other entry may match. */
static int find_declared(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct vfctl_declared *all, struct vfctl_declared_pf *d, const struct vfctl_pf **ret)
{
	_free_ char *message = declared_text(d->spec);
	int r = declared_find(ctx, inv, d->spec, ret);

	if (r == -ENOENT)
		r = other_find(ctx, all, inv, d->spec, ret);
	snprintf(d->name, sizeof(d->name), "%.60s", message ? message : "");
	if (r < 0)
		return r;
	snprintf(d->name, sizeof(d->name), "%s", vfctl_pf_name(*ret, (char[VFCTL_BDF_TEXT]){0}));
	vfctl_bdf_format(&(*ret)->bdf, d->address);
	for (struct vfctl_declared_pf *other = all->pfs; other < d; other++)
		if (str_eq(other->address, d->address)) {
			fail_twice(ctx, other, d);
			return -EEXIST;
		}
	return 0;
}

static bool is_twice(const struct vfctl_declared *all, const struct vfctl_declared_pf *d)
{
	for (const struct vfctl_declared_pf *other = all->pfs; other < d; other++)
		if (d->address[0] && str_eq(other->address, d->address))
			return true;
	return false;
}

/* The driver link exists before the driver is ready. */
static bool is_starting(const struct vfctl_pf *pf)
{
	return !pf->driver[0] || (pf->class_code >> 16 == 0x02 && !pf->netdev[0] &&
		!pf->rdma[0] && !pci_driver_is_vfio(pf->driver));
}

/*
 * udev renames a network device, if at all, before it writes a file for it (systemd,
 * src/libsystemd/sd-device: /run/udev/data/n and the interface's number).
 */
static bool is_being_named(struct vfctl_ctx *ctx, const struct vfctl_pf *pf)
{
	return pf->ifindex && host_exists(ctx, "/run/udev/control") &&
		!host_exists(ctx, "/run/udev/data/n%d", pf->ifindex);
}

/* There is something to do, but it cannot be done yet. */
static int check_started(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_declared_pf *d, int r)
{
	if (!d->settling || !is_starting(pf) || (r == 0 && !d->change->steps.count))
		return r;
	if (!pf->driver[0])
		return ctx_fail(ctx, -ENODEV, "it has no driver yet; load the module of its driver (for "
			"its name: lspci -k -s %s), or wait with --wait", d->address);
	return ctx_fail(ctx, -ENODEV, "its driver %s has not created a network device yet; wait with "
		"--wait, or see dmesg", pf->driver);
}

static int compare(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct wanted *w, struct vfctl_declared *all, struct vfctl_declared_pf *d)
{
	struct target t = {.snapshot = snapshot, .lock_fd = -1, .placement_fd = -1,
		.declared = true};
	int r = find_declared(ctx, snapshot->inventory, all, d, &t.pf);

	if (is_twice(all, d))
		return r;
	if (r == 0 && !d->spec->unmanaged) {
		r = plan(ctx, &t, w, &d->change, &d->kept);
		d->settling = is_starting(t.pf) || is_being_named(ctx, t.pf);
		r = check_started(ctx, t.pf, d, r);
	}
	if (r == -ENOMEM)
		return r;
	if (r < 0) {
		vfctl_change_free(d->change);
		d->change = NULL;
	}
	d->error = r;
	d->mistaken = r < 0 && vfctl_ctx_usage_error(ctx);
	if (d->mistaken || r == -ENOENT) /* the entry is wrong for this host */
		ctx_prefix(ctx, r, "%s:%u:%u", d->spec->file, d->spec->line, d->spec->column);
	if (r < 0)
		d->message = strdup(vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

/* Their VFs would be refused at each start; but such a PF may be plugged in later. */
static void warn_foreign(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_foreign_spec *f)
{
	const struct vfctl_pf *pf;

	for (char **name = f->pfs; name && *name; name++)
		if (vfctl_inventory_find_pf(ctx, inv, *name, &pf) < 0)
			log_warn(ctx, "%s: foreign-domains.pfs: this host has no PF %s, so no domain can "
				"use its free VFs", f->pfs_at, *name);
	ctx_clear(ctx);
}

int vfctl_declared_read(struct vfctl_ctx *ctx, struct vfctl_snapshot *snapshot,
	const struct vfctl_host_spec *spec, struct vfctl_ids *ids, struct vfctl_declared **ret)
{
	_cleanup_(vfctl_declared_freep) struct vfctl_declared *all = calloc(1, sizeof(*all));
	int r = all ? host_tuning_check_cpus(ctx, spec) : ctx_oom(ctx);

	/*
	 * A user who may not read the leases still sees the difference; only a change of it needs
	 * them.
	 */
	if (r == 0 && snapshot_need_leases(ctx, snapshot) < 0) {
		log_warn(ctx, "%s", vfctl_ctx_error(ctx));
		ctx_clear(ctx);
	}
	if (r == 0) {
		all->pfs = calloc(spec->pf_count + 1, sizeof(*all->pfs));
		r = all->pfs ? 0 : ctx_oom(ctx);
	}
	for (size_t i = 0; r == 0 && i < spec->pf_count; i++) {
		const struct wanted w = {spec, &spec->pfs[i], ids, true};

		all->pfs[i].index = i;
		all->pfs[i].spec = &spec->pfs[i];
		all->count = i + 1;
		r = compare(ctx, snapshot, &w, all, &all->pfs[i]);
	}
	if (r == 0)
		warn_foreign(ctx, snapshot->inventory, &spec->foreign);
	if (r == 0)
		r = apply_host_compare(ctx, spec, ids, all);
	if (r == 0)
		r = lag_compare(ctx, snapshot->inventory, spec, all);
	if (r == 0)
		*ret = steal(all);
	return r;
}

/* ---- one entry, to be carried out ---- */

/* Names change while drivers probe, because udev assigns them. */
static int check_same(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_pf_spec *spec, const char *address)
{
	const struct vfctl_pf *pf;
	int r = declared_find(ctx, t->snapshot->inventory, spec, &pf);

	if (r == 0 && pf != t->pf)
		return ctx_fail(ctx, -EAGAIN, "the names of the PFs changed meanwhile (before %s, now "
			"%s); repeat the command", address, TEXT(&pf->bdf));
	return r;
}

int vfctl_apply_plan(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, size_t index,
	const char *address, struct vfctl_ids *ids, struct vfctl_change **ret_change)
{
	const struct wanted w = {spec, &spec->pfs[index], ids, false};
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *own = NULL;
	/* Its VFs and the identities of all others; a new mode concerns the other port of a bond too. */
	const struct target_need need = {.values = true,
		.only = w.pf->eswitch == VFCTL_ESWITCH_UNKNOWN ? address : NULL};
	struct vfctl_bdf pf;
	bool other = !w.pf->counted && inventory_locate(ctx, address, &pf) == -ENOENT;
	int r = other ? other_open(ctx, w.pf, address, &t, &own) : target_open(ctx, address, &need, &t);

	t.declared = true;
	if (r == 0 && !other)
		r = check_same(ctx, &t, w.pf, address);
	if (r == 0)
		r = plan(ctx, &t, &w, &change, NULL);
	if (r == 0)
		r = target_keep(ctx, change, &t, "apply %s", address);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
