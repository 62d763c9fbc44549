/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HOST_H
#define VFCTL_PRINT_HOST_H

#include "out.h"
#include "vfctl/rdma.h"
#include "vfctl/snapshot.h"

void print_pf(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* -1: null. */
void put_index(struct out *out, const char *key, int value);
/* These put members into an open object. */
void put_attrs(struct out *out, const struct vfctl_vf_attrs *attrs);
void put_holder(struct out *out, const struct vfctl_holder *holder);
void put_pf_fields(struct out *out, const struct vfctl_pf *pf);
/* @device: its RDMA device, or NULL. */
void print_pf_json(struct out *out, struct vfctl_ctx *ctx, const char *key,
	const struct vfctl_pf *pf, const struct vfctl_rdma_device *device);
/* One among those of its PF; whether it is kept apart is told of one that a guest has. */
void print_listed_vf_json(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf);
/* @exposed: as vfctl_vf_exposure() says; "" or NULL nothing. */
void print_vf(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const char *exposed);
void print_vf_json(struct out *out, const char *key, const struct vfctl_pf *pf,
	const struct vfctl_vf *vf, const struct vfctl_rdma_device *device, const char *exposed);

#endif
