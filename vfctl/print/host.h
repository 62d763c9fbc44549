/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_HOST_H
#define VFCTL_PRINT_HOST_H

#include "answer.h"
#include "infiniband/rdma.h"
#include "types/inventory.h"

void print_pf(struct out *out, struct vfctl_ctx *ctx, const struct vfctl_pf *pf);
/* JSON: a PF or a VF, and the options of the list. */
struct list_view;
struct pf_view {
	const struct vfctl_pf *pf;
	struct vfctl_ctx *ctx;
	const struct list_view *list; /* selects VFs; NULL: all */
	const struct health *health; /* NULL: not requested */
	const struct vfctl_rdma_device *device; /* NULL: it has none */
	bool with_vfs;
};
struct vf_view {
	const struct vfctl_pf *pf; /* NULL: the VF is shown among those of its PF */
	const struct vfctl_vf *vf;
	const struct vfctl_rdma_device *device;
	const char *exposed; /* NULL: it is isolated */
};
extern const struct member answer_pf[], answer_vf[];
/* For a struct vfctl_vf_attrs, and for a struct vfctl_holder. */
extern const struct member answer_values[], answer_holder[];
/* @exposed: the text of vfctl_vf_exposure(); "" or NULL if it is isolated. */
void print_vf(struct out *out, const struct vfctl_pf *pf, const struct vfctl_vf *vf,
	const char *exposed);

#endif
