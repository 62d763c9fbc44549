// SPDX-License-Identifier: GPL-2.0-or-later
#include "split.h"

#define R(n) instance_random(in, (n))
#define SPLIT_NODES 3

/* All cores alike, alike on each node, or mixed on every node. */
static unsigned threads_of(struct instance *in, unsigned shape, unsigned node)
{
	switch (shape) {
	case 0: return 1;
	case 1: return 2;
	case 2: return 1 + node % 2;
	case 3: return 1 + R(2);
	default: return 1u << R(3);
	}
}

static void add_core(struct instance *in, unsigned node, unsigned threads, unsigned *cpu)
{
	struct vfctl_core *core = &in->cores[in->topology.core_count++];

	*core = (struct vfctl_core){.node = (int)node, .package = (int)node, .l3 = (int)node,
		.die = -1};
	for (unsigned t = 0; t < threads; t++, (*cpu)++) {
		vfctl_cpuset_add(&core->cpus, *cpu);
		vfctl_cpuset_add(&in->nodes[node].cpus, *cpu);
		vfctl_cpuset_add(&in->topology.online, *cpu);
	}
}

static void make_memory(struct instance *in, struct vfctl_node *node)
{
	uint64_t pages = R(2) ? R(4) : 0;

	node->memory_bytes = (1 + R(8)) * MIB;
	if (!pages)
		return;
	node->pools[0] = (struct vfctl_page_pool){.page_bytes = HUGE_BYTES, .total = pages,
		.free = pages};
	node->pool_count = 1;
	node->memory_bytes += pages * HUGE_BYTES;
}

/* CPUs that are no guest's: somebody's, the host's own, or shared ones. */
static void take_cpus(struct instance *in, unsigned cpus)
{
	if (R(4) == 0)
		vfctl_cpuset_add(&in->model.busy_cpus, R(cpus));
	else if (R(4) == 0)
		vfctl_cpuset_add(&in->model.reserved_cpus, 0);
	else if (R(3) == 0)
		in->model.shared_cpus = in->cores[R((uint32_t)in->topology.core_count)].cpus;
	in->model.shared_ratio = 2;
}

static void make_nodes(struct instance *in)
{
	unsigned n = 2 + R(SPLIT_NODES - 1), shape = R(5), cpu = 0;

	in->topology.node_count = n;
	for (unsigned i = 0; i < n; i++) {
		unsigned cores = i == 0 || R(8) ? 1 + R(4) : 0;

		in->nodes[i].id = i;
		make_memory(in, &in->nodes[i]);
		for (unsigned c = 0; c < cores; c++)
			add_core(in, i, threads_of(in, shape, i), &cpu);
		for (unsigned k = 0; k <= i; k++)
			in->distances[i * n + k] = in->distances[k * n + i] =
				i == k ? 10 : 11 + R(12);
	}
	take_cpus(in, cpu);
}

static void make_vfs(struct instance *in)
{
	unsigned pfs = 1 + R(4);

	for (unsigned p = 0; p < pfs; p++) {
		int node = (int)R((uint32_t)in->topology.node_count), fabric = (int)R(2);
		unsigned count = 1 + R(3);

		for (unsigned i = 0; i < count; i++)
			in->vfs[in->model.vf_count++] = (struct vfctl_free_vf){
				.pf = {.bus = (uint8_t)(16 + p)}, .index = i, .node = node,
				.bdf = {.bus = (uint8_t)(16 + p), .slot = (uint8_t)(1 + i)},
				.fabric = fabric, .root = VFCTL_ROOT_UNKNOWN};
	}
}

static void make_wants(struct instance *in, size_t g)
{
	struct vfctl_request *r = &in->requests[g];

	r->wants = in->wants[g];
	r->want_count = R(2) ? 1 + R(WANTS) : 0;
	for (size_t i = 0; i < r->want_count; i++)
		in->wants[g][i] = (struct vfctl_vf_want){.any_pf = true, .count = 1 + R(2),
			.fabric = R(3) ? VFCTL_FABRIC_ANY : (int)R(2), .cell = VFCTL_CELL_ANY,
			.anti_affinity = R(2) ? 1 : 0,
			.affinity = (enum vfctl_affinity[]){VFCTL_AFFINITY_REQUIRED,
				VFCTL_AFFINITY_REQUIRED, VFCTL_AFFINITY_REQUIRED,
				VFCTL_AFFINITY_PREFERRED, VFCTL_AFFINITY_ANY}[R(5)]};
}

/* threads: require is an error where no core of the host is filled, not a question. */
static bool can_require(const struct instance *in, uint32_t vcpus)
{
	for (size_t i = 0; i < in->topology.core_count; i++) {
		uint32_t threads = vfctl_cpuset_count(&in->cores[i].cpus);

		if (threads > 1 && vcpus % threads == 0)
			return true;
	}
	return false;
}

static void make_guest(struct instance *in, size_t g)
{
	static const char *const names[] = {"a", "b"};
	struct vfctl_request *r = &in->requests[g];

	*r = (struct vfctl_request){.name = names[g], .vcpus = 1 + R(7),
		.threads = (enum vfctl_threads[]){VFCTL_THREADS_PREFER, VFCTL_THREADS_PREFER,
			VFCTL_THREADS_NONE, VFCTL_THREADS_ISOLATE, VFCTL_THREADS_REQUIRE}[R(5)],
		.emulator_cores = R(3) ? VFCTL_EMULATOR_AUTO : R(3), .memory_bytes = (1 + R(9)) * MIB,
		.page_bytes = R(2) ? VFCTL_PAGES_BASE : R(2) ? HUGE_BYTES : VFCTL_PAGES_AUTO,
		.memory_affinity = R(4) ? VFCTL_AFFINITY_REQUIRED : VFCTL_AFFINITY_PREFERRED,
		.node = VFCTL_NODE_NONE, .max_distance = R(6) ? 0 : 12 + R(8),
		.cells_max = R(8) ? 0 : 1 + R(2)};
	if (r->page_bytes == HUGE_BYTES)
		r->memory_bytes += r->memory_bytes % HUGE_BYTES;
	if (!vfctl_cpuset_empty(&in->model.shared_cpus) && R(2))
		r->shared_vcpus = 1 + R(r->vcpus);
	if (r->threads == VFCTL_THREADS_REQUIRE &&
		(r->shared_vcpus || !can_require(in, r->vcpus)))
		r->threads = VFCTL_THREADS_PREFER;
	make_wants(in, g);
	if (R(4) == 0)
		r->iothread_cores = r->iothreads = 1 + R(2);
}

void split_make(struct instance *in, uint64_t seed)
{
	*in = (struct instance){.seed = seed, .state = seed};
	in->topology.nodes = in->nodes;
	in->topology.distances = in->distances;
	in->topology.cores = in->cores;
	in->model.topology = &in->topology;
	in->model.vfs = in->vfs;
	make_nodes(in);
	make_vfs(in);
	if (R(4) == 0)
		instance_add_qemu_core(in);
	in->guest_count = R(3) ? 1 : 2;
	for (size_t g = 0; g < in->guest_count; g++)
		make_guest(in, g);
}
