/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_CORE_TOPOLOGY_H
#define VFCTL_CORE_TOPOLOGY_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "core/cleanup.h"
#include "core/cpuset.h"

#ifdef __cplusplus
extern "C" {
#endif

struct vfctl_ctx;

/** Page sizes one NUMA node can have pools of; the kernel has at most 5 (arm64, 64K). */
#define VFCTL_POOLS_MAX 8
/** A count that nobody has read yet. */
#define VFCTL_COUNT_UNKNOWN UINT64_MAX

/** Huge pages of one size on one node. */
struct vfctl_page_pool {
	uint64_t page_bytes; /**< 2 MiB, 1 GiB, ...: never the base page */
	uint64_t total;      /**< pages */
	uint64_t free;       /**< pages, or VFCTL_COUNT_UNKNOWN */
};

/** A NUMA node. One without CPUs (CXL, HBM) or without memory is a node as well. */
struct vfctl_node {
	unsigned id;              /**< the kernel's number; numbers can have holes */
	struct vfctl_cpuset cpus; /**< online ones; no CPU is in two nodes */
	uint64_t memory_bytes;    /**< all of it, huge pages included */
	struct vfctl_page_pool
		pools[VFCTL_POOLS_MAX]; /**< by page size, smallest first */
	size_t pool_count;
};

/** A core: the online hardware threads that share it. */
struct vfctl_core {
	struct vfctl_cpuset cpus; /**< never empty */
	int node;                 /**< node id, or VFCTL_NODE_NONE */
	int package;              /**< socket, as the kernel numbers it; -1 unknown */
	int die;                  /**< numbered over the host; -1 unknown */
	int l3;                   /**< cores with the same number share an L3; -1 none */
};

/** What the planner needs to know of a host's processors and memory. A plain value. */
struct vfctl_topology {
	struct vfctl_node *nodes; /**< by id */
	size_t node_count;        /**< at least 1 */
	/**
	 * node_count * node_count, row: from, column: to, in the order of @ref nodes.
	 * ACPI SLIT values (10 is local); 10 and 20 when the firmware states none.
	 */
	unsigned *distances;
	struct vfctl_core *cores; /**< by their lowest CPU */
	size_t core_count;        /**< at least 1 */
	struct vfctl_cpuset online;
};

enum vfctl_topology_kind {
	VFCTL_TOPOLOGY_HOST, /**< the running kernel; text is ignored */
	VFCTL_TOPOLOGY_TREE, /**< text: directory that holds a captured sys/ and proc/ */
	VFCTL_TOPOLOGY_XML,  /**< text: file in hwloc's XML form (lstopo host.xml) */
	VFCTL_TOPOLOGY_SYNTHETIC, /**< text: hwloc's synthetic form, "numa:2 core:4 pu:2"
				   */
};

struct vfctl_topology_source {
	enum vfctl_topology_kind kind;
	const char *text;
};

/**
 * Read a topology through hwloc, without PCI devices (they cost most of its time). All
 * CPUs of the host count, also those that the caller's own cgroup may not use.
 *
 * hwloc takes the root of a captured tree from the environment of the process, so for
 * VFCTL_TOPOLOGY_TREE this function sets and restores HWLOC_FSROOT and HWLOC_COMPONENTS;
 * such loads wait for each other, but no other thread may use getenv() meanwhile.
 *
 * @param ret  receives the topology; free it with vfctl_topology_free().
 * @return 0; -ENOPKG when hwloc is not installed; -ENOENT when the tree or file is not
 * there; -EINVAL when hwloc cannot read it or it describes no CPU or no node; -ERANGE for
 * CPU or node numbers of VFCTL_CPU_MAX or more; -ENOMEM.
 */
int vfctl_topology_load(struct vfctl_ctx *ctx, const struct vfctl_topology_source *source,
	struct vfctl_topology **ret);

/** NULL is allowed. */
void vfctl_topology_free(struct vfctl_topology *topology);
DEFINE_FREEP(struct vfctl_topology, vfctl_topology_free)

/**
 * State a pool of huge pages, as read from
 * /sys/devices/system/node/nodeN/hugepages/hugepages-<kB>kB/{nr,free}_hugepages
 * (Documentation/admin-guide/mm/hugetlbpage.rst). Adds the pool or changes it.
 * @param page_bytes  a power of two of at least 64 KiB.
 * @param total  pages; VFCTL_COUNT_UNKNOWN keeps what is known (0 for a new pool).
 * @param free   pages; VFCTL_COUNT_UNKNOWN when it was not read.
 * @return 0; -ENOENT when there is no such node; -EINVAL for another page size or when
 * more pages are free than there are; -ENOSPC above VFCTL_POOLS_MAX sizes.
 */
int vfctl_topology_set_pages(struct vfctl_topology *topology, unsigned node,
	uint64_t page_bytes, uint64_t total, uint64_t free);

/** The node with this number, or NULL. Owned by the topology. */
const struct vfctl_node *vfctl_topology_node(
	const struct vfctl_topology *topology, int id);

/** Distance between two nodes by id, or 0 when one of them does not exist. */
unsigned vfctl_topology_distance(const struct vfctl_topology *topology, int from, int to);

/**
 * Check what a model made by hand or by another program must hold: at least one node and
 * core, no CPU in two nodes or two cores, cores within the online CPUs and within their
 * node.
 * @return 0, or -EINVAL naming the CPU and the nodes.
 */
int vfctl_topology_check(struct vfctl_ctx *ctx, const struct vfctl_topology *topology);

#ifdef __cplusplus
}
#endif
#endif
