/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HOST_H
#define VFCTL_PRINT_HOST_H

#include "out.h"
#include "vfctl/rdma.h"
#include "vfctl/snapshot.h"

/* All PFs, or @only that one. */
void print_list(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_pf *only);
void print_list_json(struct out *out, const struct vfctl_snapshot *snapshot,
	const struct vfctl_pf *only);

void print_pf(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* @device: its RDMA device, or NULL. */
void print_pf_json(struct out *out, const char *key, const struct vfctl_pf *pf,
	const struct vfctl_rdma_device *device);
void print_vf(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf);
void print_vf_json(struct out *out, const char *key, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_rdma_device *device);
void print_lease(struct out *out, const struct vfctl_lease *lease);
void print_lease_json(struct out *out, const struct vfctl_lease *lease);

#endif
