// SPDX-License-Identifier: GPL-2.0-or-later
/* Read back the placement that a domain XML states. */
#include <errno.h>

#include "base/parse.h"
#include "domain/definition.h"
#include "domain/domain.h"
#include "types/find.h"

void vfctl_domain_placement_free(struct vfctl_assignment *a)
{
	if (!a)
		return;
	free(a->cells);
	free(a->vcpus);
	free(a->vfs);
	free(a->vf_wants);
	free(a->vf_cells);
	free(a);
}

DEFINE_FREEP(struct vfctl_assignment, vfctl_domain_placement_free)

static int node_of_cpu(const struct vfctl_topology *topology, unsigned cpu)
{
	for (size_t i = 0; topology && i < topology->node_count; i++)
		if (vfctl_cpuset_has(&topology->nodes[i].cpus, cpu))
			return (int)topology->nodes[i].id;
	return VFCTL_NODE_NONE;
}

static int only_member(const struct vfctl_cpuset *set)
{
	return vfctl_cpuset_count(set) == 1 ? vfctl_cpuset_next(set, 0) : VFCTL_NODE_NONE;
}

/*
 * A vCPU with a single CPU has it alone; those with more are shared, and are the last of their
 * cell.
 */
static int read_vcpus(struct vfctl_ctx *ctx, const struct vfctl_parsed_domain *parsed,
	struct vfctl_assignment *a, struct vfctl_cell *cell)
{
	for (uint32_t i = 0; i < cell->vcpu_count; i++) {
		uint32_t vcpu = cell->first_vcpu + i;
		const struct vfctl_cpuset *pin = &parsed->vcpu_pins[vcpu];
		int cpu = only_member(pin);

		if (vfctl_cpuset_empty(pin) || (cpu >= 0 && cell->shared_vcpus))
			return ctx_fail(ctx, -EINVAL,
				"domain %s: vCPU %u %s; vfctl did not make this placement",
				parsed->name, vcpu,
				cpu < 0 ? "is not pinned"
					: "has a CPU of its own and follows a shared vCPU");
		a->vcpus[vcpu] = cpu < 0 ? VFCTL_CPU_MAX : (uint32_t)cpu;
		if (cpu >= 0)
			continue;
		cell->shared_vcpus++;
		vfctl_cpuset_or(&cell->shared_cpus, pin);
	}
	return 0;
}

static int read_cell(struct vfctl_ctx *ctx, const struct vfctl_parsed_domain *parsed,
	const struct vfctl_topology *topology, struct vfctl_assignment *a, size_t number)
{
	const struct vfctl_domain_cell *from = &parsed->cells[number];
	struct vfctl_cell *cell = &a->cells[number];
	int first = vfctl_cpuset_next(&from->vcpus, 0);
	unsigned count = vfctl_cpuset_count(&from->vcpus);
	int r;

	if (first < 0 || !vfctl_cpuset_has(&from->vcpus, (unsigned)first + count - 1) ||
		(unsigned)first + count > parsed->vcpus)
		return ctx_fail(ctx, -EINVAL,
			"domain %s: the vCPUs of guest cell %zu are not consecutive; vfctl did not make "
			"this placement",
			parsed->name, number);
	*cell = (struct vfctl_cell){.memory_node = only_member(&from->memory_nodes),
		.first_vcpu = (uint32_t)first, .vcpu_count = count,
		.memory_bytes = from->memory_bytes, .page_bytes = from->page_bytes};
	r = read_vcpus(ctx, parsed, a, cell);
	if (r < 0)
		return r;
	cell->node = a->vcpus[first] < VFCTL_CPU_MAX
			     ? node_of_cpu(topology, a->vcpus[first])
			     : node_of_cpu(topology,
				       (unsigned)vfctl_cpuset_next(&cell->shared_cpus, 0));
	if (cell->node < 0)
		cell->node = cell->memory_node;
	a->memory_bytes += cell->memory_bytes;
	return 0;
}

static int read_cells(struct vfctl_ctx *ctx, const struct vfctl_parsed_domain *parsed,
	const struct vfctl_topology *topology, struct vfctl_assignment *a)
{
	struct vfctl_cpuset seen = {0};
	int r = 0;

	if (parsed->cell_count > VFCTL_CELLS_MAX || parsed->vcpus > VFCTL_VCPU_MAX)
		return ctx_fail(ctx, -EINVAL, "domain %s: %zu guest cells and %u vCPUs are "
			"more than %d and %d", parsed->name, parsed->cell_count, parsed->vcpus,
			VFCTL_CELLS_MAX, VFCTL_VCPU_MAX);
	a->cells = calloc(parsed->cell_count, sizeof(*a->cells));
	a->vcpus = calloc(parsed->vcpus, sizeof(*a->vcpus));
	if (!a->cells || !a->vcpus)
		return ctx_oom(ctx);
	a->cell_count = parsed->cell_count;
	a->vcpu_count = parsed->vcpus;
	for (size_t i = 0; r == 0 && i < a->cell_count; i++) {
		if (vfctl_cpuset_intersects(&seen, &parsed->cells[i].vcpus))
			return ctx_fail(ctx, -EINVAL,
				"domain %s: a vCPU is in two guest cells", parsed->name);
		vfctl_cpuset_or(&seen, &parsed->cells[i].vcpus);
		r = read_cell(ctx, parsed, topology, a, i);
	}
	if (r == 0 && vfctl_cpuset_count(&seen) != parsed->vcpus)
		r = ctx_fail(ctx, -EINVAL, "domain %s: %u of its %u vCPUs are in guest cells",
			parsed->name, vfctl_cpuset_count(&seen), parsed->vcpus);
	a->node = a->cells[0].node;
	a->page_bytes = a->cells[0].page_bytes;
	return r;
}

/* Dies represent L3 caches, as render_cells() writes them. */
static int read_shape(struct vfctl_ctx *ctx, const struct xml_node *domain,
	struct vfctl_assignment *a)
{
	const struct xml_node *topology = xml_child(xml_child(domain, "cpu"), "topology");
	const char *threads = xml_get(topology, "threads"), *dies = xml_get(topology, "dies");
	uint32_t groups = 0;

	a->guest_threads = 1;
	if (threads && parse_u32(threads, 1, VFCTL_VCPU_MAX, &a->guest_threads) < 0)
		return parsed_fail(ctx, topology, threads);
	if (dies && parse_u32(dies, 1, VFCTL_VCPU_MAX, &groups) < 0)
		return parsed_fail(ctx, topology, dies);
	for (size_t i = 0; i < a->cell_count; i++)
		a->cells[i].l3_groups = groups > 1 ? groups : 0;
	return 0;
}

static int cell_of_place(
	const struct vfctl_parsed_domain *parsed, const struct vfctl_domain_device *device)
{
	for (size_t i = 0; device->has_guest && i < parsed->controller_count; i++)
		if (parsed->controllers[i].index == device->guest.bus)
			return parsed->controllers[i].cell;
	return -1;
}

/* If the metadata does not have a VF's place on the host, derive it from its place in the guest. */
static void complete_vf(const struct vfctl_parsed_domain *parsed,
	const struct vfctl_assignment *a, struct vfctl_free_vf *vf, uint32_t *ret_cell)
{
	const struct vfctl_domain_device *device = find_domain_device(parsed, &vf->bdf);
	int cell = device ? cell_of_place(parsed, device) : -1;

	for (size_t i = 0; cell < 0 && vf->node >= 0 && i < a->cell_count; i++)
		if (a->cells[i].node == vf->node || a->cells[i].memory_node == vf->node)
			cell = (int)i;
	if (cell < 0 || (size_t)cell >= a->cell_count)
		cell = 0;
	else if (vf->node < 0)
		vf->node = a->cells[cell].node;
	*ret_cell = (uint32_t)cell;
}

static int read_vfs(struct vfctl_ctx *ctx, struct xml_node *domain,
	const struct vfctl_parsed_domain *parsed, struct vfctl_assignment *a)
{
	int r = metadata_places(ctx, domain, &a->vfs, &a->vf_count);

	if (r < 0)
		return r;
	a->vf_wants = calloc(a->vf_count + 1, sizeof(*a->vf_wants));
	a->vf_cells = calloc(a->vf_count + 1, sizeof(*a->vf_cells));
	if (!a->vf_wants || !a->vf_cells)
		return ctx_oom(ctx);
	for (size_t i = 0; i < a->vf_count; i++)
		complete_vf(parsed, a, &a->vfs[i], &a->vf_cells[i]);
	return 0;
}

/* Whole cores: an idle sibling also belongs to the guest. */
static void hold_cpus(const struct vfctl_topology *topology, struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] < VFCTL_CPU_MAX)
			vfctl_cpuset_add(&a->held_cpus, a->vcpus[i]);
	for (size_t i = 0; topology && i < topology->core_count; i++)
		if (vfctl_cpuset_intersects(&a->held_cpus, &topology->cores[i].cpus))
			vfctl_cpuset_or(&a->held_cpus, &topology->cores[i].cpus);
}

int vfctl_domain_placement(struct vfctl_ctx *ctx, const char *text,
	const struct vfctl_topology *topology, struct vfctl_assignment **ret)
{
	_cleanup_(vfctl_domain_placement_freep) struct vfctl_assignment *a = calloc(1, sizeof(*a));
	_cleanup_(vfctl_parsed_domain_freep) struct vfctl_parsed_domain *parsed = NULL;
	_cleanup_(xml_freep) struct xml *xml = NULL;
	int r;

	if (!a)
		return ctx_oom(ctx);
	r = vfctl_domain_read(ctx, text, &parsed);
	if (r == 0)
		r = xml_parse_domain(ctx, "domain", text, &xml);
	if (r == 0)
		r = read_cells(ctx, parsed, topology, a);
	if (r == 0)
		r = read_shape(ctx, xml_root(xml), a);
	if (r == 0)
		r = read_vfs(ctx, xml_root(xml), parsed, a);
	if (r < 0)
		return r;
	a->emulator_cpus = parsed->emulator_cpus;
	a->iothread_cpus = parsed->iothread_cpus;
	hold_cpus(topology, a);
	*ret = steal(a);
	return 0;
}
