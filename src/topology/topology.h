/* SPDX-License-Identifier: GPL-2.0-or-later */
#ifndef VFCTL_TOPOLOGY_TOPOLOGY_H
#define VFCTL_TOPOLOGY_TOPOLOGY_H

#include <stdint.h>

#include "base/cleanup.h"
#include "types/topology.h"

struct vfctl_ctx;

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

#endif
