/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_SPEC_HOST_YAML_H
#define VFCTL_SPEC_HOST_YAML_H

#include <stddef.h>

#include "base/cleanup.h"
#include "types/guest.h"
#include "types/hostspec.h"
#include "types/tuning.h"

struct vfctl_ctx;

/**
 * Read a host.yaml (docs/reference/host-yaml.md). Everything that depends only on the text is
 * checked here.
 * @return as vfctl_guest_parse().
 */
int vfctl_host_spec_parse(struct vfctl_ctx *ctx, const char *file, const char *text,
	size_t len, struct vfctl_host_spec **ret_spec);
void vfctl_host_spec_free(struct vfctl_host_spec *spec);
DEFINE_FREEP(struct vfctl_host_spec, vfctl_host_spec_free)

/**
 * Read several files as one declaration. Their lists are joined in the order of the files. Any
 * other key that two files state is an error that names both places, and so is a PF that two files
 * declare.
 * @return as vfctl_host_spec_parse(); -EINVAL also without a file.
 */
int vfctl_host_spec_parse_files(struct vfctl_ctx *ctx, const struct vfctl_host_file *files,
	size_t count, struct vfctl_host_spec **ret_spec);

/**
 * The JSON schema of host.yaml; vfctl_guest_schema() returns that of guest.yaml.
 * @param ret  receives JSON text; free() it.
 * @return 0; -ENOMEM.
 */
int vfctl_host_spec_schema(struct vfctl_ctx *ctx, char **ret);

/**
 * The profile of that name from host.yaml, or else the built-in one.
 * @param spec  may be NULL.
 * @return NULL: no such profile.
 */
const struct vfctl_profile *vfctl_profile_find(const struct vfctl_host_spec *spec,
	const char *name);
/**
 * Like vfctl_profile_find(), but a missing profile is -ENOENT with a message that lists the
 * profiles.
 */
int vfctl_profile_need(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec, const char *name,
	const struct vfctl_profile **ret);
/**
 * Do this for the profile of a guest, if it has one: the message begins with its place in the file.
 */
int vfctl_guest_check_tuning(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	const struct vfctl_guest *guest);

#endif
