/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TYPES_TOPOLOGY_H
#define VFCTL_TYPES_TOPOLOGY_H

#include <stddef.h>
#include <stdint.h>

#include "base/cpuset.h"

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

#endif
