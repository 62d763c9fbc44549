// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * Attempts: plan the same guest with another request, or on another host, within the plan's steps.
 */
#include <errno.h>

#include "placement/explain/refuse.h"
#include "placement/search/batch.h"

/* Step limit of one attempt. */
#define ATTEMPT_STEPS 4000
/* Step limit of an attempt with all guests of a batch, whose preparation alone takes more work. */
#define ATTEMPT_STEPS_ALL 1000
/* A larger batch is not tried as a whole: its guests keep their places. */
#define ATTEMPT_ALL_MAX 12
/* Cost of an attempt besides its search, for each of its guests. */
#define ATTEMPT_FEE 20
#define ATTEMPT_FEE_GUEST 300
/* Step limit for the question whether it fits at all. */
#define FIT_STEPS 8000
/* Cost of a host whose capacity must be computed again. */
#define ATTEMPT_FEE_HOST 200

/* An interrupt is noticed here at once, not after the first steps of a search. */
static bool may_try(struct refusal *f)
{
	if (!f->error && f->ctx->cancelled)
		f->error = ctx_fail(f->ctx, -EINTR, "the planner was interrupted");
	if ((uint64_t)now_ms() >= f->plan->deadline_ms) {
		f->steps = 0;
		f->plan->clock = true;
	}
	return !f->error && f->steps;
}

static void spend_attempt(struct refusal *f, uint64_t steps)
{
	f->steps -= steps < f->steps ? steps : f->steps;
}

/* Find where it would be placed; counts its steps. */
static bool attempt(struct refusal *f, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, size_t about, struct tried *ret)
{
	struct search_limits limits = {.max_steps = count == 1 ? ATTEMPT_STEPS : ATTEMPT_STEPS_ALL,
		.deadline_ms = f->plan->deadline_ms};
	int r;

	*ret = (struct tried){0};
	if (!may_try(f))
		return false;
	r = plan_try(f->ctx, capacity, requests, count, about, &limits, ret);
	if (r < 0)
		f->error = r;
	spend_attempt(f, ret->steps + ATTEMPT_FEE + (count > 1 ? count * ATTEMPT_FEE_GUEST : 0));
	return r == 0 && ret->fits;
}

/* A test without a search: is there as much in total as the guest takes at least? */
static bool has_room(const struct capacity *capacity, const struct vfctl_request *r)
{
	uint64_t threads = 0, cores = 0, memory = 0, vcpus = r->vcpus - r->shared_vcpus;

	for (unsigned n = 0; n < capacity->node_count; n++) {
		threads += capacity->start[n].threads;
		cores += capacity->start[n].core_count;
		for (unsigned p = 0; p < capacity->page_count; p++)
			memory += capacity->start[n].memory[p];
	}
	return memory >= r->memory_bytes && threads >= vcpus + request_extra_cores(r) &&
		(r->threads != VFCTL_THREADS_ISOLATE || cores >= vcpus);
}

bool refusal_fits_on(struct refusal *f, const struct capacity *capacity,
	const struct vfctl_request *changed)
{
	struct fit fit = {.steps = f->steps < FIT_STEPS ? f->steps : FIT_STEPS};
	uint64_t all = fit.steps;
	int r;

	if (!may_try(f) || !has_room(capacity, changed))
		return false;
	r = search_fit(f->ctx, capacity, changed, f->plan->deadline_ms, &fit);
	if (r < 0)
		f->error = r;
	spend_attempt(f, all - fit.steps);
	return fit.fits;
}

bool refusal_may_fit(struct refusal *f, const struct vfctl_request *changed)
{
	return refusal_fits_on(f, f->plan->after, changed);
}

static bool attempt_all(struct refusal *f, const struct capacity *capacity,
	const struct vfctl_request *changed, uint64_t *ret_nodes)
{
	struct refused_plan *plan = f->plan;
	_free_ struct vfctl_request *all = calloc(plan->count, sizeof(*all));
	struct tried t;
	bool fits;

	if (!all) {
		f->error = ctx_oom(f->ctx);
		return false;
	}
	memcpy(all, plan->requests, plan->count * sizeof(*all));
	all[f->index] = *changed;
	fits = attempt(f, capacity, all, plan->count, f->index, &t);
	*ret_nodes = t.nodes;
	return fits && t.placed > plan->placed;
}

/* Plan it alone, on free resources. */
static bool attempt_alone(struct refusal *f, const struct capacity *capacity,
	const struct vfctl_request *changed, uint64_t *ret_nodes)
{
	struct tried t;
	bool fits = has_room(capacity, changed) && attempt(f, capacity, changed, 1, 0, &t);

	*ret_nodes = fits ? t.nodes : 0;
	return fits;
}

bool refusal_fits(struct refusal *f, const struct vfctl_host_model *model,
	const struct vfctl_request *changed, uint64_t *ret_nodes)
{
	const struct capacity *capacity = f->plan->capacity;
	_cleanup_(capacity_freep) struct capacity *other = NULL;

	if (f->plan->count > ATTEMPT_ALL_MAX)
		return !model && attempt_alone(f, f->plan->after, changed, ret_nodes);
	if (model) {
		int r;

		if (!may_try(f))
			return false;
		spend_attempt(f, ATTEMPT_FEE_HOST);
		r = capacity_new(f->ctx, model, NULL, f->capacity->next_share, &other);
		if (r < 0)
			f->error = r;
		capacity = other;
	}
	if (f->error)
		return false;
	return f->plan->count == 1 ? attempt_alone(f, capacity, changed, ret_nodes)
				   : attempt_all(f, capacity, changed, ret_nodes);
}

/* Plan all guests but one, with the guest unchanged: no other guest may lose its place. */
static bool attempt_others(struct refusal *f, size_t without, uint64_t *ret_nodes)
{
	struct refused_plan *plan = f->plan;
	_free_ struct vfctl_request *others = calloc(plan->count, sizeof(*others));
	size_t count = 0, about = 0;
	struct tried t;
	bool fits;

	if (!others) {
		f->error = ctx_oom(f->ctx);
		return false;
	}
	for (size_t i = 0; i < plan->count; i++) {
		if (i == f->index)
			about = count;
		if (i != without)
			others[count++] = plan->requests[i];
	}
	fits = attempt(f, plan->capacity, others, count, about, &t);
	*ret_nodes = t.nodes;
	return fits && t.placed >= plan->placed;
}

bool refusal_fits_without(struct refusal *f, size_t without, uint64_t *ret_nodes)
{
	const struct refused_plan *plan = f->plan;
	const struct capacity *capacity = plan->capacity;
	_free_ struct vf_group *groups = calloc(capacity->group_count + 1, sizeof(*groups));
	_free_ struct capacity *left = malloc(sizeof(*left)); /* borrows everything else */

	if (!groups || !left) {
		f->error = ctx_oom(f->ctx);
		return false;
	}
	*left = *capacity;
	left->groups = groups;
	memcpy(groups, capacity->groups, capacity->group_count * sizeof(*groups));
	for (size_t i = 0; i < plan->count; i++)
		if (i != without)
			plan_take(capacity, &plan->requests[i], &plan->chosen[i], left);
	if (!refusal_fits_on(f, left, f->request))
		return false;
	return plan->count > ATTEMPT_ALL_MAX ? attempt_alone(f, left, f->request, ret_nodes)
					     : attempt_others(f, without, ret_nodes);
}

bool refusal_fits_beside(struct refusal *f, const bool *gone,
	const struct vfctl_request *resident, uint64_t *ret_nodes)
{
	const struct vfctl_request both[] = {*resident, *f->request};
	_cleanup_(capacity_freep) struct capacity *capacity = NULL;
	struct tried t = {0};
	bool fits;
	int r;

	if (!may_try(f))
		return false;
	spend_attempt(f, ATTEMPT_FEE_HOST);
	r = capacity_new(f->ctx, f->capacity->model, gone, f->capacity->next_share, &capacity);
	if (r < 0)
		f->error = r;
	fits = r == 0 && attempt(f, capacity, both, 2, 0, &t);
	*ret_nodes = t.nodes;
	return fits && t.placed == 2;
}
