// SPDX-License-Identifier: GPL-2.0-or-later
/* Moves of guests that have their place: the same search, where staying is one option. */

#include "placement/placement.h"

void vfctl_rebalance_free(struct vfctl_rebalance *rebalance)
{
	if (!rebalance)
		return;
	vfctl_plan_free(rebalance->plan);
	free(rebalance->moves);
	free(rebalance);
}

static void free_rebalance(struct vfctl_rebalance **rebalance)
{
	vfctl_rebalance_free(*rebalance);
}

struct rebalancing {
	struct vfctl_ctx *ctx;
	const struct vfctl_host_model *model;
	struct capacity *capacity;
	struct resident *residents;
	struct current_place *currents;
	size_t *occupants; /* of each resident */
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

/* Node of the memory of a cell: its entry @k, or where the entries cannot tell, its CPUs'. */
static unsigned memory_node(const struct capacity *capacity, const struct vfctl_occupant *o, size_t k,
	size_t cells, unsigned node)
{
	int at = o->memory_count == cells ? capacity_node_index(capacity, o->memory[k].node) : -1;

	/* One entry for several cells is memory that lies elsewhere for all but one. */
	if (o->memory_count && o->memory_count != cells)
		at = capacity_node_index(capacity, o->memory[0].node);
	return at < 0 ? node : (unsigned)at;
}

static void find_current(const struct rebalancing *b, size_t i)
{
	const struct vfctl_occupant *o = &b->model->occupants[b->occupants[i]];
	struct current_place *h = &b->currents[i];

	for (unsigned n = 0; n < b->capacity->node_count; n++)
		if (vfctl_cpuset_intersects(&o->cpus, &b->model->topology->nodes[n].cpus))
			h->nodes[h->cell_count++] = (uint8_t)n;
	for (size_t k = 0; k < h->cell_count; k++) {
		h->memory_nodes[k] = (uint8_t)memory_node(b->capacity, o,
			b->residents[i].memory_of[k], h->cell_count, h->nodes[k]);
		h->memory[k] = b->residents[i].cells[k].memory_bytes;
	}
	/* Its VFs are among the groups: the capacity was made with it left out. */
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

/* Is the guest local where it is? */
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

/* The others of those that stay are where they were. */
static int place_qemu(const struct rebalancing *b, struct assigning *z,
	const struct search_result *result, struct vfctl_rebalance *ret)
{
	int r = 0;

	for (int open = 1; open >= 0; open--)
		for (size_t i = 0; r == 0 && i < b->count; i++) {
			const struct chosen *c = &result->chosen[i];

			if (!c->placed || c->option.stay)
				continue;
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
	int r = assign_begin(b->ctx, b->capacity, &z);

	/* Who stays keeps its own CPUs and VFs, so that no one else is shown them. */
	for (size_t i = 0; r == 0 && i < b->count; i++) {
		const struct vfctl_occupant *o = &b->model->occupants[b->occupants[i]];

		if (!result->chosen[i].placed || !result->chosen[i].option.stay)
			continue;
		for (size_t c = 0; c < b->model->topology->core_count; c++)
			z.core_taken[c] |= vfctl_cpuset_intersects(
				&b->model->topology->cores[c].cpus, &o->cpus);
		if (assign_keep_vfs(&z, o) < 0)
			r = ctx_oom(b->ctx);
		ret->plan->assignments[i].node = b->capacity->nodes[b->currents[i].nodes[0]].id;
		ret->local_after += result->chosen[i].option.local;
	}
	for (size_t i = 0; r == 0 && i < b->count; i++) {
		struct vfctl_assignment *a = &ret->plan->assignments[i];

		ret->local_before += is_local(b, i);
		if (!result->chosen[i].placed || result->chosen[i].option.stay)
			continue;
		r = assign_guest(b->ctx, &z, &b->requests[i], &result->chosen[i], a);
		ret->moves[ret->move_count].occupant = b->occupants[i];
		ret->moves[ret->move_count++].to = a;
		ret->local_after += result->chosen[i].option.local;
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

/* VFs of one PF are alike, so who keeps the PF keeps its own VF: others get what it had got. */
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
	_cleanup_(free_rebalance) struct vfctl_rebalance *made = calloc(1, sizeof(*made));
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
	struct search_result result = {0};
	int r = vfctl_model_check(ctx, model);

	if (r == 0)
		r = open_all(&b);
	if (r == 0)
		r = search_run(ctx, b.capacity, b.demands, b.count, 0, options, &result);
	if (r == 0)
		r = make_result(&b, &result, ret);
	search_result_clear(&result, b.count);
	return r;
}
