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
#include "workflow/snapshot.h"

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
			.pf = d->placed->vfs[i].pf, .index = d->placed->vfs[i].index};
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

/* libvirt redefines a domain of the same UUID in silence: not on our account. */
static int check_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hv,
	const struct vfctl_guest *guest)
{
	const char *const names[] = {guest->name, guest->uuid};

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
	return 0;
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
		r = check_new(ctx, d->hv, guest);
	if (r == 0)
		r = placed_check(ctx, d->placed);
	if (r == 0 && !dry_run)
		r = placed_take_identities(ctx, d->placed, options->ids);
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

	return u->hv->undefine(ctx, u->hv, u->info.uuid);
}

static int undo_undefine(struct vfctl_ctx *ctx, void *data)
{
	struct undefine *u = data;
	struct vfctl_domain_info now;
	int r = u->hv->get(ctx, u->hv, u->info.uuid, true, &now);

	if (r == 0)
		vfctl_domain_info_clear(&now);
	return r == -ENOENT ? u->hv->define(ctx, u->hv, u->info.xml) : r;
}

static int apply_release(struct vfctl_ctx *ctx, void *data)
{
	struct undefine *u = data;
	_store_ struct store *store = NULL;
	int r = store_open(ctx, STORE_WRITE, &store);

	if (r == 0)
		r = policy_restore(ctx, store, u->lease->vfs, u->lease->vf_count);
	return r < 0 ? r : store_drop(store, u->lease->id);
}

static int find_domain(struct vfctl_ctx *ctx, const char *name, struct undefine *u)
{
	int r = vfctl_leases_read(ctx, &u->leases);

	if (r == 0)
		r = u->hv->get(ctx, u->hv, name, true, &u->info);
	if (r < 0 && r != -ENOENT)
		return r;
	u->lease = u->leases ? vfctl_leases_find(u->leases, r == 0 ? u->info.uuid : name) : NULL;
	if (r == -ENOENT && !u->lease)
		return ctx_append(ctx, r, ", and it holds no lease");
	if (r == 0 && u->info.active)
		return ctx_fail(ctx, -EBUSY, "domain %s is running; stop it first: virsh shutdown "
			"%s", u->info.name, u->info.name);
	return 0;
}

static int find_identities(struct vfctl_ctx *ctx, struct vfctl_ids *ids, struct undefine *u)
{
	const char *uuid = u->info.name ? u->info.uuid : u->lease ? u->lease->domain_uuid : "";

	return identities_of_domain(ctx, uuid[0] ? ids : NULL, uuid, NULL, &u->identities);
}

int vfctl_undefine_plan(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	struct vfctl_ids *ids, const char *domain, bool dry_run, struct vfctl_change **ret_change)
{
	_change_ struct vfctl_change *change = NULL;
	struct undefine *u = calloc(1, sizeof(*u));
	struct step undefine = {.apply = apply_undefine, .undo = undo_undefine, .data = u};
	struct step release = {.apply = apply_release, .data = u};
	int r = change_new(ctx, u, free_undefine, &change);

	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r < 0)
		return r;
	u->hv = hypervisor;
	r = find_domain(ctx, domain, u);
	if (r == 0)
		r = find_identities(ctx, ids, u);
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
