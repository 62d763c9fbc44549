/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_HOOK_HOOK_H
#define VFCTL_HOOK_HOOK_H

#include <stdbool.h>
#include <stddef.h>

#include "types/hostspec.h"
#include "vfctl/change.h"
#include "vfctl/guest.h"

struct vfctl_ctx;

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

/** What vfctl has to do with a domain that libvirt starts. */
enum vfctl_hook_interest {
	VFCTL_HOOK_NOTHING,  /**< nothing: it has no metadata of vfctl and names no PCI device */
	VFCTL_HOOK_DEVICES,  /**< its devices are not VFs or PFs: it starts, whatever fails here */
	VFCTL_HOOK_SRIOV,    /**< it has metadata of vfctl, a VF, a PF, or a device that is absent */
};

/** One call of the libvirt hook. */
struct vfctl_hook;

/**
 * Begin a call of the libvirt hook: read the domain.
 * @param argv  object, operation, sub-operation, extra (libvirt's four arguments).
 * @param xml   what libvirt wrote to standard input; need not be NUL-terminated.
 * @param ret   freed with vfctl_hook_free().
 * @return 0; -EINVAL: the XML cannot be read; -E2BIG; -ENOMEM.
 */
int vfctl_hook_begin(struct vfctl_ctx *ctx, const char *const argv[4], const char *xml, size_t len,
	struct vfctl_hook **ret);
/**
 * Decide from the domain and sysfs alone, before host.yaml and the leases are read: a file of vfctl
 * that cannot be read must not prevent the start of a domain without SR-IOV devices.
 */
enum vfctl_hook_interest vfctl_hook_interest(struct vfctl_ctx *ctx, const struct vfctl_hook *hook);
/**
 * Do what the operation needs.
 * @param spec  host.yaml, which states what domains may request; NULL: nothing beyond their leases.
 * @return 0, or a negative errno, with a message, to make libvirt abort the operation.
 */
int vfctl_hook_run(struct vfctl_hook *hook, const struct vfctl_host_spec *spec);
void vfctl_hook_free(struct vfctl_hook *hook);

#endif
