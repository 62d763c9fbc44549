// SPDX-License-Identifier: GPL-2.0-or-later
/* The rules that every plan keeps, whatever it is worth. */
#include <inttypes.h>
#include <stdio.h>

#include "instance.h"
#include "topology/topology.h"

#define SAY(...) (fprintf(stderr, __VA_ARGS__), false)

struct use {
	const struct vfctl_host_model *model;
	struct vfctl_cpuset held, qemu;
	uint32_t carried[VFCTL_CPU_MAX]; /* guests whose QEMU's threads share the CPU */
	uint64_t memory[VFCTL_MODEL_NODES_MAX][VFCTL_POOLS_MAX + 1];
	bool vf[4096];
};

/* Without cores of its own QEMU may have to share those of the vCPUs. */
static bool qemu_may_share(const struct vfctl_host_model *m, const struct vfctl_request *r,
	const struct vfctl_assignment *a)
{
	struct vfctl_cpuset left = m->topology->online;

	if (!vfctl_cpuset_empty(&m->reserved_cpus) || !vfctl_cpuset_empty(&m->shared_cpus))
		return false;
	vfctl_cpuset_andnot(&left, &a->held_cpus);
	return !r->emulator_cores ||
		(r->emulator_cores == VFCTL_EMULATOR_AUTO && vfctl_cpuset_empty(&left));
}

/* A core that carries QEMU's threads of guests: none of its CPUs is anybody's own. */
static bool check_shared_core(struct use *u, const struct vfctl_assignment *a, const char *name)
{
	const struct vfctl_topology *t = u->model->topology;
	int first = vfctl_cpuset_next(&a->emulator_cpus, 0);
	uint32_t carries = vfctl_cpuset_count(&a->emulator_cpus) * VFCTL_QEMU_GUESTS_PER_CPU;
	bool whole = false, near = false;

	for (size_t i = 0; i < t->core_count; i++)
		whole |= memcmp(&t->cores[i].cpus, &a->emulator_cpus, sizeof(a->emulator_cpus)) == 0;
	for (size_t k = 0; k < a->cell_count; k++)
		near |= vfctl_cpuset_has(&vfctl_topology_node(t, a->cells[k].node)->cpus,
			(unsigned)first);
	if (!whole || !near)
		return SAY("%s: QEMU's threads share what is no core of its nodes\n", name);
	if (!u->carried[first])
		for (size_t o = 0; o < u->model->occupant_count; o++)
			u->carried[first] += vfctl_cpuset_has(&u->model->occupants[o].qemu_cpus,
				(unsigned)first);
	if (++u->carried[first] > carries)
		return SAY("%s: a core carries QEMU's threads of %u guests\n", name,
			u->carried[first]);
	vfctl_cpuset_or(&u->qemu, &a->emulator_cpus);
	return true;
}

/* With emulator_cores: auto: the host's CPUs of its nodes come first. */
static bool check_auto(const struct use *u, const struct vfctl_assignment *a, const char *name)
{
	struct vfctl_cpuset host = {0};

	for (size_t k = 0; k < a->cell_count; k++)
		vfctl_cpuset_or(&host, &vfctl_topology_node(u->model->topology,
			a->cells[k].node)->cpus);
	vfctl_cpuset_and(&host, &u->model->reserved_cpus);
	if (!vfctl_cpuset_empty(&host) &&
		(a->emulator_shared || !vfctl_cpuset_within(&a->emulator_cpus, &host)))
		return SAY("%s: QEMU is not on the CPUs of the host there\n", name);
	return true;
}

static bool check_cpus(struct use *u, const struct vfctl_assignment *a,
	const struct vfctl_request *r)
{
	struct vfctl_cpuset vcpus = {0}, gone = u->model->reserved_cpus;
	const char *name = r->name;

	vfctl_cpuset_or(&gone, &u->model->busy_cpus);
	for (size_t o = 0; o < u->model->occupant_count; o++)
		vfctl_cpuset_or(&gone, &u->model->occupants[o].qemu_cpus);
	for (size_t i = 0; i < a->vcpu_count; i++) {
		if (a->vcpus[i] >= VFCTL_CPU_MAX)
			continue;
		if (vfctl_cpuset_has(&vcpus, a->vcpus[i]))
			return SAY("%s: CPU %u has two vCPUs\n", name, a->vcpus[i]);
		vfctl_cpuset_add(&vcpus, a->vcpus[i]);
	}
	if (!vfctl_cpuset_within(&vcpus, &a->held_cpus) ||
		!vfctl_cpuset_within(&a->held_cpus, &u->model->topology->online))
		return SAY("%s: vCPUs are on CPUs that it does not hold\n", name);
	if (vfctl_cpuset_intersects(&a->held_cpus, &gone) ||
		vfctl_cpuset_intersects(&a->held_cpus, &u->held))
		return SAY("%s: it holds CPUs of others\n", name);
	if (r->emulator_cores == VFCTL_EMULATOR_AUTO && !check_auto(u, a, name))
		return false;
	if (a->emulator_shared && !check_shared_core(u, a, name))
		return false;
	if (!qemu_may_share(u->model, r, a) && vfctl_cpuset_intersects(&vcpus, &a->emulator_cpus))
		return SAY("%s: QEMU runs on a vCPU's CPU\n", name);
	vfctl_cpuset_or(&u->held, &a->held_cpus);
	return true;
}

static bool check_cells(struct use *u, const struct vfctl_assignment *a,
	const struct vfctl_request *r)
{
	const struct vfctl_topology *t = u->model->topology;
	uint64_t memory = 0;
	size_t next = 0;

	for (size_t k = 0; k < a->cell_count; k++) {
		const struct vfctl_cell *c = &a->cells[k];
		const struct vfctl_node *node = vfctl_topology_node(t, c->node);
		unsigned at = 0, page = 0;

		if (!node || c->first_vcpu != next || !c->vcpu_count)
			return SAY("%s: cell %zu is out of order\n", r->name, k);
		for (uint32_t i = 0; i < c->vcpu_count; i++, next++)
			if (a->vcpus[next] < VFCTL_CPU_MAX &&
				!vfctl_cpuset_has(&node->cpus, a->vcpus[next]))
				return SAY("%s: vCPU %zu is not on node %d\n", r->name, next, c->node);
		while (t->nodes[at].id != (unsigned)c->memory_node)
			at++;
		while (page < t->nodes[at].pool_count &&
			t->nodes[at].pools[page].page_bytes != c->page_bytes)
			page++;
		if (c->page_bytes == VFCTL_PAGES_BASE)
			page = VFCTL_POOLS_MAX;
		u->memory[at][page] += c->memory_bytes;
		memory += c->memory_bytes;
	}
	if (next != r->vcpus || a->vcpu_count != r->vcpus || memory != r->memory_bytes)
		return SAY("%s: its cells are not all of it\n", r->name);
	return true;
}

static bool check_vfs(struct use *u, const struct vfctl_assignment *a,
	const struct vfctl_request *r)
{
	uint32_t per_want[VFCTL_GUEST_VFS_MAX] = {0};

	for (size_t i = 0; i < a->vf_count; i++) {
		const struct vfctl_vf_want *w = &r->wants[a->vf_wants[i]];
		size_t at = 0;

		while (at < u->model->vf_count &&
			vfctl_bdf_compare(&u->model->vfs[at].bdf, &a->vfs[i].bdf) != 0)
			at++;
		if (at == u->model->vf_count || u->vf[at])
			return SAY("%s: a VF is not free\n", r->name);
		u->vf[at] = true;
		per_want[a->vf_wants[i]]++;
		if ((!w->any_pf && vfctl_bdf_compare(&w->pf, &a->vfs[i].pf) != 0) ||
			(w->fabric != VFCTL_FABRIC_ANY && w->fabric != a->vfs[i].fabric))
			return SAY("%s: a VF does not answer its want\n", r->name);
		for (size_t k = 0; k < i && w->anti_affinity; k++)
			if (r->wants[a->vf_wants[k]].anti_affinity == w->anti_affinity &&
				vfctl_bdf_compare(&a->vfs[k].pf, &a->vfs[i].pf) == 0)
				return SAY("%s: two VFs that shall be apart are not\n", r->name);
	}
	for (size_t w = 0; w < r->want_count; w++)
		if (per_want[w] != r->wants[w].count *
			(r->wants[w].cell == VFCTL_CELL_EACH ? r->cell_count : 1))
			return SAY("%s: want %zu is not met\n", r->name, w);
	return true;
}

static bool check_memory(const struct use *u)
{
	const struct vfctl_topology *t = u->model->topology;

	for (size_t n = 0; n < t->node_count; n++) {
		uint64_t base = t->nodes[n].memory_bytes;

		for (size_t p = 0; p < t->nodes[n].pool_count; p++) {
			uint64_t bytes = t->nodes[n].pools[p].total * t->nodes[n].pools[p].page_bytes;

			base -= bytes;
			if (u->memory[n][p] > bytes)
				return SAY("node %u: more huge pages than it has\n", t->nodes[n].id);
		}
		if (u->memory[n][VFCTL_POOLS_MAX] > base)
			return SAY("node %u: more memory than it has\n", t->nodes[n].id);
	}
	return true;
}

bool plan_is_sound(const struct vfctl_host_model *model, const struct vfctl_request *requests,
	const struct vfctl_plan *plan)
{
	static struct use u;

	u = (struct use){.model = model};
	for (size_t i = 0; i < plan->count; i++) {
		const struct vfctl_assignment *a = &plan->assignments[i];

		if (a->refusal == VFCTL_REFUSAL_NONE && (!check_cpus(&u, a, &requests[i]) ||
				!check_cells(&u, a, &requests[i]) || !check_vfs(&u, a, &requests[i])))
			return false;
		if (a->refusal != VFCTL_REFUSAL_NONE && !a->reason_count)
			return SAY("%s: refused without a word\n", requests[i].name);
	}
	if (vfctl_cpuset_intersects(&u.held, &u.qemu))
		return SAY("a guest holds what carries QEMU's threads\n");
	return check_memory(&u);
}
