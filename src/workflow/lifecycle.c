// SPDX-License-Identifier: GPL-2.0-or-later
/* create, destroy, set: lock the PF, read a snapshot, plan. */
#include <errno.h>

#include "host/host.h"
#include "sriov/inventory.h"
#include "sriov/lifecycle.h"
#include "vfctl/sriov.h"
#include "workflow/identity.h"
#include "workflow/snapshot.h"

/* The steps point into it. */
struct kept {
	struct vfctl_snapshot *snapshot;
	struct identities identities;
};

static void free_kept(void *data)
{
	struct kept *kept = data;

	identities_clear(&kept->identities);
	vfctl_snapshot_free(kept->snapshot);
	free(kept);
}

struct target {
	struct vfctl_snapshot *snapshot;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int lock_fd, placement_fd;
};

static void target_clear(struct target *t)
{
	vfctl_snapshot_free(t->snapshot);
	close_fd(&t->lock_fd);
	close_fd(&t->placement_fd);
}
#define _target_ _cleanup_(target_clear)
#define NO_TARGET ((struct target){.lock_fd = -1, .placement_fd = -1})

/* A name may be unknown because something could not be read. */
static int explain(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv, int error)
{
	const char *unread = inv->unread;

	for (size_t i = 0; i < inv->pf_count && !unread; i++)
		unread = inv->pfs[i].unread;
	return unread ? ctx_append(ctx, error, " (%s)", unread) : error;
}

/* What could not be read must not be taken for absent: no change on such a PF. */
static int find(struct vfctl_ctx *ctx, const char *name, bool is_vf, struct target *t)
{
	const struct vfctl_inventory *inv = t->snapshot->inventory;
	const char *unread = inv->unread;
	int r = 0;

	if (!unread && is_vf)
		r = vfctl_inventory_find_vf(ctx, inv, name, &t->pf, &t->vf);
	else if (!unread)
		r = vfctl_inventory_find_pf(ctx, inv, name, &t->pf);
	if (r < 0)
		return explain(ctx, inv, r);
	if (!unread)
		unread = t->pf->unread;
	return unread ? ctx_fail(ctx, -EIO, "nothing is changed: %s", unread) : 0;
}

/* Lock the PF that @name is about; neither its VFs nor leases are looked at for that. */
static int lock_pf(struct vfctl_ctx *ctx, const char *name, bool is_vf, int *ret_fd)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	char text[VFCTL_BDF_TEXT];
	int r = vfctl_inventory_read(ctx, "", &inv);

	if (r < 0)
		return r;
	r = is_vf ? vfctl_inventory_find_vf(ctx, inv, name, &pf, &vf)
		  : vfctl_inventory_find_pf(ctx, inv, name, &pf);
	if (r < 0)
		return explain(ctx, inv, r);
	return host_lock(ctx, vfctl_bdf_format(&pf->bdf, text), false, ret_fd);
}

/* @only NULL: the VFs of all PFs are needed (their MACs must not be given again). */
static int open_target(struct vfctl_ctx *ctx, const char *name, bool is_vf, bool dry_run,
	const char *only, struct target *ret)
{
	_target_ struct target t = NO_TARGET;
	int r = 0;

	if (!dry_run) {
		r = host_check_writable(ctx);
		if (r == 0)
			r = host_lock(ctx, HOST_LOCK_PLACEMENT, true, &t.placement_fd);
		if (r == 0)
			r = lock_pf(ctx, name, is_vf, &t.lock_fd);
	}
	if (r == 0)
		r = vfctl_snapshot_read(ctx, only, &t.snapshot);
	if (r == 0)
		r = snapshot_need_leases(ctx, t.snapshot);
	if (r == 0)
		r = find(ctx, name, is_vf, &t);
	if (r < 0)
		return r;
	*ret = t;
	t = NO_TARGET;
	return 0;
}

/* The steps point into the snapshot, and the lock lasts as long as they do. */
static void keep(struct vfctl_change *change, struct kept *kept, struct target *t)
{
	kept->snapshot = steal(t->snapshot);
	change->kept = kept;
	change->free_kept = free_kept;
	change->lock_fd = t->lock_fd;
	change->placement_fd = t->placement_fd;
	t->lock_fd = t->placement_fd = -1;
}

static void kept_freep(struct kept **kept)
{
	if (*kept)
		free_kept(*kept);
}
#define _kept_ _cleanup_(kept_freep)

/* Are there, or will there be, VFs without a GUID? */
static bool needs_guids(const struct vfctl_pf *pf, const struct vfctl_create_options *o)
{
	if (!pf->infiniband || o->keep_identities || o->count > pf->total_vfs)
		return false;
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (vfctl_guid_fault(pf->vfs[i].attrs.port_guid))
			return true;
	return pf->num_vfs != o->count;
}

/* @ret_guids: one for each VF, or NULL when no pool is to give them. */
static int take_guids(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_create_options *o, bool dry_run, struct identities *identities,
	uint64_t **ret_guids)
{
	const struct vfctl_inventory *inv = t->snapshot->inventory;
	const struct vfctl_id_pool *pool;
	int r = identities_find_pool(ctx, o->ids, o->guid_pool, inv, t->pf, &pool);

	if (r == 0 && o->pkey && t->pf->infiniband && !needs_guids(t->pf, o))
		return ctx_fail(ctx, -EEXIST, "the VFs are there already, with their GUIDs; change "
			"the P_Key of one with: vfctl guid reserve --device %s/INDEX --pkey P_KEY",
			vfctl_bdf_format(&t->pf->bdf, (char[VFCTL_BDF_TEXT]){0}));
	if (r < 0 || !pool || !needs_guids(t->pf, o))
		return r;
	*ret_guids = calloc(o->count, sizeof(**ret_guids));
	if (!*ret_guids)
		return ctx_oom(ctx);
	identities_open(ctx, identities, o->ids, "", "", !dry_run);
	if (!dry_run)
		r = identities_note_live(ctx, o->ids, inv);
	return r < 0 ? r : identities_give_pf(ctx, identities, pool, t->pf, o->count, o->pkey,
		*ret_guids);
}

int vfctl_create_plan(struct vfctl_ctx *ctx, const char *pf,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_target_ struct target t = NO_TARGET;
	_kept_ struct kept *kept = calloc(1, sizeof(*kept));
	_free_ uint64_t *guids = NULL;
	struct vfctl_change *change;
	int r = kept ? open_target(ctx, pf, false, dry_run, NULL, &t) : ctx_oom(ctx);

	if (r == 0)
		r = take_guids(ctx, &t, options, dry_run, &kept->identities, &guids);
	if (r == 0)
		r = lifecycle_plan_create(ctx, t.snapshot->inventory, t.pf, options, guids, &change);
	if (r < 0)
		return r;
	identities_add_step(&kept->identities, &change->steps);
	change->ids_changed = kept->identities.count > 0;
	keep(change, steal(kept), &t);
	*ret_change = change;
	return 0;
}

int vfctl_destroy_plan(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *pf,
	bool dry_run, struct vfctl_change **ret_change)
{
	_target_ struct target t = NO_TARGET;
	_kept_ struct kept *kept = calloc(1, sizeof(*kept));
	struct vfctl_change *change;
	int r = kept ? open_target(ctx, pf, false, dry_run, pf, &t) : ctx_oom(ctx);

	if (r == 0)
		r = identities_of_pf(ctx, ids, t.pf, &kept->identities);
	if (r == 0)
		r = lifecycle_plan_destroy(ctx, t.snapshot->inventory, t.pf, &change);
	if (r < 0)
		return r;
	identities_add_return_step(&kept->identities, &change->steps);
	change->ids_changed = kept->identities.count > 0;
	keep(change, steal(kept), &t);
	*ret_change = change;
	return 0;
}

/* A VF has its own GUID again when its guest ends: it is not free meanwhile. */
static int check_saved(struct vfctl_ctx *ctx, const struct vfctl_leases *leases,
	const struct vfctl_vf *vf, const struct vfctl_vf_attrs *attrs)
{
	const struct vfctl_lease *lease;
	const struct vfctl_lease_vf *of;
	char text[VFCTL_ID_TEXT];

	if (!(attrs->mask & VFCTL_ATTR_PORT_GUID))
		return 0;
	of = vfctl_leases_find_saved_guid(leases, attrs->port_guid, &lease);
	if (!of || vfctl_bdf_compare(&of->bdf, &vf->bdf) == 0)
		return 0;
	return ctx_fail(ctx, -EEXIST, "%s is the own GUID of VF %s, which has it again when "
		"domain %s ends; choose another", vfctl_guid_format(attrs->port_guid, text),
		vfctl_bdf_format(&of->bdf, (char[VFCTL_BDF_TEXT]){0}), lease->domain_name);
}

static int check_item(struct vfctl_ctx *ctx, const struct vfctl_inventory *inv,
	const struct vfctl_leases *leases, const struct vfctl_set_item *item)
{
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r = vfctl_inventory_find_vf(ctx, inv, item->vf, &pf, &vf);

	if (r == 0)
		r = check_saved(ctx, leases, vf, &item->attrs);
	return r < 0 ? r : identities_check_set(ctx, pf, vf, &item->attrs);
}

int vfctl_set_plan(struct vfctl_ctx *ctx, const struct vfctl_set_item *items, size_t count,
	bool dry_run, struct vfctl_change **ret_change)
{
	_target_ struct target t = NO_TARGET;
	_kept_ struct kept *kept = calloc(1, sizeof(*kept));
	const char *only;
	int r;

	if (!count)
		return ctx_fail(ctx, -EINVAL, "no VF is named");
	only = items[0].vf;
	/* A GUID must be no other VF's, of whichever PF. */
	for (size_t i = 0; i < count; i++)
		if (items[i].attrs.mask & VFCTL_ATTR_PORT_GUID)
			only = NULL;
	r = kept ? open_target(ctx, items[0].vf, true, dry_run, only, &t) : ctx_oom(ctx);
	for (size_t i = 0; i < count && r == 0; i++)
		r = check_item(ctx, t.snapshot->inventory, t.snapshot->leases,
			&items[i]);
	if (r == 0)
		r = lifecycle_plan_set(ctx, t.snapshot->inventory, t.pf, items, count, ret_change);
	if (r == 0)
		keep(*ret_change, steal(kept), &t);
	return r;
}
