// SPDX-License-Identifier: GPL-2.0-or-later
#include "placement/explain/refuse.h"
#include "placement/make.h"
#include "placement/model/host_model.h"
#include "placement/placement.h"

#include <errno.h>

/* Share of the time limit after which the searches end; the rest is for reasons. */
#define SEARCH_PERCENT 60

/* ---- input ---- */

/*
 * Whether a VF of the want could be local to the node if it were free. Unknown places may be local.
 */
static bool may_be_local(const struct capacity *capacity, const struct vfctl_vf_want *want,
	int node)
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

/* Reject requirements of a VF and of its cell that contradict each other. */
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
		return ctx_fail(ctx, -EINVAL, "%s: VF want %zu is required local to node %d, but the "
			"VFs of %s are on another node; use that node, another PF, or affinity: "
			"preferred", request->name, i + 1, id,
			pf_text(capacity->model, &w->pf, pf));
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

/* ---- the search and its result ---- */

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

/* Guests that request whole L3 groups choose first: others can use any remaining core. */
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

static int explain_all(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, struct search_result *result,
	uint64_t deadline_ms, struct vfctl_plan *plan)
{
	_free_ struct vf_group *groups = calloc(capacity->group_count + 1, sizeof(*groups));
	_free_ struct capacity *after = malloc(sizeof(*after)); /* borrows everything else */
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
	_cleanup_(vfctl_plan_freep) struct vfctl_plan *plan = NULL;
	struct search_limits limits = search_limits_of(options);
	uint64_t begun = (uint64_t)now_ms(), until = limits.deadline_ms;
	struct search_result result = {0};
	_cleanup_(capacity_freep) struct capacity *capacity = NULL;
	int r = check_input(ctx, model, requests, count);

	if (until > begun)
		limits.deadline_ms = begun + (until - begun) * SEARCH_PERCENT / 100;
	if (r == 0)
		r = capacity_new(ctx, model, NULL, some_share(requests, count), &capacity);
	for (size_t i = 0; r == 0 && i < count && !any_place; i++)
		r = check_locality(ctx, capacity, &requests[i]);
	if (r < 0)
		return ctx_mark_usage_error(ctx, r);
	plan = calloc(1, sizeof(*plan));
	if (plan)
		plan->assignments = calloc(count + 1, sizeof(*plan->assignments));
	if (!plan || !plan->assignments)
		return ctx_oom(ctx);
	plan->count = count;
	r = plan_search(ctx, capacity, requests, count, &limits, &result);
	if (r == 0)
		r = plan_tighten_bound(ctx, capacity, requests, count, until, &result);
	if (r == 0 && count)
		r = fill_plan(ctx, capacity, requests, &result, until, plan);
	search_result_clear(&result, count);
	if (r < 0)
		return r;
	*ret = steal(plan);
	return 0;
}

static bool wants_vf_of(const struct vfctl_request *request, const struct vfctl_model_pf *pf)
{
	for (size_t i = 0; i < request->want_count; i++)
		if (request->wants[i].any_pf || vfctl_bdf_compare(&request->wants[i].pf, &pf->bdf) == 0)
			return true;
	return false;
}

/*
 * A guest that does not fit could have had VFs that are free but exposed: say why it did not get
 * them.
 */
static void warn_exposed(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, const struct vfctl_plan *plan)
{
	char name[64];

	for (size_t p = 0; p < model->pf_count; p++) {
		const struct vfctl_model_pf *pf = &model->pfs[p];
		size_t i = 0;

		while (i < plan->count && (plan->assignments[i].refusal == VFCTL_REFUSAL_NONE ||
			!wants_vf_of(&requests[i], pf)))
			i++;
		if (pf->exposed && i < plan->count)
			log_warn(ctx, "a free VF of %s cannot be given to a guest: it %s",
				pf_text(model, &pf->bdf, name), pf->exposed);
	}
}

int vfctl_plan_make(struct vfctl_ctx *ctx, const struct vfctl_host_model *model,
	const struct vfctl_request *requests, size_t count,
	const struct vfctl_plan_options *options, struct vfctl_plan **ret)
{
	int r;

	ctx_progress(ctx, "searching for the best placement");
	r = plan_make(ctx, model, requests, count, options, false, ret);
	if (r == 0)
		warn_exposed(ctx, model, requests, *ret);
	return r;
}
