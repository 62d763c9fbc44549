// SPDX-License-Identifier: GPL-2.0-or-later
#include "instance.h"

/* splitmix64: the same numbers on every machine. */
uint32_t instance_random(struct instance *in, uint32_t n)
{
	uint64_t z = (in->state += UINT64_C(0x9e3779b97f4a7c15));

	z = (z ^ z >> 30) * UINT64_C(0xbf58476d1ce4e5b9);
	z = (z ^ z >> 27) * UINT64_C(0x94d049bb133111eb);
	return (uint32_t)((z ^ z >> 31) % n);
}

#define R(n) instance_random(in, (n))

static void add_core(struct instance *in, unsigned node, unsigned threads, unsigned *cpu)
{
	struct vfctl_core *core = &in->cores[in->topology.core_count++];

	*core = (struct vfctl_core){.node = (int)node, .package = (int)node / 2, .l3 = (int)node,
		.die = -1};
	for (unsigned t = 0; t < threads; t++, (*cpu)++) {
		vfctl_cpuset_add(&core->cpus, *cpu);
		vfctl_cpuset_add(&in->nodes[node].cpus, *cpu);
		vfctl_cpuset_add(&in->topology.online, *cpu);
	}
}

static void make_nodes(struct instance *in, bool tiny)
{
	unsigned threads = 1 + R(2), mixed = tiny ? 0 : R(4) == 0, cpu = 0;
	unsigned n = tiny ? 1 + R(2) : 1 + R(NODES);

	in->topology.node_count = n;
	for (unsigned i = 0; i < n; i++) {
		unsigned cores = i == 0 || tiny || R(8) ? 1 + R(tiny ? 4 : 8) : 0;

		in->nodes[i] = (struct vfctl_node){.id = i, .memory_bytes = (2 + R(14)) * GIB};
		if (R(2)) {
			uint64_t pages = 1 + R(6);

			in->nodes[i].pools[0] = (struct vfctl_page_pool){.page_bytes = GIB,
				.total = pages, .free = pages};
			in->nodes[i].pool_count = 1;
			in->nodes[i].memory_bytes += pages * GIB;
		}
		for (unsigned c = 0; c < cores; c++)
			add_core(in, i, mixed ? 1 + R(2) : threads, &cpu);
		for (unsigned k = 0; k <= i; k++)
			in->distances[i * n + k] = in->distances[k * n + i] =
				i == k ? 10 : 11 + R(12);
	}
}

void instance_add_qemu_core(struct instance *in)
{
	const struct vfctl_core *core = &in->cores[R((uint32_t)in->topology.core_count)];
	uint32_t carries = vfctl_cpuset_count(&core->cpus) * VFCTL_QEMU_GUESTS_PER_CPU;
	uint32_t guests = carries - R(3);
	static char name[] = "carried";

	if (guests > CARRIED || vfctl_cpuset_intersects(&core->cpus, &in->model.reserved_cpus) ||
		vfctl_cpuset_intersects(&core->cpus, &in->model.shared_cpus))
		return;
	in->model.occupants = in->occupants;
	in->model.occupant_count = guests;
	for (uint32_t i = 0; i < guests; i++)
		in->occupants[i] = (struct vfctl_occupant){.name = name, .qemu_cpus = core->cpus};
}

unsigned instance_slots(const struct instance *in, unsigned node)
{
	unsigned guests = (unsigned)in->model.occupant_count, carries;

	if (vfctl_cpuset_intersects(&in->model.reserved_cpus, &in->nodes[node].cpus))
		return SEATS_OF_HOST;
	if (!guests || !vfctl_cpuset_intersects(&in->occupants[0].qemu_cpus, &in->nodes[node].cpus))
		return 0;
	carries = vfctl_cpuset_count(&in->occupants[0].qemu_cpus) * VFCTL_QEMU_GUESTS_PER_CPU;
	return carries - guests;
}

static bool is_kept(const struct instance *in, size_t core)
{
	return vfctl_cpuset_intersects(&in->cores[core].cpus, &in->model.reserved_cpus) ||
		vfctl_cpuset_intersects(&in->cores[core].cpus, &in->model.shared_cpus);
}

bool instance_core_is_free(const struct instance *in, size_t core)
{
	const struct vfctl_cpuset *cpus = &in->cores[core].cpus;

	return !is_kept(in, core) && !vfctl_cpuset_intersects(cpus, &in->model.busy_cpus) &&
		(!in->model.occupant_count ||
			!vfctl_cpuset_intersects(cpus, &in->occupants[0].qemu_cpus));
}

bool instance_is_empty(const struct instance *in)
{
	for (size_t i = 0; i < in->topology.core_count; i++)
		if (!is_kept(in, i) && !instance_core_is_free(in, i))
			return false;
	return true;
}

bool instance_fills(const struct instance *in, const struct vfctl_request *r, unsigned node,
	uint32_t vcpus)
{
	uint32_t cores = 0, threads = 0, smallest = UINT32_MAX;

	for (size_t i = 0; i < in->topology.core_count; i++) {
		uint32_t here = vfctl_cpuset_count(&in->cores[i].cpus);

		if (in->cores[i].node != (int)node || is_kept(in, i))
			continue;
		cores++;
		threads += here;
		smallest = here < smallest ? here : smallest;
	}
	if (!cores)
		return !vcpus;
	if (r->threads == VFCTL_THREADS_ISOLATE)
		return vcpus == cores;
	return vcpus <= threads && vcpus > threads - smallest;
}

static void make_vfs(struct instance *in, bool tiny)
{
	unsigned pfs = R(4);

	for (unsigned p = 0; p < pfs; p++) {
		int node = !tiny && R(8) == 0 ? VFCTL_NODE_NONE
					      : (int)R((uint32_t)in->topology.node_count);
		unsigned count = 1 + R(tiny ? 2 : 4);
		int fabric = (int)R(2);
		uint32_t port = 1 + R(2);

		for (unsigned i = 0; i < count; i++)
			in->vfs[in->model.vf_count++] = (struct vfctl_free_vf){
				.pf = {.bus = (uint8_t)(16 + p)}, .index = i, .node = node,
				.bdf = {.bus = (uint8_t)(16 + p), .slot = (uint8_t)(1 + i)},
				.fabric = fabric, .port = port, .root = VFCTL_ROOT_UNKNOWN};
	}
}

static void make_wants(struct instance *in, size_t g, bool tiny)
{
	struct vfctl_request *r = &in->requests[g];
	size_t count = R(3) == 0 ? 0 : 1 + R(tiny ? 1 : WANTS);
	uint32_t anti_affinity = !tiny && R(4) == 0;

	for (size_t i = 0; i < count; i++) {
		struct vfctl_vf_want *w = &in->wants[g][i];

		*w = (struct vfctl_vf_want){.any_pf = R(3) != 0, .count = 1 + R(2),
			.fabric = R(2) ? VFCTL_FABRIC_ANY : (int)R(2), .cell = VFCTL_CELL_ANY,
			.affinity = (enum vfctl_affinity[]){VFCTL_AFFINITY_REQUIRED,
				VFCTL_AFFINITY_REQUIRED, VFCTL_AFFINITY_PREFERRED,
				VFCTL_AFFINITY_ANY, VFCTL_AFFINITY_SOCKET}[R(tiny ? 4 : 5)],
			.anti_affinity = anti_affinity, .port = !tiny && R(6) == 0 ? 1 + R(2) : 0};
		if (!w->any_pf) {
			w->fabric = VFCTL_FABRIC_ANY;
			w->pf = (struct vfctl_bdf){.bus = (uint8_t)(16 + R(3))};
		}
		if (r->cell_count && R(3) == 0)
			w->cell = R(2) ? VFCTL_CELL_EACH : (int)R((uint32_t)r->cell_count);
	}
	r->wants = in->wants[g];
	r->want_count = count;
}

static void make_cells(struct instance *in, struct vfctl_request *r, size_t g)
{
	size_t count = 2 + R(2);

	if (r->vcpus < count || r->memory_bytes < count * GIB || R(3))
		return;
	r->cells = in->cells[g];
	r->cell_count = count;
	for (size_t k = 0; k < count; k++)
		in->cells[g][k] = (struct vfctl_cell_want){.vcpus = 1, .memory_bytes = GIB,
			.node = VFCTL_NODE_NONE};
	for (uint32_t v = (uint32_t)count; v < r->vcpus; v++)
		in->cells[g][R((uint32_t)count)].vcpus++;
	for (uint64_t m = count * GIB; m < r->memory_bytes; m += GIB)
		in->cells[g][R((uint32_t)count)].memory_bytes += GIB;
	if (R(4) == 0)
		in->cells[g][R((uint32_t)count)].node = (int)R((uint32_t)in->topology.node_count);
}

/* threads: require only where no cell is odd: else it is an error, not a question. */
static bool can_require(const struct instance *in, const struct vfctl_request *r)
{
	bool even = r->vcpus % 2 == 0, siblings = false;

	for (size_t k = 0; k < r->cell_count; k++)
		even &= r->cells[k].vcpus % 2 == 0;
	for (size_t i = 0; i < in->topology.core_count; i++)
		siblings |= vfctl_cpuset_count(&in->cores[i].cpus) == 2;
	return even && siblings;
}

static void make_guest(struct instance *in, size_t g, bool tiny)
{
	static const char *const names[GUESTS] = {"a", "b", "c", "d", "e", "f"};
	struct vfctl_request *r = &in->requests[g];

	*r = (struct vfctl_request){.name = names[g], .vcpus = 1 + R(tiny ? 4 : 8),
		.threads = (enum vfctl_threads[]){VFCTL_THREADS_PREFER, VFCTL_THREADS_NONE,
			VFCTL_THREADS_ISOLATE, VFCTL_THREADS_REQUIRE}[R(4)],
		.emulator_cores = R(4), .memory_bytes = (1 + R(6)) * GIB,
		.page_bytes = R(2) ? VFCTL_PAGES_BASE : R(2) ? GIB : VFCTL_PAGES_AUTO,
		.node = VFCTL_NODE_NONE, .cells_max = 1};
	if (r->emulator_cores == 2)
		r->emulator_cores = 0;
	if (r->emulator_cores == 3)
		r->emulator_cores = VFCTL_EMULATOR_AUTO;
	if (!tiny)
		make_cells(in, r, g);
	if (!r->cell_count && R(6) == 0)
		r->node = (int)R((uint32_t)in->topology.node_count);
	if (r->threads == VFCTL_THREADS_REQUIRE && !can_require(in, r))
		r->threads = VFCTL_THREADS_PREFER;
	if (!tiny && R(6) == 0)
		r->max_distance = 12 + R(8);
	make_wants(in, g, tiny);
}

void instance_make(struct instance *in, uint64_t seed, bool tiny)
{
	*in = (struct instance){.seed = seed, .state = seed};
	in->topology.nodes = in->nodes;
	in->topology.distances = in->distances;
	in->topology.cores = in->cores;
	in->model.topology = &in->topology;
	in->model.vfs = in->vfs;
	make_nodes(in, tiny);
	make_vfs(in, tiny);
	/* One CPU of the host's own, for guests without a core for QEMU. */
	if (in->topology.core_count > 1 && R(2))
		vfctl_cpuset_add(&in->model.reserved_cpus, 0);
	if (R(4) == 0)
		instance_add_qemu_core(in);
	in->guest_count = 1 + R(tiny ? 3 : GUESTS);
	for (size_t g = 0; g < in->guest_count; g++)
		make_guest(in, g, tiny);
	/* The same again: guests that ask alike are a case of their own. */
	if (in->guest_count > 1 && R(3) == 0) {
		const char *name = in->requests[1].name;

		in->requests[1] = in->requests[0];
		in->requests[1].name = name;
	}
}

unsigned local_nodes(const struct instance *in, int node)
{
	size_t n = in->topology.node_count;
	unsigned found = 0, with_cpus = 0, best = UINT32_MAX;

	for (size_t i = 0; i < n; i++)
		if (!vfctl_cpuset_empty(&in->nodes[i].cpus))
			with_cpus |= 1u << i;
	if (__builtin_popcount(with_cpus) == 1)
		return with_cpus;
	for (size_t i = 0; node >= 0 && i < n; i++) {
		unsigned d = in->distances[(size_t)node * n + i];

		if (!(with_cpus >> i & 1) || d > best)
			continue;
		found = d < best ? 1u << i : found | 1u << i;
		best = d;
	}
	return found;
}

unsigned socket_nodes(const struct instance *in, unsigned nodes)
{
	unsigned found = nodes;

	for (size_t i = 0; i < in->topology.core_count; i++)
		for (size_t k = 0; k < in->topology.core_count; k++)
			if (nodes >> in->cores[i].node & 1 &&
				in->cores[k].package == in->cores[i].package)
				found |= 1u << in->cores[k].node;
	return found;
}
