// SPDX-License-Identifier: GPL-2.0-or-later
/* define and undefine: lease, then libvirt; libvirt, then the lease. */
#include <errno.h>
#include <stdio.h>

#include "base/change.h"
#include "host/host.h"
#include "state/store.h"
#include "workflow/guest.h"
#include "workflow/memlock.h"
#include "workflow/policy.h"
#include "workflow/run.h"
#include "workflow/snapshot.h"
#include "workflow/values.h"

#define TEXT(bdf) vfctl_bdf_format((bdf), (char[VFCTL_BDF_TEXT]){0})

struct define {
	struct vfctl_placed *placed;
	struct vfctl_hypervisor *hv;
	char *xml;
	struct vfctl_lease lease; /* cells and vfs owned here */
	bool taken;
};

static void free_define(void *data)
{
	struct define *d = data;

	vfctl_placed_free(d->placed);
	free(d->xml);
	free(d->lease.cells);
	free(d->lease.vfs);
	free(d);
}

static int fill_cells(struct vfctl_ctx *ctx, const struct vfctl_assignment *a,
	struct vfctl_lease *l)
{
	l->cells = calloc(a->cell_count + 1, sizeof(*l->cells));
	if (!l->cells)
		return ctx_oom(ctx);
	for (size_t i = 0; i < a->cell_count; i++) {
		const struct vfctl_cell *c = &a->cells[i];

		l->cells[l->cell_count++] = (struct vfctl_lease_cell){.node = c->node,
			.memory_node = c->memory_node, .memory_bytes = c->memory_bytes,
			.page_bytes = c->page_bytes, .shared_vcpus = c->shared_vcpus};
	}
	return 0;
}

static int fill_lease(struct vfctl_ctx *ctx, struct define *d)
{
	const struct vfctl_assignment *a = vfctl_placed_assignment(d->placed);
	struct vfctl_lease *l = &d->lease;

	str_copy(l->id, sizeof(l->id), d->placed->lease_id);
	str_copy(l->domain_uuid, sizeof(l->domain_uuid), d->placed->guest->uuid);
	l->domain_name = d->placed->guest->name;
	l->node = a->node;
	l->memory_bytes = a->memory_bytes;
	l->page_bytes = a->page_bytes;
	l->cpus = a->held_cpus;
	l->vfs = calloc(d->placed->vf_count + 1, sizeof(*l->vfs));
	if (!l->vfs)
		return ctx_oom(ctx);
	for (size_t i = 0; i < d->placed->vf_count; i++)
		l->vfs[l->vf_count++] = (struct vfctl_lease_vf){.bdf = d->placed->vfs[i].bdf,
			.pf = d->placed->vfs[i].pf, .index = d->placed->vfs[i].index,
			.has_intent = true, .intent = d->placed->vfs[i].attrs};
	return fill_cells(ctx, a, l);
}

static int apply_lease(struct vfctl_ctx *ctx, void *data)
{
	struct define *d = data;
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r == 0)
		r = store_take(store, &d->lease);
	d->taken = r == 0;
	return r;
}

static int undo_lease(struct vfctl_ctx *ctx, void *data)
{
	struct define *d = data;
	_store_ struct store *store = NULL;
	int r;

	if (!d->taken)
		return 0;
	r = store_open(ctx, STORE_WRITE, &store);
	return r < 0 ? r : store_drop(store, d->lease.id);
}

static int apply_define(struct vfctl_ctx *ctx, void *data)
{
	struct define *d = data;

	return d->hv->define(ctx, d->hv, d->xml);
}

/* The lease's domain is there, under another name. */
static bool renamed(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_lease *lease, char ret_name[128])
{
	struct vfctl_domain_info info;

	if (hv->get(ctx, hv, lease->domain_uuid, true, &info) < 0) {
		ctx_clear(ctx);
		return false;
	}
	snprintf(ret_name, 128, "%.127s", info.name);
	vfctl_domain_info_clear(&info);
	return true;
}

/* libvirt redefines a domain of the same UUID in silence: not on our account. */
static int check_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_guest *guest, const struct vfctl_leases *leases)
{
	const char *const names[] = {guest->name, guest->uuid};
	const struct vfctl_lease *old = vfctl_leases_find_uuid(leases, guest->uuid);
	char now_called[128];

	for (size_t i = 0; i < ARRAY_SIZE(names); i++) {
		struct vfctl_domain_info info;
		int r = hv->get(ctx, hv, names[i], true, &info);

		if (r == -ENOENT)
			continue;
		if (r == 0)
			vfctl_domain_info_clear(&info);
		return r < 0 ? r : ctx_fail(ctx, -EEXIST, "libvirt has a domain %s already; "
			"remove it with vfctl undefine %s, or choose another name", names[i],
			names[i]);
	}
	ctx_clear(ctx);
	if (!old)
		old = vfctl_leases_find(leases, guest->name);
	if (old && renamed(ctx, hv, old, now_called))
		return ctx_fail(ctx, -EEXIST, "the domain that libvirt calls %s now holds its lease "
			"under the name %s until its next start; choose another name until then",
			now_called, old->domain_name);
	if (old)
		return ctx_fail(ctx, -EEXIST, "libvirt has no domain %s, but one of that name holds "
			"a lease still (a define that was cut short, or somebody undefined it); end "
			"that with: vfctl undefine %s", guest->name, old->domain_name);
	return 0;
}

/* Nobody else has its MACs and GUIDs, be they from a pool or not. */
static int check_values(struct vfctl_ctx *ctx, const struct vfctl_placed *placed)
{
	struct value_facts facts = {.leases = placed->snapshot->leases,
		.changing = placed->vfs, .changing_count = placed->vf_count};
	int r = live_from_inventory(ctx, placed->snapshot->inventory, &facts.live);

	if (r == 0)
		r = values_check_all(ctx, &facts, placed->guest->uuid, placed->vfs,
			placed->vf_count);
	live_values_clear(&facts.live);
	return r;
}

/* "1024 MiB of node 0 and 2048 MiB of node 1" */
static void put_memory(const struct vfctl_lease *l, struct buf *text)
{
	for (size_t i = 0; i < l->cell_count; i++)
		buf_printf(text, "%s%llu MiB of node %d", i ? " and " : "",
			(unsigned long long)l->cells[i].memory_bytes >> 20,
			l->cells[i].memory_node);
}

static void add_define_steps(struct define *d, struct steps *steps)
{
	struct step lease = {.apply = apply_lease, .undo = undo_lease, .data = d};
	struct step define = {.apply = apply_define, .data = d};
	_buf_ struct buf memory = {0}, vfs = {0};
	char cpus[512];

	for (size_t i = 0; i < d->lease.vf_count; i++)
		buf_printf(&vfs, "%s%s", i ? ", " : d->lease.vf_count > 1 ? " and VFs " : " and VF ",
			TEXT(&d->lease.vfs[i].bdf));
	put_memory(&d->lease, &memory);
	vfctl_cpuset_format(&d->lease.cpus, cpus, sizeof(cpus));
	identities_add_step(&d->placed->identities, steps);
	steps_add(steps, &lease, "lease CPUs %s and %s%s to domain %s", cpus,
		memory.data ? memory.data : "no memory", vfs.data ? vfs.data : "",
		d->lease.domain_name);
	steps_add(steps, &define, "define domain %s in libvirt", d->lease.domain_name);
}

int vfctl_define_plan(struct vfctl_ctx *ctx, struct vfctl_guest *guest,
	const struct vfctl_place_options *options, const char *template_text,
	const char *template_name, bool dry_run, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct define *d = calloc(1, sizeof(*d));
	int r = change_new(ctx, d, free_define, &change);

	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r < 0)
		return r;
	d->hv = options->hypervisor;
	r = vfctl_place(ctx, guest, options, &d->placed);
	if (r == 0)
		r = check_new(ctx, d->hv, guest, d->placed->snapshot->leases);
	if (r == 0)
		r = placed_check(ctx, d->placed);
	if (r == 0 && !dry_run)
		r = placed_take_identities(ctx, d->placed, options->ids);
	if (r == 0)
		r = check_values(ctx, d->placed);
	if (r == 0)
		r = vfctl_placed_xml(ctx, d->placed, template_text, template_name,
			d->hv->version, &d->xml);
	if (r == 0)
		r = fill_lease(ctx, d);
	if (r < 0)
		return r;
	memlock_warn(ctx, guest->name, d->xml, d->hv->version);
	add_define_steps(d, &change->steps);
	change->ids_changed = d->placed->identities.count > 0;
	*ret_change = steal(change);
	return 0;
}

/* ---- undefine ---- */

struct undefine {
	struct vfctl_hypervisor *hv;
	struct vfctl_domain_info info; /* name NULL: libvirt does not know it */
	struct vfctl_leases *leases;
	const struct vfctl_lease *lease; /* NULL: it holds none */
	struct identities identities;
	unsigned drop;
};

static void free_undefine(void *data)
{
	struct undefine *u = data;

	identities_clear(&u->identities);
	vfctl_domain_info_clear(&u->info);
	vfctl_leases_free(u->leases);
	free(u);
}

static int apply_undefine(struct vfctl_ctx *ctx, void *data)
{
	struct undefine *u = data;

	return u->hv->undefine(ctx, u->hv, u->info.uuid, u->drop);
}

/* Somebody started it since it was looked at: its VFs are its own until that run ends. */
static int end_with_run(struct vfctl_ctx *ctx, struct store *store,
	const struct vfctl_lease *lease)
{
	log_warn(ctx, "domain %s has been started meanwhile: what it holds is released when it "
		"stops", lease->domain_name);
	return store_make_transient(store, lease->id);
}

static int apply_release(struct vfctl_ctx *ctx, void *data)
{
	struct undefine *u = data;
	struct vfctl_leases *now = NULL;
	_store_ struct store *store = NULL;
	_pf_locks_ struct pf_locks locks = {.count = 0};
	int r = 0;

	for (size_t i = 0; i < u->lease->vf_count && r == 0; i++)
		r = pf_locks_add(ctx, &locks, &u->lease->vfs[i].pf);
	if (r == 0)
		r = pf_locks_take(ctx, &locks);
	if (r == 0)
		r = store_open(ctx, STORE_WRITE, &store);
	if (r == 0)
		r = store_read(store, u->lease->domain_uuid, &now);
	if (r == 0 && now->count && now->v[0].running && !u->lease->running)
		r = end_with_run(ctx, store, &now->v[0]);
	else if (r == 0 && now->count) {
		r = policy_restore(ctx, store, &now->v[0], NULL);
		if (r == 0)
			r = store_drop(store, now->v[0].id);
	}
	vfctl_leases_free(now);
	return r;
}

/* Not placed by vfctl, or only given a VF: its definition is not ours to remove. */
static int check_ours(struct vfctl_ctx *ctx, const struct undefine *u, bool force)
{
	const char *name = u->info.name;

	if (force || !name || (u->lease && u->lease->cell_count))
		return 0;
	return ctx_fail(ctx, -EPERM, "domain %s was not defined by vfctl; to remove its definition "
		"all the same: vfctl undefine %s --force%s%s", name, name,
		u->lease ? "; to take its VFs only: vfctl detach " : "", u->lease ? name : "");
}

static int find_domain(struct vfctl_ctx *ctx, const char *name, struct undefine *u)
{
	int r = vfctl_leases_read(ctx, &u->leases);

	if (r == 0)
		r = u->hv->get(ctx, u->hv, name, true, &u->info);
	if (r < 0 && r != -ENOENT)
		return r;
	u->lease = r == 0 ? vfctl_leases_find_uuid(u->leases, u->info.uuid)
			  : vfctl_leases_find(u->leases, name);
	ctx_clear(ctx);
	if (r == 0 && u->info.active)
		return ctx_fail(ctx, -EBUSY, "domain %s is running; stop it first: virsh shutdown "
			"%s", u->info.name, u->info.name);
	return 0;
}

/* A define that was killed early left no more than these. */
static int find_identities(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *name,
	struct undefine *u)
{
	char uuid[VFCTL_UUID_TEXT] = "";
	int r = 0;

	if (u->info.name || u->lease)
		str_copy(uuid, sizeof(uuid), u->info.name ? u->info.uuid : u->lease->domain_uuid);
	else if (ids)
		r = identities_find_domain(ctx, ids, name, uuid);
	if (r == 0)
		r = identities_of_domain(ctx, uuid[0] ? ids : NULL, uuid, NULL, &u->identities);
	if (r == 0 && !u->info.name && !u->lease && !u->identities.count)
		return ctx_fail(ctx, -ENOENT, "libvirt knows no domain %s, and it holds no lease, "
			"no GUID and no MAC here", name);
	return r;
}

int vfctl_undefine_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *domain, const struct vfctl_undefine_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct undefine *u = calloc(1, sizeof(*u));
	struct step undefine = {.apply = apply_undefine, .data = u, .commit = true};
	struct step release = {.apply = apply_release, .data = u, .commit = true};
	int r = change_new(ctx, u, free_undefine, &change);

	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r < 0)
		return r;
	u->hv = hypervisor;
	u->drop = options->drop;
	r = find_domain(ctx, domain, u);
	if (r == 0)
		r = check_ours(ctx, u, options->force);
	if (r == 0)
		r = find_identities(ctx, options->ids, domain, u);
	if (r < 0)
		return r;
	if (u->info.name && u->info.persistent)
		steps_add(&change->steps, &undefine, "undefine domain %s in libvirt",
			u->info.name);
	if (u->lease)
		steps_add(&change->steps, &release, "release what domain %s holds (%zu VF%s)",
			u->lease->domain_name, u->lease->vf_count,
			u->lease->vf_count == 1 ? "" : "s");
	identities_add_return_step(&u->identities, &change->steps);
	change->ids_changed = u->identities.count > 0;
	*ret_change = steal(change);
	return 0;
}
