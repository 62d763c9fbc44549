/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_HOSTFILE_H
#define VFCTL_FACTS_HOSTFILE_H

#include <stdbool.h>

#include "types/hostspec.h"
#include "vfctl/guest.h"

struct vfctl_ctx;
struct vfctl_ids;

/**
 * Read the host.yaml of the context's host.
 * @param path  NULL: VFCTL_HOST_SPEC_PATH, which need not exist. Otherwise a local file or
 *              directory, which must exist: all files *.yaml of a directory, in the order of their
 *              names, are read as one declaration.
 * @return 0; -ENOENT; -EACCES; as vfctl_host_spec_parse().
 */
int vfctl_host_spec_read(struct vfctl_ctx *ctx, const char *path,
	struct vfctl_host_spec **ret_spec);

/**
 * Read the GUIDs of this host's PFs from which pools derive, and set them with
 * vfctl_host_spec_set_pf_guid(). A pool whose PF is absent or has no GUID has no values.
 * @return 0; -EEXIST; -ENOMEM; or why the PFs could not be read.
 */
int vfctl_host_spec_resolve(struct vfctl_ctx *ctx, struct vfctl_host_spec *spec);

/**
 * Run the spec's after-change command, if there is one, after GUIDs or P_Keys changed.
 * @param ret_said  the last line it printed, freed by the caller; "" without output.
 * @return 1 it succeeded; 0 no such command; -ENOENT, -EACCES it cannot be run; -ETIMEDOUT it was
 * stopped; -EIO it failed: the message has its exit status and last line.
 */
int vfctl_host_spec_after_change(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	char **ret_said);
/**
 * Read host.yaml, set the GUIDs of PFs in the pools that derive from them, and open the store.
 * @param path   see vfctl_host_spec_read().
 * @param write  see vfctl_ids_open().
 * @param ret_ids  receives the pools; NULL if host.yaml declares no pool and no partition.
 * @return as those two. Free the pools first, then the spec.
 */
int vfctl_host_ids_open(struct vfctl_ctx *ctx, const char *path, bool write,
	struct vfctl_host_spec **ret_spec, struct vfctl_ids **ret_ids);

#endif
