// SPDX-License-Identifier: GPL-2.0-or-later
/* Assign CPUs to QEMU's own threads: the host's CPUs, a core that guests share, or others. */
#include "placement/search/assign.h"

#include "topology/topology.h"

/* ---- cores that guests share ---- */

void assign_open_qemu(struct assigning *z, const struct chosen *chosen)
{
	const struct vfctl_topology *t = z->capacity->model->topology;

	for (size_t k = 0; k < chosen->option.cell_count; k++) {
		const struct opt_cell *cell = &chosen->cells[k];
		size_t core;

		if (cell->qemu != QEMU_NEW)
			continue;
		core = assign_extra_core(z, z->capacity->nodes[cell->node].id, cell->qemu_class);
		if (core < t->core_count)
			z->core_slots[core] = (uint16_t)(z->capacity->cores[core].threads *
				VFCTL_QEMU_GUESTS_PER_CPU);
	}
}

/* Use the fullest core with a seat, so that other cores become free first. */
static void take_slot(struct assigning *z, int node, struct vfctl_assignment *a)
{
	const struct vfctl_topology *t = z->capacity->model->topology;
	size_t best = t->core_count;

	for (size_t i = 0; i < t->core_count; i++)
		if (t->cores[i].node == node && z->core_slots[i] &&
			(best == t->core_count || z->core_slots[i] < z->core_slots[best]))
			best = i;
	if (best == t->core_count)
		return;
	z->core_slots[best]--;
	a->emulator_cpus = t->cores[best].cpus;
	vfctl_cpuset_and(&a->emulator_cpus, &t->online);
	a->emulator_shared = true;
}

/* ---- the host's CPUs ---- */

/* The reserved CPUs of the node, else all. */
static struct vfctl_cpuset host_cpus_near(const struct vfctl_host_model *model, int node)
{
	const struct vfctl_node *own = vfctl_topology_node(model->topology, node);
	struct vfctl_cpuset all = model->reserved_cpus, near;

	vfctl_cpuset_and(&all, &model->topology->online);
	if (vfctl_cpuset_empty(&all))
		all = model->shared_cpus;
	near = all;
	if (own)
		vfctl_cpuset_and(&near, &own->cpus);
	return vfctl_cpuset_empty(&near) ? all : near;
}

/* ---- hosts without reserved CPUs for QEMU's threads ---- */

static struct vfctl_cpuset vcpu_cpus(const struct vfctl_assignment *a)
{
	struct vfctl_cpuset cpus = {0};

	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] < VFCTL_CPU_MAX)
			vfctl_cpuset_add(&cpus, a->vcpus[i]);
	return cpus;
}

/* CPUs of held cores on which no vCPU has a thread. */
static struct vfctl_cpuset cores_without_vcpus(const struct vfctl_topology *t,
	const struct vfctl_assignment *a, const struct vfctl_cpuset *vcpus)
{
	struct vfctl_cpuset cpus = {0};

	for (size_t i = 0; i < t->core_count; i++)
		if (vfctl_cpuset_within(&t->cores[i].cpus, &a->held_cpus) &&
			!vfctl_cpuset_intersects(&t->cores[i].cpus, vcpus))
			vfctl_cpuset_or(&cpus, &t->cores[i].cpus);
	return cpus;
}

static bool warn_of_jitter(struct vfctl_assignment *a, const struct vfctl_request *request,
	const char *where)
{
	return reason_add(a, VFCTL_REASON_WARNING, "QEMU's threads run on %s, because %s and the host "
		"has no reserved CPUs: expect jitter on these vCPUs while QEMU works", where,
		request_has_auto(request) ? "the guest takes all cores of this host" :
		"emulator_cores is 0");
}

/*
 * There are neither dedicated cores nor CPUs of the host: use the CPUs that disturb the vCPUs
 * least.
 */
static bool share_held_cpus(const struct vfctl_topology *t,
	const struct vfctl_request *request, struct vfctl_assignment *a)
{
	struct vfctl_cpuset vcpus = vcpu_cpus(a), idle = a->held_cpus;

	a->emulator_cpus = cores_without_vcpus(t, a, &vcpus);
	if (!vfctl_cpuset_empty(&a->emulator_cpus))
		return true;
	vfctl_cpuset_andnot(&idle, &vcpus);
	a->emulator_cpus = vfctl_cpuset_empty(&idle) ? vcpus : idle;
	return warn_of_jitter(a, request, vfctl_cpuset_empty(&idle) ? "the CPUs of the guest's vCPUs" :
		"idle siblings of the guest's vCPUs");
}

/* ---- the whole assignment ---- */

/* At the cell that the search chose: on the host's CPUs there, or on a shared core. */
static void give_auto(struct assigning *z, const struct chosen *chosen, struct vfctl_assignment *a)
{
	for (size_t k = 0; k < chosen->option.cell_count; k++) {
		const struct opt_cell *cell = &chosen->cells[k];
		int node = z->capacity->nodes[cell->node].id;

		if (cell->qemu == QEMU_SEAT && z->capacity->start[cell->node].qemu_slots == SEATS_HOST)
			a->emulator_cpus = host_cpus_near(z->capacity->model, node);
		else if (cell->qemu == QEMU_SEAT || cell->qemu == QEMU_NEW)
			take_slot(z, node, a);
		else if (cell->qemu == QEMU_KEPT && z->own_qemu) {
			a->emulator_cpus = *z->own_qemu;
			a->emulator_shared = true;
		}
	}
}

int assign_qemu(struct vfctl_ctx *ctx, struct assigning *z, const struct vfctl_request *request,
	const struct chosen *chosen, struct vfctl_assignment *a)
{
	const struct vfctl_host_model *m = z->capacity->model;

	if (request_has_auto(request))
		give_auto(z, chosen, a);
	if (vfctl_cpuset_empty(&a->emulator_cpus))
		a->emulator_cpus = host_cpus_near(m, a->node);
	if (vfctl_cpuset_empty(&a->emulator_cpus) && !request->has_emulator &&
		!share_held_cpus(m->topology, request, a))
		return ctx_oom(ctx);
	if (!request->iothreads)
		vfctl_cpuset_andnot(&a->iothread_cpus, &a->iothread_cpus);
	else if (!request->iothread_cores)
		a->iothread_cpus = a->emulator_cpus;
	return 0;
}
