// SPDX-License-Identifier: GPL-2.0-or-later
/* Plan moves of placed guests: the same search, in which staying is one option. */

#include "placement/make.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

void vfctl_rebalance_free(struct vfctl_rebalance *rebalance)
{
	if (!rebalance)
		return;
	vfctl_plan_free(rebalance->plan);
	free(rebalance->moves);
	free(rebalance);
}

struct rebalancing {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_model *model;
	struct capacity *capacity;
	struct resident *residents;
	struct current_place *currents;
	size_t *occupants; /* occupant of each resident */
	bool *leave_out;
	struct vfctl_request *requests;
	struct demand *demands;
	size_t count;
};

static void clear_rebalancing(struct rebalancing *b)
{
	for (size_t i = 0; b->residents && i < b->count; i++)
		resident_clear(&b->residents[i]);
	free(b->residents);
	free(b->currents);
	free(b->occupants);
	free(b->leave_out);
	free(b->requests);
	free(b->demands);
	capacity_free(b->capacity);
}

static size_t group_of(const struct capacity *capacity, const struct vfctl_free_vf *vf)
{
	int id = vf->node;

	for (size_t g = 0; g < capacity->group_count; g++) {
		int node = capacity->groups[g].node < 0 ? VFCTL_NODE_NONE
						    : capacity->nodes[capacity->groups[g].node].id;

		if (vfctl_bdf_compare(&capacity->groups[g].pf, &vf->pf) == 0 &&
			(node == id || (node < 0 && capacity_node_index(capacity, id) < 0)))
			return g;
	}
	return 0;
}

/*
 * Its memory on each node, and the first node with memory but without one of its cells; -1: none.
 */
static int find_held(const struct capacity *capacity, const struct vfctl_occupant *o,
	struct current_place *h)
{
	int elsewhere = -1;

	h->page = -1;
	for (unsigned p = 0; p < capacity->page_count; p++)
		if (o->memory_count && capacity->page_bytes[p] == o->memory[0].page_bytes)
			h->page = (int)p;
	for (size_t i = 0; i < o->memory_count; i++) {
		int at = capacity_node_index(capacity, o->memory[i].node);

		if (at >= 0)
			h->held[at] += o->memory[i].bytes;
		if (at >= 0 && o->memory[i].bytes && !memchr(h->nodes, at, h->cell_count))
			elsewhere = at;
	}
	return elsewhere;
}

/*
 * Node of a cell's memory: of its entry or, if the entries do not tell, the farthest possible node.
 */
static unsigned memory_node(const struct rebalancing *b, size_t i, size_t k, int elsewhere)
{
	const struct vfctl_occupant *o = &b->model->occupants[b->occupants[i]];
	const struct current_place *h = &b->currents[i];
	int at = elsewhere;

	if (o->memory_count == h->cell_count)
		at = capacity_node_index(b->capacity, o->memory[b->residents[i].memory_of[k]].node);
	else if (at < 0 && !h->held[h->nodes[k]])
		at = capacity_node_index(b->capacity, o->memory[0].node);
	return at < 0 ? h->nodes[k] : (unsigned)at;
}

static void count_own_cores(const struct rebalancing *b, const struct vfctl_occupant *o,
	struct current_place *h)
{
	const struct vfctl_topology *t = b->model->topology;

	for (size_t i = 0; i < t->core_count; i++) {
		const struct capacity_core *core = &b->capacity->cores[i];

		for (size_t k = 0; k < h->cell_count; k++)
			if (core->node == h->nodes[k] &&
				vfctl_cpuset_intersects(&t->cores[i].cpus, &o->cpus))
				h->cores[k][core->class]++;
	}
}

static void find_current(const struct rebalancing *b, size_t i)
{
	const struct vfctl_occupant *o = &b->model->occupants[b->occupants[i]];
	struct current_place *h = &b->currents[i];
	int elsewhere;

	h->qemu_node = -1;
	for (unsigned n = 0; n < b->capacity->node_count; n++) {
		if (vfctl_cpuset_intersects(&o->cpus, &b->model->topology->nodes[n].cpus))
			h->nodes[h->cell_count++] = (uint8_t)n;
		if (vfctl_cpuset_intersects(&o->qemu_cpus, &b->model->topology->nodes[n].cpus))
			h->qemu_node = (int)n;
	}
	elsewhere = find_held(b->capacity, o, h);
	for (size_t k = 0; k < h->cell_count; k++)
		h->memory_nodes[k] = (uint8_t)memory_node(b, i, k, elsewhere);
	count_own_cores(b, o, h);
	/* Its VFs are in the groups, because the capacity was made without this guest. */
	for (size_t v = 0; v < o->vf_count; v++)
		h->groups[h->vf_count++] = (uint16_t)group_of(b->capacity, &o->vfs[v]);
}

static int allocate(struct rebalancing *b)
{
	size_t n = b->model->occupant_count + 1;

	b->residents = calloc(n, sizeof(*b->residents));
	b->currents = calloc(n, sizeof(*b->currents));
	b->occupants = calloc(n, sizeof(*b->occupants));
	b->leave_out = calloc(n, sizeof(*b->leave_out));
	b->requests = calloc(n, sizeof(*b->requests));
	b->demands = calloc(n, sizeof(*b->demands));
	return b->residents && b->currents && b->occupants && b->leave_out && b->requests &&
		b->demands ? 0 : ctx_oom(b->ctx);
}

static int open_all(struct rebalancing *b)
{
	int r = allocate(b);
	bool share = false;

	for (size_t i = 0; r == 0 && i < b->model->occupant_count; i++) {
		if (!resident_may_move(b->model, &b->model->occupants[i]))
			continue;
		b->leave_out[i] = true;
		b->occupants[b->count] = i;
		r = resident_init(b->ctx, b->model, &b->model->occupants[i],
			&b->residents[b->count]);
		if (r == 0)
			b->requests[b->count] = b->residents[b->count].request;
		share |= r == 0 && request_has_auto(&b->requests[b->count]);
		b->count += r == 0;
	}
	if (r == 0)
		r = capacity_new(b->ctx, b->model, b->leave_out, share, &b->capacity);
	for (size_t i = 0; r == 0 && i < b->count; i++) {
		find_current(b, i);
		demand_init(b->capacity, &b->requests[i], i, &b->demands[i]);
		b->demands[i].current = &b->currents[i];
	}
	return r;
}

/* Whether the guest is local at its present place. */
static bool is_local(const struct rebalancing *b, size_t i)
{
	const struct current_place *h = &b->currents[i];
	uint64_t nodes = 0;
	bool local = true;

	for (size_t k = 0; k < h->cell_count; k++) {
		nodes |= UINT64_C(1) << h->nodes[k];
		local &= h->nodes[k] == h->memory_nodes[k];
	}
	for (size_t v = 0; v < h->vf_count; v++)
		local &= b->requests[i].wants[v].affinity == VFCTL_AFFINITY_ANY ||
			(b->capacity->groups[h->groups[v]].local & nodes) != 0;
	return local;
}

/* Cores of guests that stay, and cores that moving guests keep: by guest, from 1. */
struct keeping {
	size_t *keeper; /* guest of each core of the topology; 0: none */
	bool *own;	/* the cores of one guest */
};

static void clear_keeping(struct keeping *k)
{
	free(k->keeper);
	free(k->own);
}

/* Keep as many cores as it needs on nodes that it uses before and after the move. */
static void keep_cores(const struct rebalancing *b, const struct chosen *c, size_t i,
	struct assigning *z, struct keeping *keep)
{
	const struct vfctl_occupant *o = &b->model->occupants[b->occupants[i]];
	const struct vfctl_topology *t = b->model->topology;

	for (size_t k = 0; k < c->option.cell_count; k++) {
		uint16_t left[CAPACITY_CLASSES_MAX];

		memcpy(left, c->cells[k].cores, sizeof(left));
		for (size_t n = 0; n < t->core_count; n++) {
			const struct capacity_core *core = &b->capacity->cores[n];

			if (core->node != c->cells[k].node || !left[core->class] ||
				!vfctl_cpuset_intersects(&t->cores[n].cpus, &o->cpus))
				continue;
			left[core->class]--;
			keep->keeper[n] = i + 1;
			z->core_taken[n] = true;
		}
	}
}

/* A guest that stays keeps its own CPUs and VFs, so they are not offered to others. */
static int keep_all(const struct rebalancing *b, const struct search_result *result,
	struct assigning *z, struct keeping *keep)
{
	for (size_t i = 0; i < b->count; i++) {
		if (!result->chosen[i].placed)
			continue;
		keep_cores(b, &result->chosen[i], i, z, keep);
		if (result->chosen[i].option.stay &&
			assign_keep_vfs(z, &b->model->occupants[b->occupants[i]]) < 0)
			return ctx_oom(b->ctx);
	}
	return 0;
}

static int move_guest(const struct rebalancing *b, const struct chosen *c, size_t i,
	struct assigning *z, const struct keeping *keep, struct vfctl_assignment *a)
{
	for (size_t n = 0; n < b->model->topology->core_count; n++) {
		keep->own[n] = keep->keeper[n] == i + 1;
		if (keep->own[n])
			z->core_taken[n] = false;
	}
	z->own_cores = keep->own;
	return assign_guest(b->ctx, z, &b->requests[i], c, a);
}

/* QEMU's threads of guests that stay remain where they are. */
static int place_qemu(const struct rebalancing *b, struct assigning *z,
	const struct search_result *result, struct vfctl_rebalance *ret)
{
	int r = 0;

	for (int open = 1; open >= 0; open--)
		for (size_t i = 0; r == 0 && i < b->count; i++) {
			const struct chosen *c = &result->chosen[i];

			if (!c->placed || c->option.stay)
				continue;
			z->own_qemu = &b->model->occupants[b->occupants[i]].qemu_cpus;
			if (open)
				assign_open_qemu(z, c);
			else
				r = assign_qemu(b->ctx, z, &b->requests[i], c,
					&ret->plan->assignments[i]);
		}
	return r;
}

static int fill_moved(const struct rebalancing *b, const struct search_result *result,
	struct vfctl_rebalance *ret)
{
	_cleanup_(assign_clear) struct assigning z = {0};
	size_t cores = b->model->topology->core_count + 1;
	_cleanup_(clear_keeping) struct keeping keep = {calloc(cores, sizeof(*keep.keeper)),
		calloc(cores, sizeof(*keep.own))};
	int r = keep.keeper && keep.own ? assign_begin(b->ctx, b->capacity, &z) : ctx_oom(b->ctx);

	if (r == 0)
		r = keep_all(b, result, &z, &keep);
	for (size_t i = 0; i < b->count && r == 0; i++) {
		const struct chosen *c = &result->chosen[i];
		struct vfctl_assignment *a = &ret->plan->assignments[i];

		ret->local_before += is_local(b, i);
		ret->local_after += c->placed && c->option.local;
		if (c->placed && c->option.stay)
			a->node = b->capacity->nodes[b->currents[i].nodes[0]].id;
		if (!c->placed || c->option.stay)
			continue;
		r = move_guest(b, c, i, &z, &keep, a);
		ret->moves[ret->move_count].occupant = b->occupants[i];
		ret->moves[ret->move_count++].to = a;
	}
	return r < 0 ? r : place_qemu(b, &z, result, ret);
}

static struct vfctl_free_vf *find_given(struct vfctl_rebalance *r, const struct vfctl_bdf *vf)
{
	for (size_t m = 0; m < r->move_count; m++)
		for (size_t i = 0; i < r->moves[m].to->vf_count; i++)
			if (vfctl_bdf_compare(&r->moves[m].to->vfs[i].bdf, vf) == 0)
				return &r->moves[m].to->vfs[i];
	return NULL;
}

static bool owns_rebalancing(const struct vfctl_occupant *o, const struct vfctl_free_vf *vf)
{
	for (size_t i = 0; i < o->vf_count; i++)
		if (vfctl_bdf_compare(&o->vfs[i].bdf, &vf->bdf) == 0)
			return true;
	return false;
}

/*
 * VFs of one PF are equivalent, so a guest that keeps the PF keeps its own VF, and other guests get
 * the one that it was assigned.
 */
static void keep_own_vfs(const struct rebalancing *b, struct vfctl_rebalance *r)
{
	for (size_t m = 0; m < r->move_count; m++) {
		const struct vfctl_occupant *o = &b->model->occupants[r->moves[m].occupant];
		const struct vfctl_assignment *a = r->moves[m].to;

		for (size_t own = 0; own < o->vf_count; own++) {
			struct vfctl_free_vf *given = find_given(r, &o->vfs[own].bdf), was;
			size_t i = 0;

			while (i < a->vf_count && (owns_rebalancing(o, &a->vfs[i]) ||
					vfctl_bdf_compare(&a->vfs[i].pf, &o->vfs[own].pf) != 0))
				i++;
			if (i == a->vf_count || (given >= a->vfs && given < a->vfs + a->vf_count))
				continue;
			was = a->vfs[i];
			a->vfs[i] = o->vfs[own];
			if (given)
				*given = was;
		}
	}
}

static int make_result(const struct rebalancing *b, const struct search_result *result,
	struct vfctl_rebalance **ret)
{
	_cleanup_(vfctl_rebalance_freep) struct vfctl_rebalance *made = calloc(1, sizeof(*made));
	int r;

	if (made) {
		made->plan = calloc(1, sizeof(*made->plan));
		made->moves = calloc(b->count + 1, sizeof(*made->moves));
	}
	if (made && made->plan)
		made->plan->assignments = calloc(b->count + 1, sizeof(*made->plan->assignments));
	if (!made || !made->plan || !made->moves || !made->plan->assignments)
		return ctx_oom(b->ctx);
	made->plan->count = b->count;
	memcpy(made->plan->value, result->value, sizeof(made->plan->value));
	memcpy(made->plan->bound, result->bound, sizeof(made->plan->bound));
	made->plan->gap_level = result->gap_level;
	made->plan->steps = result->steps;
	made->plan->cut = plan_cut(made->plan, result->clock);
	r = fill_moved(b, result, made);
	if (r == 0)
		keep_own_vfs(b, made);
	if (r == 0)
		*ret = steal(made);
	return r;
}

int vfctl_plan_rebalance(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_plan_options *options, struct vfctl_rebalance **ret)
{
	_cleanup_(clear_rebalancing) struct rebalancing b = {.ctx = ctx, .model = model};
	const struct search_limits limits = search_limits_of(options);
	struct search_result result = {0};
	int r = vfctl_model_check(ctx, model);

	if (r == 0)
		r = open_all(&b);
	if (r == 0)
		r = search_run(ctx, b.capacity, b.demands, b.count, NULL, &limits, &result);
	if (r == 0)
		r = make_result(&b, &result, ret);
	search_result_clear(&result, b.count);
	return r;
}
