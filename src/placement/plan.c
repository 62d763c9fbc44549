// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/refuse.h"

#include <errno.h>

static const char *name_of(const char *const *names, size_t count, unsigned value)
{
	return value < count ? names[value] : "unknown";
}

const char *vfctl_refusal_name(enum vfctl_refusal refusal)
{
	static const char *const names[] = {"none", "VFs", "CPUs", "memory", "others"};

	return name_of(names, ARRAY_SIZE(names), refusal);
}

const char *vfctl_reason_kind_name(enum vfctl_reason_kind kind)
{
	static const char *const names[] = {"choice", "warning", "short", "remedy"};

	return name_of(names, ARRAY_SIZE(names), kind);
}

const char *vfctl_threads_name(enum vfctl_threads threads)
{
	static const char *const names[] = {"prefer", "require", "isolate", "none"};

	return name_of(names, ARRAY_SIZE(names), threads);
}

const char *vfctl_affinity_name(enum vfctl_affinity affinity)
{
	static const char *const names[] = {"required", "preferred", "socket", "any"};

	return name_of(names, ARRAY_SIZE(names), affinity);
}

const char *vfctl_plan_level_name(enum vfctl_plan_level level)
{
	static const char *const names[] = {"placed", "local", "moves", "distance", "form", "room",
		"balance"};

	return name_of(names, ARRAY_SIZE(names), level);
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
static bool may_be_local(const struct site *site, const struct vfctl_vf_want *want, int node)
{
	bool known = false;

	for (size_t g = 0; g < site->group_count; g++) {
		const struct vf_group *group = &site->groups[g];

		if (!site_group_answers(group, want))
			continue;
		known = true;
		if (!group->local || site_has(group->local, (unsigned)node))
			return true;
	}
	return !known;
}

/* What is asked of a VF and of its cell, where the two cannot both be. */
static int check_locality(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *request)
{
	for (size_t i = 0; i < request->want_count; i++) {
		const struct vfctl_vf_want *w = &request->wants[i];
		int id = w->cell >= 0 && request->cell_count ? request->cells[w->cell].node
			: request->node;
		int node = id < 0 ? -1 : site_node_index(site, id);
		char pf[64];

		if (w->any_pf || w->affinity != VFCTL_AFFINITY_REQUIRED || node < 0 ||
			may_be_local(site, w, node))
			continue;
		return ctx_fail(ctx, -EINVAL, "%s: VF want %zu is required local to node %d, but "
			"the VFs of %s are on another node; take that node, another PF, or "
			"affinity: preferred", request->name, i + 1, id,
			pf_words(site->model, &w->pf, pf));
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

static int make_jobs(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, size_t count, struct job **ret)
{
	struct job *jobs = calloc(count + 1, sizeof(*jobs));

	if (!jobs)
		return ctx_oom(ctx);
	for (size_t i = 0; i < count; i++)
		job_init(site, &requests[i], i, &jobs[i]);
	*ret = jobs;
	return 0;
}

static uint64_t vf_distance(const struct site *site, const struct vfctl_request *request,
	const struct chosen *c, size_t count)
{
	uint64_t sum = 0;

	for (size_t i = 0; i < count; i++) {
		unsigned d = 0;

		match_allows(site, &request->wants[c->vfs[i].want],
			&site->groups[c->vfs[i].group],
			match_nodes(&c->option, c->cells, c->vfs[i].cell), 0, false, &d);
		sum += (uint64_t)d * 4;
	}
	return sum;
}

/* Guests that want whole L3 groups choose first: others can take any core that is left. */
static int realize_all(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, const struct search_result *result,
	struct vfctl_plan *plan)
{
	_cleanup_(realize_clear) struct realize z = {0};
	int r = realize_begin(ctx, site, &z);

	for (int whole = 1; whole >= 0; whole--)
		for (size_t i = 0; r == 0 && i < plan->count; i++) {
			const struct chosen *c = &result->chosen[i];
			struct vfctl_assignment *a = &plan->assignments[i];

			if (!c->placed || (requests[i].whole_l3 ? 1 : 0) != whole)
				continue;
			r = realize(ctx, &z, &requests[i], c, a);
			a->distance = c->option.distance +
				vf_distance(site, &requests[i], c, a->vf_count);
		}
	return r;
}

static int explain_all(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, const struct search_result *result,
	struct vfctl_plan *plan)
{
	_site_ struct site *after = NULL;
	struct refused_plan refused;
	struct job job;
	int r = site_new(ctx, site->model, NULL, &after);

	for (size_t i = 0; i < plan->count && r == 0; i++) {
		if (!result->chosen[i].placed)
			continue;
		job_init(site, &requests[i], i, &job);
		option_take(site, &job, &result->chosen[i].option, result->chosen[i].cells,
			after->start);
		for (size_t k = 0; k < plan->assignments[i].vf_count; k++)
			after->groups[result->chosen[i].vfs[k].group].free--;
	}
	refused = (struct refused_plan){.site = site, .after = after, .requests = requests,
		.count = plan->count, .placed = plan->value[VFCTL_LEVEL_PLACED],
		.assignments = plan->assignments, .steps = REFUSAL_STEPS,
		.left = plan->count - plan->value[VFCTL_LEVEL_PLACED]};
	for (size_t i = 0; i < plan->count && r == 0; i++) {
		struct vfctl_assignment *a = &plan->assignments[i];

		if (!result->chosen[i].placed)
			r = explain_refusal(ctx, a, &refused, i);
		else if (!explain_choice(a, site, &requests[i], after->start))
			r = ctx_oom(ctx);
	}
	return r;
}

static int fill_plan(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, const struct search_result *result,
	struct vfctl_plan *plan)
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
	r = realize_all(ctx, site, requests, result, plan);
	return r < 0 ? r : explain_all(ctx, site, requests, result, plan);
}

/* Which guests may be split though a node has room for them: false when there is none more. */
static bool may_split_more(const struct site *site, const struct vfctl_request *requests,
	size_t count, const struct search_result *found, bool placed_too, struct job *jobs)
{
	bool more = false;

	for (size_t i = 0; i < count; i++) {
		bool placed = found->chosen[i].placed;

		job_init(site, &requests[i], i, &jobs[i]);
		jobs[i].must_split = (placed_too || !placed) && !requests[i].cell_count &&
			jobs[i].most_cells > 1;
		more |= jobs[i].must_split && placed == placed_too;
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
	if (next->value[VFCTL_LEVEL_PLACED] > best->value[VFCTL_LEVEL_PLACED]) {
		search_result_clear(best, count);
		*best = *next;
		return;
	}
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
static int run(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct search_result *ret)
{
	struct vfctl_plan_options limits = {
		.max_steps = options && options->max_steps ? options->max_steps : SEARCH_STEPS,
		.timeout_ms = options && options->timeout_ms ? options->timeout_ms
							     : SEARCH_TIMEOUT_MS};
	_free_ struct job *jobs = NULL;
	struct search_result next;
	int r = make_jobs(ctx, site, requests, count, &jobs);

	if (count > 1) { /* three searches at most */
		limits.max_steps = (limits.max_steps + 1) / 2;
		limits.timeout_ms = (limits.timeout_ms + 2) / 3;
	}
	if (r == 0)
		r = search_run(ctx, site, jobs, count, 0, &limits, ret);
	for (int placed_too = 0; r == 0 && count > 1 && placed_too < 2; placed_too++) {
		if (ret->value[VFCTL_LEVEL_PLACED] == count ||
			!may_split_more(site, requests, count, ret, placed_too, jobs))
			continue;
		r = search_run(ctx, site, jobs, count, ret->value[VFCTL_LEVEL_PLACED], &limits,
			&next);
		if (r == 0)
			take_better(ret, &next, count);
	}
	return r;
}

/* Does the guest fit nowhere on the host as it is, whatever becomes of the others? */
static int fits_nowhere(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *request, const struct vfctl_plan_options *options, bool *ret)
{
	struct search_result alone = {0};
	int r = run(ctx, site, request, 1, options, &alone);

	if (r == 0)
		*ret = !alone.chosen[0].placed && alone.gap_level != VFCTL_LEVEL_PLACED;
	search_result_clear(&alone, 1);
	return r;
}

/* A guest that fits nowhere is no reason to say that more could be placed. */
static int tighten_bound(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct search_result *result)
{
	uint64_t most = count;
	int r = 0;

	if (result->gap_level != VFCTL_LEVEL_PLACED || count < 2)
		return 0;
	for (size_t i = 0; i < count && r == 0; i++) {
		bool nowhere = false;

		if (!result->chosen[i].placed)
			r = fits_nowhere(ctx, site, &requests[i], options, &nowhere);
		most -= nowhere;
	}
	if (most < result->bound[VFCTL_LEVEL_PLACED])
		result->bound[VFCTL_LEVEL_PLACED] = most;
	find_gap(result);
	return r;
}

int plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, bool any_place, struct vfctl_plan **ret)
{
	_cleanup_(free_plan) struct vfctl_plan *plan = NULL;
	struct search_result result = {0};
	_site_ struct site *site = NULL;
	int r = check_input(ctx, model, requests, count);

	if (r == 0)
		r = site_new(ctx, model, NULL, &site);
	for (size_t i = 0; r == 0 && i < count && !any_place; i++)
		r = check_locality(ctx, site, &requests[i]);
	if (r < 0)
		return r;
	plan = calloc(1, sizeof(*plan));
	if (plan)
		plan->assignments = calloc(count + 1, sizeof(*plan->assignments));
	if (!plan || !plan->assignments)
		return ctx_oom(ctx);
	plan->count = count;
	r = run(ctx, site, requests, count, options, &result);
	if (r == 0)
		r = tighten_bound(ctx, site, requests, count, options, &result);
	if (r == 0 && count)
		r = fill_plan(ctx, site, requests, &result, plan);
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
	return plan_make(ctx, model, requests, count, options, false, ret);
}

/* ---- what if ---- */

int plan_try(struct vfctl_ctx *ctx, const struct site *site,
	const struct vfctl_request *requests, size_t count, size_t about, uint64_t max_steps,
	struct tried *ret)
{
	const struct vfctl_plan_options quick = {.max_steps = max_steps, .timeout_ms = 1000};
	struct search_result result = {0};
	int r = run(ctx, site, requests, count, &quick, &result);

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
