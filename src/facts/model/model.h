/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_MODEL_MODEL_H
#define VFCTL_FACTS_MODEL_MODEL_H

#include "base/ctx.h"
#include "base/util.h"
#include "core/workflow.h"

/* What the host keeps for itself, and what guests share. */
int model_read_reserved(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	struct vfctl_host_model *m);

/* Guests that are expected next: as host.yaml says, else as they came on this host before. */
int model_read_typical(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_host_model *m);

/* PCI functions, wherever they are named. */
struct bdf_list {
	struct vfctl_bdf *v;
	size_t count;
};

/*
 * Leases, then the domains of libvirt: occupants of the model. @ret_taken: all devices
 * that a domain names, freed by the caller also after a failure.
 */
int model_read_occupants(struct vfctl_ctx *ctx, const struct vfctl_snapshot *s,
	struct vfctl_hypervisor *hv, struct vfctl_host_model *m, struct bdf_list *ret_taken);

/* As if that guest were not there. Its VFs are then not free: model_add_free_vf() makes them so. */
void model_leave_out(struct vfctl_host_model *m, const char *uuid);
int model_add_free_vf(struct vfctl_ctx *ctx, struct vfctl_host_model *m,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf);

/* A VF of the snapshot as the model has it; @pf is one of the model's. */
struct vfctl_free_vf model_vf(const struct vfctl_host_model *m,
	const struct vfctl_model_pf *pf, const struct vfctl_vf *vf);
int model_node(const struct vfctl_topology *t, int node);
/* The PF of the model, or NULL. */
const struct vfctl_model_pf *model_pf(const struct vfctl_host_model *m,
	const struct vfctl_bdf *bdf);

#endif
