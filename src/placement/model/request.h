/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_MODEL_REQUEST_H
#define VFCTL_PLACEMENT_MODEL_REQUEST_H

#include "base/ctx.h"
#include "core/placement.h"

/* Its QEMU's threads go where there are CPUs for that, or get such. */
static inline bool request_has_auto(const struct vfctl_request *r)
{
	return r->emulator_cores == VFCTL_EMULATOR_AUTO;
}
/* Cores beside its vCPUs' that it takes wherever it goes, and if all cells lack a seat. */
static inline uint32_t request_extra_cores(const struct vfctl_request *r)
{
	return r->iothread_cores + (request_has_auto(r) ? 0 : r->emulator_cores);
}

/* Named errors for input that cannot be. */
int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request);

/* "ens1" or the address of a PF. */
const char *pf_words(const struct vfctl_host_model *model, const struct vfctl_bdf *pf,
	char buf[64]);

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
