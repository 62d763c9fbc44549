/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_PLACEMENT_H
#define VFCTL_PLACEMENT_PLACEMENT_H

#include "base/ctx.h"
#include "vfctl/placement.h"

/* The host as the requests placed so far leave it. */
struct occupancy {
	const struct vfctl_host_model *model;
	struct vfctl_cpuset taken;   /* reserved, busy, and given in this plan */
	bool *vf_taken;              /* by index in model->vfs */
	struct vfctl_promise *given; /* memory given in this plan */
	size_t given_count;
};

int occupancy_init(
	struct vfctl_ctx *ctx, struct occupancy *o, const struct vfctl_host_model *model);
void occupancy_clear(struct occupancy *o);

/* check.c: named errors for input that cannot be. */
int check_model(struct vfctl_ctx *ctx, const struct vfctl_host_model *model);
int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request);

/* cores.c */
struct core_entry {
	const struct vfctl_core *core;
	uint32_t threads;
	bool chosen;
};

/* Cores of one node on which no thread is taken. */
struct core_pool {
	struct core_entry *v;
	size_t count;
};

/* QEMU's own threads without cores of their own: the host's CPUs, near ones first. */
struct vfctl_cpuset host_cpus_near(
	const struct occupancy *o, const struct vfctl_node *node);

struct core_pick {
	uint32_t *cpus; /* one per vCPU */
	struct vfctl_cpuset emulator;
	struct vfctl_cpuset held;
	uint32_t guest_threads;
	size_t left; /* free cores that remain */
};

int core_pool_init(struct vfctl_ctx *ctx, struct core_pool *pool,
	const struct occupancy *o, unsigned node);
void core_pool_clear(struct core_pool *pool);
/* 1 and the pick, 0 when the request does not fit, or -ENOMEM. */
int core_pool_pick(struct vfctl_ctx *ctx, struct core_pool *pool,
	const struct vfctl_request *request, struct core_pick *ret);
void core_pick_clear(struct core_pick *pick);
/* Most vCPUs that this request could have here with nothing else changed. */
uint32_t core_pool_most_vcpus(
	struct core_pool *pool, const struct vfctl_request *request);

/* memory.c */
uint64_t memory_free(
	const struct occupancy *o, const struct vfctl_node *node, uint64_t page_bytes);
/* False when no allowed page size has enough on the node. */
bool memory_pick(const struct occupancy *o, const struct vfctl_node *node,
	const struct vfctl_request *request, uint64_t *ret_page_bytes);
/* "16GiB", "1536MiB": the largest unit that keeps the number whole. */
char *memory_text(uint64_t bytes, char buf[32]);

/* vfs.c */
struct vf_pick {
	size_t *index;  /* into model->vfs, in the order of the wants */
	uint32_t *want; /* that each answers */
	size_t count;
	size_t homeless; /* of them, those without locality */
};

/* The node that a VF belongs to: nearest one with CPUs; VFCTL_NODE_NONE when unknown. */
int vf_home(const struct vfctl_topology *topology, const struct vfctl_free_vf *vf);
bool vf_answers(const struct vfctl_free_vf *vf, const struct vfctl_vf_want *want);
/* 1 and the pick, 0 when the wants cannot be met on the node, or -ENOMEM. */
int vf_pick(struct vfctl_ctx *ctx, const struct occupancy *o,
	const struct vfctl_request *request, unsigned node, struct vf_pick *ret);
void vf_pick_clear(struct vf_pick *pick);
size_t vf_free_on(const struct occupancy *o, const struct vfctl_vf_want *want, int node);

/* One node looked at for one request. */
struct candidate {
	const struct vfctl_node *node;
	bool vfs_fit, cpus_fit, memory_fits;
	bool cores_fit; /* the cores do; cpus_fit is false for want of host CPUs */
	struct vf_pick vfs;
	struct core_pick cores;
	uint64_t page_bytes;
	size_t free_vfs; /* local ones, before this request */
	uint32_t free_cores;
	uint32_t most_vcpus; /* when the CPUs do not fit: what would */
};

/* reasons.c; false when out of memory */
bool reason_add(struct vfctl_assignment *a, enum vfctl_reason_kind kind, const char *fmt,
	...) _printf_(3, 4);
bool explain_choice(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_request *request, const struct candidate *chosen,
	size_t fitting);
bool explain_refusal(struct vfctl_assignment *a, const struct occupancy *o,
	const struct vfctl_request *request, const struct candidate *candidates,
	size_t count);

#endif
