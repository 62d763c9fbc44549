// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Choose the PF of each VF with a flow from the guests' demands through the PFs' free VFs. So
 * neither the order of requests nor a greedy first choice can make a solvable request fail.
 */
#include "placement/search/search.h"

#include <errno.h>

#define WEIGHT_VF 4 /* weight of a VF's distance, compared with a vCPU's memory (2) */

bool match_allows(const struct capacity *capacity, const struct vfctl_vf_want *want,
	const struct vf_group *group, uint64_t nodes, unsigned max_distance, bool local,
	unsigned *ret_distance)
{
	enum vfctl_affinity affinity = want->affinity;
	unsigned best = UINT32_MAX;

	if (!capacity_group_answers(group, want))
		return false;
	for (uint64_t left = nodes; left; left &= left - 1) {
		unsigned d = capacity_vf_distance(capacity, group, (unsigned)__builtin_ctzll(left));

		best = d < best ? d : best;
	}
	*ret_distance = affinity == VFCTL_AFFINITY_ANY ? 0 : best - 10;
	if (max_distance && best > max_distance && group->local &&
		affinity != VFCTL_AFFINITY_ANY)
		return false;
	if (affinity == VFCTL_AFFINITY_ANY || group->local & nodes)
		return true;
	if (local)
		return false;
	if (affinity == VFCTL_AFFINITY_SOCKET && group->socket & nodes)
		return true;
	return affinity == VFCTL_AFFINITY_PREFERRED || !group->local;
}

/* Nodes that are near enough to a group of known place for the want. */
static uint64_t near_enough(const struct capacity *capacity, const struct vfctl_vf_want *want,
	const struct vf_group *group, unsigned max_distance)
{
	uint64_t nodes = 0;

	if (!max_distance || !group->local || want->affinity == VFCTL_AFFINITY_ANY)
		return UINT64_MAX;
	for (unsigned n = 0; n < capacity->node_count; n++)
		if (capacity_vf_distance(capacity, group, n) <= max_distance)
			nodes |= UINT64_C(1) << n;
	return nodes;
}

static struct reach reach_of(const struct capacity *capacity, const struct vfctl_vf_want *want,
	const struct vf_group *group, unsigned max_distance)
{
	uint64_t near = near_enough(capacity, want, group, max_distance), loose = group->local;

	if (!capacity_group_answers(group, want))
		return (struct reach){0};
	if (want->affinity == VFCTL_AFFINITY_ANY)
		return (struct reach){near, near};
	if (want->affinity == VFCTL_AFFINITY_PREFERRED || !group->local)
		loose = UINT64_MAX;
	else if (want->affinity == VFCTL_AFFINITY_SOCKET)
		loose |= group->socket;
	return (struct reach){near & group->local, near & loose};
}

struct reach *match_reach(const struct capacity *capacity, const struct demand *demand)
{
	size_t wants = demand->request->want_count, groups = capacity->group_count;
	struct reach *reach = calloc(wants * groups + 1, sizeof(*reach));

	for (size_t w = 0; reach && w < wants; w++)
		for (size_t g = 0; g < groups; g++)
			reach[w * groups + g] = reach_of(capacity, &demand->request->wants[w],
				&capacity->groups[g], demand->request->max_distance);
	return reach;
}

uint64_t match_nodes(const struct option *o, const struct opt_cell *cells, int cell)
{
	return cell < 0 ? o->nodes : UINT64_C(1) << cells[cell].node;
}

/* ---- demands ---- */

static size_t list_needs(const struct demand *demand, size_t cell_count,
	struct need ret[NEEDS_MAX])
{
	size_t n = 0;

	for (uint32_t w = 0; w < demand->request->want_count; w++) {
		const struct vfctl_vf_want *want = &demand->request->wants[w];
		size_t times = want->cell == VFCTL_CELL_EACH ? cell_count : 1;

		for (size_t k = 0; k < times && n < NEEDS_MAX; k++)
			ret[n++] = (struct need){.want = w, .count = (uint16_t)want->count,
				.cell = want->cell == VFCTL_CELL_EACH ? (int)k :
					want->cell >= 0 ? want->cell : VFCTL_CELL_ANY};
	}
	return n;
}

static unsigned nearest_distance(const struct capacity *capacity, const struct vf_group *group,
	uint64_t nodes)
{
	unsigned best = UINT32_MAX;

	for (uint64_t left = nodes; left; left &= left - 1) {
		unsigned d = capacity_vf_distance(capacity, group, (unsigned)__builtin_ctzll(left));

		best = d < best ? d : best;
	}
	return best - 10;
}

/* Judge one want alone: false if there are too few VFs for it. */
static bool floor_of(const struct capacity *capacity, const struct demand *demand,
	const struct need *need, uint64_t nodes, bool local, unsigned *ret_distance)
{
	const struct vfctl_vf_want *want = &demand->request->wants[need->want];
	const struct reach *reach = &demand->reach[need->want * capacity->group_count];
	bool far = want->affinity != VFCTL_AFFINITY_ANY;
	unsigned best = UINT32_MAX;
	uint32_t there = 0;

	for (size_t g = 0; g < capacity->group_count; g++) {
		unsigned d;

		if (!((local ? reach[g].local : reach[g].loose) & nodes))
			continue;
		there += capacity->groups[g].free;
		d = far && best ? nearest_distance(capacity, &capacity->groups[g], nodes) : 0;
		best = d < best ? d : best;
		if (!best && there >= want->count)
			break;
	}
	*ret_distance = best;
	return there >= want->count;
}

bool match_floor(const struct capacity *capacity, const struct demand *demand,
	const struct option *o,
	const struct opt_cell *cells, uint64_t *ret_distance)
{
	struct need needs[NEEDS_MAX];
	size_t count = list_needs(demand, o->cell_count, needs);
	uint64_t sum = 0;
	unsigned d;

	for (size_t i = 0; i < count; i++) {
		if (!floor_of(capacity, demand, &needs[i], match_nodes(o, cells, needs[i].cell),
			    o->local, &d))
			return false;
		sum += (uint64_t)d * WEIGHT_VF * demand->request->wants[needs[i].want].count;
	}
	*ret_distance = sum;
	return true;
}

/* ---- the network ---- */

static unsigned sink_of(const struct capacity *capacity)
{
	return (unsigned)capacity->group_count;
}

static int begin_nodes(const struct capacity *capacity, struct flow *flow)
{
	for (size_t i = 0; i <= capacity->group_count; i++)
		if (flow_node(flow) < 0)
			return -ENOMEM;
	return 0;
}

int match_begin(const struct capacity *capacity, struct flow *flow)
{
	int r = begin_nodes(capacity, flow);

	for (size_t i = 0; i < capacity->group_count && r == 0; i++)
		r = flow_edge(flow, (unsigned)i, sink_of(capacity), capacity->groups[i].free, 0);
	return r;
}

/* The network node that permits one VF of a set from the groups of one PF. */
struct anti_affinity {
	uint32_t set;
	struct vfctl_bdf pf;
	unsigned node;
	size_t first_edge;
};

struct builder {
	const struct capacity *capacity;
	struct flow *flow;
	const struct demand *demand;
	int64_t unit; /* cost of a distance of 1 */
	struct anti_affinity *anti_affinity; /* freed by the owner of the builder */
	size_t anti_affinity_count;
};

static int anti_affinity_node(struct builder *b, uint32_t set, const struct vf_group *group)
{
	struct anti_affinity *a;
	int out, r = 0;

	for (size_t i = 0; i < b->anti_affinity_count; i++)
		if (b->anti_affinity[i].set == set &&
			vfctl_bdf_compare(&b->anti_affinity[i].pf, &group->pf) == 0)
			return (int)b->anti_affinity[i].node;
	if (!array_grow(b->anti_affinity, b->anti_affinity_count))
		return -ENOMEM;
	a = &b->anti_affinity[b->anti_affinity_count];
	*a = (struct anti_affinity){.set = set, .pf = group->pf};
	r = flow_node(b->flow);
	out = flow_node(b->flow);
	if (r < 0 || out < 0)
		return -ENOMEM;
	a->node = (unsigned)r;
	a->first_edge = b->flow->edge_count;
	b->anti_affinity_count++;
	r = flow_edge(b->flow, a->node, (unsigned)out, 1, 0);
	for (size_t g = 0; g < b->capacity->group_count && r == 0; g++)
		if (vfctl_bdf_compare(&b->capacity->groups[g].pf, &group->pf) == 0)
			r = flow_edge(b->flow, (unsigned)out, (unsigned)g, 1, 0);
	return r < 0 ? r : (int)a->node;
}

static int connect_need(struct builder *b, struct need *d, const struct option *o,
	const struct opt_cell *cells)
{
	const struct vfctl_vf_want *want = &b->demand->request->wants[d->want];
	uint64_t nodes = match_nodes(o, cells, d->cell);
	int node = flow_node(b->flow), to, r = 0;
	unsigned distance;

	if (node < 0)
		return node;
	d->node = (unsigned)node;
	for (size_t g = 0; g < b->capacity->group_count && r == 0; g++) {
		if (!match_allows(b->capacity, want, &b->capacity->groups[g], nodes,
			    b->demand->request->max_distance, o->local, &distance))
			continue;
		to = want->anti_affinity ? anti_affinity_node(b, want->anti_affinity,
			&b->capacity->groups[g]) : (int)g;
		if (to < 0)
			return to;
		r = flow_edge(b->flow, d->node, (unsigned)to, want->anti_affinity ? 1 : want->count,
			b->unit * distance * WEIGHT_VF);
	}
	return r;
}

/* Send through the cheapest group while it has VFs left: no other path can cost less. */
static uint16_t send_direct(struct flow *f, unsigned node, uint16_t units)
{
	int32_t best = -1, out;
	uint16_t n;

	for (int32_t e = f->first[node]; e >= 0; e = f->next[e])
		if (best < 0 || f->cost[e] < f->cost[best])
			best = e;
	if (best < 0)
		return 0;
	/* match_begin() created the edges from the groups to the sink first, in their order. */
	out = f->to[best] * 2;
	n = f->left[out] < units ? f->left[out] : units;
	n = f->left[best] < n ? f->left[best] : n;
	f->left[best] = (uint16_t)(f->left[best] - n);
	f->left[best ^ 1] = (uint16_t)(f->left[best ^ 1] + n);
	f->left[out] = (uint16_t)(f->left[out] - n);
	f->left[out ^ 1] = (uint16_t)(f->left[out ^ 1] + n);
	f->total += n * f->cost[best];
	return n;
}

/* A guest that stays keeps its VFs. */
static int add_current(const struct capacity *capacity, struct flow *flow,
	const struct current_place *current, uint64_t nodes, int64_t unit)
{
	for (size_t i = 0; i < current->vf_count; i++) {
		const struct vf_group *g = &capacity->groups[current->groups[i]];
		int node = flow_node(flow), r;
		unsigned best = UINT32_MAX;

		for (uint64_t left = nodes; left; left &= left - 1) {
			unsigned d = capacity_vf_distance(capacity, g, (unsigned)__builtin_ctzll(left));

			best = d < best ? d : best;
		}
		r = node < 0 ? node : flow_edge(flow, (unsigned)node, current->groups[i], 1,
			unit * WEIGHT_VF * (best - 10));
		if (r < 0)
			return r;
		if (!flow_send(flow, (unsigned)node, sink_of(capacity), 1))
			return 0;
	}
	return 1;
}

int match_add(const struct capacity *capacity, struct flow *flow, const struct demand *demand,
	const struct option *o, const struct opt_cell *cells)
{
	struct builder b = {.capacity = capacity, .flow = flow, .demand = demand, .unit = 1};
	struct need needs[NEEDS_MAX];
	size_t count;
	int r = 1;

	if (o->stay)
		return add_current(capacity, flow, demand->current, o->nodes, 1);
	count = list_needs(demand, o->cell_count, needs);
	for (size_t i = 0; i < count && r > 0; i++) {
		uint16_t left = needs[i].count;

		r = connect_need(&b, &needs[i], o, cells);
		if (r == 0 && !demand->request->wants[needs[i].want].anti_affinity)
			left = (uint16_t)(left - send_direct(flow, needs[i].node, left));
		if (r == 0)
			r = left ? flow_send(flow, needs[i].node, sink_of(capacity), left) : 1;
	}
	free(b.anti_affinity);
	return r;
}

/* ---- all VFs of a plan ---- */

struct scale {
	int64_t distance, room, balance;
};

/* Weights that separate the levels. If they would overflow, balance is left out. */
static struct scale make_scale(const struct capacity *capacity, uint64_t units)
{
	unsigned __int128 room = 1, balance = 1, distance;
	uint64_t most = 0;

	for (size_t g = 0; g < capacity->group_count; g++)
		most = capacity->groups[g].free > most ? capacity->groups[g].free : most;
	balance += (unsigned __int128)units * 2 * most;
	for (unsigned n = 0; n < capacity->node_count; n++)
		for (size_t f = 0; f < capacity->future_capacity.fabric_count; f++) {
			uint64_t worth = future_capacity_vf_worth(capacity, capacity->nodes[n].threads, f, 1);

			room = worth > room ? worth : room;
		}
	room = room * units + 1;
	distance = (unsigned __int128)units * WEIGHT_VF * capacity->farthest + 1;
	if (balance * room * distance < INT64_MAX)
		return (struct scale){(int64_t)(room * balance), (int64_t)balance, 1};
	if (room * distance < INT64_MAX)
		return (struct scale){(int64_t)room, 1, 0};
	return (struct scale){1, 0, 0};
}

/* Connect the VFs of a fabric on a node to the sink; the fewer are left, the higher the cost. */
static int build_place(const struct capacity *capacity, const struct node_free *room,
	const struct scale *scale, size_t fabric, uint32_t vfs, struct flow *flow)
{
	uint32_t threads = room ? capacity_usable_threads(capacity, room) : 0;
	uint64_t worth = room && vfs ? future_capacity_vf_worth(capacity, threads, fabric, vfs) : 0;
	int node = flow_node(flow), r = node < 0 ? node : 0;

	for (uint32_t k = 1, same = 1; k <= vfs && r == 0; k++, same++) {
		uint64_t next = room && k < vfs ?
			future_capacity_vf_worth(capacity, threads, fabric, vfs - k) : 0;

		if (k < vfs && worth == next)
			continue;
		r = flow_edge(flow, (unsigned)node, sink_of(capacity), (uint16_t)same,
			scale->room * (int64_t)worth);
		same = 0;
		worth = next;
	}
	return r;
}

static int build_groups(const struct capacity *capacity, const struct node_free *rooms,
	const struct scale *scale, struct flow *flow)
{
	size_t fabrics = capacity->future_capacity.fabric_count, first = capacity->group_count + 1;
	struct future_capacity_vfs vfs[CAPACITY_NODES_MAX + 1];
	uint32_t most = 0;
	int r = begin_nodes(capacity, flow);

	future_capacity_vfs_at_start(capacity, vfs);
	for (unsigned n = 0; n <= capacity->node_count && r == 0; n++)
		for (size_t f = 0; f < fabrics && r == 0; f++)
			r = build_place(capacity, n < capacity->node_count ? &rooms[n] : NULL, scale, f,
				vfs[n].of[f], flow);
	for (size_t g = 0; g < capacity->group_count; g++)
		most = capacity->groups[g].free > most ? capacity->groups[g].free : most;
	for (size_t g = 0; g < capacity->group_count && r == 0; g++) {
		const struct vf_group *group = &capacity->groups[g];
		size_t place = first + group->home_node * fabrics + group->network;

		/* With the k-th VF, the square of the remainder decreases by 2 (all - k) + 1. */
		for (uint32_t k = 1; k <= group->free && r == 0; k++)
			r = flow_edge(flow, (unsigned)g, (unsigned)place, 1,
				scale->balance * 2 * (most - (group->free - k)));
	}
	return r;
}

/* Read the flow from the need's node, one unit at a time. */
static void read_need(const struct capacity *capacity, const struct builder *b,
	const struct need *d, struct given_vf *out, size_t *count)
{
	const struct flow *f = b->flow;

	for (int32_t e = f->first[d->node]; e >= 0; e = f->next[e]) {
		unsigned to = f->to[e];

		if (e & 1)
			continue;
		for (uint16_t n = flow_used(f, (size_t)e); n; n--) {
			unsigned group = to;

			/* After an anti-affinity node: its edge, then the group that is used. */
			if (to > capacity->group_count)
				for (size_t a = 0; a < b->anti_affinity_count; a++) {
					unsigned out_node = f->to[b->anti_affinity[a].first_edge];

					if (b->anti_affinity[a].node != to)
						continue;
					for (int32_t x = f->first[out_node]; x >= 0; x = f->next[x])
						if (!(x & 1) && flow_used(f, (size_t)x))
							group = f->to[x];
				}
			out[(*count)++] = (struct given_vf){.group = (uint16_t)group,
				.want = (uint16_t)d->want, .cell = (int16_t)d->cell};
		}
	}
}

struct flow_demand {
	struct need needs[NEEDS_MAX];
	size_t need_count;
	struct builder builder;
};

static int send_demand(const struct capacity *capacity, struct flow *flow,
	const struct demand *demand,
	const struct chosen *c, const struct scale *scale, struct flow_demand *fj)
{
	int r = 1;

	fj->builder = (struct builder){.capacity = capacity, .flow = flow, .demand = demand,
		.unit = scale->distance};
	if (c->option.stay)
		return add_current(capacity, flow, demand->current, c->option.nodes, scale->distance);
	fj->need_count = list_needs(demand, c->option.cell_count, fj->needs);
	for (size_t i = 0; i < fj->need_count && r > 0; i++) {
		r = connect_need(&fj->builder, &fj->needs[i], &c->option, c->cells);
		if (r == 0)
			r = flow_send(flow, fj->needs[i].node, sink_of(capacity),
				fj->needs[i].count);
	}
	return r;
}

static int sum_up(const struct capacity *capacity, const struct chosen *chosen,
	const struct demand *demands,
	size_t count, const struct node_free *rooms, struct leaf *ret)
{
	struct future_capacity_vfs left[CAPACITY_NODES_MAX + 1];
	uint32_t usable[CAPACITY_NODES_MAX];
	_free_ uint32_t *used = calloc(capacity->group_count + 1, sizeof(*used));

	*ret = (struct leaf){0};
	if (!used)
		return -ENOMEM;
	future_capacity_vfs_at_start(capacity, left);
	for (size_t i = 0; i < count; i++)
		for (size_t k = 0; chosen[i].placed && k < demands[i].vfs; k++)
			used[chosen[i].vfs[k].group]++;
	for (size_t g = 0; g < capacity->group_count; g++) {
		uint64_t n = capacity->groups[g].free - used[g];

		left[capacity->groups[g].home_node].of[capacity->groups[g].network] -= used[g];
		ret->balance += n * n;
	}
	future_capacity_usable(capacity, rooms, usable);
	for (unsigned n = 0; n < capacity->node_count; n++)
		ret->room += future_capacity_node(capacity, usable[n], &left[n]);
	ret->room += future_capacity_pairs(capacity, usable);
	return 1;
}

int match_all(const struct capacity *capacity, const struct demand *demands, struct chosen *chosen,
	size_t count, const struct node_free *rooms, uint64_t *io_work, struct leaf *ret)
{
	_cleanup_(flow_clear) struct flow flow = {0};
	_free_ struct flow_demand *fj = NULL;
	struct scale scale;
	uint64_t units = 0;
	int r = 1;

	for (size_t i = 0; i < count; i++)
		units += chosen[i].placed ? demands[i].vfs : 0;
	if (units) {
		fj = calloc(count, sizeof(*fj));
		scale = make_scale(capacity, units);
		r = fj ? build_groups(capacity, rooms, &scale, &flow) : -ENOMEM;
		r = r < 0 ? r : 1;
		for (size_t i = 0; i < count && r > 0; i++)
			if (chosen[i].placed && demands[i].vfs)
				r = send_demand(capacity, &flow, &demands[i], &chosen[i], &scale, &fj[i]);
	}
	for (size_t i = 0; i < count && r > 0 && units; i++) {
		size_t n = 0;

		if (!chosen[i].placed || !demands[i].vfs)
			continue;
		for (size_t k = 0; chosen[i].option.stay && k < demands[i].vfs; k++)
			chosen[i].vfs[n++] = (struct given_vf){.group = demands[i].current->groups[k],
				.want = (uint16_t)k, .cell = VFCTL_CELL_ANY};
		for (size_t d = 0; !chosen[i].option.stay && d < fj[i].need_count; d++)
			read_need(capacity, &fj[i].builder, &fj[i].needs[d], chosen[i].vfs, &n);
	}
	for (size_t i = 0; fj && i < count; i++)
		free(fj[i].builder.anti_affinity);
	*io_work += flow.work;
	return r > 0 ? sum_up(capacity, chosen, demands, count, rooms, ret) : r;
}
