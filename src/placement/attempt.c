// SPDX-License-Identifier: GPL-2.0-or-later
/* "What if": the same guest asked in another way, or on another host, within the plan's steps. */
#include <errno.h>

#include "placement/refuse.h"

/* One attempt searches no longer than this. */
#define ATTEMPT_STEPS 8000
/* One with all guests of a batch, where the beginning alone is more work. */
#define ATTEMPT_STEPS_ALL 1000
/* A larger batch is not tried as a whole: its guests keep the places they have. */
#define ATTEMPT_ALL_MAX 12
/* What an attempt costs besides its search, and for each guest of it. */
#define ATTEMPT_FEE 20
#define ATTEMPT_FEE_GUEST 300
/* A given cell, which may go to each node. */
#define ATTEMPT_FEE_CELL 400
/* A host that has to be counted anew. */
#define ATTEMPT_FEE_HOST 200

/* Words for Ctrl-C come at once, not with the first steps of a search. */
static bool may_try(struct refusal *f)
{
	if (!f->error && f->ctx->cancelled)
		f->error = ctx_fail(f->ctx, -EINTR, "the planner was interrupted");
	return !f->error;
}

static bool spend(struct refusal *f, uint64_t steps)
{
	f->steps -= steps < f->steps ? steps : f->steps;
	return f->steps > 0;
}

static bool attempt(struct refusal *f, const struct site *site,
	const struct vfctl_request *requests, size_t count, size_t about, struct tried *ret)
{
	int r;

	if (!may_try(f))
		return false;
	r = plan_try(f->ctx, site, requests, count, about,
		count == 1 ? ATTEMPT_STEPS : ATTEMPT_STEPS_ALL, ret);
	if (r < 0)
		f->error = r;
	return r == 0 && ret->fits;
}

/* What no search is needed for: is there as much in all as it takes at least? */
static bool has_room(const struct site *site, const struct vfctl_request *r)
{
	uint64_t threads = 0, cores = 0, memory = 0, vcpus = r->vcpus - r->shared_vcpus;

	for (unsigned n = 0; n < site->node_count; n++) {
		threads += site->start[n].threads;
		cores += site->start[n].core_count;
		for (unsigned p = 0; p < site->page_count; p++)
			memory += site->start[n].memory[p];
	}
	return memory >= r->memory_bytes && threads >= vcpus +
			r->emulator_cores + r->iothread_cores &&
		(r->threads != VFCTL_THREADS_ISOLATE || cores >= vcpus);
}

bool refusal_fits_on(struct refusal *f, const struct site *site,
	const struct vfctl_request *changed)
{
	struct tried t;

	return attempt(f, site, changed, 1, 0, &t);
}

static bool attempt_alone(struct refusal *f, const struct site *site,
	const struct vfctl_request *changed, uint64_t *ret_nodes)
{
	struct tried t = {0};
	bool fits = f->steps && has_room(site, changed) &&
		attempt(f, site, changed, 1, 0, &t);

	spend(f, t.steps + ATTEMPT_FEE + changed->cell_count * ATTEMPT_FEE_CELL);
	*ret_nodes = t.nodes;
	return fits;
}

bool refusal_may_fit(struct refusal *f, const struct vfctl_request *changed,
	uint64_t *ret_nodes)
{
	return attempt_alone(f, f->plan->after, changed, ret_nodes);
}

bool refusal_is_sure(const struct refusal *f)
{
	return f->plan->count == 1 || f->plan->count > ATTEMPT_ALL_MAX;
}

static bool attempt_all(struct refusal *f, const struct site *site,
	const struct vfctl_request *changed, uint64_t *ret_nodes)
{
	struct refused_plan *plan = f->plan;
	_free_ struct vfctl_request *all = calloc(plan->count, sizeof(*all));
	struct tried t = {0};
	bool fits;

	if (!all) {
		f->error = ctx_oom(f->ctx);
		return false;
	}
	memcpy(all, plan->requests, plan->count * sizeof(*all));
	all[f->index] = *changed;
	fits = f->steps && attempt(f, site, all, plan->count, f->index, &t);
	spend(f, t.steps + ATTEMPT_FEE + plan->count * ATTEMPT_FEE_GUEST);
	*ret_nodes = t.nodes;
	return fits && t.placed > plan->placed;
}

bool refusal_fits(struct refusal *f, const struct vfctl_host_model *model,
	const struct vfctl_request *changed, uint64_t *ret_nodes)
{
	const struct site *site = f->plan->site;
	_site_ struct site *other = NULL;

	if (f->plan->count > ATTEMPT_ALL_MAX)
		return !model && attempt_alone(f, f->plan->after, changed, ret_nodes);
	if (model && (!may_try(f) || !spend(f, ATTEMPT_FEE_HOST)))
		return false;
	if (model) {
		int r = site_new(f->ctx, model, NULL, &other);

		if (r < 0)
			f->error = r;
		site = other;
	}
	if (f->error)
		return false;
	return f->plan->count == 1 ? attempt_alone(f, site, changed, ret_nodes)
				   : attempt_all(f, site, changed, ret_nodes);
}

bool refusal_fits_beside(struct refusal *f, const bool *gone,
	const struct vfctl_request *tenant, uint64_t *ret_nodes)
{
	const struct vfctl_request both[] = {*tenant, *f->request};
	_site_ struct site *site = NULL;
	struct tried t = {0};
	bool fits;
	int r;

	if (!may_try(f) || !spend(f, ATTEMPT_FEE_HOST))
		return false;
	r = site_new(f->ctx, f->site->model, gone, &site);
	if (r < 0)
		f->error = r;
	fits = r == 0 && attempt(f, site, both, 2, 0, &t);
	spend(f, t.steps + ATTEMPT_FEE + 2 * ATTEMPT_FEE_GUEST);
	*ret_nodes = t.nodes;
	return fits && t.placed == 2;
}
