// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state file was lost: read libvirt's domains and the metadata that vfctl wrote into each, and
 * rebuild the missing leases with their values of pools. This takes at most two steps for each
 * domain. A lease whose domain no longer exists is transferred to the domain whose metadata names
 * it.
 */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "base/parse.h"
#include "base/planning.h"
#include "change/recover.h"
#include "facts/snapshot/domains.h"
#include "facts/snapshot/snapshot.h"
#include "guest/plans.h"
#include "guest/redefine/has.h"
#include "guest/redefine/rebuild_trust.h"
#include "host/host.h"
#include "ids/give.h"
#include "ids/owner.h"
#include "ids/pools.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "lease/port.h"

/* A domain whose lease is missing. */
struct lost {
	struct vfctl_lease lease; /* owns its name */
	bool contested; /* another domain has one of its resources: nothing is leased to this one */
	uint32_t *lost_values; /* for each VF the values that another domain has too, and that
				  neither gets */
};

/* A domain that gets the lease of a domain that no longer exists. */
struct successor {
	const struct vfctl_domain_info *domain;
	const struct vfctl_lease *lease;
};

struct rebuild {
	struct vfctl_ids *ids; /* borrowed; NULL if there are no pools */
	bool trusted; /* the metadata may grant what it requests */
	struct successor *successors; /* at most one for each domain */
	size_t successor_count;
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_model *model;
	struct vfctl_domain_info *domains;
	size_t domain_count;
	struct lost *lost; /* at most one for each domain */
	size_t lost_count;
};

static void rebuild_clear(struct rebuild *r)
{
	for (size_t i = 0; i < r->lost_count; i++) {
		lease_clear(&r->lost[i].lease);
		free(r->lost[i].lease.domain_name);
		free(r->lost[i].lost_values);
	}
	free(r->lost);
	free(r->successors);
	vfctl_domain_infos_free(r->domains, r->domain_count);
	vfctl_model_free(r->model);
	vfctl_snapshot_free(r->snapshot);
}

/* ---- missing leases ---- */

/* QEMU's CPUs that belong neither to the guest nor to the host: whole cores, shared or not. */
static void find_qemu_cpus(const struct vfctl_host_model *m, const struct vfctl_assignment *a,
	struct vfctl_cpuset *ret)
{
	for (size_t i = 0; i < m->topology->core_count; i++) {
		const struct vfctl_cpuset *core = &m->topology->cores[i].cpus;

		if (vfctl_cpuset_intersects(core, &a->emulator_cpus) &&
			!vfctl_cpuset_intersects(core, &a->held_cpus) &&
			!vfctl_cpuset_intersects(core, &m->reserved_cpus) &&
			!vfctl_cpuset_intersects(core, &m->shared_cpus))
			vfctl_cpuset_or(ret, core);
	}
}

/* vfctl only gave it VFs, and does not decide where it runs. */
static int fill(struct vfctl_ctx *ctx, const struct rebuild *b, const char *xml,
	struct domain_has *has, struct vfctl_lease *l)
{
	const struct vfctl_assignment nowhere = {.node = VFCTL_NODE_NONE}, *a;
	int r = domain_has_place(ctx, xml, b->model->topology, has);

	if (r < 0 && r != -EINVAL)
		return r;
	if (r == -EINVAL)
		ctx_clear(ctx);
	a = has->place;
	r = lease_fill(ctx, a ? a : &nowhere, has->intent.vfs, has->intent.vf_count, l);
	ports_fill(b->snapshot->inventory, l->vfs, l->vf_count);
	if (r == 0 && !b->trusted)
		rebuild_grant_defaults(ctx, b->snapshot->inventory, l);
	if (a)
		find_qemu_cpus(b->model, a, &l->qemu_cpus);
	return r;
}

/* The name of the domain with that UUID in libvirt; NULL: it has none. */
static const char *known_name(const struct rebuild *b, const char *uuid)
{
	for (size_t i = 0; i < b->domain_count; i++)
		if (str_eq(b->domains[i].uuid, uuid))
			return b->domains[i].name;
	return NULL;
}

static const struct vfctl_lease *find_lease(const struct rebuild *b, const char *id)
{
	const struct vfctl_leases *leases = b->snapshot->leases;

	for (size_t i = 0; leases && i < leases->count; i++)
		if (str_eq(leases->v[i].id, id))
			return &leases->v[i];
	return NULL;
}

static struct successor *find_successor(const struct rebuild *b, const struct vfctl_lease *lease)
{
	for (size_t i = 0; i < b->successor_count; i++)
		if (b->successors[i].lease == lease)
			return &b->successors[i];
	return NULL;
}

/*
 * Only the holder reports values of the fleet's pools to etcd, and they cannot change owners here.
 */
static bool is_fleets(const struct rebuild *b, const struct vfctl_lease *l)
{
	return b->ids && vfctl_ids_spec(b->ids)->etcd && l->vf_count;
}

static void warn_clone(struct vfctl_ctx *ctx, const char *name, const char *holder)
{
	log_warn(ctx, "domain %s is a clone of domain %s, which holds its lease, so nothing is leased "
		"to %s; to make it a guest in its own right: vfctl undefine %s --force, then "
		"define", name, holder,
		name, name);
}

/*
 * The lease's domain no longer exists. If the metadata of several domains names the lease, it is
 * transferred to the one with the same name, or else to the first.
 */
static void add_successor(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_domain_info *domain,
	const struct vfctl_lease *lease)
{
	struct successor *next = find_successor(b, lease);
	const struct vfctl_domain_info *other = domain;

	if (!next) {
		b->successors[b->successor_count++] = (struct successor){domain, lease};
		return;
	}
	if (str_eq(domain->name, lease->domain_name)) {
		other = next->domain;
		next->domain = domain;
	}
	warn_clone(ctx, other->name, next->domain->name);
}

/*
 * It has the metadata of a domain that holds the lease: it is a clone of that domain, or that
 * domain no longer exists and this one was defined again without its UUID.
 */
static void look_at_clone(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_domain_info *domain,
	const struct vfctl_lease *lease)
{
	const char *name = domain->name, *uuid = lease->domain_uuid, *holder = known_name(b, uuid);

	if (holder)
		warn_clone(ctx, name, holder);
	else if (lease->running)
		log_warn(ctx, "the lease of domain %s belongs to domain %s with UUID %s, whose run has "
			"not ended; run vfctl recover, then repeat this "
			"command", name, lease->domain_name, uuid);
	else if (is_fleets(b, lease))
		log_warn(ctx, "the lease of domain %s belongs to domain %s with UUID %s, which libvirt "
			"no longer has; end it (vfctl undefine %s), and repeat this command after the "
			"cooldown of its MACs and GUIDs (vfctl guid "
			"list)", name, lease->domain_name, uuid, uuid);
	else if (!b->trusted)
		log_warn(ctx, "the metadata of domain %s names the lease of domain %s with UUID %s, "
			"which libvirt no longer has; if it is the same guest: vfctl recover --rebuild "
			"--trust-metadata", name, lease->domain_name, uuid);
	else
		add_successor(ctx, b, domain, lease);
}

static void has_freep(struct domain_has **has)
{
	if (*has)
		domain_has_clear(*has);
	free(*has);
}

static int look_at(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_domain_info *domain)
{
	_cleanup_(has_freep) struct domain_has *has = calloc(1, sizeof(*has));
	struct vfctl_lease *l = &b->lost[b->lost_count].lease;
	const struct vfctl_lease *held;
	int r = has ? domain_has_read(ctx, domain->xml, HAS_METADATA, has) : ctx_oom(ctx);

	if (r == -ENOENT || (r == 0 && vfctl_leases_find_uuid(b->snapshot->leases, domain->uuid))) {
		ctx_clear(ctx);
		return 0;
	}
	if (r < 0)
		return ctx_prefix(ctx, r, "domain %s", domain->name);
	held = find_lease(b, has->intent.lease_id);
	if (held) {
		look_at_clone(ctx, b, domain, held);
		return 0;
	}
	/* The id of its lease is another domain's UUID: the metadata was copied, or forged. */
	if (!b->trusted && !str_eq(has->intent.lease_id, domain->uuid) &&
		known_name(b, has->intent.lease_id)) {
		warn_clone(ctx, domain->name, known_name(b, has->intent.lease_id));
		return 0;
	}
	*l = (struct vfctl_lease){.running = domain->active, .transient = !domain->persistent,
		.domain_name = strdup(domain->name)};
	b->lost_count++;
	if (!l->domain_name)
		return ctx_oom(ctx);
	str_copy(l->id, sizeof(l->id), has->intent.lease_id);
	str_copy(l->domain_uuid, sizeof(l->domain_uuid), domain->uuid);
	return fill(ctx, b, domain->xml, has, l);
}

/* Damaged metadata of one domain does not prevent the leases of the others. */
static int look_or_warn(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_domain_info *domain)
{
	int r = look_at(ctx, b, domain);

	if (r != -EINVAL && r != -E2BIG)
		return r;
	log_warn(ctx, "a domain whose metadata cannot be read gets no lease: %s",
		vfctl_ctx_error(ctx));
	ctx_clear(ctx);
	return 0;
}

static int look_at_all(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_place_options *options)
{
	int r = vfctl_snapshot_read(ctx, NULL, &b->snapshot);

	if (r == 0)
		r = snapshot_need_leases(ctx, b->snapshot);
	if (r == 0)
		r = vfctl_model_read(ctx, b->snapshot, options, &b->model);
	if (r == 0)
		r = options->hypervisor->list(ctx, options->hypervisor, &b->domains,
			&b->domain_count);
	if (r < 0)
		return r;
	b->ids = options->ids;
	b->trusted = options->trust_metadata;
	b->lost = calloc(b->domain_count + 1, sizeof(*b->lost));
	b->successors = calloc(b->domain_count + 1, sizeof(*b->successors));
	if (!b->lost || !b->successors)
		return ctx_oom(ctx);
	for (size_t i = 0; i < b->domain_count && r == 0; i++)
		r = look_or_warn(ctx, b, &b->domains[i]);
	return r;
}

/* ---- two domains with the same resource ---- */

static bool has_vf(const struct vfctl_lease *l, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < l->vf_count; i++)
		if (vfctl_bdf_compare(&l->vfs[i].bdf, vf) == 0)
			return true;
	return false;
}

/* Find the resource that only one of them can hold; "" if there is none. */
static void find_shared(const struct vfctl_lease *a, const struct vfctl_lease *b, char ret[128])
{
	struct vfctl_cpuset cpus = a->cpus;
	char list[96];

	ret[0] = '\0';
	vfctl_cpuset_and(&cpus, &b->cpus);
	vfctl_cpuset_format(&cpus, list, sizeof(list));
	if (list[0])
		snprintf(ret, 128, "CPU%s %s", plural(vfctl_cpuset_count(&cpus)), list);
	for (size_t i = 0; i < a->vf_count; i++)
		if (has_vf(b, &a->vfs[i].bdf))
			snprintf(ret, 128, "VF %s", TEXT(&a->vfs[i].bdf));
	if (!ret[0] && str_eq(a->id, b->id))
		snprintf(ret, 128, "the lease %s", a->id);
}

/*
 * A running domain comes first; of a domain and its clone, the one whose UUID is the id of the
 * lease.
 */
static bool goes_before(const struct vfctl_lease *a, const struct vfctl_lease *b)
{
	if (a->running != b->running)
		return a->running;
	return str_eq(a->id, b->id) && str_eq(a->id, a->domain_uuid);
}

/* Another domain holds a part of it by a lease, or has a better claim. */
static void look_for_holder(struct vfctl_ctx *ctx, struct rebuild *b, struct lost *l)
{
	const struct vfctl_leases *leases = b->snapshot->leases;
	const struct vfctl_lease *holder = NULL;
	const char *name = l->lease.domain_name;
	char what[128] = "";

	for (size_t i = 0; leases && i < leases->count && !what[0]; i++) {
		holder = &leases->v[i];
		find_shared(&l->lease, holder, what);
	}
	for (size_t i = 0; i < b->lost_count && !what[0]; i++) {
		holder = &b->lost[i].lease;
		if (&b->lost[i] != l && goes_before(holder, &l->lease))
			find_shared(&l->lease, holder, what);
	}
	if (!what[0])
		return;
	l->contested = true;
	if (str_eq(holder->id, l->lease.id))
		warn_clone(ctx, name, holder->domain_name);
	else
		log_warn(ctx, "domains %s and %s both have %s, and %s %s it, so %s gets no lease; "
			"remove it from %s (virsh edit) and repeat this "
			"command", name, holder->domain_name, what,
			holder->domain_name, holder->running ? "runs with" : "holds", name, name);
}

static void look_for_equals(struct vfctl_ctx *ctx, struct rebuild *b)
{
	char what[128];

	for (size_t i = 0; i < b->lost_count; i++)
		for (size_t k = 0; k < i; k++) {
			struct lost *one = &b->lost[k], *other = &b->lost[i];

			find_shared(&one->lease, &other->lease, what);
			if (!what[0] || goes_before(&one->lease, &other->lease) ||
				goes_before(&other->lease, &one->lease))
				continue;
			one->contested = other->contested = true;
			log_warn(ctx, "domains %s and %s both have %s, and nothing tells which of them "
				"owns it, so neither gets a lease; remove it from one of them (virsh "
				"edit %s), or undefine one of them (vfctl undefine %s --force), then "
				"repeat this command",
				one->lease.domain_name, other->lease.domain_name, what,
				one->lease.domain_name, one->lease.domain_name);
		}
}

/* ---- a MAC or GUID of two domains ---- */

static bool carries_any(const struct vfctl_vf_attrs *a, const struct vfctl_vf_attrs *b,
	uint32_t *ret)
{
	*ret = 0;
	if (a->mask & VFCTL_ATTR_MAC && attrs_carry(b, VFCTL_ID_MAC, mac_number(&a->mac)))
		*ret |= VFCTL_ATTR_MAC;
	if (a->mask & VFCTL_ATTR_PORT_GUID && attrs_carry(b, VFCTL_ID_GUID, a->port_guid))
		*ret |= VFCTL_ATTR_GUIDS;
	return *ret;
}

static void warn_value(struct vfctl_ctx *ctx, const struct vfctl_lease *l, size_t vf,
	const char *other,
	bool others)
{
	log_warn(ctx, "VF %s of domain %s has the same MAC or GUID as domain %s; it is leased to %s; give "
		"the "
		"VF another one: vfctl set %s mac=... --config (or guid=...)", TEXT(&l->vfs[vf].bdf),
		l->domain_name, other, others ? "that one" : "neither", TEXT(&l->vfs[vf].bdf));
}

/* VFs of different PFs of one domain may be the ports of a bond, which have one MAC. */
static bool is_bonded(const struct vfctl_lease *l, size_t a, size_t b)
{
	return vfctl_bdf_compare(&l->vfs[a].pf, &l->vfs[b].pf) &&
		!(l->vfs[a].intent.mask & VFCTL_ATTR_PORT_GUID);
}

/* Whether a VF of another lease has it, with a better claim or an equal one. */
static void find_value(struct vfctl_ctx *ctx, struct lost *l, size_t vf,
	const struct vfctl_lease *other,
	bool holds)
{
	uint32_t same;

	for (size_t k = 0; k < other->vf_count; k++)
		if ((other != &l->lease || (k != vf && !is_bonded(&l->lease, vf, k))) &&
			carries_any(&l->lease.vfs[vf].intent, &other->vfs[k].intent, &same) &&
			!(l->lost_values[vf] & same)) {
			l->lost_values[vf] |= same;
			warn_value(ctx, &l->lease, vf, other->domain_name, holds);
		}
}

static int look_for_values(struct vfctl_ctx *ctx, struct rebuild *b, struct lost *l)
{
	const struct vfctl_leases *leases = b->snapshot->leases;

	l->lost_values = calloc(l->lease.vf_count + 1, sizeof(*l->lost_values));
	if (!l->lost_values)
		return ctx_oom(ctx);
	for (size_t v = 0; v < l->lease.vf_count; v++) {
		for (size_t i = 0; leases && i < leases->count; i++)
			find_value(ctx, l, v, &leases->v[i], true);
		for (size_t i = 0; i < b->lost_count; i++) {
			const struct vfctl_lease *other = &b->lost[i].lease;

			if (!b->lost[i].contested && !(l->lease.running && !other->running))
				find_value(ctx, l, v, other, other->running && !l->lease.running);
		}
	}
	return 0;
}

/* Called after all leases were compared. */
static void drop_values(struct lost *l)
{
	for (size_t v = 0; v < l->lease.vf_count; v++)
		l->lease.vfs[v].intent.mask &= ~l->lost_values[v];
}

/* ---- the steps ---- */

/*
 * 1: the domain of @ret_who has it; a value that is in its cooldown or reserved may be this
 * domain's.
 */
static int find_owner(struct vfctl_ctx *ctx, const struct vfctl_lease *l, struct vfctl_ids *ids,
	enum vfctl_id_kind kind, uint64_t value, char ret_who[ID_OWNER_WORDS])
{
	struct vfctl_id now;
	int r = vfctl_ids_find(ids, kind, value, &now);

	if (r == -ENOENT)
		ctx_clear(ctx);
	if (r < 0)
		return r == -ENOENT ? 0 : r;
	id_owner_text(&now.owner, ret_who);
	return now.state == VFCTL_ID_LEASED && !str_eq(now.owner.domain_uuid, l->domain_uuid);
}

/* 1: it belongs to another domain, so this one gets its lease without it. */
static int is_others(struct vfctl_ctx *ctx, const struct rebuild *b, const struct vfctl_lease *l,
	size_t vf,
	enum vfctl_id_kind kind, uint64_t value)
{
	char who[ID_OWNER_WORDS] = "", text[VFCTL_ID_TEXT];
	int r = find_owner(ctx, l, b->ids, kind, value, who);

	if (r == 1)
		log_warn(ctx, "%s, which domain %s uses for VF %s, now belongs to %s: domain %s cannot "
			"start until one of them has another one (vfctl set %s %s=... --config)",
			vfctl_id_format(kind, value, text), l->domain_name, TEXT(&l->vfs[vf].bdf), who,
			l->domain_name, TEXT(&l->vfs[vf].bdf), kind == VFCTL_ID_MAC ? "mac" : "guid");
	return r;
}

/* Add the GUID or MAC of one of its VFs, if a pool may allocate it. */
static int add_value(struct vfctl_ctx *ctx, const struct rebuild *b, const struct vfctl_lease *l,
	size_t i,
	struct identities *io)
{
	const struct vfctl_vf_attrs *a = &l->vfs[i].intent;
	enum vfctl_id_kind kind;
	uint64_t value;
	char device[24];
	int r;

	if (!io->ids || !pool_value_of(a, &kind, &value) || !vfctl_ids_pool_of(io->ids, kind, value))
		return 0;
	r = is_others(ctx, b, l, i, kind, value);
	if (r != 0)
		return r < 0 ? r : 0;
	snprintf(device, sizeof(device), "vf%zu", i);
	return identities_add(ctx, io, kind, value, device,
		a->mask & VFCTL_ATTR_PKEY ? a->pkey : 0);
}

static int add_steps(struct vfctl_ctx *ctx, const struct rebuild *b, const struct vfctl_lease *l,
	struct vfctl_change *change)
{
	_cleanup_(identities_clear) struct identities io = {0};
	_free_ char *want = lease_to_text(l), *vfs = rebuild_vfs_text(l);
	_buf_ struct buf text = {0};
	char cpus[512];
	int r = want && vfs ? 0 : ctx_oom(ctx);

	identities_open(ctx, &io, b->ids, l->domain_uuid, l->domain_name, false);
	for (size_t i = 0; i < l->vf_count && r == 0; i++)
		r = add_value(ctx, b, l, i, &io);
	if (r == 0)
		r = identities_add_step(ctx, &io, change);
	vfctl_cpuset_format(&l->cpus, cpus, sizeof(cpus));
	if (r < 0)
		return r;
	if (cpus[0])
		buf_printf(&text, "CPUs %s", cpus);
	lease_put_qemu(l, &text);
	if (l->cell_count) {
		buf_puts(&text, text.len ? " and " : "");
		lease_put_memory(l, &text);
	}
	buf_printf(&text, "%s%s", text.len && vfs[0] ? " and " : "", text.len || vfs[0] ? vfs : "no VF");
	if (text.failed)
		return ctx_oom(ctx);
	step_add_op(&change->steps, &op_lease, want, "", l->domain_uuid, "lease %s to domain %s again",
		text.data, l->domain_name);
	return r;
}

static int add_successor_step(struct vfctl_ctx *ctx, const struct successor *next,
	struct steps *steps)
{
	const struct vfctl_domain_info *d = next->domain;
	const struct vfctl_lease *l = next->lease;
	_free_ char *want = str_format("%s %s", d->uuid, d->name);
	_free_ char *before = str_format("%s %s", l->domain_uuid, l->domain_name);

	if (!want || !before)
		return ctx_oom(ctx);
	step_add_op(steps, &op_lease_domain, want, before, l->id, "give the lease of the former domain "
		"%s with UUID %s to domain %s with UUID %s", l->domain_name,
		l->domain_uuid, d->name, d->uuid);
	return 0;
}

int vfctl_rebuild_plan(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(rebuild_clear) struct rebuild b = {0};
	int r;

	if (!options->hypervisor)
		return ctx_fail(ctx, -EINVAL, "vfctl must read from libvirt what guests hold, but is "
			"not connected to it");
	r = guest_change_open(ctx, dry_run, &change);
	if (r == 0 && !dry_run)
		recover_guests(ctx, options->hypervisor, NULL);
	if (r == 0)
		r = look_at_all(ctx, &b, options);
	for (size_t i = 0; r == 0 && i < b.lost_count; i++)
		look_for_holder(ctx, &b, &b.lost[i]);
	if (r == 0)
		look_for_equals(ctx, &b);
	for (size_t i = 0; r == 0 && i < b.lost_count; i++)
		if (!b.lost[i].contested)
			r = look_for_values(ctx, &b, &b.lost[i]);
	for (size_t i = 0; r == 0 && i < b.lost_count; i++)
		if (!b.lost[i].contested)
			drop_values(&b.lost[i]);
	if (r == 0)
		r = guest_journal(ctx, change, options->hypervisor, "recover --rebuild");
	for (size_t i = 0; i < b.successor_count && r == 0; i++)
		r = add_successor_step(ctx, &b.successors[i], &change->steps);
	for (size_t i = 0; i < b.lost_count && r == 0; i++)
		if (!b.lost[i].contested)
			r = add_steps(ctx, &b, &b.lost[i].lease, change);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
