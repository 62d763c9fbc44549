// SPDX-License-Identifier: GPL-2.0-or-later
/* Choose the actual cores of a node and the actual VFs of a PF. */
#include <errno.h>

#include "placement/search/assign.h"

int assign_begin(struct vfctl_ctx *ctx, const struct capacity *capacity, struct assigning *ret)
{
	const struct vfctl_topology *t = capacity->model->topology;
	struct assigning z = {.capacity = capacity};

	z.core_taken = calloc(t->core_count + 1, sizeof(*z.core_taken));
	z.group_next = calloc(capacity->group_count + 1, sizeof(*z.group_next));
	z.have = calloc(capacity->l3_count + 1, sizeof(*z.have));
	z.core_slots = calloc(t->core_count + 1, sizeof(*z.core_slots));
	if (!z.core_taken || !z.group_next || !z.have || !z.core_slots) {
		assign_clear(&z);
		return ctx_oom(ctx);
	}
	for (size_t i = 0; i < t->core_count; i++) {
		z.core_taken[i] = capacity->cores[i].taken;
		z.core_slots[i] = capacity->cores[i].qemu_slots;
	}
	*ret = z;
	return 0;
}

void assign_clear(struct assigning *z)
{
	free(z->core_taken);
	free(z->group_next);
	free(z->vf_kept);
	free(z->have);
	free(z->core_slots);
	*z = (struct assigning){0};
}

/* ---- cores ---- */

/* The choice for one cell. */
struct pick {
	struct assigning *z;
	int node; /* id */
	uint32_t need[CAPACITY_CLASSES_MAX];
	size_t *cores; /* indexes in the topology, in the order of vCPUs */
	size_t count;
};

/* Free cores of every L3 group on the node (0: those without a group), by class. */
static void count_free_cores(struct pick *p)
{
	const struct capacity *capacity = p->z->capacity;
	const struct vfctl_topology *t = capacity->model->topology;

	memset(p->z->have, 0, (capacity->l3_count + 1) * sizeof(*p->z->have));
	for (size_t i = 0; i < t->core_count; i++)
		if (t->cores[i].node == p->node && !p->z->core_taken[i])
			p->z->have[capacity->core_l3[i]][capacity->cores[i].class]++;
}

/* Number of needed cores in the group, and of all its free cores. */
static void look_at_l3(const struct pick *p, uint32_t l3, uint32_t *ret_useful,
	uint32_t *ret_free)
{
	const uint32_t *have = p->z->have[l3];

	*ret_useful = *ret_free = 0;
	for (unsigned c = 0; c < CAPACITY_CLASSES_MAX; c++) {
		*ret_useful += have[c] < p->need[c] ? have[c] : p->need[c];
		*ret_free += have[c];
	}
}

/*
 * The group that has all needed cores with the smallest remainder, else the one with most of them.
 */
static bool best_l3(struct pick *p, uint32_t *ret)
{
	const struct vfctl_topology *t = p->z->capacity->model->topology;
	uint32_t best_useful = 0, best_free = 0, need = 0, useful, free_cores;

	for (unsigned c = 0; c < CAPACITY_CLASSES_MAX; c++)
		need += p->need[c];
	if (!need)
		return false;
	count_free_cores(p);
	for (size_t i = 0; i < t->core_count; i++) {
		uint32_t l3 = p->z->capacity->core_l3[i];

		if (t->cores[i].node != p->node || p->z->core_taken[i])
			continue;
		look_at_l3(p, l3, &useful, &free_cores);
		if (useful < best_useful || !useful ||
			(useful == best_useful && (useful < need || free_cores >= best_free)))
			continue;
		best_useful = useful;
		best_free = free_cores;
		*ret = l3;
	}
	return best_useful > 0;
}

static void take_from_l3(struct pick *p, uint32_t l3)
{
	const struct vfctl_topology *t = p->z->capacity->model->topology;

	for (size_t i = 0; i < t->core_count; i++) {
		unsigned c = p->z->capacity->cores[i].class;

		if (t->cores[i].node != p->node || p->z->capacity->core_l3[i] != l3 ||
			p->z->core_taken[i] || !p->need[c])
			continue;
		p->need[c]--;
		p->z->core_taken[i] = true;
		p->cores[p->count++] = i;
	}
}

/* A guest that moves within a node keeps its cores there. */
static void take_own(struct pick *p)
{
	const struct vfctl_topology *t = p->z->capacity->model->topology;

	for (size_t i = 0; p->z->own_cores && i < t->core_count; i++) {
		unsigned c = p->z->capacity->cores[i].class;

		if (!p->z->own_cores[i] || t->cores[i].node != p->node || p->z->core_taken[i] ||
			!p->need[c])
			continue;
		p->need[c]--;
		p->z->core_taken[i] = true;
		p->cores[p->count++] = i;
	}
}

static void pick_cores(struct pick *p, const uint16_t *cores)
{
	uint32_t l3 = 0;

	p->count = 0;
	for (unsigned c = 0; c < CAPACITY_CLASSES_MAX; c++)
		p->need[c] = cores[c];
	take_own(p);
	while (best_l3(p, &l3))
		take_from_l3(p, l3);
}

size_t assign_extra_core(struct assigning *z, int node, unsigned class)
{
	const struct vfctl_topology *t = z->capacity->model->topology;
	struct pick p = {.z = z, .node = node};
	uint32_t best_free = 0, useful, free_cores;
	size_t best = t->core_count;

	count_free_cores(&p);
	for (size_t i = 0; i < t->core_count; i++) {
		if (t->cores[i].node != node || z->core_taken[i] || z->capacity->cores[i].class != class)
			continue;
		look_at_l3(&p, z->capacity->core_l3[i], &useful, &free_cores);
		if (best < t->core_count && free_cores >= best_free)
			continue;
		best = i;
		best_free = free_cores;
	}
	if (best < t->core_count)
		z->core_taken[best] = true;
	return best;
}

static void pick_extra(struct pick *p, unsigned class)
{
	size_t core = assign_extra_core(p->z, p->node, class);

	if (core < p->z->capacity->model->topology->core_count)
		p->cores[p->count++] = core;
}

/* Groups with no core taken: permit only their cores for this cell. */
static void fence_l3(struct assigning *z, const struct opt_cell *cell, bool *ret_hidden)
{
	const struct vfctl_topology *t = z->capacity->model->topology;
	int id = z->capacity->nodes[cell->node].id;
	uint32_t left = cell->l3;

	for (size_t i = 0; i < t->core_count; i++)
		ret_hidden[i] = !z->core_taken[i] && t->cores[i].node == id;
	for (size_t i = 0; i < t->core_count && left; i++) {
		uint32_t all = 0, open = 0;

		if (!ret_hidden[i] || t->cores[i].l3 < 0)
			continue;
		for (size_t k = 0; k < t->core_count; k++)
			if (t->cores[k].l3 == t->cores[i].l3) {
				all++;
				open += ret_hidden[k];
			}
		if (open != all || all != z->capacity->nodes[cell->node].l3_cores)
			continue;
		for (size_t k = 0; k < t->core_count; k++)
			if (t->cores[k].l3 == t->cores[i].l3)
				ret_hidden[k] = false;
		left--;
	}
	for (size_t i = 0; i < t->core_count; i++)
		z->core_taken[i] |= ret_hidden[i];
}

/* The remaining cores of the cell's groups are held; hidden cores are free again. */
static void unfence_l3(struct assigning *z, const struct opt_cell *cell, const bool *hidden,
	struct vfctl_cpuset *held)
{
	const struct vfctl_topology *t = z->capacity->model->topology;
	int id = z->capacity->nodes[cell->node].id;

	for (size_t i = 0; i < t->core_count; i++) {
		if (hidden[i])
			z->core_taken[i] = false;
		else if (t->cores[i].node == id && !z->core_taken[i]) {
			z->core_taken[i] = true;
			vfctl_cpuset_or(held, &t->cores[i].cpus);
		}
	}
}

static void hold_rest(struct assigning *z, int node, struct vfctl_cpuset *held)
{
	const struct vfctl_topology *t = z->capacity->model->topology;

	for (size_t i = 0; i < t->core_count; i++)
		if (t->cores[i].node == node && !z->core_taken[i]) {
			z->core_taken[i] = true;
			vfctl_cpuset_or(held, &t->cores[i].cpus);
		}
}

/* Cores per L3 group if all groups have the same number; and the number of groups. */
static uint32_t count_l3(const struct pick *p)
{
	const struct vfctl_topology *t = p->z->capacity->model->topology;
	uint32_t groups = 0, first = 0;

	for (size_t i = 0; i < p->count; i++) {
		uint32_t same = 0, before = 0;

		for (size_t k = 0; k < p->count; k++) {
			if (t->cores[p->cores[k]].l3 != t->cores[p->cores[i]].l3)
				continue;
			same++;
			before += k < i;
		}
		if (t->cores[p->cores[i]].l3 < 0 || (first && same != first))
			return 0;
		first = same;
		groups += !before;
	}
	return groups;
}

static void give_vcpus(const struct pick *p, const struct vfctl_request *request,
	const struct opt_cell *cell, struct vfctl_assignment *a)
{
	const struct vfctl_topology *t = p->z->capacity->model->topology;
	uint32_t most = request->threads == VFCTL_THREADS_ISOLATE ? 1 : UINT32_MAX;
	uint32_t left = cell->vcpus - cell->shared;

	for (size_t i = 0; i < p->count; i++) {
		const struct vfctl_cpuset *cpus = &t->cores[p->cores[i]].cpus;
		uint32_t used = 0;

		vfctl_cpuset_or(&a->held_cpus, cpus);
		for (int cpu = vfctl_cpuset_next(cpus, 0); cpu >= 0 && left && used < most;
			cpu = vfctl_cpuset_next(cpus, (unsigned)cpu + 1)) {
			a->vcpus[a->vcpu_count++] = (uint32_t)cpu;
			used++;
			left--;
		}
	}
	for (uint32_t i = 0; i < cell->shared; i++)
		a->vcpus[a->vcpu_count++] = VFCTL_CPU_MAX;
}

static void give_extra(struct pick *p, const struct vfctl_request *request,
	const struct opt_cell *cell, struct vfctl_assignment *a)
{
	const struct vfctl_topology *t = p->z->capacity->model->topology;
	uint32_t own = request_has_auto(request) ? cell->qemu == QEMU_OWN : request->emulator_cores;

	p->count = 0;
	for (unsigned c = 0; c < CAPACITY_CLASSES_MAX; c++)
		for (uint16_t n = cell->qemu == QEMU_NEW && c == cell->qemu_class;
			n < cell->extra[c]; n++)
			pick_extra(p, c);
	for (size_t i = 0; i < p->count; i++) {
		const struct vfctl_cpuset *cpus = &t->cores[p->cores[i]].cpus;

		vfctl_cpuset_or(&a->held_cpus, cpus);
		vfctl_cpuset_or(i < own ? &a->emulator_cpus : &a->iothread_cpus, cpus);
	}
}

static int give_cell(struct vfctl_ctx *ctx, struct assigning *z,
	const struct vfctl_request *request, const struct chosen *chosen, size_t k,
	struct vfctl_assignment *a)
{
	const struct vfctl_topology *t = z->capacity->model->topology;
	const struct opt_cell *from = &chosen->cells[k];
	_free_ size_t *cores = calloc(t->core_count + 1, sizeof(*cores));
	_free_ bool *hidden = calloc(t->core_count + 1, sizeof(*hidden));
	struct pick p = {.z = z, .node = z->capacity->nodes[from->node].id, .cores = cores};
	struct vfctl_cell *cell = &a->cells[k];

	if (!cores || !hidden)
		return ctx_oom(ctx);
	*cell = (struct vfctl_cell){.node = p.node,
		.memory_node = z->capacity->nodes[from->memory_node].id,
		.first_vcpu = (uint32_t)a->vcpu_count, .vcpu_count = from->vcpus,
		.shared_vcpus = from->shared, .memory_bytes = from->memory,
		.page_bytes = z->capacity->page_bytes[chosen->option.page]};
	if (from->shared) {
		cell->shared_cpus = z->capacity->model->shared_cpus;
		vfctl_cpuset_and(&cell->shared_cpus,
			&z->capacity->model->topology->nodes[from->node].cpus);
	}
	if (from->l3)
		fence_l3(z, from, hidden);
	pick_cores(&p, from->cores);
	cell->l3_groups = count_l3(&p);
	give_vcpus(&p, request, from, a);
	give_extra(&p, request, from, a);
	if (from->l3)
		unfence_l3(z, from, hidden, &a->held_cpus);
	if (request->whole_node)
		hold_rest(z, p.node, &a->held_cpus);
	a->memory_bytes += from->memory;
	return 0;
}

/* ---- VFs ---- */

const struct vfctl_free_vf *capacity_vf(const struct capacity *capacity, size_t index)
{
	const struct vfctl_host_model *m = capacity->model;

	if (index < m->vf_count)
		return &m->vfs[index];
	index -= m->vf_count;
	for (size_t o = 0; o < m->occupant_count; o++) {
		if (index < m->occupants[o].vf_count)
			return &m->occupants[o].vfs[index];
		index -= m->occupants[o].vf_count;
	}
	return NULL;
}

/* The next VF of the group that no guest keeps. */
static size_t next_vf(struct assigning *z, unsigned group)
{
	const struct vf_group *g = &z->capacity->groups[group];
	uint16_t at = z->group_next[group]++;

	while (z->vf_kept && z->vf_kept[g->vfs[at]])
		at = z->group_next[group]++;
	return g->vfs[at];
}

int assign_keep_vfs(struct assigning *z, const struct vfctl_occupant *occupant)
{
	const struct vfctl_host_model *m = z->capacity->model;
	size_t at = m->vf_count;

	if (!z->vf_kept) {
		size_t all = m->vf_count;

		for (size_t o = 0; o < m->occupant_count; o++)
			all += m->occupants[o].vf_count;
		z->vf_kept = calloc(all + 1, sizeof(*z->vf_kept));
	}
	if (!z->vf_kept)
		return -ENOMEM;
	for (size_t o = 0; &m->occupants[o] != occupant; o++)
		at += m->occupants[o].vf_count;
	for (size_t i = 0; i < occupant->vf_count; i++)
		z->vf_kept[at + i] = true;
	return 0;
}

static uint32_t nearest_cell(const struct capacity *capacity, const struct vf_group *g,
	const struct chosen *chosen)
{
	unsigned best = UINT32_MAX;
	uint32_t cell = 0;

	for (uint32_t k = 0; k < chosen->option.cell_count; k++) {
		unsigned d = capacity_vf_distance(capacity, g, chosen->cells[k].node);

		if (d < best) {
			best = d;
			cell = k;
		}
	}
	return cell;
}

static int in_order(const void *a, const void *b)
{
	const struct given_vf *x = a, *y = b;

	if (x->want != y->want)
		return x->want < y->want ? -1 : 1;
	if (x->cell != y->cell)
		return x->cell < y->cell ? -1 : 1;
	return x->group < y->group ? -1 : x->group > y->group;
}

static int give_vfs(struct vfctl_ctx *ctx, struct assigning *z, const struct chosen *chosen,
	size_t count, struct vfctl_assignment *a)
{
	a->vfs = calloc(count + 1, sizeof(*a->vfs));
	a->vf_wants = calloc(count + 1, sizeof(*a->vf_wants));
	a->vf_cells = calloc(count + 1, sizeof(*a->vf_cells));
	if (!a->vfs || !a->vf_wants || !a->vf_cells)
		return ctx_oom(ctx);
	if (count)
		qsort(chosen->vfs, count, sizeof(*chosen->vfs), in_order);
	for (size_t i = 0; i < count; i++) {
		const struct given_vf *given = &chosen->vfs[i];
		const struct vf_group *g = &z->capacity->groups[given->group];

		a->vfs[i] = *capacity_vf(z->capacity, next_vf(z, given->group));
		a->vf_wants[i] = given->want;
		a->vf_cells[i] = given->cell >= 0 ? (uint32_t)given->cell
						  : nearest_cell(z->capacity, g, chosen);
	}
	a->vf_count = count;
	return 0;
}

/* ---- the whole assignment ---- */

int assign_guest(struct vfctl_ctx *ctx, struct assigning *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a)
{
	size_t cells = chosen->option.cell_count;
	struct demand demand;
	int r = 0;

	demand_init(z->capacity, request, 0, &demand);
	a->cells = calloc(cells, sizeof(*a->cells));
	a->vcpus = calloc(request->vcpus, sizeof(*a->vcpus));
	if (!a->cells || !a->vcpus)
		return ctx_oom(ctx);
	a->cell_count = cells;
	for (size_t k = 0; k < cells && r == 0; k++)
		r = give_cell(ctx, z, request, chosen, k, a);
	/* A plan whose CPUs cannot be assigned is rejected, even if the search accepted it. */
	if (r == 0 && a->vcpu_count != request->vcpus)
		r = ctx_fail(ctx, -EIO, "%s: %zu of %u vCPUs got CPUs: the planner contradicts "
			"itself; please report it with vfctl topology --json", request->name,
			a->vcpu_count, request->vcpus);
	if (r == 0)
		r = give_vfs(ctx, z, chosen, demand.vfs, a);
	if (r < 0)
		return r;
	a->node = a->cells[0].node;
	a->page_bytes = a->cells[0].page_bytes;
	a->guest_threads = chosen->option.threads;
	a->local = chosen->option.local;
	return 0;
}
