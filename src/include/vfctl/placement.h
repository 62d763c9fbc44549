/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_PLACEMENT_H
#define VFCTL_PLACEMENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "vfctl/cpuset.h"
#include "vfctl/topology.h"
#include "vfctl/types.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vfctl_ctx;

#define VFCTL_VCPU_MAX 4096 /**< QEMU's limit for q35 (9.1) */
#define VFCTL_EMULATOR_CORES_MAX 64
#define VFCTL_IOTHREADS_MAX 64
#define VFCTL_GUEST_VFS_MAX 64 /**< VFs of one guest */
#define VFCTL_FABRIC_ANY (-1)
#define VFCTL_PAGES_BASE 0          /**< page_bytes: no huge pages */
#define VFCTL_PAGES_AUTO UINT64_MAX /**< page_bytes: the largest whose pool fits */

/** How vCPUs use the hardware threads of the whole cores they get. */
enum vfctl_threads {
	/** Fill the threads; the guest sees siblings when vCPUs fill cores evenly. */
	VFCTL_THREADS_PREFER,
	/** As prefer, but refuse when the guest would not see siblings. */
	VFCTL_THREADS_REQUIRE,
	/** One vCPU per core, its siblings stay idle. */
	VFCTL_THREADS_ISOLATE,
	/** Fill the threads; the guest sees a flat list of cores. */
	VFCTL_THREADS_NONE,
};

/** A VF that nobody holds. */
struct vfctl_free_vf {
	struct vfctl_bdf bdf;
	struct vfctl_bdf pf;
	uint32_t index; /**< of the VF in its PF */
	int node;       /**< as the kernel states it; VFCTL_NODE_NONE for no locality */
	int fabric;     /**< network it is on, a number of the caller's choice, >= 0 */
};

/** Memory that a lease or a foreign guest holds or will hold when started. */
struct vfctl_promise {
	int node;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE, or the size of huge pages */
	uint64_t bytes;
	bool taken; /**< the guest runs, so the kernel's free counts know of it */
};

/** Everything the planner may look at. Borrowed; nothing is changed. */
struct vfctl_host_model {
	const struct vfctl_topology *topology;
	struct vfctl_cpuset reserved_cpus; /**< the host's own, never given to vCPUs */
	struct vfctl_cpuset busy_cpus;     /**< held by leases and by foreign pins */
	const struct vfctl_promise *promises;
	size_t promise_count;
	/** Kept for the host on every node when a guest takes base pages, bytes. */
	uint64_t host_memory_bytes;
	const struct vfctl_free_vf *vfs;
	size_t vf_count;
};

/** Some VFs that a guest asks for. */
struct vfctl_vf_want {
	bool any_pf;
	struct vfctl_bdf pf; /**< unless any_pf */
	int fabric;          /**< VFCTL_FABRIC_ANY, or the one it must be on */
	const char *fabric_name; /**< for reasons; NULL: its number */
	uint32_t count;      /**< 1 .. VFCTL_GUEST_VFS_MAX */
};

/** What one guest needs. */
struct vfctl_request {
	const char *name; /**< for the words */
	uint32_t vcpus;   /**< 1 .. VFCTL_VCPU_MAX */
	enum vfctl_threads threads;
	uint32_t emulator_cores; /**< 0: QEMU's own threads run on the reserved CPUs */
	uint32_t iothreads;      /**< they share the CPUs of QEMU's own threads */
	uint64_t memory_bytes;   /**< a multiple of page_bytes */
	uint64_t page_bytes;     /**< or VFCTL_PAGES_BASE, VFCTL_PAGES_AUTO */
	int node;                /**< VFCTL_NODE_NONE: any */
	const struct vfctl_vf_want *wants;
	size_t want_count;
};

enum vfctl_refusal {
	VFCTL_REFUSAL_NONE, /**< placed */
	VFCTL_REFUSAL_VFS,
	VFCTL_REFUSAL_CPUS,
	VFCTL_REFUSAL_MEMORY,
};

enum vfctl_reason_kind {
	VFCTL_REASON_CHOICE,  /**< what was chosen, and why */
	VFCTL_REASON_WARNING, /**< it works, but not as well as it could */
	VFCTL_REASON_SHORT,   /**< what is short, and where */
	VFCTL_REASON_REMEDY,  /**< what would make it fit */
};

/** One line for people, without newline. */
struct vfctl_reason {
	enum vfctl_reason_kind kind;
	char *text;
};

/** The answer to one request. Without placement only reasons are filled. */
struct vfctl_assignment {
	enum vfctl_refusal refusal;
	int node;        /**< of all vCPUs, QEMU's threads and memory */
	uint32_t *vcpus; /**< host CPU of each vCPU; siblings are adjacent */
	size_t vcpu_count;
	/** Threads per core the guest should be told: 1, or what its vCPUs really share.
	 */
	uint32_t guest_threads;
	struct vfctl_cpuset emulator_cpus;
	struct vfctl_cpuset iothread_cpus; /**< empty without iothreads */
	/** All threads of all cores given, idle siblings included: what a lease holds. */
	struct vfctl_cpuset held_cpus;
	uint64_t memory_bytes;
	uint64_t page_bytes; /**< VFCTL_PAGES_BASE or a size, never AUTO */
	/** In the order of the wants, each want's VFs together. */
	struct vfctl_free_vf *vfs;
	uint32_t *vf_wants; /**< index of the want that each VF answers */
	size_t vf_count;
	struct vfctl_reason *reasons;
	size_t reason_count;
};

struct vfctl_plan {
	struct vfctl_assignment *assignments; /**< one per request, in their order */
	size_t count;
};

/**
 * Place guests on a host: pure, the same input gives the same plan. Requests are served
 * in order and do not disturb each other. All vCPUs of a guest, QEMU's threads and the
 * memory go to one node, that of its VFs; vCPUs get whole free cores, one each per
 * hardware thread. A core with any busy or reserved thread is not free.
 *
 * Among the nodes that fit: the one where all VFs are local, then (for a guest without
 * VFs) one without free VFs, then the one with the fewest cores left over.
 *
 * A refusal is an answer, not an error: look at each assignment.
 *
 * @param ret  receives the plan; free it with vfctl_plan_free().
 * @return 0; -EINVAL for input that no host could have or no guest could ask (the words
 * name the member); -ENOMEM.
 */
int vfctl_plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count, struct vfctl_plan **ret);

/** NULL is allowed. */
void vfctl_plan_free(struct vfctl_plan *plan);

/** "VFs", "CPUs", "memory", "none"; "unknown" for anything else. */
const char *vfctl_refusal_name(enum vfctl_refusal refusal);
/** "choice", "warning", "short", "remedy"; "unknown" for anything else. */
const char *vfctl_reason_kind_name(enum vfctl_reason_kind kind);
/** "prefer", "require", "isolate", "none"; "unknown" for anything else. */
const char *vfctl_threads_name(enum vfctl_threads threads);

#ifdef __cplusplus
}
#endif
#endif
