// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Branch and bound over whole guests, hardest first. Plans are compared level by level (enum
 * vfctl_plan_level), all as "less is better"; a branch ends if its lower bound is not less than the
 * best known plan. Guests with the same request are tried in one order only, and equal nodes as
 * one. When the steps run out, the first bound still holds: it gives the proven gap.
 */
#include "placement/search/branch.h"

#include <errno.h>
#include <time.h>

/* A step costs about as much as this many edges of a flow. */
#define EDGES_PER_STEP 64
/* Limit of the work for one guest of a batch in a first plan. */
#define GREEDY_WORK 20000
/* Limit of the work for judging all guests alone; each gets a share of the rest. */
#define JUDGE_WORK (32 * GREEDY_WORK)
#define JUDGE_SHARE 4
/* The first pass decides these levels, the second the rest. */
#define FIRST_LEVELS (VFCTL_LEVEL_FORM + 1)

/* ---- scores ---- */

static int compare_search(const score a, const score b, unsigned levels)
{
	for (unsigned i = 0; i < levels; i++)
		if (a[i] != b[i])
			return a[i] < b[i] ? -1 : 1;
	return 0;
}

/* ---- limits ---- */

bool search_step(struct search *s)
{
	s->steps += 1 + (s->flow.work - s->flow_work) / EDGES_PER_STEP;
	if (s->flow.work - s->flow_work >= EDGES_PER_STEP)
		s->flow_work = s->flow.work;
	if (s->steps >= s->max_steps)
		s->stopped = true;
	if (s->ctx->cancelled && !s->error)
		s->error = ctx_fail(s->ctx, -EINTR, "the planner was interrupted");
	if (s->error)
		s->stopped = true;
	if (s->steps < s->next_look)
		return !s->stopped;
	s->next_look = s->steps + 1024;
	if (limit_reached(&s->limit))
		s->stopped = true;
	return !s->stopped;
}

/* ---- leaves ---- */

static void keep_search(struct search *s, const struct node_free *rooms, const score sum)
{
	for (size_t i = 0; i < s->count; i++) {
		struct chosen *to = &s->best[s->demands[i].index];
		const struct chosen *from = &s->now[i];

		to->placed = from->placed;
		if (!from->placed)
			continue;
		to->option = from->option;
		memcpy(to->cells, from->cells, from->option.cell_count * sizeof(*to->cells));
		if (s->demands[i].vfs)
			memcpy(to->vfs, from->vfs, s->demands[i].vfs * sizeof(*to->vfs));
	}
	memcpy(s->best_rooms, rooms, s->capacity->node_count * sizeof(*rooms));
	memcpy(s->best_score, sum, sizeof(s->best_score));
	s->has_best = true;
	s->proven = compare_search(s->best_score, s->root, s->levels) <= 0;
}

/* Assign the VFs of a plan: 1, and the two levels that depend on them; 0 if there are too few. */
static int settle_vfs(struct search *s, struct chosen *chosen, const struct node_free *rooms,
	score io)
{
	struct leaf l;
	int r = match_all(s->capacity, s->demands, chosen, s->count, rooms, &s->flow.work, &l);

	if (r < 0)
		s->error = ctx_oom(s->ctx);
	if (r > 0) {
		io[VFCTL_LEVEL_ROOM] = -(int64_t)l.room;
		io[VFCTL_LEVEL_BALANCE] = (int64_t)l.balance;
	}
	return r;
}

/* Complete the best plan so far, which was kept without VFs because many were found on the way. */
static void settle_best(struct search *s)
{
	struct chosen *in_order;

	if (!s->has_best || !s->best_is_open || s->error)
		return;
	in_order = calloc(s->count, sizeof(*in_order));
	if (!in_order) {
		s->error = ctx_oom(s->ctx);
		return;
	}
	for (size_t i = 0; i < s->count; i++) /* their targets are filled in place */
		in_order[i] = s->best[s->demands[i].index];
	settle_vfs(s, in_order, s->best_rooms, s->best_score);
	s->best_is_open = false;
	free(in_order);
}

void search_leaf(struct search *s, const struct node_free *rooms)
{
	bool first_levels = s->levels == FIRST_LEVELS;
	score sum;
	int order;

	memcpy(sum, s->sum, sizeof(sum));
	sum[VFCTL_LEVEL_DISTANCE] += s->flow.total;
	order = s->has_best ? compare_search(sum, s->best_score, FIRST_LEVELS) : -1;
	if (order > 0 || (order == 0 && first_levels))
		return;
	if (first_levels) {
		sum[VFCTL_LEVEL_ROOM] = sum[VFCTL_LEVEL_BALANCE] = INT64_MAX;
		s->best_is_open = true;
		keep_search(s, rooms, sum);
		return;
	}
	if (order == 0) {
		search_bound_leaf(s, rooms, sum);
		if (compare_search(sum, s->best_score, VFCTL_LEVELS) >= 0)
			return;
	}
	if (settle_vfs(s, s->now, rooms, sum) <= 0 ||
		(s->has_best && compare_search(sum, s->best_score, VFCTL_LEVELS) >= 0))
		return;
	s->best_is_open = false;
	keep_search(s, rooms, sum);
}

/* ---- branching ---- */

int options_by_promise(const void *a, const void *b)
{
	const struct option *x = a, *y = b;
	uint64_t dx = x->distance + x->vf_distance, dy = y->distance + y->vf_distance;

	if (x->stay != y->stay)
		return x->stay ? -1 : 1;
	if (x->local != y->local)
		return x->local ? -1 : 1;
	if (dx != dy)
		return dx < dy ? -1 : 1;
	if (x->form != y->form)
		return x->form < y->form ? -1 : 1;
	if (x->room != y->room)
		return x->room > y->room ? -1 : 1;
	/* In the order of creation: lower nodes first. */
	return x->first_cell < y->first_cell ? -1 : x->first_cell > y->first_cell;
}

static void add_score(struct search *s, const struct demand *demand, const struct option *o,
	int sign)
{
	s->sum[VFCTL_LEVEL_PLACED] -= sign;
	s->sum[VFCTL_LEVEL_LOCAL] -= sign * o->local;
	s->sum[VFCTL_LEVEL_MOVES] += sign * (demand->current && !o->stay);
	s->sum[VFCTL_LEVEL_DISTANCE] += sign * (int64_t)o->distance;
	s->sum[VFCTL_LEVEL_FORM] += sign * (int64_t)o->form;
}

/* Compare the nodes of two choices as numbers: smaller comes first. */
static int compare_nodes(const struct chosen *a, const struct opt_cell *cells,
	const struct option *o)
{
	if (a->option.cell_count != o->cell_count)
		return a->option.cell_count < o->cell_count ? -1 : 1;
	for (size_t k = 0; k < o->cell_count; k++)
		if (a->cells[k].node != cells[k].node)
			return a->cells[k].node < cells[k].node ? -1 : 1;
	return 0;
}

/* Of two guests with the same request, the first one is on the lower nodes. */
static bool is_mirrored(const struct search *s, size_t depth, const struct option *o,
	const struct opt_cell *cells)
{
	return depth > 0 && s->same_until[depth - 1] > depth && s->now[depth - 1].placed &&
		!s->demands[depth].current && compare_nodes(&s->now[depth - 1], cells, o) > 0;
}

static void branch(struct search *s, size_t depth);

int search_with_option(struct search *s, size_t depth, const struct option *o,
	const struct opt_cell *cells, void (*next)(struct search *s, size_t depth))
{
	size_t nodes = s->capacity->node_count;
	struct node_free *rooms = &s->rooms[depth * nodes];
	const struct demand *demand = &s->demands[depth];
	struct flow_mark mark = {0};
	int r = 1;

	if (demand->vfs) {
		if (flow_mark(&s->flow, &mark) < 0)
			r = -ENOMEM;
		else
			r = match_add(s->capacity, &s->flow, demand, o, cells);
	}
	if (r < 0)
		s->error = ctx_oom(s->ctx);
	if (r > 0) {
		memcpy(rooms + nodes, rooms, nodes * sizeof(*rooms));
		option_take(s->capacity, demand, o, cells, rooms + nodes);
		s->now[depth].placed = true;
		s->now[depth].option = *o;
		memcpy(s->now[depth].cells, cells, o->cell_count * sizeof(*cells));
		add_score(s, demand, o, 1);
		next(s, depth + 1);
		add_score(s, demand, o, -1);
		s->now[depth].placed = false;
	}
	if (mark.left)
		flow_return(&s->flow, &mark);
	flow_mark_clear(&mark);
	return r;
}

/* Whether the totals are sufficient, on whatever nodes; otherwise options are not generated. */
bool search_could_place(const struct search *s, size_t depth)
{
	const struct node_free *rooms = &s->rooms[depth * s->capacity->node_count];
	const struct vfctl_request *r = s->demands[depth].request;
	uint64_t threads = 0, memory = 0, shared = 0;

	if (s->demands[depth].current) /* it can stay, whatever is free */
		return true;
	for (unsigned n = 0; n < s->capacity->node_count; n++) {
		threads += rooms[n].threads;
		memory += search_memory(s, &rooms[n]);
		shared += rooms[n].shared;
	}
	if (threads < s->demands[depth].threads || memory < r->memory_bytes ||
		shared < r->shared_vcpus)
		return false;
	for (size_t w = 0; w < r->want_count; w++) {
		uint32_t left = 0;

		for (size_t g = 0; g < s->capacity->group_count; g++)
			if (capacity_group_answers(&s->capacity->groups[g], &r->wants[w]))
				left += s->capacity->groups[g].free;
		if (left < r->wants[w].count)
			return false;
	}
	return search_vfs_left(s) >= s->demands[depth].vfs;
}

/* A single guest was judged by the same options that place it. */
static bool has_options_of(struct search *s, size_t cells)
{
	bool has = s->judged_cells == cells;

	s->judged_cells = 0;
	return has;
}

static uint64_t work_left(const struct search *s)
{
	return s->steps < s->max_steps ? (s->max_steps - s->steps) * OPTION_WORK_PER_STEP : 1;
}

static void try_options(struct search *s, size_t depth, size_t cells)
{
	struct option_list *list = &s->lists[depth];
	const struct demand *demand = &s->demands[depth];

	if (!search_could_place(s, depth))
		return;
	if (!has_options_of(s, cells)) {
		list->work = 0;
		list->max_work = work_left(s);
		if (options_make(s->capacity, demand, &s->rooms[depth * s->capacity->node_count], cells,
			    depth + 1 == s->count, list) < 0) {
			s->error = ctx_oom(s->ctx);
			return;
		}
	}
	s->cut |= list->cut;
	s->partial |= list->partial;
	s->steps += list->work / OPTION_WORK_PER_STEP;
	s->stopped |= s->steps >= s->max_steps;
	if (list->count)
		qsort(list->v, list->count, sizeof(*list->v), options_by_promise);
	for (size_t i = 0; i < list->count && !s->stopped && !s->proven && !s->error; i++) {
		const struct option *o = &list->v[i];

		if (is_mirrored(s, depth, o, &list->cells[o->first_cell]))
			continue;
		s->steps += demand->vfs * s->capacity->group_count / EDGES_PER_STEP;
		if (!search_step(s))
			return;
		search_with_option(s, depth, o, &list->cells[o->first_cell], branch);
	}
}

/* More cells increase the distance: whether the result can still be better than the best plan. */
static bool worth_splitting(struct search *s, size_t depth, const struct node_free *rooms,
	size_t cells)
{
	unsigned nearest = UINT32_MAX;
	score b;

	if (!s->has_best)
		return true;
	for (unsigned i = 0; i < s->capacity->node_count; i++)
		for (unsigned k = 0; k < i; k++) {
			unsigned d = capacity_distance(s->capacity, i, k);

			nearest = d < nearest ? d : nearest;
		}
	search_bound(s, depth, rooms, b);
	b[VFCTL_LEVEL_DISTANCE] += (int64_t)(cells * (cells - 1) / 2 * (nearest - 10));
	return compare_search(b, s->best_score, s->levels) < 0;
}

static void branch(struct search *s, size_t depth)
{
	const struct node_free *rooms = &s->rooms[depth * s->capacity->node_count];
	const struct demand *demand = &s->demands[depth];
	score b;

	if (s->stopped || s->proven || s->error)
		return;
	if (depth == s->count) {
		search_leaf(s, rooms);
		return;
	}
	if (s->has_best) {
		search_bound(s, depth, rooms, b);
		if (compare_search(b, s->best_score, s->levels) >= 0)
			return;
	}
	for (size_t cells = demand->request->cell_count ? demand->most_cells : 1;
		cells <= demand->most_cells && !s->stopped && !s->proven && !s->error; cells++)
		if (cells == 1 || demand->request->cell_count ||
			worth_splitting(s, depth, rooms, cells))
			try_options(s, depth, cells);
	/* Try without it, and then without all guests with the same request. */
	if (!s->stopped && !s->proven && !s->error) {
		size_t next = demand->current ? depth + 1 : s->same_until[depth];

		for (size_t i = depth; i < next; i++)
			s->now[i].placed = false;
		if (search_step(s)) {
			memcpy(&s->rooms[next * s->capacity->node_count], rooms,
				s->capacity->node_count * sizeof(*rooms));
			branch(s, next);
		}
	}
}

/* ---- the whole search ---- */

static void set_result(const struct search *s, unsigned settled, struct search_result *ret)
{
	static const bool more_is_better[VFCTL_LEVELS] = {[VFCTL_LEVEL_PLACED] = true,
		[VFCTL_LEVEL_LOCAL] = true, [VFCTL_LEVEL_ROOM] = true};

	ret->steps = s->steps;
	ret->gap_level = VFCTL_LEVELS;
	for (unsigned i = 0; i < VFCTL_LEVELS; i++) {
		int64_t best = s->best_score[i];
		int64_t root = i < settled || s->root[i] > best ? best : s->root[i];

		ret->value[i] = (uint64_t)(more_is_better[i] ? -best : best);
		ret->bound[i] = (uint64_t)(more_is_better[i] ? -root : root);
		if (ret->gap_level == VFCTL_LEVELS && root < best)
			ret->gap_level = (enum vfctl_plan_level)i;
	}
}

static bool run_pass(struct search *s, unsigned levels, uint64_t steps)
{
	s->levels = levels;
	s->max_steps = steps;
	s->stopped = s->steps >= steps;
	s->proven = s->has_best && compare_search(s->best_score, s->root, levels) <= 0;
	if (!s->proven && !s->stopped)
		branch(s, 0);
	return s->proven || (!s->stopped && !s->cut && !s->error);
}

/* A guest may be split as far as in the known plan, and so may guests with the same request. */
static void allow_known_cells(struct search *s)
{
	for (size_t i = 0; s->known && i < s->count; i++) {
		struct demand *type = &s->demands[s->demands[i].type];
		const struct chosen *known = &s->known[s->demands[i].index];

		if (!known->placed || known->option.cell_count <= type->most_cells)
			continue;
		type->most_cells = known->option.cell_count;
		type->split = type->can_be_local = true;
		type->least_distance = 0;
	}
}

static void prepare_search(struct search *s)
{
	memcpy(s->rooms, s->capacity->start, s->capacity->node_count * sizeof(*s->rooms));
	if (match_begin(s->capacity, &s->flow) < 0)
		s->error = ctx_oom(s->ctx);
	demands_find_types(s);
	for (size_t i = 0; i < s->count; i++)
		s->lists[i].limit = &s->limit;
	s->first_work = JUDGE_WORK;
	for (size_t i = 0; i < s->count && !s->error; i++) {
		if (s->demands[i].type == i) {
			demands_find_reach(s, i);
			if (s->error)
				return;
			s->lists[0].work = 0;
			s->lists[0].max_work = s->count > 1 ? s->first_work / JUDGE_SHARE + 1 :
				s->max_steps / 2 * OPTION_WORK_PER_STEP + 1;
			demand_judge_alone(s, &s->demands[i], &s->lists[0]);
			search_spend_first(s, s->lists[0].work);
		}
	}
	allow_known_cells(s);
	for (size_t i = 0; i < s->count; i++) {
		const struct demand *type = &s->demands[s->demands[i].type];

		s->demands[i].reach = type->reach;
		s->demands[i].least_distance = type->least_distance;
		s->demands[i].can_be_local = type->can_be_local;
		s->demands[i].most_cells = type->most_cells;
		s->demands[i].split = type->split;
		s->demands[i].slack = demand_slack(s->capacity, &s->demands[i]);
	}
}

/* Begin with the plans of simpler planners, so that none of them can be better. */
static void begin_search(struct search *s)
{
	static int (*const orders[])(const void *, const void *) = {demands_by_index,
		demands_by_size, demands_by_hardness};

	s->levels = FIRST_LEVELS;
	s->max_steps = UINT64_MAX;
	s->first_work = GREEDY_GUESTS * GREEDY_WORK;
	for (size_t i = 0; i < ARRAY_SIZE(orders) && !s->error &&
		(!i || !limit_reached(&s->limit)); i++) {
		qsort(s->demands, s->count, sizeof(*s->demands), orders[i]);
		demands_find_runs(s);
		search_bound(s, 0, s->rooms, s->root);
		if (i == 0 && s->known)
			search_known_plan(s, 0);
		if (s->has_best && compare_search(s->best_score, s->root, VFCTL_LEVELS) <= 0)
			return;
		if (i == 0)
			search_greedy(s, true);
		if (!s->error)
			search_greedy(s, false);
	}
}

/* The search ended before any plan was complete: use the first one that simpler planners find. */
static void take_any(struct search *s)
{
	s->max_steps = UINT64_MAX;
	s->stopped = false;
	search_greedy(s, false);
}

struct search_limits search_limits_of(const struct vfctl_plan_options *options)
{
	return (struct search_limits){
		.max_steps = options && options->max_steps ? options->max_steps : SEARCH_STEPS,
		.deadline_ms = (uint64_t)now_ms() + (options && options->timeout_ms ?
			options->timeout_ms : SEARCH_TIMEOUT_MS)};
}

static void search_all(struct search *s, const struct search_limits *limits,
	struct search_result *ret)
{
	uint64_t steps = limits->max_steps;
	unsigned settled = 0;

	s->limit = (struct limit){&s->ctx->cancelled, limits->deadline_ms, false};
	s->max_steps = s->any_steps = steps;
	prepare_search(s);
	if (s->error)
		return;
	if (s->count > 1)
		begin_search(s);
	qsort(s->demands, s->count, sizeof(*s->demands), demands_by_hardness);
	demands_find_runs(s);
	s->levels = VFCTL_LEVELS;
	search_bound(s, 0, s->rooms, s->root);
	s->proven = s->stopped = false;
	s->steps = s->next_look = 0;
	if (s->count > 1 && !s->error && run_pass(s, FIRST_LEVELS, steps / 2))
		settled = FIRST_LEVELS;
	s->cut = false;
	settle_best(s);
	if (!s->error && run_pass(s, VFCTL_LEVELS, steps))
		settled = VFCTL_LEVELS;
	if (!s->error && !s->has_best && settled < VFCTL_LEVELS)
		take_any(s);
	/* A guest was left out, and other guests could have been split differently. */
	ret->partial = s->partial && s->best_score[VFCTL_LEVEL_PLACED] > s->root[VFCTL_LEVEL_PLACED];
	if (ret->partial)
		settled = 0;
	ret->clock = s->limit.reached;
	if (!s->error)
		set_result(s, settled, ret);
}

/* Search as if a plan were known that places so many guests and is best in all other levels. */
static void seek_more_than(struct search *s, size_t placed)
{
	s->has_best = placed > 0;
	for (unsigned i = 0; placed && i < VFCTL_LEVELS; i++)
		s->best_score[i] = -INT64_MAX;
	s->best_score[VFCTL_LEVEL_PLACED] = -(int64_t)placed;
}

int search_run(struct vfctl_ctx *ctx, const struct capacity *capacity, struct demand *demands,
	size_t count,
	const struct search_start *start, const struct search_limits *limits, struct search_result *ret)
{
	struct search s = {.ctx = ctx, .capacity = capacity, .demands = demands, .count = count,
		.known = start ? start->known : NULL};
	int r = search_allocate(&s);

	*ret = (struct search_result){.gap_level = VFCTL_LEVELS};
	seek_more_than(&s, start ? start->placed : 0);
	if (r == 0 && count)
		search_all(&s, limits, ret);
	r = r < 0 ? r : s.error;
	if (r == 0)
		ret->chosen = steal(s.best);
	search_release(&s);
	return r;
}
