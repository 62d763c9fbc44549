// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set: attributes of VFs now, and of a VF that is leased also in what its domain gets at each
 * start: the lease, our metadata, and the <interface> by which libvirt sets MAC and VLAN.
 */
#include <errno.h>

#include "base/find.h"
#include "base/json.h"
#include "base/vfattr.h"
#include "change/recover.h"
#include "change/target.h"
#include "host/host.h"
#include "ids/values.h"
#include "lease/ops.h"
#include "pci/device.h"
#include "sriov/attrs.h"
#include "sriov/bound.h"
#include "sriov/holder.h"
#include "sriov/vf_changes.h"
#include "core/hypervisor.h"
#include "core/sriov.h"

/* ---- planning ---- */

struct plan {
	const struct vfctl_set_item *items;
	const struct vfctl_set_options *options;
	struct vfctl_domain_vf *places; /* of the items, in their order */
	size_t count;
};

/* Who gets it back, what helps: a leased VF is its domain's, and its next start says so. */
static int check_lease(struct vfctl_ctx *ctx, const struct vfctl_set_options *o,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf)
{
	bool running = vf->lease.running ||
		(vf->holder.kind == VFCTL_HOLDER_DOMAIN && str_eq(vf->holder.uuid, vf->lease.uuid));
	char name[VFCTL_BDF_TEXT], words[256];

	vfctl_pf_name(pf, name);
	if (!vf->lease.name[0])
		return o->live || o->config ? ctx_fail(ctx, -EINVAL, "%s/%u is leased to no domain: "
			"--live and --config are for VFs that are", vfctl_pf_name(pf, name), vf->index)
					    : 0;
	if (o->live && !running)
		return ctx_fail(ctx, -EINVAL, "domain %s, to which %s/%u is leased, is not "
			"running: --live has nothing to work on", vf->lease.name,
			vfctl_pf_name(pf, name), vf->index);
	if (running && !o->live && !o->config)
		return ctx_fail(ctx, -EBUSY, "%s/%u is %s, and keeps its policy until that stops; "
			"to change it all the same: --live (until it stops), --config (from its "
			"next start on), or both", vfctl_pf_name(pf, name), vf->index,
			vf_describe_user(vf, words, sizeof(words)));
	if (!o->config)
		log_warn(ctx, "%s/%u is leased to domain %s: at its next start it has again what "
			"it was leased with (--config changes that)", vfctl_pf_name(pf, name),
			vf->index, vf->lease.name);
	return 0;
}

static int find_places(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	struct plan *p)
{
	int r = 0;

	p->places = calloc(p->count + 1, sizeof(*p->places));
	if (!p->places)
		return ctx_oom(ctx);
	for (size_t i = 0; i < p->count && r == 0; i++) {
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf;

		r = vfctl_inventory_find_vf(ctx, inv, p->items[i].vf, &pf, &vf);
		if (r < 0)
			break;
		p->places[i] = (struct vfctl_domain_vf){.bdf = vf->bdf, .pf = pf->bdf,
			.index = vf->index, .attrs = p->items[i].attrs};
		for (size_t k = 0; k < i; k++)
			if (vfctl_bdf_compare(&p->places[k].bdf, &vf->bdf) == 0)
				return ctx_fail(ctx, -EINVAL, "%s is named twice", p->items[i].vf);
		r = check_lease(ctx, p->options, pf, vf);
	}
	return r;
}

static const char *owner_of(const struct vfctl_snapshot *s, const struct vfctl_bdf *vf)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(s->leases, vf);

	return lease ? lease->domain_uuid : "";
}

/* What a VF has already it may have. */
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
	return values_check(ctx, ROAD_SET, facts, owner_of(s, &place->bdf), &fresh, 1, NULL);
}

static int check_values(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p)
{
	struct value_facts facts = {.leases = s->leases, .changing = p->places,
		.changing_count = p->count};
	int r = live_from_inventory(ctx, s->inventory, &facts.live);

	for (size_t i = 0; i < p->count && r == 0; i++)
		r = check_fresh(ctx, s, &facts, &p->places[i]);
	if (r == 0)
		r = values_check_twins(ctx, p->places, p->count);
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
		return ctx_forgive(ctx, r, -ENOENT);
	*ret = steal(info.xml);
	return 0;
}

/* What the VF is leased with from now on. */
static int change_intent(struct vfctl_ctx *ctx, const struct vfctl_lease *lease,
	const struct vfctl_lease_vf *vf, const struct vfctl_vf_attrs *asked,
	struct vfctl_vf_attrs *ret)
{
	int r;

	if (!vf->has_intent || lease->transient)
		return ctx_fail(ctx, -EINVAL, lease->transient
			? "VF %s is domain %s's for its run only, and has no definition of ours"
			: "an older vfctl leased VF %s to domain %s and did not keep with what; "
			  "start the domain once, then change it", TEXT(&vf->bdf),
			lease->domain_name);
	*ret = vf->intent;
	attrs_copy(ret, asked, UINT32_MAX);
	/* Priority and protocol are a tag's. */
	if (asked->mask & VFCTL_ATTR_VLAN_ID && !asked->vlan)
		ret->mask &= ~(uint32_t)(VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO);
	r = vfctl_vf_attrs_check(ctx, ret);
	return r < 0 ? ctx_prefix(ctx, r, "with what VF %s is leased with", TEXT(&vf->bdf)) : 0;
}

/* Tried on what libvirt has now, so that a dry run says what cannot be; done on what it has then. */
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
	step_begin(steps, "change what VF %s is leased with to domain %s", TEXT(&vf->bdf),
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

/* Without the kernel: nothing of the VF is written before its guest's next start. */
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

/* --live lasts as long as the run: what prepare found as it should be is not saved yet. */
static int plan_keep(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct steps *steps)
{
	const struct vfctl_vf_attrs none = {0};

	step_begin(steps, p->count == 1
		? "note in its lease what the VF has, which is returned when its domain stops"
		: "note in their leases what the VFs have, which is returned when their domains stop");
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
 * Can it be observed whether the VFs are as asked? Vectors do not read back, and a driver of this
 * host may not have seen a GUID that was set since it was bound.
 */
static bool shows_what_it_has(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct plan *p)
{
	for (size_t i = 0; i < p->count; i++) {
		const struct vf_attr_change change = {p->places[i].index, p->places[i].bdf,
			p->places[i].attrs, false};
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
	/* A MAC or GUID must be no other VF's, of whichever PF. */
	const struct target_need need = {.is_vf = true, .dry_run = dry_run,
		.alone = changes_identity(p) || p->options->config,
		.only = changes_identity(p) ? NULL : p->items[0].vf,
		.hypervisor = p->options->config ? p->options->hypervisor : NULL};

	return target_open(ctx, p->items[0].vf, &need, ret);
}

/*
 * The entry stands under a lock that the change holds to its end: the PF's, or, when nothing but
 * the lease and the definition changes, that of all guests' changes.
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
	if (hv->uri) { /* another libvirt's, which recovery could not ask */
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
		return ctx_fail(ctx, -EINVAL, "no VF is named");
	r = open_target(ctx, &p, dry_run, &t);
	if (r == 0)
		r = find_places(ctx, t.snapshot->inventory, &p);
	if (r == 0)
		r = check_values(ctx, t.snapshot, &p);
	if (r == 0 && p.options->config && !p.options->live) {
		/* libvirt waits for the hook, and the hook for this lock: not to be held. */
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
		return r == -EINVAL ? ctx_blame(ctx, r) : r;
	if (shows_all)
		change_drop_done(ctx, change);
	*ret_change = steal(change);
	return 0;
}
