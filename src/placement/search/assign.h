/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_ASSIGN_H
#define VFCTL_PLACEMENT_SEARCH_ASSIGN_H

#include "placement/model/assignment.h"
#include "placement/search/search.h"

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

#endif
