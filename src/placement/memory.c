// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/placement.h"

#include <inttypes.h>
#include <stdio.h>

static uint64_t promised(const struct vfctl_promise *promises, size_t count,
	unsigned node, uint64_t page_bytes, bool taken_too)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		const struct vfctl_promise *p = &promises[i];

		if (p->node != (int)node || p->page_bytes != page_bytes ||
			(p->taken && !taken_too))
			continue;
		if (__builtin_add_overflow(sum, p->bytes, &sum))
			return UINT64_MAX;
	}
	return sum;
}

static uint64_t minus(uint64_t a, uint64_t b)
{
	return a > b ? a - b : 0;
}

/* What is left of @bytes when all promises are kept, or those not yet seen by the kernel.
 */
static uint64_t after_promises(const struct occupancy *o, const struct vfctl_node *node,
	uint64_t page_bytes, uint64_t bytes, bool taken_too)
{
	const struct vfctl_host_model *m = o->model;

	bytes = minus(bytes,
		promised(m->promises, m->promise_count, node->id, page_bytes, taken_too));
	for (size_t i = 0; i < m->occupant_count; i++)
		bytes = minus(bytes, promised(m->occupants[i].memory,
			m->occupants[i].memory_count, node->id, page_bytes, taken_too));
	return minus(bytes,
		promised(o->given, o->given_count, node->id, page_bytes, taken_too));
}

static uint64_t pool_bytes(const struct vfctl_page_pool *pool, uint64_t pages)
{
	uint64_t bytes;

	return __builtin_mul_overflow(pool->page_bytes, pages, &bytes) ? UINT64_MAX
								       : bytes;
}

uint64_t memory_free(
	const struct occupancy *o, const struct vfctl_node *node, uint64_t page_bytes)
{
	uint64_t base = minus(node->memory_bytes, o->model->host_memory_bytes);

	for (size_t i = 0; i < node->pool_count; i++) {
		const struct vfctl_page_pool *pool = &node->pools[i];
		uint64_t by_lease, by_kernel;

		base = minus(base, pool_bytes(pool, pool->total));
		if (pool->page_bytes != page_bytes)
			continue;
		by_lease = after_promises(
			o, node, page_bytes, pool_bytes(pool, pool->total), true);
		if (pool->free == VFCTL_COUNT_UNKNOWN)
			return by_lease;
		/* Foreign users of the pool show only in the kernel's count. */
		by_kernel = after_promises(
			o, node, page_bytes, pool_bytes(pool, pool->free), false);
		return by_kernel < by_lease ? by_kernel : by_lease;
	}
	if (page_bytes != VFCTL_PAGES_BASE)
		return 0;
	return after_promises(o, node, VFCTL_PAGES_BASE, base, true);
}

bool memory_pick(const struct occupancy *o, const struct vfctl_node *node,
	const struct vfctl_request *request, uint64_t *ret_page_bytes)
{
	uint64_t page = request->page_bytes;

	for (size_t i = node->pool_count; page == VFCTL_PAGES_AUTO && i-- > 0;) {
		uint64_t size = node->pools[i].page_bytes;

		if (request->memory_bytes % size == 0 &&
			memory_free(o, node, size) >= request->memory_bytes)
			page = size;
	}
	if (page == VFCTL_PAGES_AUTO)
		page = VFCTL_PAGES_BASE;
	if (memory_free(o, node, page) < request->memory_bytes)
		return false;
	*ret_page_bytes = page;
	return true;
}

char *memory_text(uint64_t bytes, char buf[32])
{
	static const char *const units[] = {"bytes", "KiB", "MiB", "GiB", "TiB"};
	size_t unit = 0;

	while (bytes && bytes % 1024 == 0 && unit + 1 < ARRAY_SIZE(units)) {
		bytes /= 1024;
		unit++;
	}
	snprintf(buf, 32, "%" PRIu64 "%s%s", bytes, unit ? "" : " ", units[unit]);
	return buf;
}
