/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef LIBVFCTL_GUEST_H
#define LIBVFCTL_GUEST_H

#include <stddef.h>

#include "vfctl/context.h"
#include "vfctl/session.h"

#ifdef __cplusplus
extern "C" {
#endif

/**
 * @file
 * Guests and models: what a guest needs (guest.yaml), and what the planner knows of a host.
 */

/** The requirements of a guest. */
struct vfctl_guest;

/** A host as the planner sees it: nodes, CPUs, memory, PFs, free VFs, and what guests hold. */
struct vfctl_host_model;

/**
 * Read a guest.yaml. JSON is accepted too, because it is YAML. docs/reference/guest-yaml.md and
 * vfctl_guest_schema() describe the keys. The file is checked completely, but not compared with the
 * host.
 *
 * @param file  name for messages, which begin with "file:line:column: key".
 * @param text  the content, @p len bytes of UTF-8; it need not be NUL-terminated.
 * @param len   length in bytes, at most 1048576 (1 MiB).
 * @param ret   receives the guest; free it with vfctl_guest_free().
 * @return 0; -EINVAL: an unknown or repeated key, or a value of the wrong kind or outside its
 * range; -E2BIG: it is too long; -EILSEQ: it is not UTF-8.
 * @since 0.1
 */
int vfctl_guest_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct vfctl_guest **ret);

/**
 * Free a guest. Free placements and changes that were made with it first.
 *
 * @param guest  may be NULL.
 * @since 0.1
 */
void vfctl_guest_free(struct vfctl_guest *guest);

/**
 * The name of a guest, which is also the name of its domain.
 *
 * @return a string owned by the guest.
 * @since 0.1
 */
const char *vfctl_guest_name(const struct vfctl_guest *guest);

/**
 * The JSON schema (draft 7) of guest.yaml, for editors and for programs that write one.
 *
 * @param ret  receives the string; free() it.
 * @return 0; -ENOMEM.
 * @since 0.1
 */
int vfctl_guest_schema(struct vfctl_ctx *ctx, char **ret);

/**
 * Read the model of the session's host. It includes the leases and, if the session is connected to
 * libvirt, the domains. The CPUs that host.yaml or the session option "reserve" keeps for the host
 * are not available to guests.
 *
 * @param ret  receives the model; free it with vfctl_model_free().
 * @return 0; -EINVAL: a reserved CPU does not exist, or is also a shared one; -ENOPKG: hwloc is not
 * installed; -EACCES: the leases cannot be read.
 * @since 0.1
 */
int vfctl_session_model(struct vfctl_session *session, struct vfctl_host_model **ret);

/**
 * Read a model from a local file: the JSON of vfctl topology --json, or the XML of hwloc (lstopo
 * host.xml), which has neither VFs nor guests. "synthetic:TEXT" describes the model in hwloc's
 * short form instead of a file, such as "synthetic:numa:2(memory=8GiB) core:4 pu:2".
 *
 * @param path  path of a file of at most 16 MiB, or "synthetic:TEXT".
 * @param ret   receives the model; free it with vfctl_model_free().
 * @return 0; -ENOENT, -EACCES: the file cannot be read; -E2BIG: it is too long; -EBADMSG: it is not
 * JSON; -EINVAL: it is not a model, and the message names the member; -ENOPKG: hwloc is not
 * installed.
 * @since 0.1
 */
int vfctl_model_load(struct vfctl_ctx *ctx, const char *path, struct vfctl_host_model **ret);

/**
 * Read a model from JSON, as vfctl topology --json prints it (docs/explanation/placement.md).
 *
 * @param file  name for messages.
 * @param text  the JSON, @p len bytes.
 * @param len   length in bytes.
 * @param ret   receives the model; free it with vfctl_model_free().
 * @return 0; -EBADMSG: it is not JSON; -EINVAL: it is not a model, and the message names the
 * member.
 * @since 0.1
 */
int vfctl_model_parse(struct vfctl_ctx *ctx, const char *file, const char *text, size_t len,
	struct vfctl_host_model **ret);

/**
 * The model as JSON, which vfctl_model_parse() reads back.
 *
 * @return a string; free() it. NULL if memory is exhausted.
 * @since 0.1
 */
char *vfctl_model_format(const struct vfctl_host_model *model);

/**
 * Free a model. Free the placements on it first.
 *
 * @param model  may be NULL.
 * @since 0.1
 */
void vfctl_model_free(struct vfctl_host_model *model);

#ifdef __cplusplus
}
#endif
#endif
