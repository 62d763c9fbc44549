/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_VFS_APPLY_SUBNET_H
#define VFCTL_VFS_APPLY_SUBNET_H

#include "base/steps.h"
#include "types/hostspec.h"

/*
 * Add the steps that bring the subnet manager of @spec, and the ports of this host, to what
 * host.yaml declares.
 * @param ids  may be NULL: then they are opened, to read the leased GUIDs.
 * @param io_pending  what remains to be done by hand; appended to.
 * @return 0; as opensm_add_partitions() and opensm_add_service().
 */
int subnet_add_steps(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids,
	struct steps *steps, char **io_pending);
/* Only the step that writes partitions.conf. */
int subnet_add_partitions(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_ids *ids, struct steps *steps);

#endif
