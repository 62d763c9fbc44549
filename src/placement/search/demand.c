// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/search/search.h"

static uint32_t count_vfs(const struct vfctl_request *r)
{
	uint32_t cells = r->cell_count ? (uint32_t)r->cell_count : 1, sum = 0;

	for (size_t i = 0; i < r->want_count; i++)
		sum += r->wants[i].count * (r->wants[i].cell == VFCTL_CELL_EACH ? cells : 1);
	return sum;
}

/* The smallest number of threads in whole cores that a guest takes. */
static uint32_t least_threads(const struct capacity *capacity, const struct vfctl_request *r)
{
	uint32_t smallest = capacity->class_threads[0], vcpus = r->vcpus - r->shared_vcpus;
	uint32_t extra = request_extra_cores(r) * smallest;
	uint32_t largest = capacity->class_threads[capacity->class_count - 1];

	if (r->threads == VFCTL_THREADS_ISOLATE)
		return vcpus * smallest + extra;
	/* If all cores are equal, the last one is taken as a whole. */
	if (smallest == largest)
		vcpus = (vcpus + largest - 1) / largest * largest;
	return vcpus + extra;
}

/*
 * If vCPUs take the last core of a node, none is left for the QEMU of a next guest, and the node's
 * other threads become useless: so the guest takes more than its open threads. A guest with
 * emulator_cores: auto leaves that core, or creates such a core, on one of its nodes.
 */
uint32_t demand_slack(const struct capacity *capacity, const struct demand *demand)
{
	const struct vfctl_request *r = demand->request;
	bool leaves = request_has_auto(r) && !demand->current &&
		r->vcpus - r->shared_vcpus < capacity->core_count;

	return (demand->most_cells - leaves) * capacity->class_threads[capacity->class_count - 1];
}

static bool each_cell_has_vfs(const struct vfctl_request *r)
{
	for (size_t i = 0; i < r->want_count; i++)
		if (r->wants[i].cell == VFCTL_CELL_EACH)
			return true;
	return false;
}

void demand_init(const struct capacity *capacity, const struct vfctl_request *request, size_t index,
	struct demand *ret)
{
	uint32_t nodes = 0;

	for (unsigned i = 0; i < capacity->node_count; i++)
		nodes += capacity->nodes[i].has_cpus;
	*ret = (struct demand){.request = request, .index = index, .most_cells = 1,
		.threads = least_threads(capacity, request), .vfs = count_vfs(request),
		.can_be_local = true};
	if (request->cell_count) {
		ret->most_cells = (uint32_t)request->cell_count;
	} else if (request->node == VFCTL_NODE_NONE && !each_cell_has_vfs(request)) {
		ret->most_cells = request->cells_max && request->cells_max < nodes ?
			request->cells_max : nodes;
		if (ret->most_cells > request->vcpus)
			ret->most_cells = request->vcpus;
	}
	ret->split = ret->most_cells > 1;
}

static bool same_want(const struct vfctl_vf_want *a, const struct vfctl_vf_want *b)
{
	return a->any_pf == b->any_pf && vfctl_bdf_compare(&a->pf, &b->pf) == 0 &&
		a->fabric == b->fabric && a->port == b->port && a->count == b->count &&
		a->cell == b->cell && a->affinity == b->affinity && a->anti_affinity == b->anti_affinity;
}

bool request_same(const struct vfctl_request *a, const struct vfctl_request *b)
{
	if (a->vcpus != b->vcpus || a->shared_vcpus != b->shared_vcpus ||
		a->threads != b->threads || a->emulator_cores != b->emulator_cores ||
		a->iothread_cores != b->iothread_cores || a->memory_bytes != b->memory_bytes ||
		a->page_bytes != b->page_bytes || a->memory_affinity != b->memory_affinity ||
		a->node != b->node || a->cell_count != b->cell_count ||
		a->cells_max != b->cells_max || a->whole_node != b->whole_node ||
		a->whole_l3 != b->whole_l3 || a->max_distance != b->max_distance ||
		a->want_count != b->want_count)
		return false;
	for (size_t i = 0; i < a->cell_count; i++)
		if (a->cells[i].vcpus != b->cells[i].vcpus ||
			a->cells[i].memory_bytes != b->cells[i].memory_bytes ||
			a->cells[i].node != b->cells[i].node)
			return false;
	for (size_t i = 0; i < a->want_count; i++)
		if (!same_want(&a->wants[i], &b->wants[i]))
			return false;
	return true;
}
