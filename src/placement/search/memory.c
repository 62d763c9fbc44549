// SPDX-License-Identifier: GPL-2.0-or-later
#include <inttypes.h>
#include <stdio.h>

#include "placement/search/capacity.h"

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/*
 * What is left of @bytes after the promises on that node with that page size; @also_taken: also
 * those whose pages running guests have taken already.
 */
static uint64_t unpromised(const struct vfctl_promise *promises, size_t count, unsigned node,
	uint64_t page_bytes, uint64_t bytes, bool also_taken)
{
	for (size_t i = 0; i < count; i++) {
		const struct vfctl_promise *p = &promises[i];

		if (p->node == (int)node && p->page_bytes == page_bytes &&
			(also_taken || !p->taken))
			bytes = minus(bytes, p->bytes);
	}
	return bytes;
}

static uint64_t unpromised_by_all(const struct vfctl_host_model *m, const bool *leave_out,
	unsigned node, uint64_t page_bytes, uint64_t bytes, bool also_taken)
{
	bytes = unpromised(m->promises, m->promise_count, node, page_bytes, bytes, also_taken);
	for (size_t i = 0; i < m->occupant_count; i++)
		if (!leave_out || !leave_out[i])
			bytes = unpromised(m->occupants[i].memory, m->occupants[i].memory_count, node,
				page_bytes, bytes, also_taken);
	return bytes;
}

/* Memory of a running guest that is left out: the kernel's free count does not include it. */
static uint64_t left_out_bytes(const struct vfctl_host_model *m, const bool *leave_out,
	unsigned node, uint64_t page_bytes)
{
	uint64_t sum = 0;

	for (size_t i = 0; leave_out && i < m->occupant_count; i++)
		for (size_t k = 0; leave_out[i] && k < m->occupants[i].memory_count; k++) {
			const struct vfctl_promise *p = &m->occupants[i].memory[k];

			if (p->taken && p->node == (int)node && p->page_bytes == page_bytes)
				sum += p->bytes;
		}
	return sum;
}

static uint64_t pool_bytes(const struct vfctl_page_pool *pool, uint64_t pages)
{
	uint64_t bytes;

	return __builtin_mul_overflow(pool->page_bytes, pages, &bytes) ? UINT64_MAX : bytes;
}

uint64_t memory_free(const struct vfctl_host_model *m, const bool *leave_out,
	const struct vfctl_node *node, uint64_t page_bytes)
{
	uint64_t base = minus(node->memory_bytes, m->host_memory_bytes);

	for (size_t i = 0; i < node->pool_count; i++) {
		const struct vfctl_page_pool *pool = &node->pools[i];
		uint64_t by_lease, by_kernel;

		base = minus(base, pool_bytes(pool, pool->total));
		if (pool->page_bytes != page_bytes)
			continue;
		by_lease = unpromised_by_all(m, leave_out, node->id, page_bytes,
			pool_bytes(pool, pool->total), true);
		if (pool->free == VFCTL_COUNT_UNKNOWN)
			return by_lease;
		/* Only the kernel's count shows foreign users of the pool. */
		by_kernel = unpromised_by_all(m, leave_out, node->id, page_bytes,
			pool_bytes(pool, pool->free) +
				left_out_bytes(m, leave_out, node->id, page_bytes), false);
		return by_kernel < by_lease ? by_kernel : by_lease;
	}
	if (page_bytes != VFCTL_PAGES_BASE)
		return 0;
	return unpromised_by_all(m, leave_out, node->id, VFCTL_PAGES_BASE, base, true);
}
