/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CHANGE_RECOVER_H
#define VFCTL_CHANGE_RECOVER_H

#include <stdarg.h>

#include "base/planning.h"
#include "change/recovered.h"
#include "state/journal.h"

/*
 * Recover one open change, whose lock is held: close it if it is done, else roll it back or finish
 * it. In a dry run, only the outcome is returned.
 */
int recover_one(struct vfctl_ctx *ctx, struct open_change *change,
	const struct vfctl_recover_options *options, enum vfctl_recovered *ret);
/* Whether it can be recovered only with a connection to libvirt. */
bool recover_asks_libvirt(const struct open_change *change);

/*
 * Called before a change begins, with the lock of that name held: roll back interrupted changes
 * under that lock. On an error, the message names the change that cannot be recovered.
 */
int recover_locked(struct vfctl_ctx *ctx, const char *lock);
/*
 * Do this for changes of two PFs of which this one is the second: their entry is under the lock of
 * the first. No lock of a PF may be held.
 */
int recover_both(struct vfctl_ctx *ctx, const char *lock);
/* Lock a PF, and roll back all its interrupted changes. No lock of another PF may be held. */
int recover_lock(struct vfctl_ctx *ctx, const char *lock, int *ret_fd);
/*
 * Recover the open changes of all PFs, with the lock of each, before VFs are chosen. It waits for
 * changes in progress.
 */
int recover_pfs(struct vfctl_ctx *ctx);
/*
 * recover_lock() and recover_pfs() with a connection to libvirt (NULL: none), for changes of a PF
 * that also affect a definition.
 */
int recover_lock_with(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, const char *lock,
	int *ret_fd);
int recover_pfs_with(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor);
/*
 * The same for the changes of guests, with the placement lock held and a connection to libvirt. A
 * change that cannot be recovered is a warning, because it concerns another guest. True: @story
 * (which may be NULL) was finished.
 */
bool recover_guests(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor,
	const char *story);

/*
 * Record the change in the journal while it is carried out, under the name of the lock that it
 * holds.
 */
int change_journal(struct vfctl_ctx *ctx, struct vfctl_change *change, const char *lock,
	const char *fmt, va_list args);
/*
 * Record a change of a guest: under the placement lock, unless it is in a libvirt other than the
 * system's. NULL: it needs none.
 */
int guest_journal(struct vfctl_ctx *ctx, struct vfctl_change *change,
	struct vfctl_hypervisor *hypervisor, const char *fmt, ...) _printf_(4, 5);

/* ---- a change of guests, from its lock to its plan ---- */

/* Take the placement lock, and recover every interrupted change. */
int guest_lock(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, int *ret_fd);
/* Create an empty change that holds the placement lock; a dry run holds none. */
int guest_change_open(struct vfctl_ctx *ctx, bool dry_run, struct vfctl_change **ret_change);
/*
 * Create a change that needs no libvirt, and recover interrupted changes first: an error names what
 * prevents that.
 */
int guest_change_recovered(struct vfctl_ctx *ctx, bool dry_run, struct vfctl_change **ret_change);
/* Create a change with guest_lock(). */
int guest_change_new(struct vfctl_ctx *ctx, struct vfctl_hypervisor *hypervisor, bool dry_run,
	struct vfctl_change **ret_change);
/*
 * Finish planning with result @r: set its name in the journal, call change_planned(), and pass *@io
 * to *@ret_change unless that failed.
 */
int guest_change_planned(struct vfctl_ctx *ctx, struct vfctl_change **io, int r,
	struct vfctl_change **ret_change, struct vfctl_hypervisor *hypervisor, const char *fmt, ...)
	_printf_(6, 7);

#endif
