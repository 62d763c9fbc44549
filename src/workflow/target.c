// SPDX-License-Identifier: GPL-2.0-or-later
#include "workflow/target.h"

#include <errno.h>

#include "host/host.h"
#include "sriov/inventory.h"

void target_free_kept(void *data)
{
	struct kept *kept = data;

	identities_clear(&kept->identities);
	vfctl_snapshot_free(kept->snapshot);
	free(kept);
}

void target_clear(struct target *t)
{
	vfctl_snapshot_free(t->snapshot);
	close_fd(&t->lock_fd);
	close_fd(&t->placement_fd);
}

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
int target_open(struct vfctl_ctx *ctx, const char *name, bool is_vf, bool dry_run,
	bool alone, const char *only, struct target *ret)
{
	_target_ struct target t = NO_TARGET;
	int r = 0;

	if (!dry_run) {
		r = host_check_writable(ctx);
		if (r == 0)
			r = host_lock(ctx, HOST_LOCK_PLACEMENT, !alone, &t.placement_fd);
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
void target_keep(struct vfctl_change *change, struct kept *kept, struct target *t)
{
	kept->snapshot = steal(t->snapshot);
	change->kept = kept;
	change->free_kept = target_free_kept;
	change->lock_fd = t->lock_fd;
	change->placement_fd = t->placement_fd;
	t->lock_fd = t->placement_fd = -1;
}
