/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_FACTS_MODEL_MODEL_H
#define VFCTL_FACTS_MODEL_MODEL_H

#include "base/ctx.h"
#include "base/util.h"
#include "facts/model/place.h"

/* The resources reserved for the host, and those that guests share. */
int model_read_reserved(struct vfctl_ctx *ctx, const struct vfctl_place_options *options,
	struct vfctl_host_model *m);

/*
 * Guests that are expected next, as host.yaml states them, or else as they came on this host
 * before.
 */
int model_read_typical(struct vfctl_ctx *ctx, const struct vfctl_host_spec *spec,
	struct vfctl_host_model *m);

/*
 * GPUs: PCI functions of class 0x03 (of NVIDIA, AMD and Intel) and 0x12, without VFs, and their
 * distance from each PF of the model. 0 or -ENOMEM; a function that cannot be read is left out.
 */
int model_read_gpus(struct vfctl_ctx *ctx, struct vfctl_host_model *m);

/* A list of PCI functions. */
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

/*
 * Remove that guest from the model. Its VFs are not free yet: model_add_free_vf() adds them.
 * Foreign domains that name one of them do not hold it any more.
 */
void model_leave_out(struct vfctl_host_model *m, const char *uuid);
int model_add_free_vf(struct vfctl_ctx *ctx, struct vfctl_host_model *m,
	const struct vfctl_pf *pf, const struct vfctl_vf *vf);

/* A VF of the snapshot in the model's form; @pf belongs to the model. */
struct vfctl_free_vf model_vf(const struct vfctl_host_model *m,
	const struct vfctl_model_pf *pf, const struct vfctl_vf *vf);
int model_node(const struct vfctl_topology *t, int node);
/* The PF of the model, or NULL. */
const struct vfctl_model_pf *model_pf(const struct vfctl_host_model *m,
	const struct vfctl_bdf *bdf);

#endif
