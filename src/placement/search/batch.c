// SPDX-License-Identifier: GPL-2.0-or-later
/* The searches for one or several guests: split or not, together or one by one. */
#include "placement/search/batch.h"

/* Step limit for finding guests that fit nowhere, for all of them together. */
#define NOWHERE_STEPS 50000

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

/* Choose further guests that may be split although they fit on a node: false if there are none. */
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

/* The first level in which a better plan is still possible. */
static void find_gap(struct search_result *result)
{
	result->gap_level = 0;
	while (result->gap_level < VFCTL_LEVELS &&
		result->value[result->gap_level] == result->bound[result->gap_level])
		result->gap_level++;
	result->partial &= result->gap_level == VFCTL_LEVEL_PLACED;
}

/* Keep the better result; what the last search did not decide stays undecided. */
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
 * A guest that fits on one node is split only if other guests leave it no space; if that is not
 * enough, also to make space for others.
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

	if (count > 1) /* at most three searches */
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

/*
 * If the search of a batch was incomplete, its result must not be worse than placing its guests one
 * by one.
 */
static int run_batch(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *all,
	struct search_result *ret)
{
	struct search_result queue = {0}, better;
	int r = run_plan(ctx, capacity, requests, count, NULL, all, ret);

	if (r < 0 || ret->gap_level != VFCTL_LEVEL_PLACED)
		return r;
	r = plan_one_by_one(ctx, capacity, requests, count, all, &queue);
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

int plan_search(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret)
{
	return count > 1 ? run_batch(ctx, capacity, requests, count, limits, ret)
			 : run_plan(ctx, capacity, requests, count, NULL, limits, ret);
}

/* An earlier guest with the same request, which has the same result. */
static size_t first_same(const struct vfctl_request *requests, size_t index,
	const struct search_result *result)
{
	for (size_t i = 0; i < index; i++)
		if (!result->chosen[i].placed && request_same(&requests[i], &requests[index]))
			return i;
	return index;
}

/* Guests that fit nowhere reduce the bound on the number of guests that can be placed. */
int plan_tighten_bound(struct vfctl_ctx *ctx, const struct capacity *capacity,
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

/* ---- attempts ---- */

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
