// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/explain/refuse.h"

#include <errno.h>

/* The searches end after so much of the time, should it come to that; the rest is for reasons. */
#define SEARCH_PERCENT 60
/* Guests of a batch one by one may take the steps of so many searches; mostly they take few. */
#define QUEUE_SEARCHES 2
/* To find which guests fit nowhere, all together. */
#define NOWHERE_STEPS 50000

enum vfctl_plan_cut plan_cut(const struct vfctl_plan *plan, bool clock)
{
	if (clock)
		return VFCTL_CUT_CLOCK;
	return plan->gap_level < VFCTL_LEVELS && !plan->partial ? VFCTL_CUT_STEPS : VFCTL_CUT_NONE;
}

static void clear_assignment(struct vfctl_assignment *a)
{
	for (size_t i = 0; i < a->reason_count; i++)
		free(a->reasons[i].text);
	free(a->reasons);
	free(a->remedies);
	free(a->cells);
	free(a->vf_cells);
	free(a->vcpus);
	free(a->vfs);
	free(a->vf_wants);
}

void vfctl_plan_free(struct vfctl_plan *plan)
{
	if (!plan)
		return;
	for (size_t i = 0; i < plan->count; i++)
		clear_assignment(&plan->assignments[i]);
	free(plan->assignments);
	free(plan);
}

static void free_plan(struct vfctl_plan **plan)
{
	vfctl_plan_free(*plan);
}

/* ---- input ---- */

/* Could a VF of the want be local to the node, were it free? Unknown places may be. */
static bool may_be_local(const struct capacity *capacity, const struct vfctl_vf_want *want, int node)
{
	bool known = false;

	for (size_t g = 0; g < capacity->group_count; g++) {
		const struct vf_group *group = &capacity->groups[g];

		if (!capacity_group_answers(group, want))
			continue;
		known = true;
		if (!group->local || capacity_has(group->local, (unsigned)node))
			return true;
	}
	return !known;
}

/* What is asked of a VF and of its cell, where the two cannot both be. */
static int check_locality(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *request)
{
	for (size_t i = 0; i < request->want_count; i++) {
		const struct vfctl_vf_want *w = &request->wants[i];
		int id = w->cell >= 0 && request->cell_count ? request->cells[w->cell].node
			: request->node;
		int node = id < 0 ? -1 : capacity_node_index(capacity, id);
		char pf[64];

		if (w->any_pf || w->affinity != VFCTL_AFFINITY_REQUIRED || node < 0 ||
			may_be_local(capacity, w, node))
			continue;
		return ctx_fail(ctx, -EINVAL, "%s: VF want %zu is required local to node %d, but "
			"the VFs of %s are on another node; take that node, another PF, or "
			"affinity: preferred", request->name, i + 1, id,
			pf_words(capacity->model, &w->pf, pf));
	}
	return 0;
}

static int check_input(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count)
{
	int r = vfctl_model_check(ctx, model);

	for (size_t i = 0; r == 0 && i < count; i++)
		r = check_request(ctx, model, &requests[i]);
	return r;
}

/* ---- the search and what comes of it ---- */

static int make_demands(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, struct demand **ret)
{
	struct demand *demands = calloc(count + 1, sizeof(*demands));

	if (!demands)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		demand_init(capacity, &requests[i], i, &demands[i]);
	*ret = demands;
	return 0;
}

static uint64_t vf_distance(const struct capacity *capacity, const struct vfctl_request *request,
	const struct chosen *c, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned d = 0;

		match_allows(capacity, &request->wants[c->vfs[i].want],
			&capacity->groups[c->vfs[i].group],
			match_nodes(&c->option, c->cells, c->vfs[i].cell), 0, false, &d);
		sum += (uint64_t)d * 4;
	}
	return sum;
}

/* Guests that want whole L3 groups choose first: others can take any core that is left. */
static int assign_all(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, const struct search_result *result,
	struct vfctl_plan *plan)
{
	_cleanup_(assign_clear) struct assigning z = {0};
	int r = assign_begin(ctx, capacity, &z);

	for (int whole = 1; whole >= 0; whole--)
		for (size_t i = 0; r == 0 && i < plan->count; i++) {
			const struct chosen *c = &result->chosen[i];
			struct vfctl_assignment *a = &plan->assignments[i];

			if (!c->placed || (requests[i].whole_l3 ? 1 : 0) != whole)
				continue;
			r = assign_guest(ctx, &z, &requests[i], c, a);
			a->distance = c->option.distance +
				vf_distance(capacity, &requests[i], c, a->vf_count);
		}
	for (size_t i = 0; r == 0 && i < plan->count; i++)
		if (result->chosen[i].placed)
			assign_open_qemu(&z, &result->chosen[i]);
	for (size_t i = 0; r == 0 && i < plan->count; i++)
		if (result->chosen[i].placed)
			r = assign_qemu(ctx, &z, &requests[i], &result->chosen[i],
				&plan->assignments[i]);
	return r;
}

void plan_take(const struct capacity *capacity, const struct vfctl_request *request,
	const struct chosen *chosen, struct capacity *after)
{
	struct demand demand;

	if (!chosen->placed)
		return;
	demand_init(capacity, request, 0, &demand);
	option_take(capacity, &demand, &chosen->option, chosen->cells, after->start);
	for (size_t k = 0; k < demand.vfs; k++)
		after->groups[chosen->vfs[k].group].free--;
}

static int explain_all(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, struct search_result *result,
	uint64_t deadline_ms, struct vfctl_plan *plan)
{
	_free_ struct vf_group *groups = calloc(capacity->group_count + 1, sizeof(*groups));
	_free_ struct capacity *after = malloc(sizeof(*after)); /* borrows all but these */
	struct refused_plan refused;
	int r;

	if (!groups || !after)
		return ctx_oom(ctx);
	*after = *capacity;
	after->groups = groups;
	memcpy(groups, capacity->groups, capacity->group_count * sizeof(*groups));
	for (size_t i = 0; i < plan->count; i++)
		plan_take(capacity, &requests[i], &result->chosen[i], after);
	for (size_t i = 0; i < plan->count; i++)
		if (result->chosen[i].placed && !explain_choice(&plan->assignments[i], capacity,
				&requests[i], after->start))
			return ctx_oom(ctx);
	refused = (struct refused_plan){.capacity = capacity, .after = after, .requests = requests,
		.count = plan->count, .placed = plan->value[VFCTL_LEVEL_PLACED],
		.assignments = plan->assignments, .chosen = result->chosen, .steps = REFUSAL_STEPS,
		.deadline_ms = deadline_ms};
	r = explain_refusals(ctx, &refused, plan->assignments);
	result->clock |= refused.clock;
	return r;
}

static int fill_plan(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, struct search_result *result,
	uint64_t deadline_ms, struct vfctl_plan *plan)
{
	int r;

	for (size_t i = 0; i < plan->count; i++) {
		plan->assignments[i].node = VFCTL_NODE_NONE;
		plan->assignments[i].refusal = result->chosen[i].placed ? VFCTL_REFUSAL_NONE
									: VFCTL_REFUSAL_OTHERS;
	}
	memcpy(plan->value, result->value, sizeof(plan->value));
	memcpy(plan->bound, result->bound, sizeof(plan->bound));
	plan->gap_level = result->gap_level;
	plan->partial = result->partial;
	plan->steps = result->steps;
	r = assign_all(ctx, capacity, requests, result, plan);
	if (r == 0)
		r = explain_all(ctx, capacity, requests, result, deadline_ms, plan);
	plan->cut = plan_cut(plan, result->clock);
	return r;
}

/* Which guests may be split though a node has room for them: false when there is none more. */
static bool may_split_more(const struct capacity *capacity, const struct vfctl_request *requests,
	size_t count, const struct search_result *found, bool placed_too, struct demand *demands)
{
	bool more = false;

	for (size_t i = 0; i < count; i++) {
		bool placed = found->chosen[i].placed;

		demand_init(capacity, &requests[i], i, &demands[i]);
		demands[i].must_split = (placed_too || !placed) && !requests[i].cell_count &&
			demands[i].most_cells > 1;
		more |= demands[i].must_split && placed == placed_too;
	}
	return more;
}

/* The first level at which something better is not ruled out. */
static void find_gap(struct search_result *result)
{
	result->gap_level = 0;
	while (result->gap_level < VFCTL_LEVELS &&
		result->value[result->gap_level] == result->bound[result->gap_level])
		result->gap_level++;
	result->partial &= result->gap_level == VFCTL_LEVEL_PLACED;
}

/* Keep the better of both; what the last search left open is open. */
static void take_better(struct search_result *best, struct search_result *next, size_t count)
{
	bool clock = best->clock | next->clock;

	if (next->value[VFCTL_LEVEL_PLACED] > best->value[VFCTL_LEVEL_PLACED]) {
		search_result_clear(best, count);
		*best = *next;
		best->clock = clock;
		return;
	}
	best->clock = clock;
	best->steps += next->steps;
	best->partial = next->partial;
	best->bound[VFCTL_LEVEL_PLACED] = next->gap_level == VFCTL_LEVEL_PLACED ?
		next->bound[VFCTL_LEVEL_PLACED] : best->value[VFCTL_LEVEL_PLACED];
	find_gap(best);
	search_result_clear(next, count);
}

/*
 * A guest that a node holds by itself is split only where others leave it no room; then,
 * where that is not enough, so that others have room.
 */
static int run_plan(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct chosen *known,
	const struct search_limits *all, struct search_result *ret)
{
	struct search_start start = {.known = known};
	struct search_limits limits = *all;
	_free_ struct demand *demands = NULL;
	struct search_result next;
	int r = make_demands(ctx, capacity, requests, count, &demands);

	if (count > 1) /* three searches at most */
		limits.max_steps = (limits.max_steps + 1) / 2;
	if (r == 0)
		r = search_run(ctx, capacity, demands, count, &start, &limits, ret);
	for (int placed_too = 0; r == 0 && count > 1 && placed_too < 2; placed_too++) {
		if (ret->value[VFCTL_LEVEL_PLACED] == count ||
			!may_split_more(capacity, requests, count, ret, placed_too, demands))
			continue;
		start.placed = ret->value[VFCTL_LEVEL_PLACED];
		r = search_run(ctx, capacity, demands, count, &start, &limits, &next);
		if (r == 0)
			take_better(ret, &next, count);
	}
	return r;
}

static size_t count_placed(const struct search_result *result, size_t count)
{
	size_t placed = 0;

	for (size_t i = 0; i < count; i++)
		placed += result->chosen[i].placed;
	return placed;
}

/* A batch that may not have all it could is given no less than its guests one by one. */
static int run_batch(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *all,
	struct search_result *ret)
{
	const struct search_limits limits = {QUEUE_SEARCHES * all->max_steps, all->deadline_ms};
	struct search_result queue = {0}, better;
	int r = run_plan(ctx, capacity, requests, count, NULL, all, ret);

	if (r < 0 || ret->gap_level != VFCTL_LEVEL_PLACED)
		return r;
	r = plan_one_by_one(ctx, capacity, requests, count, &limits, &queue);
	ret->steps += queue.steps;
	ret->clock |= queue.clock;
	if (r == 0 && count_placed(&queue, count) > ret->value[VFCTL_LEVEL_PLACED]) {
		r = run_plan(ctx, capacity, requests, count, queue.chosen, all, &better);
		if (r == 0) {
			better.steps += ret->steps;
			better.clock |= ret->clock;
			search_result_clear(ret, count);
			*ret = better;
		}
	}
	search_result_clear(&queue, count);
	return r;
}

/* One before it that asks the same fits nowhere either, or somewhere too. */
static size_t first_same(const struct vfctl_request *requests, size_t index,
	const struct search_result *result)
{
	for (size_t i = 0; i < index; i++)
		if (!result->chosen[i].placed && request_same(&requests[i], &requests[index]))
			return i;
	return index;
}

/* A guest that fits nowhere is no reason to say that more could be placed. */
static int tighten_bound(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, uint64_t deadline_ms,
	struct search_result *result)
{
	_free_ bool *nowhere = calloc(count + 1, sizeof(*nowhere));
	struct fit fit = {.steps = NOWHERE_STEPS};
	uint64_t most = count;
	int r = 0;

	if (!nowhere)
		return ctx_oom(ctx);
	if (result->gap_level != VFCTL_LEVEL_PLACED || count < 2)
		return 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		size_t same = first_same(requests, i, result);

		if (result->chosen[i].placed)
			continue;
		if (same == i && fit.steps) {
			r = search_fit(ctx, capacity, &requests[i], deadline_ms, &fit);
			nowhere[i] = !fit.fits && fit.sure;
		}
		most -= nowhere[same];
	}
	result->clock |= fit.clock;
	if (most < result->bound[VFCTL_LEVEL_PLACED])
		result->bound[VFCTL_LEVEL_PLACED] = most;
	find_gap(result);
	return r;
}

static bool some_share(const struct vfctl_request *requests, size_t count)
{
	for (size_t i = 0; i < count; i++)
		if (request_has_auto(&requests[i]))
			return true;
	return false;
}

int plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, bool any_place, struct vfctl_plan **ret)
{
	_cleanup_(free_plan) struct vfctl_plan *plan = NULL;
	struct search_limits limits = search_limits_of(options);
	uint64_t begun = search_now_ms(), until = limits.deadline_ms;
	struct search_result result = {0};
	_site_ struct capacity *capacity = NULL;
	int r = check_input(ctx, model, requests, count);

	if (until > begun)
		limits.deadline_ms = begun + (until - begun) * SEARCH_PERCENT / 100;
	if (r == 0)
		r = capacity_new(ctx, model, NULL, some_share(requests, count), &capacity);
	for (size_t i = 0; r == 0 && i < count && !any_place; i++)
		r = check_locality(ctx, capacity, &requests[i]);
	if (r < 0)
		return ctx_blame(ctx, r);
	plan = calloc(1, sizeof(*plan));
	if (plan)
		plan->assignments = calloc(count + 1, sizeof(*plan->assignments));
	if (!plan || !plan->assignments)
		return ctx_oom(ctx);
	plan->count = count;
	r = count > 1 ? run_batch(ctx, capacity, requests, count, &limits, &result)
		      : run_plan(ctx, capacity, requests, count, NULL, &limits, &result);
	if (r == 0)
		r = tighten_bound(ctx, capacity, requests, count, until, &result);
	if (r == 0 && count)
		r = fill_plan(ctx, capacity, requests, &result, until, plan);
	search_result_clear(&result, count);
	if (r < 0)
		return r;
	*ret = steal(plan);
	return 0;
}

int vfctl_plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct vfctl_plan **ret)
{
	ctx_doing(ctx, "searching for the best placement");
	return plan_make(ctx, model, requests, count, options, false, ret);
}

/* ---- what if ---- */

int plan_try(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, size_t about,
	const struct search_limits *limits, struct tried *ret)
{
	struct search_result result = {0};
	int r = run_plan(ctx, capacity, requests, count, NULL, limits, &result);

	*ret = (struct tried){.steps = result.steps};
	for (size_t i = 0; i < count && r == 0; i++)
		ret->placed += result.chosen[i].placed;
	if (r == 0 && result.chosen[about].placed) {
		ret->fits = true;
		ret->nodes = result.chosen[about].option.nodes;
	}
	search_result_clear(&result, count);
	return r;
}
