/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PRINT_PLAN_H
#define VFCTL_PRINT_PLAN_H

#include "answer.h"
#include "types/domain.h"

/* Print one guest's place; @vfs may be NULL if no identities are known. */
void print_assignment(struct out *out, const char *name, const struct vfctl_host_model *model,
	const struct vfctl_assignment *a, const struct vfctl_domain_vf *vfs);
/* Print the free resources of each node after the plan was carried out. */
void print_left(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_plan *plan);
/* Print the next guests by which the remaining resources were rated, and what is proven. */
void print_proof(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_plan *plan);
/* The next guests that were used for rating. */
const char *plan_next_guests(const struct vfctl_host_model *model);
/* JSON: both as members. */
struct proof_view {
	const struct vfctl_host_model *model;
	const struct vfctl_plan *plan;
};
extern const struct member answer_proof[];
/* JSON: one guest's place. */
struct assignment_view {
	const char *name;
	const struct vfctl_assignment *a;
	const struct vfctl_domain_vf *vfs; /* NULL: no identities are known */
	const struct vfctl_host_model *model;
};
extern const struct member answer_assignment[];
extern const struct member answer_reason[]; /* of a struct vfctl_reason */
void print_reasons(struct out *out, const struct vfctl_reason *reasons, size_t count);
/* Print a table of many guests, followed by the refusals. */
void print_batch(struct out *out, const struct vfctl_host_model *model,
	struct vfctl_guest *const *guests, const struct vfctl_plan *plan);
void print_rebalance(struct out *out, const struct vfctl_host_model *model,
	const struct vfctl_rebalance *rebalance);
/* The same as JSON. */
struct rebalance_view {
	struct proof_view proof;
	const struct vfctl_rebalance *r;
};
extern const struct member answer_rebalance[];

#endif
