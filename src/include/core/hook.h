/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_HOOK_H
#define VFCTL_CORE_HOOK_H

#include <stdbool.h>

#include "core/change.h"
#include "core/context.h"

#ifdef __cplusplus
extern "C" {
#endif

#define VFCTL_HOOK_PATH "/etc/libvirt/hooks/qemu.d/50-vfctl"

/** The installed hook, and whether libvirt knows of it. */
struct vfctl_hook_status {
	bool installed;	 /**< VFCTL_HOOK_PATH is there */
	bool executable; /**< libvirt skips one that is not, in silence */
	bool current;	 /**< it is the program this vfctl came with */
	int daemon_pid;	 /**< of libvirtd or virtqemud; 0 when none runs */
	bool has_libvirt; /**< this host has libvirt's QEMU driver, running or not */
	/** An older vfctl that was killed left a part of itself among the hooks: libvirt runs that
	 * too, and refuses to start any domain. */
	bool leftover;
	/**
	 * libvirt looks for hooks when it starts and on SIGHUP only. False when the hook is
	 * newer than the daemon and nobody told it since (as far as can be seen: the time of
	 * our own last reload is kept beside the state file).
	 */
	bool seen_by_daemon;
};

int vfctl_hook_status_read(struct vfctl_ctx *ctx, struct vfctl_hook_status *ret_status);

/**
 * Plan: copy the hook to VFCTL_HOOK_PATH (a copy, for libvirt's AppArmor profile does not
 * let a link out of hooks/ be run) and have the daemon look again.
 * @param program  the hook program to install; NULL: where this vfctl was installed.
 * @return 0; -ENOENT no such program; -EACCES.
 */
int vfctl_hook_install_plan(struct vfctl_ctx *ctx, const char *program,
	struct vfctl_change **ret_change);
/** Plan: remove it and have the daemon look again. */
int vfctl_hook_remove_plan(struct vfctl_ctx *ctx, struct vfctl_change **ret_change);

#ifdef __cplusplus
}
#endif
#endif
