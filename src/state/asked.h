/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_STATE_ASKED_H
#define VFCTL_STATE_ASKED_H

#include "state/sqlite.h"

/*
 * What guests were asked for on this host, by their shape and how often: what the planner
 * expects of the next ones is learned from that. Plans shall not change with each define, so a
 * guest counts only from when ASKED_STEP of them have come.
 */
#define ASKED_STEP 20
#define ASKED_ENOUGH 100 /* fewer say less than what is assumed: measured, docs/performance.md */
#define ASKED_SHAPES_MAX 64 /* kept at each step; those that came last */
#define ASKED_TOTAL_MAX 1000 /* above it all counts are halved, so that habits may change */

struct asked_shape {
	uint32_t vcpus;	      /* with CPUs of their own */
	uint32_t cells, vfs;
	bool isolated;	      /* a core for each vCPU */
	uint64_t memory_bytes, page_bytes;
};

struct asked_row {
	struct asked_shape shape;
	uint64_t count;
};

struct asked {
	struct asked_row *v; /* most first; of equal counts the smaller shape */
	size_t count;
	uint64_t guests; /* of all rows */
};

/* Within the transaction that leases the guest. */
int asked_add(struct db *db, const struct asked_shape *shape);
/* The guest was not defined in the end. */
int asked_take_back(struct db *db, const struct asked_shape *shape);
/* What counts now; nothing where there is no state file, or an older one. */
int asked_read(struct vfctl_ctx *ctx, struct asked *ret);
static inline void asked_clear(struct asked *asked)
{
	free(asked->v);
}

#endif
