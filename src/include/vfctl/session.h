/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_SESSION_H
#define LIBVFCTL_SESSION_H

#include <stdbool.h>
#include <stddef.h>

#include "vfctl/context.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Session: everything that plans need. A session has read host.yaml and opened the pools of GUIDs,
 * MACs and P_Keys, and it may be connected to libvirt.
 */

/** A session. Free the changes that were planned with it before you close it. */
struct vfctl_session;

struct vfctl_change;

/**
 * Open a session.
 *
 * | option | value | default |
 * |---|---|---|
 * | host-yaml | file, or directory with *.yaml files | /etc/vfctl/host.yaml, which may be absent |
 * | write | on: changes can be run, and pools follow host.yaml; off: only dry runs | off |
 * | libvirt | "system", a URI such as qemu:///system, or none | none |
 * | reserve | CPUs kept for the host, besides those of host.yaml: "0-1,8" | none |
 *
 * Without libvirt only vfctl's own leases are known, and plans that concern domains fail with
 * -EINVAL.
 *
 * @param ctx      must outlive the session.
 * @param options  "KEY=VALUE" strings, NULL-terminated, read only during the call; NULL for the
 *                 defaults.
 * @param ret      receives the session; close it with vfctl_session_close().
 * @return 0; -EINVAL: an option or host.yaml is not valid (the message begins with
 * file:line:column); -ENOENT: the file that host-yaml names does not exist; -EACCES: host.yaml or
 * the state file cannot be read; -ENOPKG: libvirt is not installed; -ECONNREFUSED: libvirt does not
 * answer.
 * @since 0.1
 */
int vfctl_session_open(struct vfctl_ctx *ctx, const char *const options[],
	struct vfctl_session **ret);

/**
 * Close a session. Free the changes that were planned with it first.
 *
 * @param session  may be NULL.
 * @since 0.1
 */
void vfctl_session_close(struct vfctl_session *session);

/**
 * Run the after-change command of host.yaml, if there is one. Call this after a change for which
 * vfctl_change_moves_ids() is true: the subnet manager or another tool may have to learn the new
 * values. The command runs without a shell and is stopped when its timeout expires.
 *
 * @param ret_said  receives the last line that the command printed, "" if none; free() it. May be
 *                  NULL.
 * @return 1 if the command succeeded; 0 if host.yaml has none; -ENOENT, -EACCES: it cannot be run;
 * -ETIMEDOUT: it was stopped; -EIO: it failed; the message has its exit status and last line.
 * @since 0.1
 */
int vfctl_session_after_change(struct vfctl_session *session, char **ret_said);

/**
 * The options that a call takes besides VF attributes (vfctl_attr_key()), one by one.
 *
 * @param call      name of the function that takes the options: "vfctl_plan_attach".
 * @param index     position, starting at 0.
 * @param ret_help  receives one static line that describes the option; may be NULL.
 * @return the key, a static string; NULL past the last option, and if there is no such call.
 * @since 0.1
 */
const char *vfctl_option_at(const char *call, size_t index, const char **ret_help);

#ifdef __cplusplus
}
#endif
#endif
