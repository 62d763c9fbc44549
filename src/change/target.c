// SPDX-License-Identifier: GPL-2.0-or-later
#include "change/target.h"

#include <errno.h>
#include <stdarg.h>

#include "change/recover.h"
#include "host/host.h"
#include "sriov/inventory.h"

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
static int find_target(struct vfctl_ctx *ctx, const char *name, bool is_vf, struct target *t)
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
static int lock_pf(struct vfctl_ctx *ctx, const char *name, const struct target_need *need, int *ret_fd)
{
	_inventory_ struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	char text[VFCTL_BDF_TEXT];
	int r = vfctl_inventory_read(ctx, "", &inv);

	if (r < 0)
		return r;
	r = need->is_vf ? vfctl_inventory_find_vf(ctx, inv, name, &pf, &vf)
			: vfctl_inventory_find_pf(ctx, inv, name, &pf);
	if (r < 0)
		return explain(ctx, inv, r);
	return recover_lock_with(ctx, need->hypervisor, vfctl_bdf_format(&pf->bdf, text), ret_fd);
}

static int lock(struct vfctl_ctx *ctx, const char *name, const struct target_need *need,
	struct target *t)
{
	int r = host_check_writable(ctx);

	if (r == 0)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, !need->alone, &t->placement_fd);
	if (r == 0 && need->hypervisor)
		recover_guests(ctx, need->hypervisor, NULL);
	return r < 0 ? r : lock_pf(ctx, name, need, &t->lock_fd);
}

int target_open(struct vfctl_ctx *ctx, const char *name, const struct target_need *need,
	struct target *ret)
{
	_target_ struct target t = NO_TARGET;
	int r = need->dry_run ? 0 : lock(ctx, name, need, &t);

	if (r == 0)
		r = vfctl_snapshot_read(ctx, need->only, &t.snapshot);
	if (r == 0)
		r = snapshot_need_leases(ctx, t.snapshot);
	if (r == 0)
		r = find_target(ctx, name, need->is_vf, &t);
	if (r < 0)
		return r;
	*ret = t;
	t = NO_TARGET;
	return 0;
}

int target_keep(struct vfctl_ctx *ctx, struct vfctl_change *change, struct target *t,
	const char *fmt, ...)
{
	char lock[VFCTL_BDF_TEXT];
	va_list args;
	int r;

	change->lock_fd = t->lock_fd;
	change->placement_fd = t->placement_fd;
	t->lock_fd = t->placement_fd = -1;
	va_start(args, fmt);
	r = change_journal(ctx, change, vfctl_bdf_format(&t->pf->bdf, lock), fmt, args);
	va_end(args);
	return r;
}
