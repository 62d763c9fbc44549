/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HOST_H
#define VFCTL_PRINT_HOST_H

#include "answer.h"
#include "core/rdma.h"
#include "core/snapshot.h"

void print_pf(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* JSON: a PF or a VF, and how it is shown. */
struct list_view;
struct pf_view {
	const struct vfctl_pf *pf;
	struct vfctl_ctx *ctx;
	const struct list_view *list; /* which VFs; NULL: all */
	const struct health *health; /* NULL: it is not asked for */
	const struct vfctl_rdma_device *device; /* NULL: it has none */
	bool with_vfs;
};
struct vf_view {
	const struct vfctl_pf *pf; /* NULL: the VF is shown among those of its PF */
	const struct vfctl_vf *vf;
	const struct vfctl_rdma_device *device;
	const char *exposed; /* NULL: nothing */
};
extern const struct member answer_pf[], answer_vf[];
/* Of a struct vfctl_vf_attrs, and of a struct vfctl_holder. */
extern const struct member answer_values[], answer_holder[];
/* @exposed: as vfctl_vf_exposure() says; "" or NULL nothing. */
void print_vf(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const char *exposed);

#endif
