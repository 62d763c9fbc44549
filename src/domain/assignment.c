// SPDX-License-Identifier: GPL-2.0-or-later
/* Check an assignment before a domain is written from it. */
#include <errno.h>
#include <inttypes.h>

#include "domain/definition.h"
#include "domain/domain.h"
#include "topology/topology.h"

static int check_pins(struct vfctl_ctx *ctx, const char *name,
	const struct vfctl_assignment *a, size_t number)
{
	const struct vfctl_cell *cell = &a->cells[number];
	uint32_t own = cell->vcpu_count - cell->shared_vcpus;

	for (uint32_t i = 0; i < cell->vcpu_count; i++) {
		uint32_t cpu = a->vcpus[cell->first_vcpu + i];

		if (i < own ? cpu >= VFCTL_CPU_MAX : cpu != VFCTL_CPU_MAX)
			return ctx_fail(ctx, -EINVAL,
				"%s: vCPU %" PRIu32 " of guest cell %zu %s; plan it again",
				name, cell->first_vcpu + i, number,
				i < own ? "has no CPU of its own" : "is shared and has a CPU of "
					"its own");
	}
	return 0;
}

static int check_cell(struct vfctl_ctx *ctx, const char *name,
	const struct vfctl_assignment *a, size_t number)
{
	const struct vfctl_cell *cell = &a->cells[number];
	const char *wrong = NULL;

	if (!cell->vcpu_count || cell->vcpu_count > a->vcpu_count ||
		cell->first_vcpu > a->vcpu_count - cell->vcpu_count)
		wrong = "its vCPUs are not those of the guest";
	else if (cell->shared_vcpus > cell->vcpu_count)
		wrong = "it has more shared vCPUs than vCPUs";
	else if (cell->shared_vcpus && vfctl_cpuset_empty(&cell->shared_cpus))
		wrong = "its shared vCPUs have no CPUs";
	else if (cell->vcpu_count % a->guest_threads)
		wrong = "its vCPUs do not fill cores";
	else if (cell->memory_node < 0 || cell->memory_node >= VFCTL_CPU_MAX)
		wrong = "its memory is on no node";
	else if (!cell->memory_bytes || cell->memory_bytes % 1024)
		wrong = "its memory is not a whole number of KiB";
	else if (cell->page_bytes == VFCTL_PAGES_AUTO || cell->page_bytes % 1024 ||
		(cell->page_bytes && cell->memory_bytes % cell->page_bytes))
		wrong = "its memory is not a whole number of pages";
	if (wrong)
		return ctx_fail(ctx, -EINVAL, "%s: guest cell %zu: %s; plan it again", name,
			number, wrong);
	return check_pins(ctx, name, a, number);
}

/* Every vCPU must be in one cell, and no two vCPUs may have the same CPU. */
static int check_once(
	struct vfctl_ctx *ctx, const char *name, const struct vfctl_assignment *a)
{
	struct vfctl_cpuset vcpus = {0}, cpus = {0};

	for (size_t c = 0; c < a->cell_count; c++)
		for (uint32_t i = 0; i < a->cells[c].vcpu_count; i++) {
			uint32_t vcpu = a->cells[c].first_vcpu + i, cpu = a->vcpus[vcpu];

			if (vfctl_cpuset_has(&vcpus, vcpu))
				return ctx_fail(ctx, -EINVAL,
					"%s: vCPU %" PRIu32
					" is in two guest cells; plan it again",
					name, vcpu);
			if (cpu < VFCTL_CPU_MAX && vfctl_cpuset_has(&cpus, cpu))
				return ctx_fail(ctx, -EINVAL,
					"%s: CPU %" PRIu32
					" is under two vCPUs; plan it again",
					name, cpu);
			vfctl_cpuset_add(&vcpus, vcpu);
			if (cpu < VFCTL_CPU_MAX)
				vfctl_cpuset_add(&cpus, cpu);
		}
	if (vfctl_cpuset_count(&vcpus) != a->vcpu_count)
		return ctx_fail(ctx, -EINVAL,
			"%s: %u of its %zu vCPUs are in guest cells; plan it again", name,
			vfctl_cpuset_count(&vcpus), a->vcpu_count);
	return 0;
}

static int check_vfs(
	struct vfctl_ctx *ctx, const char *name, const struct vfctl_assignment *a)
{
	char text[VFCTL_BDF_TEXT];

	for (size_t i = 0; i < a->vf_count && a->vf_cells; i++)
		if (a->vf_cells[i] >= a->cell_count)
			return ctx_fail(ctx, -EINVAL,
				"%s: VF %s is for guest cell %" PRIu32
				" of %zu; plan it again",
				name, vfctl_bdf_format(&a->vfs[i].bdf, text),
				a->vf_cells[i], a->cell_count);
	return 0;
}

static int check_distances(
	struct vfctl_ctx *ctx, const struct vfctl_domain_request *request)
{
	size_t n = request->assignment->cell_count;

	for (size_t i = 0; request->cell_distances && i < n * n; i++)
		if (request->cell_distances[i] < DISTANCE_LOCAL ||
			request->cell_distances[i] > DISTANCE_UNREACHABLE)
			return ctx_fail(ctx, -EINVAL,
				"%s: distance %u between guest cells %zu and %zu is not %d "
				"to %d",
				request->guest->name, request->cell_distances[i], i / n,
				i % n, DISTANCE_LOCAL, DISTANCE_UNREACHABLE);
	return 0;
}

int assignment_check(struct vfctl_ctx *ctx, const struct vfctl_domain_request *request)
{
	const struct vfctl_assignment *a = request->assignment;
	const char *name = request->guest->name;
	uint64_t memory = 0;
	int r = 0;

	if (a->refusal != VFCTL_REFUSAL_NONE)
		return ctx_fail(ctx, -EINVAL,
			"%s: it was not placed (not enough %s); see vfctl plan", name,
			vfctl_refusal_name(a->refusal));
	if (!a->vcpu_count || a->vcpu_count != request->guest->vcpus ||
		a->vcpu_count > VFCTL_VCPU_MAX || !a->guest_threads)
		return ctx_fail(ctx, -EINVAL,
			"%s: its placement has %zu vCPUs, but it asks for %" PRIu32 "; plan it again",
			name, a->vcpu_count, request->guest->vcpus);
	if (!a->cells || !a->cell_count || a->cell_count > VFCTL_CELLS_MAX)
		return ctx_fail(ctx, -EINVAL,
			"%s: its placement has %zu guest cells, not 1 to %d; plan it again",
			name, a->cell_count, VFCTL_CELLS_MAX);
	for (size_t i = 0; r == 0 && i < a->cell_count; i++) {
		r = check_cell(ctx, name, a, i);
		if (r == 0 && __builtin_add_overflow(memory, a->cells[i].memory_bytes, &memory))
			memory = UINT64_MAX;
	}
	if (r == 0 && memory != a->memory_bytes)
		r = ctx_fail(ctx, -EINVAL,
			"%s: its cells have %" PRIu64 " KiB, its placement %" PRIu64
			" KiB; plan it again",
			name, memory / 1024, a->memory_bytes / 1024);
	if (r == 0)
		r = check_once(ctx, name, a);
	if (r == 0)
		r = check_vfs(ctx, name, a);
	return r < 0 ? r : check_distances(ctx, request);
}

bool assignment_shares(const struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->cell_count; i++)
		if (a->cells[i].shared_vcpus)
			return true;
	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] < VFCTL_CPU_MAX &&
			vfctl_cpuset_has(&a->emulator_cpus, a->vcpus[i]))
			return true;
	return false;
}

const struct vfctl_free_vf *assignment_vf(
	const struct vfctl_assignment *a, const struct vfctl_bdf *bdf, uint32_t *ret_cell)
{
	for (size_t i = 0; i < a->vf_count; i++)
		if (vfctl_bdf_compare(&a->vfs[i].bdf, bdf) == 0) {
			*ret_cell = a->vf_cells ? a->vf_cells[i] : 0;
			return &a->vfs[i];
		}
	return NULL;
}

int vfctl_domain_cell_distances(struct vfctl_ctx *ctx,
	const struct vfctl_assignment *assignment, const struct vfctl_topology *topology,
	unsigned **ret_distances)
{
	size_t n = assignment->cell_count;
	unsigned *distances = calloc(n * n + 1, sizeof(*distances));

	if (!distances)
		return ctx_oom(ctx);
	for (size_t i = 0; i < n * n; i++) {
		int from = assignment->cells[i / n].node, to = assignment->cells[i % n].node;

		distances[i] = vfctl_topology_distance(topology, from, to);
		if (distances[i])
			continue;
		free(distances);
		return ctx_fail(ctx, -EINVAL,
			"the host has no node %d or %d, where the guest is placed; plan it "
			"again",
			from, to);
	}
	*ret_distances = distances;
	return 0;
}
