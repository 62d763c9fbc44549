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

/** The installed hook, and whether libvirt has seen it. */
struct vfctl_hook_status {
	bool installed;	 /**< VFCTL_HOOK_PATH exists */
	bool executable; /**< libvirt skips a hook that is not executable, without an error */
	bool current;	 /**< it is the program of this vfctl */
	int daemon_pid;	 /**< process id of libvirtd or virtqemud; 0 if neither runs */
	bool has_libvirt; /**< this host has libvirt's QEMU driver, running or not */
	/**
	 * libvirt looks for hooks only when it starts and on SIGHUP. False if the hook is newer
	 * than the daemon and the daemon was not reloaded since. vfctl stores the time of its own
	 * last reload beside the state file; other reloads are not known.
	 */
	bool seen_by_daemon;
};

int vfctl_hook_status_read(struct vfctl_ctx *ctx, struct vfctl_hook_status *ret_status);

/**
 * Plan to copy the hook to VFCTL_HOOK_PATH and to make the daemon read its hooks again. It is a
 * copy because libvirt's AppArmor profile does not run a link that leads out of hooks/.
 * @param program  the hook program to install; NULL: the program installed with this vfctl.
 * @return 0; -ENOENT no such program; -EACCES.
 */
int vfctl_hook_install_plan(struct vfctl_ctx *ctx, const char *program,
	struct vfctl_change **ret_change);
/** Plan to remove the hook and to make the daemon read its hooks again. */
int vfctl_hook_remove_plan(struct vfctl_ctx *ctx, struct vfctl_change **ret_change);

#ifdef __cplusplus
}
#endif
#endif
