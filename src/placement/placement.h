/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_PLACEMENT_H
#define VFCTL_PLACEMENT_PLACEMENT_H

#include "placement/search/search.h"

/* check.c: named errors for input that cannot be. */
int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request);

/* assign.c: the very CPUs and VFs of what the search chose. */
struct assigning {
	const struct capacity *capacity;
	bool *core_taken;     /* by the topology's cores */
	uint16_t *group_next; /* VFs of each group that are given */
	bool *vf_kept;	      /* by index: its guest keeps it; NULL none */
	uint32_t (*have)[CAPACITY_CLASSES_MAX]; /* by L3 group, while cores are picked */
	uint16_t *core_seats; /* guests that a core for QEMU's threads can still carry */
	const bool *own_cores; /* of the guest that moves: it gets these first; NULL none */
	const struct vfctl_cpuset *own_qemu; /* what carries its QEMU's threads now */
};
int assign_begin(struct vfctl_ctx *ctx, const struct capacity *capacity, struct assigning *ret);
int assign_guest(struct vfctl_ctx *ctx, struct assigning *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a);
/* An occupant that stays: its VFs are not given to others. */
int assign_keep_vfs(struct assigning *z, const struct vfctl_occupant *occupant);
void assign_clear(struct assigning *z);
/* A free core of that many threads, where the L3 group is used most; core_count: none. */
size_t assign_extra_core(struct assigning *z, int node, unsigned class);

/*
 * assign_qemu.c: once all guests have their cores, those that will be shared are taken, and
 * then QEMU's and I/O threads of each guest get their CPUs.
 */
void assign_open_qemu(struct assigning *z, const struct chosen *chosen);
int assign_qemu(struct vfctl_ctx *ctx, struct assigning *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a);
const struct vfctl_free_vf *capacity_vf(const struct capacity *capacity, size_t index);

/* reasons.c; false when out of memory */
bool reason_add(struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *fmt, ...)
	_printf_(3, 4);
bool explain_choice(struct vfctl_assignment *a, const struct capacity *capacity,
	const struct vfctl_request *request, const struct node_free *left);
/* "ens1" or the address of a PF. */
const char *pf_words(const struct vfctl_host_model *model, const struct vfctl_bdf *pf,
	char buf[64]);

/* refuse.c: what is short for each guest that has no place, and what would make it fit. */
struct refused_plan;
int explain_refusals(struct vfctl_ctx *ctx, struct refused_plan *plan,
	struct vfctl_assignment *assignments);

/* vfctl_plan_make(); @any_place: VFs that cannot be local are a refusal, not an error. */
int plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, bool any_place, struct vfctl_plan **ret);
/* What ended it early, if it was ended: @clock: the deadline was reached. */
enum vfctl_plan_cut plan_cut(const struct vfctl_plan *plan, bool clock);
/*
 * one_by_one.c: plan the guests one after the other. @ret: what was chosen for each, and the steps; to be
 * cleared after an error too.
 */
int plan_one_by_one(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret);
/* What came of a plan without words. */
struct tried {
	bool fits;	/* the guest that it is about */
	size_t placed;	/* of all */
	uint64_t nodes; /* of that guest, as a bit set */
	uint64_t steps;
};
/* What is free after it; nothing when it is not placed. */
void plan_take(const struct capacity *capacity, const struct vfctl_request *request,
	const struct chosen *chosen, struct capacity *after);
/* Place some requests in what is free on the capacity: for "what if". @about: index of a guest. */
int plan_try(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, size_t about,
	const struct search_limits *limits, struct tried *ret);

/* An occupant as a request for what it holds: free the cells and wants. */
struct resident {
	struct vfctl_request request;
	struct vfctl_cell_want *cells;
	struct vfctl_vf_want *wants;
	size_t memory_of[VFCTL_MODEL_NODES_MAX]; /* entry of the occupant, by cell */
};
/* Can it be asked for again, as it is? */
bool resident_may_move(const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant);
int resident_init(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant, struct resident *ret);
void resident_clear(struct resident *resident);

#endif
