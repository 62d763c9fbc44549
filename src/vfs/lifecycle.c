// SPDX-License-Identifier: GPL-2.0-or-later
/* create, destroy: lock the PF, read a snapshot, plan. */
#include "vfs/lifecycle.h"

#include <errno.h>

#include "base/buf.h"
#include "base/change.h"
#include "base/parse.h"
#include "base/vfattr.h"
#include "ids/give.h"
#include "ids/values.h"
#include "lease/noted.h"
#include "sriov/attrs.h"
#include "sriov/vf_changes.h"
#include "vfs/create.h"

/* Whether there are, or will be, VFs without a GUID. */
static bool needs_guids(const struct vfctl_pf *pf, const struct vfctl_create_options *o)
{
	if (!pf->infiniband || o->keep_identities || o->count > pf->total_vfs)
		return false;
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (create_lacks_identity(&pf->vfs[i]))
			return true;
	return pf->num_vfs != o->count;
}

/* ---- the P_Key of VFs that keep their GUIDs ---- */

/*
 * The P_Key of one of the host's own VFs: as its driver maps it (mlx4), or as stored with its GUID.
 */
static uint16_t pkey_of(const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const struct identities *noted)
{
	_free_ char *device = str_format("%s/%u", TEXT(&pf->bdf), vf->index);

	if (vf->attrs.mask & VFCTL_ATTR_PKEY)
		return vf->attrs.pkey;
	for (size_t i = 0; device && i < noted->count; i++)
		if (noted->given[i].kind == VFCTL_ID_GUID &&
			str_eq(noted->given[i].owner.device, device))
			return noted->given[i].pkey;
	return 0;
}

/* A guest's VF has the P_Key of its lease. */
static const struct vfctl_vf *find_other_pkey(const struct vfctl_pf *pf, uint16_t pkey,
	const struct identities *noted)
{
	for (uint32_t i = 0; i < pf->num_vfs; i++)
		if (!pf->vfs[i].lease.name[0] && !create_lacks_identity(&pf->vfs[i]) &&
			pkey_of(pf, &pf->vfs[i], noted) != pkey)
			return &pf->vfs[i];
	return NULL;
}

/*
 * Present VFs keep their GUIDs, and the P_Key that is stored with them. @ret_pending: what the
 * administrator has to do if @o requests another one, else NULL.
 */
static int compare_pkeys(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_create_options *o, char **ret_pending)
{
	_cleanup_(identities_clear) struct identities noted = {0};
	const struct vfctl_vf *vf;
	char name[VFCTL_BDF_TEXT], want[VFCTL_PKEY_TEXT], has[VFCTL_PKEY_TEXT];
	uint16_t pkey;
	int r;

	if (!o->pkey || !t->pf->infiniband || t->pf->num_vfs != o->count)
		return 0;
	r = identities_of_pf(ctx, o->ids, t->pf, &noted);
	vf = r == 0 ? find_other_pkey(t->pf, o->pkey, &noted) : NULL;
	if (!vf)
		return r;
	pkey = pkey_of(t->pf, vf, &noted);
	*ret_pending = str_format("%s/%u has %s%s instead of %s; change it with: vfctl guid "
		"reserve --device %s/%u --pkey %s", vfctl_pf_name(t->pf, name), vf->index,
		pkey ? "P_Key " : "no P_Key", pkey ? vfctl_pkey_format(pkey, has) : "",
		vfctl_pkey_format(o->pkey, want), TEXT(&t->pf->bdf), vf->index, want);
	return *ret_pending ? 0 : ctx_oom(ctx);
}

/* @ret_guids: one for each VF, or NULL if they do not come from a pool. */
static int take_guids(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_create_options *o, bool dry_run, struct identities *identities,
	uint64_t **ret_guids)
{
	const struct vfctl_inventory *inv = t->snapshot->inventory;
	const struct vfctl_id_pool *pool;
	int r = identities_find_pool(ctx, o->ids, o->guid_pool, inv, t->pf, &pool);

	if (r < 0 || !pool || !needs_guids(t->pf, o))
		return r;
	*ret_guids = calloc(o->count, sizeof(**ret_guids));
	if (!*ret_guids)
		return ctx_oom(ctx);
	identities_open(ctx, identities, o->ids, "", "", !dry_run);
	if (!dry_run)
		r = identities_note_live(ctx, o->ids, inv, t->snapshot->leases);
	return r < 0 ? r : identities_give_pf(ctx, identities, pool, t->pf, o->count, o->pkey,
		*ret_guids);
}

int create_plan_on(struct vfctl_ctx *ctx, const struct target *t,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(identities_clear) struct identities identities = {0};
	_cleanup_(value_rows_close) struct value_rows rows = {0};
	_free_ uint64_t *guids = NULL;
	_free_ char *pending = NULL;
	int r = compare_pkeys(ctx, t, options, &pending);

	if (r == 0 && pending && !t->declared)
		return ctx_fail(ctx, -EEXIST, "the VFs exist already, with their GUIDs: %s", pending);
	if (r == 0)
		r = take_guids(ctx, t, options, dry_run, &identities, &guids);

	/* A boot must create VFs even if the store is damaged: then reservations are unknown. */
	if (r == 0 && value_rows_open(ctx, &rows) < 0)
		ctx_clear(ctx);
	if (r == 0)
		r = vf_changes_plan_create(ctx, t->snapshot->inventory, t->snapshot->leases, &rows,
			t->pf, options, guids, &change);
	if (r == 0)
		r = identities_add_step(ctx, &identities, change);
	if (r == 0 && change->ids)
		steps_put(&change->steps, 0);
	if (r == 0 && pending && !change->pending)
		change->pending = steal(pending);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int destroy_plan_on(struct vfctl_ctx *ctx, const struct target *t, struct vfctl_ids *ids,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(identities_clear) struct identities identities = {0};
	int r = identities_of_pf(ctx, ids, t->pf, &identities);

	if (r == 0)
		r = vf_changes_plan_destroy(ctx, t->snapshot->inventory, t->pf, &change);
	if (r == 0)
		r = identities_add_return_step(ctx, &identities, change);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

/*
 * VFs that stay keep their attributes, which may be those of a lease or of a running guest. A
 * request for others must not end with "nothing to do".
 */
static int check_present_attrs(struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf_range *range)
{
	for (uint32_t i = range->first; i <= range->last && i < pf->num_vfs; i++) {
		struct vfctl_vf_attrs lacks = range->attrs;
		_buf_ struct buf text = {0};
		char room[VFCTL_BDF_TEXT];
		const char *name = vfctl_pf_name(pf, room);

		lacks.mask &= pf->vfs[i].attrs.mask; /* not every driver reports each attribute */
		attrs_drop_equal(&lacks, &pf->vfs[i].attrs);
		if (!lacks.mask)
			continue;
		attrs_put(&text, &lacks, lacks.mask);
		return ctx_fail(ctx, -EEXIST, "%s has %u VF%s already, and VF %u does not have %s; only "
			"new VFs get attributes; run: vfctl set %s/%u-%u %s", name, pf->num_vfs,
			plural(pf->num_vfs), i, text.data ? text.data : "it", name, range->first,
			range->last, text.data ? text.data : "");
	}
	return 0;
}

int vfctl_create_plan(struct vfctl_ctx *ctx, const char *pf,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	const struct target_need need = {.dry_run = dry_run, .alone = true, .only = pf,
		.values = true};
	int r = target_open(ctx, pf, &need, &t);

	if (r == 0)
		snapshot_allow(t.snapshot, options->despite);
	for (size_t i = 0; r == 0 && i < options->range_count && t.pf->num_vfs == options->count; i++)
		r = check_present_attrs(ctx, t.pf, &options->ranges[i]);
	if (r == 0)
		r = create_plan_on(ctx, &t, options, dry_run, &change);
	if (r == 0)
		r = target_keep(ctx, change, &t, "create %s %u", pf, options->count);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int vfctl_destroy_plan(struct vfctl_ctx *ctx, struct vfctl_ids *ids, const char *pf,
	const char *despite, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	_cleanup_(target_clear) struct target t = NO_TARGET;
	const struct target_need need = {.dry_run = dry_run, .only = pf};
	int r = target_open(ctx, pf, &need, &t);

	if (r == 0)
		snapshot_allow(t.snapshot, despite);
	if (r == 0)
		r = destroy_plan_on(ctx, &t, ids, &change);
	if (r == 0)
		r = target_keep(ctx, change, &t, "destroy %s", pf);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}
