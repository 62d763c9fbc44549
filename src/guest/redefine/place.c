// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The place of a guest that is redefined: its present place, unless the file requests more
 * resources or another place. Then the planner tries its own CPUs, then its own nodes, then all
 * nodes.
 */
#include <errno.h>

#include "facts/model/model.h"
#include "guest/redefine/redefine_op.h"
#include "placement/explain/reasons.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"
#include "sriov/inventory.h"

/* ---- the present place ---- */

static int keep_place(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	struct vfctl_plan *plan = calloc(1, sizeof(*plan));

	if (!plan)
		return ctx_oom(ctx);
	/* The plan is freed with all its assignments. */
	plan->assignments = steal(r->has.place);
	plan->count = 1;
	r->placed->plan = plan;
	return 0;
}

/* ---- another place ---- */

/* The PF of its VF, which may have another address now; NULL: the file requests another PF. */
static const struct vfctl_bdf *pf_to_stay_on(const struct redefine_op *r, const struct slot *slot)
{
	const struct vfctl_domain_vf *has = &r->has.intent.vfs[slot->has];
	const struct vfctl_pf *moved;

	if (!slot->moves)
		return &has->pf;
	if (r->q->guest->vfs[slot->entry].pf)
		return NULL;
	moved = redefine_moved_pf(r, &has->bdf);
	return moved && vfctl_bdf_compare(&moved->bdf, &has->pf) ? &moved->bdf : NULL;
}

/* One want for each VF, so that a present VF stays on its PF. */
static int pin_wants(struct vfctl_ctx *ctx, struct redefine_op *r, bool pin)
{
	struct vfctl_request *q = &r->placed->requests->v[0];
	struct vfctl_vf_want *wants = calloc(r->slot_count + 1, sizeof(*wants));

	if (!wants)
		return ctx_oom(ctx);
	for (size_t s = 0; s < r->slot_count; s++) {
		const struct slot *slot = &r->slots[s];
		const struct vfctl_bdf *pf;

		wants[s] = q->wants[slot->entry];
		wants[s].count = 1;
		wants[s].cell = slot->cell;
		/* A shortage of VFs does not move a guest to another network. */
		pf = slot->has < 0 ? NULL : pf_to_stay_on(r, slot);
		if (pf && (pin || slot->moves)) {
			wants[s].any_pf = false;
			wants[s].pf = *pf;
			wants[s].fabric = VFCTL_FABRIC_ANY;
		}
	}
	free((void *)q->wants);
	q->wants = wants;
	q->want_count = r->slot_count;
	return 0;
}

/* Its cells stay on their nodes, unless the file states others. */
static void pin_cells(struct redefine_op *r)
{
	struct vfctl_request *q = &r->placed->requests->v[0];

	if (q->cell_count != r->has.place->cell_count || q->cell_count > VFCTL_CELLS_MAX)
		return;
	for (size_t i = 0; i < q->cell_count; i++) {
		r->cells[i] = q->cells[i];
		if (r->cells[i].node == VFCTL_NODE_NONE)
			r->cells[i].node = r->has.place->cells[i].node;
	}
	q->cells = q->cell_count ? r->cells : NULL;
}

/* The target nodes of a move; its cells are in the order of their present nodes. */
static void pin_target(struct redefine_op *r)
{
	struct vfctl_request *q = &r->placed->requests->v[0];
	const struct vfctl_assignment *to = r->q->to, *now = r->has.place;

	if (!q->cell_count && to->cell_count == 1)
		q->node = to->cells[0].node;
	if (q->cell_count != now->cell_count || q->cell_count != to->cell_count ||
		q->cell_count > VFCTL_CELLS_MAX)
		return;
	for (size_t i = 0; i < q->cell_count; i++) {
		size_t rank = 0;

		for (size_t k = 0; k < now->cell_count; k++)
			rank += now->cells[k].node < now->cells[i].node;
		r->cells[i] = q->cells[i];
		r->cells[i].node = to->cells[rank].node;
	}
	q->cells = q->cell_count ? r->cells : NULL;
}

enum stay { STAY_NOT, STAY_ON_PFS, STAY_ON_NODES /* and on its PFs */, MOVE };

static int plan_once(struct vfctl_ctx *ctx, struct redefine_op *r,
	const struct vfctl_cpuset *closed, enum stay stay)
{
	struct vfctl_placement *p = r->placed;
	struct vfctl_cpuset busy = p->model->busy_cpus;
	int e;

	vfctl_plan_free(steal(p->plan));
	vfctl_requests_free(steal(p->requests));
	e = vfctl_requests_make(ctx, p->model, &p->guest, 1, &p->requests);
	if (e == 0)
		e = pin_wants(ctx, r, stay == STAY_ON_PFS || stay == STAY_ON_NODES);
	if (e < 0)
		return e;
	if (stay == STAY_ON_NODES)
		pin_cells(r);
	if (stay == MOVE)
		pin_target(r);
	vfctl_cpuset_or(&p->model->busy_cpus, closed);
	e = vfctl_plan_make(ctx, p->model, p->requests->v, 1, NULL, &p->plan);
	p->model->busy_cpus = busy;
	return e;
}

/* CPUs of guests that are not in @open. */
static struct vfctl_cpuset all_but(const struct redefine_op *r, const struct vfctl_cpuset *open)
{
	const struct vfctl_host_model *m = r->placed->model;
	struct vfctl_cpuset closed = {0};

	for (unsigned cpu = 0; cpu < VFCTL_CPU_MAX; cpu++)
		if (vfctl_cpuset_has(&m->topology->online, cpu) && !vfctl_cpuset_has(open, cpu) &&
			!vfctl_cpuset_has(&m->reserved_cpus, cpu) &&
			!vfctl_cpuset_has(&m->shared_cpus, cpu))
			vfctl_cpuset_add(&closed, cpu);
	/* A core that QEMU's threads share remains available for them. */
	for (size_t i = 0; i < m->occupant_count; i++)
		for (int cpu = vfctl_cpuset_next(&m->occupants[i].qemu_cpus, 0); cpu >= 0;
			cpu = vfctl_cpuset_next(&m->occupants[i].qemu_cpus, (unsigned)cpu + 1))
			vfctl_cpuset_remove(&closed, (unsigned)cpu);
	return closed;
}

static struct vfctl_cpuset own_cpus(const struct redefine_op *r)
{
	struct vfctl_cpuset own = r->shape.cpus;

	vfctl_cpuset_or(&own, &r->shape.qemu_cpus);
	return own;
}

static struct vfctl_cpuset own_nodes(const struct redefine_op *r)
{
	const struct vfctl_topology *t = r->placed->model->topology;
	struct vfctl_cpuset own = own_cpus(r);

	for (size_t i = 0; i < t->node_count; i++)
		for (size_t c = 0; c < r->shape.cell_count; c++)
			if ((int)t->nodes[i].id == r->shape.cells[c].node)
				vfctl_cpuset_or(&own, &t->nodes[i].cpus);
	return own;
}

/* VFs of one PF are equivalent: the guest keeps its own. */
static void keep_own_vfs(struct redefine_op *r)
{
	struct vfctl_assignment *a = &r->placed->plan->assignments[0];

	for (size_t s = 0; s < r->slot_count && s < a->vf_count; s++) {
		const struct vfctl_domain_vf *has = r->slots[s].has < 0 ? NULL
			: &r->has.intent.vfs[r->slots[s].has];
		struct vfctl_free_vf was = a->vfs[s];

		if (!has || vfctl_bdf_compare(&has->pf, &was.pf))
			continue;
		for (size_t k = 0; k < a->vf_count; k++)
			if (k != s && vfctl_bdf_compare(&a->vfs[k].bdf, &has->bdf) == 0)
				a->vfs[k] = was;
		a->vfs[s].bdf = has->bdf;
		a->vfs[s].index = has->index;
	}
}

/*
 * Mark the VFs that it keeps as free again. A VF that leaves it is not assigned to it again at
 * once.
 */
static int free_own_vfs(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	int e = 0;

	for (size_t s = 0; e == 0 && s < r->slot_count; s++) {
		const struct vfctl_pf *pf;
		const struct vfctl_vf *vf;

		if (r->slots[s].has < 0 || r->slots[s].moves)
			continue;
		e = vfctl_inventory_find_vf(ctx, r->placed->snapshot->inventory,
			TEXT(&r->has.intent.vfs[r->slots[s].has].bdf), &pf, &vf);
		if (e == 0)
			e = model_add_free_vf(ctx, r->placed->model, pf, vf);
	}
	return e;
}

static bool is_assigned(const struct vfctl_assignment *a, const struct vfctl_bdf *vf)
{
	for (size_t i = 0; i < a->vf_count; i++)
		if (vfctl_bdf_compare(&a->vfs[i].bdf, vf) == 0)
			return true;
	return false;
}

static int make_room(struct vfctl_ctx *ctx, struct vfctl_assignment *a, size_t count)
{
	void *vfs = reallocarray(a->vfs, count + 1, sizeof(*a->vfs)), *wants, *cells;

	a->vfs = vfs ? vfs : a->vfs;
	wants = reallocarray(a->vf_wants, count + 1, sizeof(*a->vf_wants));
	a->vf_wants = wants ? wants : a->vf_wants;
	cells = reallocarray(a->vf_cells, count + 1, sizeof(*a->vf_cells));
	a->vf_cells = cells ? cells : a->vf_cells;
	return vfs && wants && cells ? 0 : ctx_oom(ctx);
}

/* An attached VF keeps its cell in the guest, if there still is such a cell. */
static int add_attached(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	struct vfctl_assignment *a = &r->placed->plan->assignments[0];
	int e = make_room(ctx, a, a->vf_count + r->has.place->vf_count);

	for (size_t i = 0; e == 0 && i < r->has.place->vf_count; i++) {
		if (is_assigned(a, &r->has.place->vfs[i].bdf) || r->has.place->vf_cells[i] >= a->cell_count)
			continue;
		a->vfs[a->vf_count] = r->has.place->vfs[i];
		a->vf_wants[a->vf_count] = 0;
		a->vf_cells[a->vf_count++] = r->has.place->vf_cells[i];
	}
	return e;
}

/*
 * Each attempt keeps less of what the guest has: its own CPUs, its own nodes, its PFs. A request
 * that its own PFs cannot meet (a node without them) is not a mistake in the file.
 */
static int ask_planner(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const struct vfctl_cpuset own = own_cpus(r), near = own_nodes(r);
	const struct vfctl_cpuset closed[] = {all_but(r, &own), all_but(r, &near), {{0}}};
	int e = free_own_vfs(ctx, r);

	/* On its own CPUs it would stay split over its present nodes. */
	for (size_t i = r->diff.cells ? 2 : 0; e == 0 && i < ARRAY_SIZE(closed); i++) {
		e = plan_once(ctx, r, &closed[i], i < 2 ? STAY_ON_NODES : STAY_ON_PFS);
		if (e == 0 && r->placed->plan->assignments[0].refusal == VFCTL_REFUSAL_NONE)
			return 0;
		e = ctx_ignore_error(ctx, e, -EINVAL);
	}
	if (e == 0)
		e = plan_once(ctx, r, &closed[ARRAY_SIZE(closed) - 1], STAY_NOT);
	return e < 0 ? e : placed_check(ctx, r->placed);
}

/* Whether its cells stay on their nodes, so that only its VFs are misplaced. */
static bool cells_stay(const struct redefine_op *r)
{
	const struct vfctl_assignment *to = r->q->to, *now = r->has.place;
	bool within = to->cell_count == now->cell_count;

	for (size_t i = 0; within && i < now->cell_count; i++) {
		bool found = false;

		for (size_t k = 0; k < to->cell_count; k++)
			found |= to->cells[k].node == now->cells[i].node &&
				to->cells[k].memory_node == now->cells[i].memory_node;
		within = found;
	}
	return within;
}

/* Plan on its own CPUs: those of QEMU's threads keep that use. */
static int plan_within(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	struct vfctl_host_model *m = r->placed->model;
	const struct vfctl_cpuset own = own_cpus(r), closed = all_but(r, &own);
	bool shares = !vfctl_cpuset_empty(&r->shape.qemu_cpus);
	int e;

	if (shares) {
		if (!array_grow(m->occupants, m->occupant_count))
			return ctx_oom(ctx);
		m->occupants[m->occupant_count++] = (struct vfctl_occupant){
			.name = r->placed->guest->name, .qemu_cpus = r->shape.qemu_cpus};
	}
	e = plan_once(ctx, r, &closed, MOVE);
	m->occupant_count -= shares;
	return e;
}

/*
 * Plan on the target nodes; where these are its own nodes, on its own CPUs. Its VFs are those that
 * its request finds there.
 */
static int ask_to_move(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	const struct vfctl_cpuset closed = {{0}};
	int e = free_own_vfs(ctx, r);

	if (e == 0 && cells_stay(r)) {
		e = plan_within(ctx, r);
		if (e == 0 && r->placed->plan->assignments[0].refusal == VFCTL_REFUSAL_NONE)
			return 0;
	}
	if (e == 0)
		e = plan_once(ctx, r, &closed, MOVE);
	return e < 0 ? e : placed_check(ctx, r->placed);
}

int redefine_place(struct vfctl_ctx *ctx, struct redefine_op *r)
{
	int e;

	if (!r->place)
		return keep_place(ctx, r);
	model_leave_out(r->placed->model, r->q->info->uuid);
	e = r->q->to ? ask_to_move(ctx, r) : ask_planner(ctx, r);
	if (e < 0)
		return e;
	keep_own_vfs(r);
	if (!explain_other_vfs(&r->placed->plan->assignments[0], r->placed->model,
		&r->placed->requests->v[0]))
		return ctx_oom(ctx);
	return add_attached(ctx, r);
}
