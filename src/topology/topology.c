// SPDX-License-Identifier: GPL-2.0-or-later
#include "topology/topology.h"

#include <errno.h>

#include "base/ctx.h"

/* The smallest huge pages of any processor (arm64: 64 KiB, contiguous). */
#define PAGE_BYTES_MIN (64 * 1024)

void vfctl_topology_free(struct vfctl_topology *topology)
{
	if (!topology)
		return;
	free(topology->nodes);
	free(topology->distances);
	free(topology->cores);
	free(topology);
}

static struct vfctl_node *find_node(const struct vfctl_topology *topology, int id)
{
	for (size_t i = 0; id >= 0 && i < topology->node_count; i++)
		if (topology->nodes[i].id == (unsigned)id)
			return &topology->nodes[i];
	return NULL;
}

const struct vfctl_node *vfctl_topology_node(
	const struct vfctl_topology *topology, int id)
{
	return find_node(topology, id);
}

unsigned vfctl_topology_distance(const struct vfctl_topology *topology, int from, int to)
{
	const struct vfctl_node *a = find_node(topology, from);
	const struct vfctl_node *b = find_node(topology, to);

	if (!a || !b)
		return 0;
	return topology->distances[(size_t)(a - topology->nodes) * topology->node_count +
				   (size_t)(b - topology->nodes)];
}

/* The pool of this size, inserted in order if the node has none; NULL if there is no space. */
static struct vfctl_page_pool *pool_of(struct vfctl_node *node, uint64_t page_bytes)
{
	size_t at = 0;

	while (at < node->pool_count && node->pools[at].page_bytes < page_bytes)
		at++;
	if (at < node->pool_count && node->pools[at].page_bytes == page_bytes)
		return &node->pools[at];
	if (node->pool_count == VFCTL_POOLS_MAX)
		return NULL;
	memmove(&node->pools[at + 1], &node->pools[at],
		(node->pool_count - at) * sizeof(node->pools[0]));
	node->pools[at] = (struct vfctl_page_pool){
		.page_bytes = page_bytes,
		.free = VFCTL_COUNT_UNKNOWN,
	};
	node->pool_count++;
	return &node->pools[at];
}

int vfctl_topology_set_pages(struct vfctl_topology *topology, unsigned node_id,
	uint64_t page_bytes, uint64_t total, uint64_t free_pages)
{
	struct vfctl_node *node = find_node(topology, (int)node_id);
	struct vfctl_page_pool *pool, changed;

	if (!node)
		return -ENOENT;
	if (page_bytes < PAGE_BYTES_MIN || page_bytes & (page_bytes - 1))
		return -EINVAL;
	changed = (struct vfctl_page_pool){.page_bytes = page_bytes};
	for (size_t i = 0; i < node->pool_count; i++)
		if (node->pools[i].page_bytes == page_bytes)
			changed = node->pools[i];
	if (total != VFCTL_COUNT_UNKNOWN)
		changed.total = total;
	changed.free = free_pages;
	if (changed.free != VFCTL_COUNT_UNKNOWN && changed.free > changed.total)
		return -EINVAL;
	pool = pool_of(node, page_bytes);
	if (!pool)
		return -ENOSPC;
	*pool = changed;
	return 0;
}

static int check_nodes(struct vfctl_ctx *ctx, const struct vfctl_topology *topology)
{
	const struct vfctl_node *nodes = topology->nodes;

	for (size_t i = 0; i < topology->node_count; i++)
		for (size_t j = 0; j < i; j++) {
			struct vfctl_cpuset both = nodes[i].cpus;

			if (nodes[i].id == nodes[j].id)
				return ctx_fail(ctx, -EINVAL,
					"topology: node %u is listed twice; capture the "
					"host again",
					nodes[i].id);
			vfctl_cpuset_and(&both, &nodes[j].cpus);
			if (vfctl_cpuset_empty(&both))
				continue;
			return ctx_fail(ctx, -EINVAL,
				"topology: CPU %d is in node %u and in node %u; capture "
				"the "
				"host again",
				vfctl_cpuset_next(&both, 0), nodes[j].id, nodes[i].id);
		}
	return 0;
}

static int check_core(struct vfctl_ctx *ctx, const struct vfctl_topology *topology,
	const struct vfctl_core *core, struct vfctl_cpuset *seen)
{
	const struct vfctl_node *node = find_node(topology, core->node);
	int cpu = vfctl_cpuset_next(&core->cpus, 0);

	if (cpu < 0)
		return ctx_fail(ctx, -EINVAL,
			"topology: core %zu has no CPU; capture the host "
			"again",
			(size_t)(core - topology->cores));
	if (vfctl_cpuset_intersects(seen, &core->cpus))
		return ctx_fail(ctx, -EINVAL,
			"topology: the core of CPU %d shares CPUs with another core; "
			"capture the "
			"host again",
			cpu);
	if (!vfctl_cpuset_within(&core->cpus, &topology->online))
		return ctx_fail(ctx, -EINVAL,
			"topology: the core of CPU %d holds offline CPUs; capture the "
			"host again",
			cpu);
	if (core->node != VFCTL_NODE_NONE &&
		(!node || !vfctl_cpuset_within(&core->cpus, &node->cpus)))
		return ctx_fail(ctx, -EINVAL,
			"topology: the core of CPU %d is not within its node %d; capture "
			"the "
			"host again",
			cpu, core->node);
	vfctl_cpuset_or(seen, &core->cpus);
	return 0;
}

int vfctl_topology_check(struct vfctl_ctx *ctx, const struct vfctl_topology *topology)
{
	struct vfctl_cpuset seen = {0};
	int r;

	if (!topology->node_count || !topology->core_count || !topology->distances)
		return ctx_fail(ctx, -EINVAL,
			"topology: it has %zu nodes and %zu cores; a host has at least "
			"one of each",
			topology->node_count, topology->core_count);
	r = check_nodes(ctx, topology);
	for (size_t i = 0; r == 0 && i < topology->core_count; i++)
		r = check_core(ctx, topology, &topology->cores[i], &seen);
	return r;
}
