// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set: change attributes of VFs now and, for a leased VF, also for the next starts of its domain:
 * in the lease, in vfctl's metadata, and in the <interface> from which libvirt sets MAC and VLAN.
 */
#include <errno.h>

#include "base/change.h"
#include "base/json.h"
#include "base/vfattr.h"
#include "change/recover.h"
#include "change/target.h"
#include "domain/definition.h"
#include "facts/snapshot/policy.h"
#include "host/host.h"
#include "ids/values.h"
#include "lease/ops.h"
#include "lease/saved_image.h"
#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/bound.h"
#include "sriov/holder.h"
#include "sriov/inventory.h"
#include "sriov/vf_changes.h"
#include "types/find.h"
#include "vfs/plans.h"

/* ---- planning ---- */

struct plan {
	const struct vfctl_set_item *items;
	const struct vfctl_set_options *options;
	struct vfctl_domain_vf *places; /* one for each item, in the same order */
	size_t count;
};

/* Whether the next start of the domain sets other values than these. */
static bool lease_differs(const struct vfctl_snapshot *s, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *asked)
{
	const struct vfctl_lease_vf *leased = find_vf_in_leases(s->leases, &vf->bdf);
	struct vfctl_vf_attrs change = *asked, next;

	if (!leased)
		return true;
	vfctl_lease_vf_policy(leased, vf, &next);
	attrs_complete(&change, &vf->attrs);
	/* Priority and protocol belong to a VLAN tag. */
	if (!change.vlan)
		change.mask &= ~(uint32_t)(VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO);
	attrs_drop_equal(&change, &next);
	return change.mask != 0;
}

/*
 * Names the owner and the remedy: a leased VF belongs to its domain, and its next start sets the
 * lease's values.
 */
static int check_lease(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_set_options *o, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const struct vfctl_vf_attrs *asked)
{
	bool running = vf->lease.running ||
		(vf->holder.kind == VFCTL_HOLDER_DOMAIN && str_eq(vf->holder.uuid, vf->lease.uuid));
	char name[VFCTL_BDF_TEXT], message[256];

	vfctl_pf_name(pf, name);
	if (!vf->lease.name[0])
		return o->live || o->config ? ctx_fail(ctx, -EINVAL, "%s/%u is not leased to a domain, "
			"which --live and --config need", vfctl_pf_name(pf, name), vf->index)
					    : 0;
	if (o->live && !running)
		return ctx_fail(ctx, -EINVAL, "domain %s, to which %s/%u is leased, is not running, so "
			"--live cannot be used", vf->lease.name,
			vfctl_pf_name(pf, name), vf->index);
	if (running && !o->live && !o->config)
		return ctx_fail(ctx, -EBUSY, "%s/%u is %s and keeps its policy until the domain stops; "
			"to change it nevertheless: --live (until it stops), --config (from its next "
			"start on), or both", vfctl_pf_name(pf, name), vf->index,
			vf_describe_user(vf, message, sizeof(message)));
	if (!o->config && lease_differs(s, vf, asked))
		log_warn(ctx, "%s/%u is leased to domain %s: the next start of the domain restores the "
			"leased values (--config changes these)", vfctl_pf_name(pf, name),
			vf->index, vf->lease.name);
	return 0;
}

static int find_places(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s, struct plan *p)
{
	int r = 0;

	p->places = calloc(p->count + 1, sizeof(*p->places));
	if (!p->places)
		return ctx_oom(ctx);
	for (size_t i = 0; i < p->count && r == 0; i++) {
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf;

		r = vfctl_inventory_find_vf(ctx, s->inventory, p->items[i].vf, &pf, &vf);
		if (r < 0)
			break;
		p->places[i] = (struct vfctl_domain_vf){.bdf = vf->bdf, .pf = pf->bdf,
			.index = vf->index, .attrs = p->items[i].attrs};
		for (size_t k = 0; k < i; k++)
			if (vfctl_bdf_compare(&p->places[k].bdf, &vf->bdf) == 0)
				return ctx_fail(ctx, -EINVAL, "%s is named twice", p->items[i].vf);
		r = check_lease(ctx, s, p->options, pf, vf, &p->items[i].attrs);
	}
	return r;
}

static const char *owner_of(const struct vfctl_snapshot *s, const struct vfctl_bdf *vf)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(s->leases, vf);

	return lease ? lease->domain_uuid : "";
}

/* The ports of a bond share their MAC, which the file of the guest states. */
static int check_port(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct vfctl_domain_vf *place, uint32_t changes)
{
	const struct vfctl_lease *l = vfctl_leases_find_vf(s->leases, &place->bdf);
	const struct vfctl_lease_vf *own = l ? find_leased_vf(l, &place->bdf) : NULL;

	if (!own || !(changes & own->intent.mask & VFCTL_ATTR_MAC))
		return 0;
	for (size_t i = 0; i < l->vf_count; i++)
		if (&l->vfs[i] != own && attrs_carry(&l->vfs[i].intent, VFCTL_ID_MAC,
			mac_number(&own->intent.mac)))
			return ctx_fail(ctx, -EPERM, "VFs %s and %s are ports of a bond of domain %s and "
				"share their MAC; change mac: in the file of the guest, then vfctl define",
				TEXT(&own->bdf), TEXT(&l->vfs[i].bdf), l->domain_name);
	return 0;
}

/* A VF may have the values that it already has. */
static int check_fresh(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct value_facts *facts, const struct vfctl_domain_vf *place)
{
	struct vfctl_domain_vf fresh = *place;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r = vfctl_inventory_find_vf(ctx, s->inventory, TEXT(&place->bdf), &pf, &vf);

	if (r < 0)
		return r;
	attrs_drop_equal(&fresh.attrs, &vf->attrs);
	r = check_port(ctx, s, place, fresh.attrs.mask);
	return r < 0 ? r : values_check(ctx, ROAD_SET, facts, owner_of(s, &place->bdf), &fresh, 1, NULL);
}

static int check_values(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p)
{
	struct value_facts facts = {.leases = s->leases, .changing = p->places,
		.changing_count = p->count, .leases_change = p->options->config};
	int r = live_from_inventory(ctx, s->inventory, &facts.live);

	for (size_t i = 0; i < p->count && r == 0; i++)
		r = check_fresh(ctx, s, &facts, &p->places[i]);
	if (r == 0)
		r = values_check_twins(ctx, ROAD_SET, p->places, p->count);
	live_values_clear(&facts.live);
	return r;
}

static bool changes_identity(const struct plan *p)
{
	for (size_t i = 0; i < p->count; i++)
		if (p->items[i].attrs.mask & (VFCTL_ATTR_MAC | VFCTL_ATTR_GUIDS))
			return true;
	return false;
}

/* ---- the definition ---- */

static int read_definition(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const char *uuid, char **ret)
{
	_cleanup_(domain_info_clear) struct vfctl_domain_info info = {0};
	int r = hv->get(ctx, hv, uuid, true, &info);

	if (r < 0)
		return ctx_ignore_error(ctx, r, -ENOENT);
	*ret = steal(info.xml);
	return 0;
}

/* Change the values with which the VF is leased. */
static int change_intent(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf, const struct vfctl_vf_attrs *asked,
	struct vfctl_vf_attrs *ret)
{
	int r;

	if (lease->transient)
		return ctx_fail(ctx, -EINVAL, "VF %s is leased to domain %s for this run only, without a "
			"definition by vfctl that could change", TEXT(&vf->bdf), lease->domain_name);
	*ret = vf->intent;
	attrs_copy(ret, asked, UINT32_MAX);
	/* Priority and protocol belong to a VLAN tag. */
	if (asked->mask & VFCTL_ATTR_VLAN_ID && !asked->vlan)
		ret->mask &= ~(uint32_t)(VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO);
	r = vfctl_vf_attrs_check(ctx, ret);
	return r < 0 ? ctx_prefix(ctx, r, "with the leased values of VF %s", TEXT(&vf->bdf)) : 0;
}

/*
 * Try it on the present definition, so that a dry run reports errors; the change works on the
 * definition at that time.
 */
static int add_definition_step(struct vfctl_ctx *ctx, const struct plan *p,
	const struct vfctl_lease *lease, const struct vfctl_lease_vf *vf,
	const struct vfctl_vf_attrs *attrs, struct steps *steps)
{
	_free_ char *xml = NULL, *changed = NULL, *json = NULL;
	int r = read_definition(ctx, p->options->hypervisor, lease->domain_uuid, &xml);

	if (r == 0 && xml)
		r = vfctl_domain_change_vf(ctx, xml, &vf->bdf, attrs, &changed);
	if (r < 0 || !xml)
		return r;
	json = json_of_attrs(attrs);
	if (!json)
		return ctx_oom(ctx);
	saved_image_warn(ctx, lease->domain_name);
	step_begin(steps, "change VF %s in the definition of domain %s", TEXT(&vf->bdf),
		lease->domain_name);
	step_op(steps, &op_definition_vf, json, xml, "%s/%s", lease->domain_uuid, TEXT(&vf->bdf));
	return 0;
}

/* For the next starts of the domain. */
static int add_config_steps(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, const struct vfctl_domain_vf *place, struct steps *steps)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(s->leases, &place->bdf);
	const struct vfctl_lease_vf *vf = find_leased_vf(lease, &place->bdf);
	struct vfctl_vf_attrs attrs;
	int r = change_intent(ctx, lease, vf, &place->attrs, &attrs);

	if (r < 0)
		return r;
	step_begin(steps, "change the leased values of VF %s of domain %s", TEXT(&vf->bdf),
		lease->domain_name);
	step_attrs_op(steps, &op_intent, &attrs, &vf->intent, "%s/%s", lease->domain_uuid, TEXT(&vf->bdf));
	return add_definition_step(ctx, p, lease, vf, &attrs, steps);
}

static int plan_config(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct steps *steps)
{
	int r = 0;

	for (size_t i = 0; i < p->count && r == 0; i++)
		r = add_config_steps(ctx, s, p, &p->places[i], steps);
	return r;
}

/* Without the kernel: the VF is not written before its guest's next start. */
static int plan_stored(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0)
		r = plan_config(ctx, s, p, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/* ---- a running domain ---- */

/*
 * With --live, the values last as long as the run. Values that were right at prepare have not been
 * recorded yet.
 */
static int plan_keep(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct steps *steps)
{
	const struct vfctl_vf_attrs none = {0};

	step_begin(steps, p->count == 1
		? "record the present values of the VF in its lease, to restore them when its domain "
			"stops"
		: "record the present values of the VFs in their leases, to restore them when their "
			"domains stop");
	for (size_t i = 0; i < p->count; i++) {
		struct vfctl_vf_attrs change = p->items[i].attrs, had;
		const struct vfctl_lease_vf *row;
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf;
		int r = vfctl_inventory_find_vf(ctx, s->inventory, p->items[i].vf, &pf, &vf);

		if (r < 0)
			return r;
		attrs_complete(&change, &vf->attrs);
		had = attrs_before(&vf->attrs, &change);
		row = find_vf_in_leases(s->leases, &vf->bdf);
		had.mask &= ~row->saved.mask;
		step_attrs_op(steps, &op_run_had, &had, &none, "%s/%s", owner_of(s, &vf->bdf),
			TEXT(&vf->bdf));
	}
	steps_put(steps, 0);
	return 0;
}

static int plan_both(struct vfctl_ctx *ctx, const struct target *t, const struct plan *p,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = vf_changes_plan_set(ctx, t->snapshot->inventory, t->pf, p->items, p->count,
		&change);

	if (r == 0 && p->options->live)
		r = plan_keep(ctx, t->snapshot, p, &change->steps);
	if (r == 0 && p->options->config)
		r = plan_config(ctx, t->snapshot, p, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/*
 * Whether the present values can be read back. Vectors cannot, and a driver of this host may not
 * have read a GUID that was set after it was bound.
 */
static bool shows_what_it_has(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct vf_attr_change change = {.vf = p->places[i].index,
			.bdf = p->places[i].bdf, .attrs = p->places[i].attrs};
		const struct vfctl_vf *vf = vfctl_inventory_vf_at(inv, &change.bdf, NULL);

		if (change.attrs.mask & VFCTL_ATTR_MSIX)
			return false;
		if (change.attrs.mask & VFCTL_ATTR_GUIDS && (!vf || (vf->driver[0] &&
			!pci_driver_is_vfio(vf->driver) && bound_check_guids(ctx, &change) < 0)))
			return false;
	}
	return true;
}

static int open_target(struct vfctl_ctx *ctx, const struct plan *p, bool dry_run,
	struct target *ret)
{
	_buf_ struct buf names = {0};
	/* A MAC or GUID must not belong to another VF, of whichever PF. */
	struct target_need need = {.is_vf = true, .dry_run = dry_run,
		.alone = changes_identity(p) || p->options->config, .values = changes_identity(p),
		.hypervisor = p->options->config ? p->options->hypervisor : NULL};

	for (size_t i = 0; i < p->count; i++)
		buf_printf(&names, "%s ", p->items[i].vf);
	if (names.failed)
		return ctx_oom(ctx);
	need.only = names.data;
	return target_open(ctx, p->items[0].vf, &need, ret);
}

/*
 * The entry is under a lock that the change holds until its end: that of the PF or, if only the
 * lease and the definition change, that of all changes of guests.
 */
static int keep_set(struct vfctl_ctx *ctx, struct vfctl_change *change, struct target *t,
	const struct plan *p)
{
	struct vfctl_hypervisor *hv = p->options->config ? p->options->hypervisor : NULL;
	const char *more = p->count == 1 ? "" : " and others", *vf = p->items[0].vf;
	int r = target_keep(ctx, change, t, "set %s%s", vf, more);

	if (r < 0 || !hv)
		return r;
	change->hypervisor = hv;
	if (hv->uri) { /* another libvirt, which recovery could not reach */
		change->entry.journal = NULL;
	} else if (!p->options->live) {
		free(steal(change->entry.lock));
		free(steal(change->entry.story));
		r = guest_journal(ctx, change, hv, "set %s%s", vf, more);
	}
	return r;
}

int vfctl_set_plan(struct vfctl_ctx *ctx, const struct vfctl_set_item *items, size_t count,
	const struct vfctl_set_options *options, bool dry_run, struct vfctl_change **ret_change)
{
	static const struct vfctl_set_options nothing = {0};
	struct plan p = {items, options ? options : &nothing, NULL, count};
	bool shows_all = false;
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	int r;

	if (!count)
		return ctx_fail(ctx, -EINVAL, "name a VF");
	r = open_target(ctx, &p, dry_run, &t);
	if (r == 0)
		r = find_places(ctx, t.snapshot, &p);
	if (r == 0)
		r = check_values(ctx, t.snapshot, &p);
	if (r == 0 && p.options->config && !p.options->live) {
		/* libvirt waits for the hook, and the hook for this lock: do not hold it. */
		close_fd(&t.lock_fd);
		t.lock_fd = -1;
		r = plan_stored(ctx, t.snapshot, &p, &change);
	} else if (r == 0) {
		r = plan_both(ctx, &t, &p, &change);
	}
	if (r == 0)
		shows_all = shows_what_it_has(ctx, t.snapshot->inventory, &p);
	free(p.places);
	if (r == 0)
		r = keep_set(ctx, change, &t, &p);
	if (r < 0)
		return r == -EINVAL ? ctx_mark_usage_error(ctx, r) : r;
	if (shows_all)
		change_drop_done(ctx, change);
	*ret_change = steal(change);
	return 0;
}
