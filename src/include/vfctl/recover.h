/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_RECOVER_H
#define LIBVFCTL_RECOVER_H

#include <stdbool.h>
#include <stddef.h>

#include "vfctl/change.h"
#include "vfctl/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Recovery: interrupted changes, VFs that are to be cleaned after their last guest, and a lost
 * state file.
 */

/** The interrupted changes that were found, the latest first. */
struct vfctl_recovery;

/**
 * Finish each interrupted change or roll it back. The next change of the same PF, the hook and the
 * boot do the same.
 *
 * | option | value | default |
 * |---|---|---|
 * | dry-run | on: only report what would be done | off |
 * | accept | on: leave the host as it is, and close the changes | off |
 *
 * Changes of guests are not recovered while the session is not connected to libvirt; their outcome
 * is then "waits".
 *
 * @param ret  receives the result, also with -ESTALE; free it with vfctl_recovery_free().
 * @return 0; -ESTALE: a change could not be recovered, and its "error" says why; -EROFS: the host
 * is a capture; -EACCES: the state file cannot be written.
 * @since 0.1
 */
int vfctl_recover_open_changes(struct vfctl_session *session, const char *const options[],
	struct vfctl_recovery **ret);

/**
 * Free a recovery.
 *
 * @param recovery  may be NULL.
 * @since 0.1
 */
void vfctl_recovery_free(struct vfctl_recovery *recovery);

/**
 * A member of an interrupted change, as a string.
 *
 * | key | value |
 * |---|---|
 * | story | the command, such as "create ens1 4" |
 * | outcome | goes-on, done, undone, rebooted, accepted, failed, unplugged, finished or waits |
 * | error | why it could not be recovered |
 *
 * @param index  position, starting at 0.
 * @param key    one of the keys above.
 * @return a string owned by the recovery; NULL past the last change, and if the change has no such
 * value.
 * @since 0.1
 */
const char *vfctl_recovery_get(const struct vfctl_recovery *recovery, size_t index,
	const char *key);

/**
 * Plan to clean the VFs that are not in use: reset them, and set what host.yaml declares for them,
 * or safe defaults. vfctl_plan_define() and vfctl_plan_attach() do the same before they give a VF
 * to a guest.
 *
 * @param dry_run  see vfctl/plan.h.
 * @param ret      receives the change; free it with vfctl_change_free().
 * @return 0; -EACCES: the users of the VFs cannot be read; -EROFS: the host is a capture.
 * @since 0.1
 */
int vfctl_plan_clean(struct vfctl_session *session, bool dry_run, struct vfctl_change **ret);

/**
 * Plan to rebuild a lost state file: lease to libvirt's domains again what vfctl wrote into their
 * definitions. Needs libvirt.
 *
 * | option | value | default |
 * |---|---|---|
 * | trust-metadata | on: grant everything that the metadata asks for | off: only safe defaults |
 *
 * @param dry_run  see vfctl/plan.h.
 * @param ret      receives the change; free it with vfctl_change_free().
 * @return 0; -EINVAL: the session is not connected to libvirt. vfctl_change_run() returns -EEXIST
 * if two domains hold the same resource.
 * @since 0.1
 */
int vfctl_plan_rebuild(struct vfctl_session *session, const char *const options[], bool dry_run,
	struct vfctl_change **ret);

/**
 * Copy the state file (leases, identities, the journal) consistently, even while other processes
 * use it.
 *
 * @param path  path of a new file. It gets mode 0600 and is synced to the disk.
 * @return 0; -EEXIST: the file exists; -ENOENT: there is no state file; -EACCES, -ENOSPC or another
 * errno of the write.
 * @since 0.1
 */
int vfctl_backup(struct vfctl_ctx *ctx, const char *path);

#ifdef __cplusplus
}
#endif
#endif
