/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_RECOVER_H
#define VFCTL_CHANGE_RECOVER_H

#include <stdarg.h>

#include "base/change.h"
#include "state/journal.h"
#include "core/recover.h"

/*
 * One open change, with its lock held: closed when it is done, else taken back or carried on. What
 * that would be alone with a dry run.
 */
int recover_one(struct vfctl_ctx *ctx, struct open_change *change,
	const struct vfctl_recover_options *options, enum vfctl_recovered *ret);
/* Can it be recovered with libvirt at hand only? */
bool recover_asks_libvirt(const struct open_change *change);

/*
 * Before a change begins, with the lock of that name held: what a process that died left open
 * under it is taken back. An error says which change stands in the way.
 */
int recover_locked(struct vfctl_ctx *ctx, const char *lock);
/*
 * The same for changes of two PFs whose second one this is: their entry is under the lock of the first.
 * No lock of a PF is held.
 */
int recover_both(struct vfctl_ctx *ctx, const char *lock);
/* Lock a PF, and take back all that was left open of it. No lock of another PF is held. */
int recover_lock(struct vfctl_ctx *ctx, const char *lock, int *ret_fd);
/*
 * What is open under the locks of all PFs, each taken for it: before VFs are chosen. Changes that go
 * on are waited for.
 */
int recover_pfs(struct vfctl_ctx *ctx);
/*
 * The same as recover_lock() and recover_pfs() with libvirt at hand (NULL: it is not), for changes of a
 * PF that are of a definition as well.
 */
int recover_lock_with(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *lock,
	int *ret_fd);
int recover_pfs_with(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor);
/*
 * The same for the changes of guests, with the placement lock held and libvirt at hand. What
 * cannot be recovered is a warning: it is another guest's. True: @story (which may be NULL)
 * was carried on to its end.
 */
bool recover_guests(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *story);

/* While it goes on the change is in the journal, under the name of the lock that it holds. */
int change_journal(struct vfctl_ctx *ctx, struct vfctl_change *change, const char *lock,
	const char *fmt, va_list args);
/* The same for a change of a guest: under the placement lock, unless it is in another libvirt than
 * the system's. NULL: it asks none. */
int guest_journal(struct vfctl_ctx *ctx, struct vfctl_change *change,
	struct vfctl_hypervisor *hypervisor, const char *fmt, ...) _printf_(4, 5);

/* ---- a change of guests, from its lock to its plan ---- */

/* The placement lock, with everything recovered that was cut short. */
int guest_lock(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, int *ret_fd);
/* An empty change that holds the placement lock; a dry run holds none. */
int guest_change_open(struct vfctl_ctx *ctx, bool dry_run, struct vfctl_change **ret_change);
/*
 * The same for a change that needs no libvirt, with what was interrupted recovered first: an error says
 * what stands in the way.
 */
int guest_change_recovered(struct vfctl_ctx *ctx, bool dry_run, struct vfctl_change **ret_change);
/* The same by guest_lock(). */
int guest_change_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, bool dry_run,
	struct vfctl_change **ret_change);
/*
 * The end of planning with result @r: its name in the journal, change_planned(), and *@io goes to
 * *@ret_change unless that failed.
 */
int guest_change_planned(struct vfctl_ctx *ctx, struct vfctl_change **io, int r,
	struct vfctl_change **ret_change, struct vfctl_hypervisor *hypervisor, const char *fmt, ...)
	_printf_(6, 7);

#endif
