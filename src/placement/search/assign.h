/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_SEARCH_ASSIGN_H
#define VFCTL_PLACEMENT_SEARCH_ASSIGN_H

#include "placement/model/assignment.h"
#include "placement/search/search.h"

/* assign.c: assign actual CPUs and VFs to the search's result. */
struct assigning {
	const struct capacity *capacity;
	bool *core_taken;     /* for each core of the topology */
	uint16_t *group_next; /* number of assigned VFs of each group */
	bool *vf_kept;	      /* for each VF: its guest keeps it; NULL: none */
	uint32_t (*have)[CAPACITY_CLASSES_MAX]; /* by L3 group, while cores are chosen */
	uint16_t *core_slots; /* number of guests whose QEMU's threads each core can still carry */
	const bool *own_cores; /* cores of the moving guest, which it gets first; NULL: none */
	const struct vfctl_cpuset *own_qemu; /* the present CPUs of its QEMU's threads */
};
int assign_begin(struct vfctl_ctx *ctx, const struct capacity *capacity, struct assigning *ret);
int assign_guest(struct vfctl_ctx *ctx, struct assigning *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a);
/* An occupant that stays: its VFs are not assigned to others. */
int assign_keep_vfs(struct assigning *z, const struct vfctl_occupant *occupant);
void assign_clear(struct assigning *z);
/* A free core with that many threads, in the L3 group that is used most; core_count: none. */
size_t assign_extra_core(struct assigning *z, int node, unsigned class);

/*
 * assign_qemu.c: after all guests have their cores, choose the cores that will be shared, then
 * assign CPUs to QEMU's and I/O threads of each guest.
 */
void assign_open_qemu(struct assigning *z, const struct chosen *chosen);
int assign_qemu(struct vfctl_ctx *ctx, struct assigning *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a);
const struct vfctl_free_vf *capacity_vf(const struct capacity *capacity, size_t index);

#endif
