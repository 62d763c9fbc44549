// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The beginning of a change: its locks, recovery of interrupted changes, and its entry in the
 * journal.
 */
#include <stdio.h>

#include "base/change.h"
#include "change/recover.h"
#include "facts/snapshot/snapshot.h"
#include "host/host.h"

_printf_(4, 0) int change_journal(struct vfctl_ctx *ctx, struct vfctl_change *change,
	const char *lock,
	const char *fmt, va_list args)
{
	struct journal_entry *entry = &change->entry;

	entry->story = str_vformat(fmt, args);
	entry->lock = strdup(lock);
	if (!entry->story || !entry->lock || change->steps.failed)
		return ctx_oom(ctx);
	boot_id_read(ctx, entry->boot);
	entry->journal = &state_journal;
	return 0;
}

static _printf_(4, 0) int journal_guest(struct vfctl_ctx *ctx, struct vfctl_change *change,
	struct vfctl_hypervisor *hypervisor, const char *fmt, va_list args)
{
	change->hypervisor = hypervisor;
	return hypervisor && hypervisor->uri ? 0
		: change_journal(ctx, change, HOST_LOCK_PLACEMENT, fmt, args);
}

int guest_journal(struct vfctl_ctx *ctx, struct vfctl_change *change,
	struct vfctl_hypervisor *hypervisor, const char *fmt, ...)
{
	va_list args;
	int r;

	va_start(args, fmt);
	r = journal_guest(ctx, change, hypervisor, fmt, args);
	va_end(args);
	return r;
}

/* ---- a change of guests ---- */

int guest_lock(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, int *ret_fd)
{
	int r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, ret_fd);

	if (r < 0)
		return r;
	recover_guests(ctx, hypervisor, NULL);
	return recover_pfs_with(ctx, hypervisor);
}

int guest_change_open(struct vfctl_ctx *ctx, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0 && !dry_run)
		r = host_lock(ctx, HOST_LOCK_PLACEMENT, false, &change->placement_fd);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int guest_change_recovered(struct vfctl_ctx *ctx, bool dry_run, struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = guest_change_open(ctx, dry_run, &change);

	if (r == 0 && !dry_run)
		r = recover_locked(ctx, HOST_LOCK_PLACEMENT);
	if (r == 0 && !dry_run)
		r = recover_pfs(ctx);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int guest_change_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, bool dry_run,
	struct vfctl_change **ret_change)
{
	_cleanup_(vfctl_change_freep) struct vfctl_change *change = NULL;
	int r = change_new(ctx, &change);

	if (r == 0 && !dry_run)
		r = guest_lock(ctx, hypervisor, &change->placement_fd);
	if (r == 0)
		*ret_change = steal(change);
	return r;
}

int guest_change_planned(struct vfctl_ctx *ctx, struct vfctl_change **io, int r,
	struct vfctl_change **ret_change, struct vfctl_hypervisor *hypervisor, const char *fmt, ...)
{
	va_list args;

	va_start(args, fmt);
	if (r == 0)
		r = journal_guest(ctx, *io, hypervisor, fmt, args);
	va_end(args);
	r = change_planned(ctx, *io, r);
	if (r == 0)
		*ret_change = steal(*io);
	return r;
}
