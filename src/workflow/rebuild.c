// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The state file is lost: libvirt's domains, and in each what vfctl wrote of it -> leases that
 * are not there, with their values of pools -> two steps for each domain at most. A lease that is there,
 * of a domain that is not, goes to the domain whose metadata names it.
 */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "base/owner.h"
#include "change/recover.h"
#include "facts/domains.h"
#include "facts/snapshot.h"
#include "guest/guest.h"
#include "host/host.h"
#include "lease/identity.h"
#include "lease/lease.h"
#include "lease/lease_text.h"
#include "lease/ops.h"
#include "vfctl/recover.h"
#include "vfctl/workflow.h"

/* A domain that gets the lease of one that is gone. */
struct heir {
	const struct vfctl_domain_info *domain;
	const struct vfctl_lease *lease;
};

struct rebuild {
	const struct vfctl_ids *ids; /* borrowed; NULL: there are no pools */
	struct heir *heirs; /* as many as domains at most */
	size_t heir_count;
	struct vfctl_snapshot *snapshot;
	struct vfctl_host_model *model;
	struct vfctl_domain_info *domains;
	size_t domain_count;
	struct vfctl_lease *lost; /* as many at most; their names owned here */
	size_t lost_count;
};

static void rebuild_clear(struct rebuild *r)
{
	for (size_t i = 0; i < r->lost_count; i++) {
		lease_clear(&r->lost[i]);
		free(r->lost[i].domain_name);
	}
	free(r->lost);
	free(r->heirs);
	vfctl_domain_infos_free(r->domains, r->domain_count);
	vfctl_model_free(r->model);
	vfctl_snapshot_free(r->snapshot);
}
#define _rebuild_ _cleanup_(rebuild_clear)

/* ---- what is lost ---- */

/* QEMU's CPUs that are neither the guest's nor the host's: whole cores, shared or not. */
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

/* One that vfctl only gave VFs: where it runs is not for us to say. */
static int fill(struct vfctl_ctx *ctx, const struct rebuild *b, const char *xml,
	const struct vfctl_domain_intent *intent, struct vfctl_lease *l)
{
	const struct vfctl_assignment nowhere = {.node = VFCTL_NODE_NONE};
	struct vfctl_assignment *a = NULL;
	int r = vfctl_domain_placement(ctx, xml, b->model->topology, &a);

	if (r < 0 && r != -EINVAL)
		return r;
	if (r == -EINVAL)
		ctx_clear(ctx);
	r = lease_fill(ctx, a ? a : &nowhere, intent->vfs, intent->vf_count, l);
	if (a)
		find_qemu_cpus(b->model, a, &l->qemu_cpus);
	vfctl_domain_placement_free(a);
	return r;
}

/* What libvirt calls the domain of that UUID; NULL: it knows none. */
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

static struct heir *find_heir(const struct rebuild *b, const struct vfctl_lease *lease)
{
	for (size_t i = 0; i < b->heir_count; i++)
		if (b->heirs[i].lease == lease)
			return &b->heirs[i];
	return NULL;
}

/* Values of the fleet's pools are told to etcd by who had them, and cannot change hands here. */
static bool is_fleets(const struct rebuild *b, const struct vfctl_lease *l)
{
	return b->ids && vfctl_ids_spec(b->ids)->etcd && l->vf_count;
}

static void warn_clone(struct vfctl_ctx *ctx, const char *name, const char *holder)
{
	log_warn(ctx, "domain %s is a clone of domain %s, which holds its lease: nothing is leased to %s; "
		"to make it a guest of its own: vfctl undefine %s --force, then define", name, holder,
		name, name);
}

/*
 * The lease's domain is gone. Of several whose metadata names the lease it goes to the one that has its
 * domain's name, or to the first.
 */
static void add_heir(struct vfctl_ctx *ctx, struct rebuild *b, const struct vfctl_domain_info *domain,
	const struct vfctl_lease *lease)
{
	struct heir *heir = find_heir(b, lease);
	const struct vfctl_domain_info *other = domain;

	if (!heir) {
		b->heirs[b->heir_count++] = (struct heir){domain, lease};
		return;
	}
	if (str_eq(domain->name, lease->domain_name)) {
		other = heir->domain;
		heir->domain = domain;
	}
	warn_clone(ctx, other->name, heir->domain->name);
}

/*
 * It has the metadata of a domain that holds the lease: a clone of that; or that one is gone, and it was
 * defined anew without its UUID.
 */
static void look_at_clone(struct vfctl_ctx *ctx, struct rebuild *b, const struct vfctl_domain_info *domain,
	const struct vfctl_lease *lease)
{
	const char *name = domain->name, *uuid = lease->domain_uuid, *holder = known_name(b, uuid);

	if (holder)
		warn_clone(ctx, name, holder);
	else if (lease->running)
		log_warn(ctx, "the lease of domain %s is held by the domain %s of UUID %s, whose run was not "
			"ended: vfctl recover; then do this again", name, lease->domain_name, uuid);
	else if (is_fleets(b, lease))
		log_warn(ctx, "the lease of domain %s is held by the domain %s of UUID %s, which libvirt "
			"does not know any more; end it (vfctl undefine %s), and do this again when its MACs "
			"and GUIDs have rested (vfctl guid list)", name, lease->domain_name, uuid, uuid);
	else
		add_heir(ctx, b, domain, lease);
}

static int look_at(struct vfctl_ctx *ctx, struct rebuild *b,
	const struct vfctl_domain_info *domain)
{
	_free_ struct vfctl_domain_intent *intent = calloc(1, sizeof(*intent));
	struct vfctl_lease *l = &b->lost[b->lost_count];
	const struct vfctl_lease *held;
	int r = intent ? vfctl_domain_metadata_read(ctx, domain->xml, strlen(domain->xml), intent)
		       : ctx_oom(ctx);

	if (r == -ENOENT || (r == 0 && vfctl_leases_find_uuid(b->snapshot->leases, domain->uuid))) {
		ctx_clear(ctx);
		return 0;
	}
	if (r < 0)
		return ctx_prefix(ctx, r, "domain %s", domain->name);
	held = find_lease(b, intent->lease_id);
	if (held) {
		look_at_clone(ctx, b, domain, held);
		return 0;
	}
	*l = (struct vfctl_lease){.running = domain->active, .transient = !domain->persistent,
		.domain_name = strdup(domain->name)};
	b->lost_count++;
	if (!l->domain_name)
		return ctx_oom(ctx);
	str_copy(l->id, sizeof(l->id), intent->lease_id);
	str_copy(l->domain_uuid, sizeof(l->domain_uuid), domain->uuid);
	return fill(ctx, b, domain->xml, intent, l);
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
	b->lost = calloc(b->domain_count + 1, sizeof(*b->lost));
	b->heirs = calloc(b->domain_count + 1, sizeof(*b->heirs));
	if (!b->lost || !b->heirs)
		return ctx_oom(ctx);
	for (size_t i = 0; i < b->domain_count && r == 0; i++)
		r = look_at(ctx, b, &b->domains[i]);
	return r;
}

/* ---- the steps ---- */

/* The GUID or MAC of one of its VFs, if a pool of ours may give it. */
static int add_value(struct vfctl_ctx *ctx, const struct vfctl_lease *l, size_t i,
	struct identities *io)
{
	const struct vfctl_vf_attrs *a = &l->vfs[i].intent;
	bool guid = a->mask & VFCTL_ATTR_PORT_GUID, mac = a->mask & VFCTL_ATTR_MAC;
	enum vfctl_id_kind kind = guid ? VFCTL_ID_GUID : VFCTL_ID_MAC;
	uint64_t value = guid ? a->port_guid : mac ? mac_number(&a->mac) : 0;
	char device[24];

	if (!value || !io->ids || !vfctl_ids_pool_of(io->ids, kind, value))
		return 0;
	snprintf(device, sizeof(device), "vf%zu", i);
	return identities_add(ctx, io, kind, value, device,
		a->mask & VFCTL_ATTR_PKEY ? a->pkey : 0);
}

static int add_steps(struct vfctl_ctx *ctx, const struct vfctl_lease *l, struct vfctl_ids *ids,
	struct vfctl_change *change)
{
	_identities_ struct identities io = {0};
	_free_ char *want = lease_to_text(l, NULL);
	char cpus[512];
	int r = want ? 0 : ctx_oom(ctx);

	identities_open(ctx, &io, ids, l->domain_uuid, l->domain_name, false);
	for (size_t i = 0; i < l->vf_count && r == 0; i++)
		r = add_value(ctx, l, i, &io);
	if (r == 0)
		r = identities_add_step(ctx, &io, change);
	vfctl_cpuset_format(&l->cpus, cpus, sizeof(cpus));
	step_add_op(&change->steps, &op_lease, want, "", l->domain_uuid,
		"lease %s%s%s%zu VF%s to domain %s again", cpus[0] ? "CPUs " : "", cpus,
		cpus[0] ? " and " : "", l->vf_count, l->vf_count == 1 ? "" : "s", l->domain_name);
	return r;
}

static int add_heir_step(struct vfctl_ctx *ctx, const struct heir *heir, struct steps *steps)
{
	const struct vfctl_domain_info *d = heir->domain;
	const struct vfctl_lease *l = heir->lease;
	_free_ char *want = str_format("%s %s", d->uuid, d->name);
	_free_ char *before = str_format("%s %s", l->domain_uuid, l->domain_name);

	if (!want || !before)
		return ctx_oom(ctx);
	step_add_op(steps, &op_lease_domain, want, before, l->id, "give the lease of domain %s of UUID %s, "
		"which libvirt does not know any more, to domain %s of UUID %s", l->domain_name,
		l->domain_uuid, d->name, d->uuid);
	return 0;
}

int vfctl_rebuild_plan(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	bool dry_run, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	_rebuild_ struct rebuild b = {0};
	int r = change_new(ctx, &change);

	if (r == 0 && !options->hypervisor)
		return ctx_fail(ctx, -EINVAL, "what guests hold is read from libvirt, which is not "
			"at hand");
	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r == 0)
		r = look_at_all(ctx, &b, options);
	if (r == 0)
		r = guest_journal(ctx, change, options->hypervisor, "recover --rebuild");
	for (size_t i = 0; i < b.heir_count && r == 0; i++)
		r = add_heir_step(ctx, &b.heirs[i], &change->steps);
	for (size_t i = 0; i < b.lost_count && r == 0; i++)
		r = add_steps(ctx, &b.lost[i], options->ids, change);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
