/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_EXPLAIN_CHANGE_H
#define VFCTL_PLACEMENT_EXPLAIN_CHANGE_H

#include "base/buf.h"
#include "placement/explain/reasons.h"
#include "types/placement.h"

/* A change of a request, or of the host, after which a guest fits. */
enum change_kind {
	CHANGE_AFFINITY,  /* affinity of the VFs that must be local, to @value */
	CHANGE_PF,	  /* any PF for the want @index, on network @value */
	CHANGE_COUNT,	  /* @value VFs for the want @index */
	CHANGE_APART,	  /* VFs of one set may be on the same PF */
	CHANGE_NODE,	  /* no stated node, neither for the guest nor for a cell */
	CHANGE_CELLS,	  /* @value cells, as even as possible; 0: auto */
	CHANGE_DISTANCE,  /* no max_distance */
	CHANGE_WHOLE_NODE,
	CHANGE_WHOLE_L3,
	CHANGE_THREADS,	  /* threads: @value */
	CHANGE_PAGES,	  /* pages of any size */
	CHANGE_MEMORY,	  /* memory_affinity: preferred */
	CHANGE_IOTHREADS, /* no dedicated cores for I/O threads */
	CHANGE_EMULATOR,  /* @value cores for QEMU, or VFCTL_EMULATOR_AUTO */
	CHANGE_SHARED,	  /* @value vCPUs on shared CPUs */
	CHANGE_VCPUS,	  /* @value vCPUs */
	CHANGE_BYTES,	  /* @value bytes of memory */
	CHANGE_OF_HOST,	  /* the changes of the host begin here */
	CHANGE_VFS = CHANGE_OF_HOST, /* @value more VFs of the PF @index */
	CHANGE_POOL,	  /* @value more pages of the requested size on node @index */
	CHANGE_MOVE,	  /* the occupant @index moves to a place where it fits */
	CHANGE_LEAVE,	  /* the guest @index of the batch is left out */
};

struct change {
	enum change_kind kind;
	uint64_t value;
	size_t index; /* index of a want, in the model, or in the batch */
};

#define CHANGES_MAX 2

/* A change that was tried and helps, for programs; the reason describes it as text. */
struct vfctl_remedy {
	struct change changes[CHANGES_MAX];
	size_t count;
	size_t reason; /* index of the reason in the assignment */
};

/* A request with changes. It contains pointers into itself, so it must not be copied. */
struct changed_request {
	struct vfctl_request r;
	struct vfctl_cell_want cells[VFCTL_CELLS_MAX];
	struct vfctl_vf_want wants[VFCTL_GUEST_VFS_MAX];
};
void changed_request_init(struct changed_request *ret, const struct vfctl_request *request);
/* False: the request has nothing of this kind, or the change has no effect. */
bool change_request(struct changed_request *c, const struct change *change);

/* The host with a CHANGE_VFS or a CHANGE_POOL; borrows everything else. */
struct changed_host {
	struct vfctl_host_model model;
	struct vfctl_topology topology;
	struct vfctl_free_vf *vfs;
	struct vfctl_node *nodes;
};
int change_host(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, const struct change *change,
	struct changed_host *ret);
void changed_host_clear(struct changed_host *host);

/* Describe a change of @request on @capacity: "2 vCPUs", "cells: auto". */
void change_text(struct buf *line, const struct change *change, const struct capacity *capacity,
	const struct vfctl_request *request);

#endif
