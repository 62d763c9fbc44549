// SPDX-License-Identifier: GPL-2.0-or-later
/* Convert a placed guest to a request for the same resources, for moves. */

#include "placement/model/request.h"

/*
 * A guest of vfctl with whole cores of its own that a request can fully describe: shared vCPUs are
 * bound to the shared CPUs, all pages have one size, and there are no more VFs than a guest may
 * have.
 */
bool resident_may_move(const struct vfctl_host_model *model, const struct vfctl_occupant *o)
{
	const struct vfctl_topology *t = model->topology;
	struct vfctl_cpuset others = model->reserved_cpus;
	uint64_t bytes = 0;

	vfctl_cpuset_or(&others, &model->shared_cpus);
	vfctl_cpuset_or(&others, &model->busy_cpus);
	for (size_t i = 0; i < model->occupant_count; i++)
		if (&model->occupants[i] != o)
			vfctl_cpuset_or(&others, &model->occupants[i].cpus);
	if (o->foreign || o->changing || vfctl_cpuset_empty(&o->cpus) || o->vf_count > VFCTL_GUEST_VFS_MAX)
		return false;
	/* If another guest holds a part of a core, the other half cannot be requested. */
	for (size_t i = 0; i < t->core_count; i++)
		if (vfctl_cpuset_intersects(&t->cores[i].cpus, &o->cpus) &&
			(vfctl_cpuset_intersects(&t->cores[i].cpus, &others) ||
				!vfctl_cpuset_within(&t->cores[i].cpus, &o->cpus)))
			return false;
	for (size_t i = 0; i < o->memory_count; i++) {
		if (o->memory[i].shared_vcpus || o->memory[i].page_bytes != o->memory[0].page_bytes)
			return false;
		bytes += o->memory[i].bytes;
	}
	return bytes > 0;
}

void resident_clear(struct resident *resident)
{
	free(resident->cells);
	free(resident->wants);
	*resident = (struct resident){0};
}

/* Number of nodes on which it holds CPUs, and these nodes. */
static size_t cells_of(const struct vfctl_host_model *model, const struct vfctl_occupant *o,
	struct vfctl_cell_want *ret, int *ret_nodes)
{
	const struct vfctl_topology *t = model->topology;
	size_t count = 0;

	for (size_t i = 0; i < t->node_count; i++) {
		struct vfctl_cpuset here = o->cpus;

		vfctl_cpuset_and(&here, &t->nodes[i].cpus);
		if (vfctl_cpuset_empty(&here))
			continue;
		ret_nodes[count] = (int)t->nodes[i].id;
		ret[count++] = (struct vfctl_cell_want){.node = VFCTL_NODE_NONE,
			.vcpus = vfctl_cpuset_count(&here)};
	}
	return count;
}

/* The entry of each cell: that of its own node, else one that no other cell has. */
static void find_entries(const struct vfctl_occupant *o, struct resident *t, const int *nodes,
	size_t cells)
{
	bool used[VFCTL_MODEL_NODES_MAX] = {0}, found[VFCTL_MODEL_NODES_MAX] = {0};

	if (o->memory_count != cells || cells > VFCTL_MODEL_NODES_MAX)
		return;
	for (size_t k = 0; k < cells; k++)
		for (size_t i = 0; i < cells && !found[k]; i++)
			if (!used[i] && o->memory[i].node == nodes[k]) {
				used[i] = found[k] = true;
				t->memory_of[k] = i;
			}
	for (size_t k = 0; k < cells; k++)
		for (size_t i = 0; i < cells && !found[k]; i++)
			if (!used[i]) {
				used[i] = found[k] = true;
				t->memory_of[k] = i;
			}
}

/*
 * One entry of memory for each cell; memory that does not fit this is divided evenly among the
 * cells.
 */
static void share_memory(const struct vfctl_occupant *o, struct resident *t, size_t cells)
{
	uint64_t page, left;

	t->request.page_bytes = o->memory_count ? o->memory[0].page_bytes : VFCTL_PAGES_BASE;
	for (size_t i = 0; i < o->memory_count; i++)
		t->request.memory_bytes += o->memory[i].bytes;
	if (o->memory_count == cells) {
		for (size_t k = 0; k < cells; k++)
			t->cells[k].memory_bytes = o->memory[t->memory_of[k]].bytes;
		return;
	}
	page = t->request.page_bytes ? t->request.page_bytes : 4096;
	left = t->request.memory_bytes;
	for (size_t k = 0; k < cells; k++) {
		uint64_t share = left / (cells - k) / page * page;

		t->cells[k].memory_bytes = k + 1 == cells ? left : share;
		left -= t->cells[k].memory_bytes;
	}
}

int resident_init(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_occupant *occupant, struct resident *ret)
{
	struct resident t = {.request = {.name = occupant->name, .node = VFCTL_NODE_NONE,
		.threads = VFCTL_THREADS_NONE, .has_emulator = true}};
	int nodes[VFCTL_MODEL_NODES_MAX];
	size_t cells;

	t.cells = calloc(model->topology->node_count + 1, sizeof(*t.cells));
	t.wants = calloc(occupant->vf_count + 1, sizeof(*t.wants));
	if (!t.cells || !t.wants) {
		resident_clear(&t);
		return ctx_oom(ctx);
	}
	if (!vfctl_cpuset_empty(&occupant->qemu_cpus)) {
		t.request.emulator_cores = VFCTL_EMULATOR_AUTO;
		t.request.has_emulator = false;
	}
	cells = cells_of(model, occupant, t.cells, nodes);
	find_entries(occupant, &t, nodes, cells);
	if (cells)
		share_memory(occupant, &t, cells);
	for (size_t k = 0; k < cells; k++) {
		t.request.vcpus += t.cells[k].vcpus;
		if (occupant->pinned)
			t.cells[k].node = nodes[k];
	}
	for (size_t i = 0; i < occupant->vf_count; i++)
		t.wants[i] = occupant->wants ? occupant->wants[i]
			: (struct vfctl_vf_want){.any_pf = true, .count = 1,
				  .fabric = occupant->vfs[i].fabric, .cell = VFCTL_CELL_ANY};
	t.request.cells = t.cells;
	t.request.cell_count = cells;
	t.request.wants = t.wants;
	t.request.want_count = occupant->vf_count;
	*ret = t;
	return 0;
}
