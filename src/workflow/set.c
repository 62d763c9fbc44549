// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * set: attributes of VFs now, and of a VF that is leased also in what its domain gets at each
 * start: the lease, our metadata, and the <interface> by which libvirt sets MAC and VLAN.
 */
#include <errno.h>
#include <stdio.h>

#include "base/vfattr.h"
#include "host/host.h"
#include "sriov/attrs.h"
#include "sriov/holder.h"
#include "sriov/lifecycle.h"
#include "state/store.h"
#include "vfctl/hypervisor.h"
#include "vfctl/sriov.h"
#include "workflow/target.h"
#include "workflow/values.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

/* What is changed of one leased VF for the next starts of its domain. */
struct config {
	struct vfctl_hypervisor *hv;
	struct vfctl_bdf bdf;
	struct vfctl_vf_attrs before, after; /* of the lease */
	char *xml, *changed; /* of the domain; NULL: libvirt does not know it */
};

static void free_config(void *data)
{
	struct config *c = data;

	free(c->xml);
	free(c->changed);
	free(c);
}

static int put_intent(struct vfctl_ctx *ctx, const struct config *c,
	const struct vfctl_vf_attrs *intent)
{
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	return r < 0 ? r : store_set_intent(store, &c->bdf, intent);
}

static int apply_intent(struct vfctl_ctx *ctx, void *data)
{
	const struct config *c = data;

	return put_intent(ctx, c, &c->after);
}

static int undo_intent(struct vfctl_ctx *ctx, void *data)
{
	const struct config *c = data;

	return put_intent(ctx, c, &c->before);
}

static int apply_definition(struct vfctl_ctx *ctx, void *data)
{
	struct config *c = data;

	return c->hv->define(ctx, c->hv, c->changed);
}

static int undo_definition(struct vfctl_ctx *ctx, void *data)
{
	struct config *c = data;

	return c->hv->define(ctx, c->hv, c->xml);
}

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
		if (r == 0)
			r = identities_check_set(ctx, pf, vf, &p->items[i].attrs);
	}
	return r;
}

static const char *owner_of(const struct vfctl_snapshot *s, const struct vfctl_bdf *vf)
{
	const struct vfctl_lease *lease = vfctl_leases_find_vf(s->leases, vf);

	return lease ? lease->domain_uuid : "";
}

static int check_values(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p)
{
	struct value_facts facts = {.leases = s->leases, .changing = p->places,
		.changing_count = p->count};
	int r = live_from_inventory(ctx, s->inventory, &facts.live);

	for (size_t i = 0; i < p->count && r == 0; i++)
		r = values_check(ctx, &facts, owner_of(s, &p->places[i].bdf), &p->places[i]);
	if (r == 0)
		r = values_check_all(ctx, &(struct value_facts){0}, "", p->places, p->count);
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

static const struct vfctl_lease_vf *leased_vf(const struct vfctl_lease *lease,
	const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < lease->vf_count; i++)
		if (vfctl_bdf_compare(&lease->vfs[i].bdf, vf) == 0)
			return &lease->vfs[i];
	return NULL;
}

/* A later item of the same domain starts from what the one before made of its XML. */
static const char *definition_so_far(struct config *const *configs, size_t count,
	const char *uuid, const struct vfctl_snapshot *s)
{
	for (size_t i = count; i-- > 0;)
		if (configs[i]->changed && str_eq(owner_of(s, &configs[i]->bdf), uuid))
			return configs[i]->changed;
	return NULL;
}

static int read_definition(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const char *uuid, char **ret)
{
	struct vfctl_domain_info info;
	int r = hv->get(ctx, hv, uuid, true, &info);

	if (r == -ENOENT) {
		ctx_clear(ctx);
		return 0;
	}
	if (r < 0)
		return r;
	*ret = steal(info.xml);
	vfctl_domain_info_clear(&info);
	return 0;
}

static int make_config(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, size_t i, struct config *const *before, struct config *c)
{
	const struct vfctl_domain_vf *place = &p->places[i];
	const struct vfctl_lease *lease = vfctl_leases_find_vf(s->leases, &place->bdf);
	const struct vfctl_lease_vf *vf = leased_vf(lease, &place->bdf);
	const char *so_far = definition_so_far(before, i, lease->domain_uuid, s);
	int r = 0;

	c->hv = p->options->hypervisor;
	c->bdf = place->bdf;
	if (!vf->has_intent || lease->transient)
		return ctx_fail(ctx, -EINVAL, lease->transient
			? "VF %s is domain %s's for its run only, and has no definition of ours"
			: "an older vfctl leased VF %s to domain %s and did not keep with what; "
			  "start the domain once, then change it", TEXT(&place->bdf),
			lease->domain_name);
	c->before = c->after = vf->intent;
	attrs_copy(&c->after, &place->attrs, UINT32_MAX);
	/* Priority and protocol are a tag's. */
	if (place->attrs.mask & VFCTL_ATTR_VLAN_ID && !place->attrs.vlan)
		c->after.mask &= ~(uint32_t)(VFCTL_ATTR_VLAN_QOS | VFCTL_ATTR_VLAN_PROTO);
	r = vfctl_vf_attrs_check(ctx, &c->after);
	if (r < 0)
		return ctx_prefix(ctx, r, "with what VF %s is leased with", TEXT(&place->bdf));
	c->xml = so_far ? strdup(so_far) : NULL;
	if (so_far && !c->xml)
		return ctx_oom(ctx);
	if (!so_far)
		r = read_definition(ctx, c->hv, lease->domain_uuid, &c->xml);
	if (r == 0 && c->xml)
		r = vfctl_domain_change_vf(ctx, c->xml, &c->bdf, &c->after, &c->changed);
	return r;
}

struct configs {
	struct config **v;
	size_t count;
	struct vfctl_domain_vf *had; /* what VFs of running domains have before a --live */
	size_t had_count;
};

static void free_configs(void *data)
{
	struct configs *all = data;

	for (size_t i = 0; i < all->count; i++)
		free_config(all->v[i]);
	free(all->v);
	free(all->had);
	free(all);
}

static void add_config_steps(struct config *c, const char *domain, struct steps *steps)
{
	struct step intent = {.apply = apply_intent, .undo = undo_intent, .data = c};
	struct step define = {.apply = apply_definition, .undo = undo_definition, .data = c};

	steps_add(steps, &intent, "change what VF %s is leased with to domain %s", TEXT(&c->bdf),
		domain);
	if (c->changed)
		steps_add(steps, &define, "change VF %s in the definition of domain %s",
			TEXT(&c->bdf), domain);
}

static int plan_config(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct configs *all, struct steps *steps)
{
	int r = 0;

	all->v = calloc(p->count, sizeof(*all->v));
	if (!all->v)
		return ctx_oom(ctx);
	for (size_t i = 0; i < p->count && r == 0; i++) {
		all->v[i] = calloc(1, sizeof(**all->v));
		if (!all->v[i])
			return ctx_oom(ctx);
		all->count++;
		r = make_config(ctx, s, p, i, all->v, all->v[i]);
		if (r == 0)
			add_config_steps(all->v[i], vfctl_leases_find_vf(s->leases,
				&p->places[i].bdf)->domain_name, steps);
	}
	return r;
}

/* Without the kernel: nothing of the VF is written before its guest's next start. */
static int plan_stored(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct configs *all = calloc(1, sizeof(*all));
	int r = change_new(ctx, all, free_configs, &change);

	if (r == 0)
		r = plan_config(ctx, s, p, all, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/* ---- a running domain ---- */

static int apply_keep(struct vfctl_ctx *ctx, void *data)
{
	const struct configs *all = data;
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	for (size_t i = 0; i < all->had_count && r == 0; i++)
		r = store_save_attrs(store, &all->had[i].bdf, &all->had[i].attrs);
	return r;
}

/* The row added last is carried out first. */
static void put_first(struct steps *s)
{
	struct step last;

	if (s->failed)
		return;
	last = s->v[s->count - 1];
	memmove(s->v + 1, s->v, (s->count - 1) * sizeof(*s->v));
	s->v[0] = last;
}

/* --live lasts as long as the run: what prepare found as it should be is not saved yet. */
static int plan_keep(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	const struct plan *p, struct configs *all, struct steps *steps)
{
	struct step row = {.apply = apply_keep, .data = all};

	all->had = calloc(p->count, sizeof(*all->had));
	if (!all->had)
		return ctx_oom(ctx);
	for (size_t i = 0; i < p->count; i++) {
		struct vfctl_vf_attrs wish = p->items[i].attrs;
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf;
		int r = vfctl_inventory_find_vf(ctx, s->inventory, p->items[i].vf, &pf, &vf);

		if (r < 0)
			return r;
		attrs_complete(&wish, &vf->attrs);
		all->had[all->had_count] = p->places[i];
		all->had[all->had_count++].attrs = attrs_before(&vf->attrs, &wish);
	}
	steps_add(steps, &row, p->count == 1
		? "note in its lease what the VF has, which is returned when its domain stops"
		: "note in their leases what the VFs have, which is returned when their domains stop");
	put_first(steps);
	return 0;
}

static int plan_both(struct vfctl_ctx *ctx, const struct target *t, const struct plan *p,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct configs *all = NULL;
	int r = lifecycle_plan_set(ctx, t->snapshot->inventory, t->pf, p->items, p->count,
		&change);

	if (r == 0 && (p->options->config || p->options->live)) {
		all = change->more = calloc(1, sizeof(*all));
		change->free_more = free_configs;
		r = all ? 0 : ctx_oom(ctx);
	}
	if (r == 0 && p->options->live)
		r = plan_keep(ctx, t->snapshot, p, all, &change->steps);
	if (r == 0 && p->options->config)
		r = plan_config(ctx, t->snapshot, p, all, &change->steps);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int vfctl_set_plan(struct vfctl_ctx *ctx, const struct vfctl_set_item *items, size_t count,
	const struct vfctl_set_options *options, bool dry_run, struct vfctl_change **ret_change)
{
	static const struct vfctl_set_options nothing = {0};
	struct plan p = {items, options ? options : &nothing, NULL, count};
	_kept_ struct kept *kept = calloc(1, sizeof(*kept));
	_target_ struct target t = NO_TARGET;
	int r = kept ? 0 : ctx_oom(ctx);

	if (r == 0 && !count)
		return ctx_fail(ctx, -EINVAL, "no VF is named");
	/* A MAC or GUID must be no other VF's, of whichever PF. */
	if (r == 0)
		r = target_open(ctx, items[0].vf, true, dry_run,
			changes_identity(&p) || p.options->config,
			changes_identity(&p) ? NULL : items[0].vf, &t);
	if (r == 0)
		r = find_places(ctx, t.snapshot->inventory, &p);
	if (r == 0)
		r = check_values(ctx, t.snapshot, &p);
	if (r == 0 && p.options->config && !p.options->live) {
		/* libvirt waits for the hook, and the hook for this lock: not to be held. */
		close_fd(&t.lock_fd);
		t.lock_fd = -1;
		r = plan_stored(ctx, t.snapshot, &p, ret_change);
	} else if (r == 0) {
		r = plan_both(ctx, &t, &p, ret_change);
	}
	free(p.places);
	if (r == 0)
		target_keep(*ret_change, steal(kept), &t);
	return r;
}
