// SPDX-License-Identifier: GPL-2.0-or-later
/* create, destroy, set: lock the PF, read a snapshot, plan. */
#include <errno.h>

#include "host/host.h"
#include "sriov/inventory.h"
#include "sriov/lifecycle.h"
#include "vfctl/sriov.h"
#include "workflow/snapshot.h"

static void free_kept(void *kept)
{
	vfctl_snapshot_free(kept);
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
static void keep(struct vfctl_change *change, struct target *t)
{
	change->kept = steal(t->snapshot);
	change->free_kept = free_kept;
	change->lock_fd = t->lock_fd;
	change->placement_fd = t->placement_fd;
	t->lock_fd = t->placement_fd = -1;
}

int vfctl_create_plan(struct vfctl_ctx *ctx, const char *pf,
	const struct vfctl_create_options *options, bool dry_run,
	struct vfctl_change **ret_change)
{
	_target_ struct target t = NO_TARGET;
	int r = open_target(ctx, pf, false, dry_run, NULL, &t);

	if (r == 0)
		r = lifecycle_plan_create(ctx, t.snapshot->inventory, t.pf, options, NULL,
			ret_change);
	if (r == 0)
		keep(*ret_change, &t);
	return r;
}

int vfctl_destroy_plan(struct vfctl_ctx *ctx, const char *pf, bool dry_run,
	struct vfctl_change **ret_change)
{
	_target_ struct target t = NO_TARGET;
	int r = open_target(ctx, pf, false, dry_run, pf, &t);

	if (r == 0)
		r = lifecycle_plan_destroy(ctx, t.snapshot->inventory, t.pf, ret_change);
	if (r == 0)
		keep(*ret_change, &t);
	return r;
}

int vfctl_set_plan(struct vfctl_ctx *ctx, const struct vfctl_set_item *items, size_t count,
	bool dry_run, struct vfctl_change **ret_change)
{
	_target_ struct target t = NO_TARGET;
	int r;

	if (!count)
		return ctx_fail(ctx, -EINVAL, "no VF is named");
	r = open_target(ctx, items[0].vf, true, dry_run, items[0].vf, &t);
	if (r == 0)
		r = lifecycle_plan_set(ctx, t.snapshot->inventory, t.pf, items, count, ret_change);
	if (r == 0)
		keep(*ret_change, &t);
	return r;
}
