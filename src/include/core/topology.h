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

/** Page sizes for which one NUMA node can have pools; the kernel has at most 5 (arm64, 64K). */
#define VFCTL_POOLS_MAX 8
/** A count that was not read. */
#define VFCTL_COUNT_UNKNOWN UINT64_MAX

/** Huge pages of one size on one node. */
struct vfctl_page_pool {
	uint64_t page_bytes; /**< 2 MiB, 1 GiB, ...: never the base page */
	uint64_t total;      /**< pages */
	uint64_t free;       /**< pages, or VFCTL_COUNT_UNKNOWN */
};

/** A NUMA node. A node may have no CPUs (CXL, HBM) or no memory. */
struct vfctl_node {
	unsigned id;              /**< the kernel's number; the numbers may have gaps */
	struct vfctl_cpuset cpus; /**< only online CPUs; no CPU is in two nodes */
	uint64_t memory_bytes;    /**< including huge pages */
	struct vfctl_page_pool
		pools[VFCTL_POOLS_MAX]; /**< by page size, smallest first */
	size_t pool_count;
};

/** A core: the online hardware threads that share it. */
struct vfctl_core {
	struct vfctl_cpuset cpus; /**< never empty */
	int node;                 /**< id of its node, or VFCTL_NODE_NONE */
	int package;              /**< number of its socket in the kernel; -1: unknown */
	int die;                  /**< numbered over the whole host; -1: unknown */
	int l3;                   /**< cores with the same number share an L3 cache; -1: none */
};

/** The processors and memory of a host, as the planner needs them. A plain value. */
struct vfctl_topology {
	struct vfctl_node *nodes; /**< by id */
	size_t node_count;        /**< at least 1 */
	/**
	 * node_count * node_count values, row: from, column: to, in the order of @ref nodes. ACPI
	 * SLIT values (10 is local); 10 and 20 if the firmware states none.
	 */
	unsigned *distances;
	struct vfctl_core *cores; /**< by their lowest CPU */
	size_t core_count;        /**< at least 1 */
	struct vfctl_cpuset online;
};

enum vfctl_topology_kind {
	VFCTL_TOPOLOGY_HOST, /**< the running kernel; text is ignored */
	VFCTL_TOPOLOGY_TREE, /**< text: directory with a captured sys/ and proc/ */
	VFCTL_TOPOLOGY_XML,  /**< text: file in hwloc's XML format (lstopo host.xml) */
	VFCTL_TOPOLOGY_SYNTHETIC, /**< text: hwloc's synthetic form, "numa:2 core:4 pu:2"
				   */
};

struct vfctl_topology_source {
	enum vfctl_topology_kind kind;
	const char *text;
};

/**
 * Read a topology through hwloc, without PCI devices (reading them takes most of the time). It
 * includes all CPUs of the host, also those that the caller's cgroup may not use.
 *
 * hwloc takes the root of a captured tree from the environment of the process, so for
 * VFCTL_TOPOLOGY_TREE this function sets HWLOC_FSROOT and HWLOC_COMPONENTS and restores them. A
 * lock serializes such loads, but no other thread may use getenv() meanwhile.
 *
 * @param ret  receives the topology; free it with vfctl_topology_free().
 * @return 0; -ENOPKG hwloc is not installed; -ENOENT there is no such tree or file; -EINVAL hwloc
 * cannot read it, or it has no CPU or no node; -ERANGE for CPU or node numbers of VFCTL_CPU_MAX or
 * more; -ENOMEM.
 */
int vfctl_topology_load(struct vfctl_ctx *ctx, const struct vfctl_topology_source *source,
	struct vfctl_topology **ret);

/** NULL is allowed. */
void vfctl_topology_free(struct vfctl_topology *topology);
DEFINE_FREEP(struct vfctl_topology, vfctl_topology_free)

/**
 * Set the counts of a pool of huge pages, as read from
 * /sys/devices/system/node/nodeN/hugepages/hugepages-<kB>kB/{nr,free}_hugepages
 * (Documentation/admin-guide/mm/hugetlbpage.rst). The pool is added or changed.
 * @param page_bytes  a power of two of at least 64 KiB.
 * @param total  pages; VFCTL_COUNT_UNKNOWN keeps the present count (0 for a new pool).
 * @param free   pages; VFCTL_COUNT_UNKNOWN if it was not read.
 * @return 0; -ENOENT when there is no such node; -EINVAL for another page size, or if there are
 * more free pages than pages; -ENOSPC above VFCTL_POOLS_MAX sizes.
 */
int vfctl_topology_set_pages(struct vfctl_topology *topology, unsigned node,
	uint64_t page_bytes, uint64_t total, uint64_t free);

/** The node with this number, or NULL. Owned by the topology. */
const struct vfctl_node *vfctl_topology_node(
	const struct vfctl_topology *topology, int id);

/** Distance between two nodes by id, or 0 when one of them does not exist. */
unsigned vfctl_topology_distance(const struct vfctl_topology *topology, int from, int to);

/**
 * Check the rules for a model that was made by hand or by another program: at least one node and
 * core, no CPU in two nodes or two cores, cores within the online CPUs and within their node.
 * @return 0, or -EINVAL naming the CPU and the nodes.
 */
int vfctl_topology_check(struct vfctl_ctx *ctx, const struct vfctl_topology *topology);

#ifdef __cplusplus
}
#endif
#endif
