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

/*
 * A PF that could not be read completely must not be changed, because absent and unreadable differ.
 */
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

/* Find the PF that @name refers to, without reading its VFs and leases. */
static int find_address(struct vfctl_ctx *ctx, const char *name, bool is_vf,
	struct vfctl_bdf *ret_pf)
{
	_cleanup_(vfctl_inventory_freep) struct vfctl_inventory *inv = NULL;
	const struct vfctl_pf *pf;
	const struct vfctl_vf *vf;
	int r = inventory_locate(ctx, name, ret_pf);

	if (r != -ENOENT)
		return r;
	r = vfctl_inventory_read(ctx, "", &inv);
	if (r < 0)
		return r;
	r = is_vf ? vfctl_inventory_find_vf(ctx, inv, name, &pf, &vf)
		  : vfctl_inventory_find_pf(ctx, inv, name, &pf);
	if (r < 0)
		return explain(ctx, inv, r);
	*ret_pf = pf->bdf;
	return 0;
}

/* Names may change while this process waits for the lock. */
static int check_locked(struct vfctl_ctx *ctx, const char *name, const struct target *t)
{
	if (t->lock_fd < 0 || vfctl_bdf_compare(&t->pf->bdf, &t->locked) == 0)
		return 0;
	return ctx_fail(ctx, -EAGAIN, "%s was renamed meanwhile, so nothing is changed; repeat the "
		"command", name);
}

static int lock(struct vfctl_ctx *ctx, const char *name, const struct target_need *need,
	struct target *t)
{
	int r = host_check_writable(ctx);

	if (r == 0)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, !need->alone, &t->placement_fd);
	if (r == 0 && need->hypervisor)
		recover_guests(ctx, need->hypervisor, NULL);
	if (r == 0)
		r = find_address(ctx, name, need->is_vf, &t->locked);
	return r < 0 ? r : recover_lock_with(ctx, need->hypervisor, TEXT(&t->locked), &t->lock_fd);
}

int target_open(struct vfctl_ctx *ctx, const char *name, const struct target_need *need,
	struct target *ret)
{
	_cleanup_(target_clear) struct target t = NO_TARGET;
	int r = need->dry_run ? 0 : lock(ctx, name, need, &t);

	if (r == 0)
		r = (need->values ? snapshot_read_with_values : vfctl_snapshot_read)(ctx, need->only,
			&t.snapshot);
	if (r == 0)
		r = snapshot_need_leases(ctx, t.snapshot);
	if (r == 0)
		r = find_target(ctx, name, need->is_vf, &t);
	if (r == 0)
		r = check_locked(ctx, name, &t);
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
