/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_PLACEMENT_H
#define VFCTL_PLACEMENT_PLACEMENT_H

#include "placement/search.h"

/* check.c: named errors for input that cannot be. */
int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request);

/* realize.c: the very CPUs and VFs of what the search chose. */
struct realize {
	const struct site *site;
	bool *core_taken;     /* by the topology's cores */
	uint16_t *group_next; /* VFs of each group that are given */
	bool *vf_kept;	      /* by index: its guest keeps it; NULL none */
	uint32_t (*have)[SITE_CLASSES_MAX]; /* by L3 group, while cores are picked */
};
int realize_begin(struct vfctl_ctx *ctx, const struct site *site, struct realize *ret);
int realize(struct vfctl_ctx *ctx, struct realize *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a);
/* An occupant that stays: its VFs are not given to others. */
int realize_keep_vfs(struct realize *z, const struct vfctl_occupant *occupant);
void realize_clear(struct realize *z);
/* QEMU's own threads without cores of their own: the host's CPUs, near ones first. */
struct vfctl_cpuset host_cpus_near(const struct vfctl_host_model *model, int node);
const struct vfctl_free_vf *site_vf(const struct site *site, size_t index);

/* reasons.c; false when out of memory */
bool reason_add(struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *fmt, ...)
	_printf_(3, 4);
bool explain_choice(struct vfctl_assignment *a, const struct site *site,
	const struct vfctl_request *request, const struct room *left);
/* "ens1" or the address of a PF. */
const char *pf_words(const struct vfctl_host_model *model, const struct vfctl_bdf *pf,
	char buf[64]);

/* refuse.c: what is short, and what would make the guest number @index fit. */
struct refused_plan;
int explain_refusal(struct vfctl_ctx *ctx, struct vfctl_assignment *a,
	struct refused_plan *plan, size_t index);

/* vfctl_plan_make(); @any_place: VFs that cannot be local are a refusal, not an error. */
int plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, bool any_place, struct vfctl_plan **ret);
/* What came of a plan without words. */
struct tried {
	bool fits;	/* the guest that it is about */
	size_t placed;	/* of all */
	uint64_t nodes; /* of that guest, as a bit set */
	uint64_t steps;
};
/* Place some requests in what is free on the site: for "what if". @about: index of a guest. */
int plan_try(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, size_t count, size_t about, uint64_t max_steps,
	struct tried *ret);

/* An occupant as a request for what it holds: free the cells and wants. */
struct tenant {
	struct vfctl_request request;
	struct vfctl_cell_want *cells;
	struct vfctl_vf_want *wants;
	size_t memory_of[VFCTL_MODEL_NODES_MAX]; /* entry of the occupant, by cell */
};
/* Can it be asked for again, as it is? */
bool tenant_may_move(const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant);
int tenant_init(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant, struct tenant *ret);
void tenant_clear(struct tenant *tenant);

#endif
