// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/model/request.h"

#include <errno.h>
#include <inttypes.h>

#include "base/parse.h"
#include "topology/topology.h"

static int check_want(struct vfctl_ctx *ctx, const struct vfctl_request *request, size_t i)
{
	const struct vfctl_vf_want *w = &request->wants[i];

	if (!w->count)
		return ctx_fail(ctx, -EINVAL,
			"%s: VF want %zu asks for 0 VFs; request at least 1, or omit it",
			request->name, i + 1);
	if (w->affinity > VFCTL_AFFINITY_ANY)
		return ctx_fail(ctx, -EINVAL, "%s: VF want %zu: affinity %d is not valid",
			request->name, i + 1, (int)w->affinity);
	if (w->cell == VFCTL_CELL_EACH && !request->cell_count)
		return ctx_fail(ctx, -EINVAL, "%s: VF want %zu asks for VFs in each cell, but the "
			"number of cells is not stated; state it", request->name, i + 1);
	if (w->cell < VFCTL_CELL_EACH ||
		(w->cell >= 0 && (size_t)w->cell >= request->cell_count))
		return ctx_fail(ctx, -EINVAL, "%s: VF want %zu is for cell %d, but the guest has %zu "
			"cell%s, numbered from 0", request->name, i + 1, w->cell,
			request->cell_count, plural(request->cell_count));
	return 0;
}

static uint64_t vfs_of(const struct vfctl_request *request, const struct vfctl_vf_want *want)
{
	return (uint64_t)want->count *
		(want->cell == VFCTL_CELL_EACH ? request->cell_count : 1);
}

/* VFs of one set are on different PFs, so a set may name a PF only once. */
static int check_anti_affinity(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, size_t at)
{
	const struct vfctl_vf_want *w = &request->wants[at];
	uint64_t sum = 0;
	char pf[64];

	if (!w->anti_affinity || w->any_pf)
		return 0;
	for (size_t i = 0; i <= at; i++)
		if (request->wants[i].anti_affinity == w->anti_affinity && !request->wants[i].any_pf &&
			vfctl_bdf_compare(&request->wants[i].pf, &w->pf) == 0)
			sum += vfs_of(request, &request->wants[i]);
	if (sum < 2)
		return 0;
	return ctx_fail(ctx, -EINVAL, "%s: %" PRIu64 " VFs of %s cannot be on different PFs (apart, "
		"bond); request one, or remove that key", request->name, sum,
		pf_text(model, &w->pf, pf));
}

static int check_wants(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	uint64_t total = 0;
	int r;

	for (size_t i = 0; i < request->want_count; i++) {
		r = check_want(ctx, request, i);
		if (r == 0)
			r = check_anti_affinity(ctx, model, request, i);
		if (r < 0)
			return r;
		total += vfs_of(request, &request->wants[i]);
	}
	if (total > VFCTL_GUEST_VFS_MAX)
		return ctx_fail(ctx, -EINVAL,
			"%s: %" PRIu64 " VFs are requested; a guest has at most %d", request->name,
			total, VFCTL_GUEST_VFS_MAX);
	return 0;
}

static int check_cell(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request, size_t i)
{
	const struct vfctl_cell_want *c = &request->cells[i];
	uint64_t page = request->page_bytes;

	if (!c->vcpus || !c->memory_bytes)
		return ctx_fail(ctx, -EINVAL, "%s: cell %zu has %s; a cell needs both vCPUs and memory",
			request->name, i, c->vcpus ? "no memory" : "no vCPUs");
	if (page != VFCTL_PAGES_AUTO && page != VFCTL_PAGES_BASE && c->memory_bytes % page)
		return ctx_fail(ctx, -EINVAL, "%s: the memory of cell %zu, %" PRIu64 " bytes, is "
			"not a whole number of pages of %" PRIu64 " bytes", request->name, i,
			c->memory_bytes, page);
	if (c->node == VFCTL_NODE_NONE)
		return 0;
	if (!vfctl_topology_node(model->topology, c->node))
		return ctx_fail(ctx, -EINVAL, "%s: cell %zu needs node %d, which this host does not "
			"have; see vfctl topology", request->name, i, c->node);
	if (request->node != VFCTL_NODE_NONE && request->node != c->node)
		return ctx_fail(ctx, -EINVAL, "%s: cell %zu needs node %d, but the guest needs node %d; "
			"keep one of the two", request->name, i, c->node,
			request->node);
	for (size_t k = 0; k < i; k++)
		if (request->cells[k].node == c->node)
			return ctx_fail(ctx, -EINVAL, "%s: cells %zu and %zu both need node %d, but "
				"each cell needs its own node; make them one cell",
				request->name, k, i, c->node);
	return 0;
}

static int check_cells(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	uint64_t vcpus = 0, memory = 0;
	int r = 0;

	if (!request->cell_count)
		return 0;
	if (request->cell_count > request->vcpus || request->cell_count > VFCTL_CELLS_MAX)
		return ctx_fail(ctx, -EINVAL, "%s: %zu cell%s for %" PRIu32 " vCPU%s: a cell needs a "
			"vCPU, and a guest has at most %d cells", request->name,
			request->cell_count, plural(request->cell_count), request->vcpus,
			plural(request->vcpus), VFCTL_CELLS_MAX);
	for (size_t i = 0; i < request->cell_count && r == 0; i++) {
		r = check_cell(ctx, model, request, i);
		vcpus += request->cells[i].vcpus;
		if (r == 0 && __builtin_add_overflow(memory, request->cells[i].memory_bytes, &memory))
			memory = UINT64_MAX;
	}
	if (r < 0)
		return r;
	if (vcpus != request->vcpus)
		return ctx_fail(ctx, -EINVAL, "%s: its cells have %" PRIu64 " vCPU%s together, the "
			"guest %" PRIu32, request->name, vcpus, plural(vcpus), request->vcpus);
	if (memory != request->memory_bytes)
		return ctx_fail(ctx, -EINVAL, "%s: its cells have %" PRIu64 " bytes of memory "
			"together, the guest %" PRIu64, request->name, memory,
			request->memory_bytes);
	return 0;
}

static bool fills_cores(const struct vfctl_request *request, uint32_t threads)
{
	if (!request->cell_count)
		return request->vcpus % threads == 0;
	for (size_t i = 0; i < request->cell_count; i++)
		if (request->cells[i].vcpus % threads)
			return false;
	return true;
}

/* If the vCPUs fill no core of this host, no placement can show siblings to the guest. */
static int check_siblings(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	const struct vfctl_topology *t = model->topology;
	uint32_t most = 1;

	if (request->threads != VFCTL_THREADS_REQUIRE)
		return 0;
	if (request->shared_vcpus)
		return ctx_fail(ctx, -EINVAL, "%s: threads: require, but shared vCPUs have no siblings; "
			"use threads: prefer", request->name);
	for (size_t i = 0; i < t->core_count; i++) {
		uint32_t threads = vfctl_cpuset_count(&t->cores[i].cpus);

		if (threads > 1 && fills_cores(request, threads))
			return 0;
		most = threads > most ? threads : most;
	}
	if (most == 1)
		return ctx_fail(ctx, -EINVAL, "%s: threads: require, but the cores of this host have "
			"one thread each; use threads: prefer", request->name);
	return ctx_fail(ctx, -EINVAL, "%s: threads: require, but %" PRIu32 " vCPU%s%s %s not fill cores "
		"of %" PRIu32 " threads; request a multiple of %" PRIu32 ", or use threads: "
		"prefer", request->name, request->vcpus, plural(request->vcpus),
		request->cell_count > 1 ? " in these cells" : "",
		request->vcpus == 1 ? "does" : "do", most, most);
}

static int check_memory(struct vfctl_ctx *ctx, const struct vfctl_request *request)
{
	uint64_t page = request->page_bytes;

	if (!request->memory_bytes)
		return ctx_fail(ctx, -EINVAL,
			"%s: the guest has no memory; state its size", request->name);
	if (page == VFCTL_PAGES_BASE || page == VFCTL_PAGES_AUTO)
		return 0;
	if (page & (page - 1))
		return ctx_fail(ctx, -EINVAL,
			"%s: pages of %" PRIu64 " bytes: sizes are powers of two",
			request->name, page);
	if (request->memory_bytes % page)
		return ctx_fail(ctx, -EINVAL,
			"%s: %" PRIu64 " bytes of memory are not a whole number of pages of %" PRIu64 " "
			"bytes; round the memory up, or use smaller pages",
			request->name, request->memory_bytes, page);
	return 0;
}

static int check_counts(struct vfctl_ctx *ctx, const struct vfctl_request *request)
{
	const struct {
		const char *what;
		uint32_t value, min, max;
	} counts[] = {
		{"vCPUs", request->vcpus, 1, VFCTL_VCPU_MAX},
		{"emulator cores", request_has_auto(request) ? 0 : request->emulator_cores, 0,
			VFCTL_EMULATOR_CORES_MAX},
		{"I/O threads", request->iothreads, 0, VFCTL_IOTHREADS_MAX},
		{"cores for I/O threads", request->iothread_cores, 0, VFCTL_IOTHREADS_MAX},
		{"shared vCPUs", request->shared_vcpus, 0, request->vcpus},
	};

	for (size_t i = 0; i < ARRAY_SIZE(counts); i++)
		if (counts[i].value < counts[i].min || counts[i].value > counts[i].max)
			return ctx_fail(ctx, -EINVAL,
				"%s: %" PRIu32 " %s are requested; it must be %" PRIu32 " to %" PRIu32,
				request->name, counts[i].value, counts[i].what,
				counts[i].min, counts[i].max);
	if (request->threads > VFCTL_THREADS_NONE)
		return ctx_fail(ctx, -EINVAL, "%s: thread policy %d is not valid",
			request->name, (int)request->threads);
	if (request->memory_affinity > VFCTL_AFFINITY_PREFERRED)
		return ctx_fail(ctx, -EINVAL, "%s: memory is required or preferred on its cell's "
			"node, not %s", request->name,
			vfctl_affinity_name(request->memory_affinity));
	if (request->iothread_cores && !request->iothreads)
		return ctx_fail(ctx, -EINVAL, "%s: cores for I/O threads, but no I/O threads; request "
			"I/O threads, or omit the cores", request->name);
	return 0;
}

int check_request(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *request)
{
	int r;

	if (!request->name)
		return ctx_fail(ctx, -EINVAL, "request: the guest has no name");
	r = check_counts(ctx, request);
	if (r == 0)
		r = check_memory(ctx, request);
	if (r == 0)
		r = check_cells(ctx, model, request);
	if (r == 0)
		r = check_wants(ctx, model, request);
	if (r == 0)
		r = check_siblings(ctx, model, request);
	if (r < 0)
		return r;
	if (request->node != VFCTL_NODE_NONE &&
		!vfctl_topology_node(model->topology, request->node))
		return ctx_fail(ctx, -EINVAL,
			"%s: the guest needs node %d, which this host does not have; see vfctl topology",
			request->name, request->node);
	if (request->node != VFCTL_NODE_NONE && request->cell_count > 1)
		return ctx_fail(ctx, -EINVAL, "%s: %zu cells cannot all be on node %d; each cell needs "
			"its own node", request->name, request->cell_count,
			request->node);
	return 0;
}
