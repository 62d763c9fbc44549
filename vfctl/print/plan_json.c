// SPDX-License-Identifier: GPL-2.0-or-later
/* Plans as JSON. */
#include <stdint.h>

#include "print/plan.h"

/* ---- what is proven ---- */

static const char *const level_text[VFCTL_LEVELS] = {
	[VFCTL_LEVEL_PLACED] = "guests that are placed",
	[VFCTL_LEVEL_LOCAL] = "guests that are entirely local",
	[VFCTL_LEVEL_MOVES] = "moves",
	[VFCTL_LEVEL_DISTANCE] = "distance to remote memory and VFs",
	[VFCTL_LEVEL_FORM] = "page sizes, and cells of even size",
	[VFCTL_LEVEL_ROOM] = "free resources for the next guests",
	[VFCTL_LEVEL_BALANCE] = "even distribution over the PFs",
};

static const char *const cut_names[] = {[VFCTL_CUT_NONE] = NULL, [VFCTL_CUT_STEPS] = "steps",
	[VFCTL_CUT_CLOCK] = "clock"};

struct level_view {
	uint64_t value, bound;
	bool known;
};

#define OF struct level_view
static const struct member level_table[] = {
	FIELD(value, "value that the plan reaches"),
	FIELD(bound, "best value that is possible; null: unknown", KNOWN_BY(known)), END};
#undef OF

static void put_level(struct out *out, const struct member *m, const void *of)
{
	const struct vfctl_plan *plan = ((const struct proof_view *)of)->plan;
	uintptr_t level = (uintptr_t)m->arg;

	answer_put(out, m->name, level_table, &(struct level_view){plan->value[level], plan->bound[level],
		level <= plan->gap_level});
}

/* A row for each level. */
static bool level_member(size_t at, struct member *ret)
{
	if (at >= VFCTL_LEVELS)
		return false;
	*ret = (struct member)PUT(vfctl_plan_level_name((enum vfctl_plan_level)at), put_level,
		MEMBER_OBJECT,
		level_text[at], .table = level_table, .arg = (void *)(uintptr_t)at);
	return true;
}

static const struct member levels_table[] = {
	MADE(level_member), END};

#define OF struct proof_view
FLAG_OF(proof_optimal, OF, it->plan->gap_level == VFCTL_LEVELS)
TEXT_OF(proof_gap, OF, proof_optimal(it) ? NULL : vfctl_plan_level_name(it->plan->gap_level))
TEXT_OF(proof_cut, OF, cut_names[it->plan->cut])
TEXT_OF(proof_next, OF, plan_next_guests(it->model))
OBJECT_OF(proof_self, OF, it)
static const struct member proof_table[] = {
	SECTION("PROOF", "What is proven about a plan, level by level."),
	FLAG("optimal", proof_optimal, "no better plan exists"),
	TEXT("gap_in", proof_gap, "first level that is not proven", NULLABLE),
	FIELD_VIA("steps", plan, steps, "steps of the search"),
	TEXT("cut", proof_cut, "what ended the search early: steps, or clock (the result may be "
		"better on a host that is less busy)", NULLABLE),
	PART_SELF(levels_table), END};
const struct member answer_proof[] = {
	TEXT("next_guests", proof_next, "source of the guests that are expected next; the planner "
		"rates the free resources by them"),
	OBJECT_GET("proof", proof_self, proof_table, "what is proven about the plan"), END};
#undef OF

/* ---- one guest ---- */

struct placed_vf {
	const struct vfctl_free_vf *vf;
	uint32_t cell;
	const struct vfctl_domain_vf *given; /* NULL: its identity is not known */
	const struct vfctl_host_model *model;
};

/* A GPU, and its distance from the PF of a VF. */
struct near_gpu {
	const struct vfctl_model_gpu *gpu;
	enum vfctl_pci_distance distance;
};

#define OF struct near_gpu
TEXT_OF(near_distance, OF, vfctl_pci_distance_name(it->distance))
static const struct member near_gpu_table[] = {
	FIELD_VIA("address", gpu, bdf, "PCI address of the GPU"),
	TEXT("distance", near_distance, "PIX (at most one PCIe switch between it and the PF) or PXB "
		"(several)"), END};
#undef OF

static bool next_near_gpu(const struct placed_vf *v, size_t *at, struct near_gpu *ret)
{
	for (; *at < v->model->gpu_count; ++*at) {
		ret->gpu = &v->model->gpus[*at];
		ret->distance = vfctl_gpu_distance(ret->gpu, &v->vf->pf);
		if (ret->distance == VFCTL_PCI_PIX || ret->distance == VFCTL_PCI_PXB)
			return true;
	}
	return false;
}

static int fill_near_gpus(struct out *out, const void *of)
{
	struct near_gpu near;

	for (size_t at = 0; next_near_gpu(of, &at, &near); at++)
		answer_put(out, NULL, near_gpu_table, &near);
	return 0;
}

static const char *given_mac(const struct vfctl_domain_vf *given, char *room)
{
	return given && given->attrs.mask & VFCTL_ATTR_MAC ? vfctl_mac_format(&given->attrs.mac,
		room) : NULL;
}

#define OF struct placed_vf
TEXT_OF(placed_mac, OF, given_mac(it->given, room))
OBJECT_OF(placed_near, OF, next_near_gpu(it, &(size_t){0}, &(struct near_gpu){0}) ? it : NULL)
static const struct member near_gpus_table[] = {
	FILL("gpus", fill_near_gpus, near_gpu_table, "GPUs with at most some PCIe switches between them "
		"and the PF"), END};
static const struct member placed_vf_table[] = {
	FIELD_VIA("address", vf, bdf, "PCI address of the VF"),
	FIELD_VIA("pf_address", vf, pf, "PCI address of its PF"),
	FIELD_VIA("index", vf, index, "the N of PF/N"),
	FIELD_VIA("numa_node", vf, node, "NUMA node of the VF"),
	FIELD(cell, "cell of the guest that the VF belongs to"),
	TEXT("mac", placed_mac, "MAC that it gets", NULLABLE),
	PART_GET(placed_near, near_gpus_table, OPTIONAL), END};
#undef OF

static int fill_placed_vfs(struct out *out, const void *of)
{
	const struct assignment_view *view = of;
	const struct vfctl_assignment *a = view->a;

	for (size_t i = 0; i < a->vf_count; i++)
		answer_put(out, NULL, placed_vf_table, &(struct placed_vf){&a->vfs[i], a->vf_cells[i],
			view->vfs ? &view->vfs[i] : NULL, view->model});
	return 0;
}

static int fill_vcpus(struct out *out, const void *of)
{
	const struct vfctl_assignment *a = of;

	for (size_t i = 0; i < a->vcpu_count; i++)
		if (a->vcpus[i] < VFCTL_CPU_MAX)
			out_int(out, NULL, a->vcpus[i]);
		else
			out_null(out, NULL);
	return 0;
}

#define OF struct vfctl_cell
static const struct member plan_cell_table[] = {
	FIELD_AS("numa_node", node, "NUMA node of its CPUs", BELOW_0),
	FIELD(memory_node, "NUMA node of its memory", BELOW_0),
	FIELD(first_vcpu, "its first vCPU"),
	FIELD_AS("vcpus", vcpu_count, "number of its vCPUs"),
	FIELD(shared_vcpus, "vCPUs that run on shared CPUs"),
	FIELD(shared_cpus, "those CPUs", OPTIONAL, KNOWN_BY(shared_vcpus)),
	FIELD(memory_bytes, "size of its memory"),
	FIELD(page_bytes, "size of its pages; 0: base pages"), END};
#undef OF

#define OF struct vfctl_reason
TEXT_OF(reason_kind, OF, vfctl_reason_kind_name(it->kind))
const struct member answer_reason[] = {
	TEXT("kind", reason_kind, "choice, warning, short or remedy"),
	FIELD(text, "the reason", FILLED), END};
#undef OF

#define OF struct vfctl_assignment
static const struct member place_table[] = {
	FIELD_AS("numa_node", node, "NUMA node of the first cell", BELOW_0),
	FIELD(local, "all memory and all VFs are on the nodes of the CPUs"),
	FIELD(distance, "sum of the distances to remote memory and VFs, as in the ACPI SLIT"),
	FILL_EACH("vcpu_cpus", fill_vcpus, MEMBER_NUMBER, "CPU of each vCPU; null: it runs on "
		"shared CPUs", NULLABLE),
	FIELD(guest_threads, "threads of a core that the guest sees"),
	LIST("cells", cells, cell_count, plan_cell_table, "cells of the guest"),
	FIELD(emulator_cpus, "CPUs of QEMU's threads"),
	FIELD(emulator_shared, "QEMU threads of other guests run on these CPUs too"),
	FIELD(iothread_cpus, "CPUs of the I/O threads"),
	FIELD(memory_bytes, "size of the memory"),
	FIELD(page_bytes, "size of the pages; 0: base pages"), END};
static const struct member reasons_table[] = {
	LIST("reasons", reasons, reason_count, answer_reason, "reasons for the choice or the "
		"refusal"), END};
#undef OF

#define OF struct assignment_view
FLAG_OF(assignment_fits, OF, it->a->refusal == VFCTL_REFUSAL_NONE)
TEXT_OF(assignment_short, OF, assignment_fits(it) ? NULL : vfctl_refusal_name(it->a->refusal))
OBJECT_OF(assignment_place, OF, assignment_fits(it) ? it->a : NULL)
OBJECT_OF(assignment_if_fits, OF, assignment_fits(it) ? it : NULL)
static const struct member placed_vfs_table[] = {
	FILL("vfs", fill_placed_vfs, placed_vf_table, "VFs of the guest"), END};
const struct member answer_assignment[] = {
	SECTION("GUEST", "A guest and its placement. Members that may be left out are missing if "
		"the guest does not fit."),
	FIELD_AS("guest", name, "name of the guest", FILLED),
	FLAG("fits", assignment_fits, "the guest fits"),
	TEXT("short_of", assignment_short, "what is short: VFs, CPUs, memory or others", NULLABLE),
	PART_GET(assignment_place, place_table, OPTIONAL),
	PART_GET(assignment_if_fits, placed_vfs_table, OPTIONAL),
	PART_AT(a, reasons_table), END};
#undef OF

/* ---- moves ---- */

struct move_view {
	bool running;
	struct assignment_view to;
};

#define OF struct move_view
static const struct member move_table[] = {
	FIELD(running, "the guest runs: it moves at its next start"),
	PART(to, answer_assignment), END};
#undef OF

static int fill_moves(struct out *out, const void *of)
{
	const struct rebalance_view *view = of;

	for (size_t i = 0; i < view->r->move_count; i++) {
		const struct vfctl_occupant *o = &view->proof.model->occupants[view->r->moves[i].occupant];

		answer_put(out, NULL, move_table, &(struct move_view){o->running,
			{o->name, view->r->moves[i].to, NULL, view->proof.model}});
	}
	return 0;
}

#define OF struct rebalance_view
NUMBER_OF(rebalance_guests, OF, true, it->r->plan->count)
const struct member answer_rebalance[] = {
	NUMBER("guests", rebalance_guests, "number of guests"),
	FIELD_VIA("local_before", r, local_before, "guests that are entirely local now"),
	FIELD_VIA("local_after", r, local_after, "guests that are entirely local after the moves"),
	FILL("moves", fill_moves, move_table, "moves in the order in which they can be made"),
	PART(proof, answer_proof), END};
#undef OF
