/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_REQUEST_H
#define VFCTL_PLACEMENT_MODEL_REQUEST_H

#include "base/ctx.h"
#include "types/placement.h"

/* Whether QEMU's threads use CPUs for that purpose, or get such CPUs. */
static inline bool request_has_auto(const struct vfctl_request *r)
{
	return r->emulator_cores == VFCTL_EMULATOR_AUTO;
}
/*
 * Cores besides those of its vCPUs that it takes on any node, if no cell has a seat for QEMU's
 * threads.
 */
static inline uint32_t request_extra_cores(const struct vfctl_request *r)
{
	return r->iothread_cores + (request_has_auto(r) ? 0 : r->emulator_cores);
}

/* Report errors in the request. */
int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request);

/* "ens1" or the address of a PF. */
const char *pf_text(const struct vfctl_host_model *model, const struct vfctl_bdf *pf,
	char buf[64]);

/* An occupant as a request for what it holds; free the cells and wants. */
struct resident {
	struct vfctl_request request;
	struct vfctl_cell_want *cells;
	struct vfctl_vf_want *wants;
	size_t memory_of[VFCTL_MODEL_NODES_MAX]; /* for each cell, the occupant's entry of memory */
};
/* Whether it can be requested again in its present form. */
bool resident_may_move(const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant);
int resident_init(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant, struct resident *ret);
void resident_clear(struct resident *resident);

#endif
