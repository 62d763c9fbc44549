// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a guest does not fit, and which changes would help (they were tried). */
#include <stdio.h>

#include "placement/explain/refuse.h"

/* ---- the resource that is short ---- */

/* The host with enough memory for all guests, to find out whether memory is short. */
static struct capacity *with_memory(const struct capacity *capacity)
{
	struct capacity *ample = malloc(sizeof(*ample));

	if (!ample)
		return NULL;
	*ample = *capacity;
	for (unsigned n = 0; n < capacity->node_count; n++)
		ample->start[n].memory[0] = UINT64_C(1) << 50;
	return ample;
}

/* Reduce it to one vCPU for each cell: if it still does not fit, VFs are short. */
static void make_small(struct changed_request *c)
{
	struct vfctl_request *r = &c->r;

	for (size_t k = 0; k < r->cell_count; k++)
		c->cells[k].vcpus = 1;
	r->vcpus = r->cell_count ? (uint32_t)r->cell_count : 1;
	r->shared_vcpus = r->shared_vcpus ? r->vcpus : 0;
	r->emulator_cores = r->iothread_cores = 0;
	r->has_emulator = true;
	r->threads = VFCTL_THREADS_NONE;
	r->whole_node = r->whole_l3 = false;
}

static void find_kind(struct refusal *f)
{
	_free_ struct capacity *ample = with_memory(f->plan->capacity);
	struct changed_request c;

	if (!ample) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	if (f->plan->count > 1 && refusal_fits_on(f, f->plan->capacity, f->request)) {
		f->a->refusal = VFCTL_REFUSAL_OTHERS;
		return;
	}
	f->a->refusal = VFCTL_REFUSAL_VFS;
	changed_request_init(&c, f->request);
	c.r.page_bytes = VFCTL_PAGES_BASE;
	if (refusal_fits_on(f, ample, &c.r)) {
		f->a->refusal = VFCTL_REFUSAL_MEMORY;
		return;
	}
	make_small(&c);
	if (!f->request->want_count || refusal_fits_on(f, ample, &c.r) || !f->steps)
		f->a->refusal = VFCTL_REFUSAL_CPUS;
}

/* Find an earlier guest with the same request, which has the same result. */
static const struct vfctl_assignment *find_same(const struct refused_plan *plan, size_t index)
{
	for (size_t i = 0; i < index; i++)
		if (plan->assignments[i].refusal != VFCTL_REFUSAL_NONE &&
			request_same(&plan->requests[i], &plan->requests[index]))
			return &plan->assignments[i];
	return NULL;
}

static int copy_refusal(struct vfctl_ctx *ctx, const struct vfctl_assignment *from,
	struct vfctl_assignment *to)
{
	to->refusal = from->refusal;
	for (size_t i = 0; i < from->reason_count; i++)
		if (!reason_add(to, from->reasons[i].kind, "%s", from->reasons[i].text))
			return ctx_oom(ctx);
	for (size_t i = 0; i < from->remedy_count; i++) {
		if (!array_grow(to->remedies, to->remedy_count))
			return ctx_oom(ctx);
		to->remedies[to->remedy_count++] = from->remedies[i];
	}
	return 0;
}

/* Begin a refusal with its share of the remaining steps; end_refusal() subtracts what it used. */
static struct refusal begin_refusal(struct vfctl_ctx *ctx, struct refused_plan *plan,
	size_t index, struct vfctl_assignment *a)
{
	return (struct refusal){.ctx = ctx, .a = a, .plan = plan, .index = index,
		.capacity = a->refusal == VFCTL_REFUSAL_OTHERS ? plan->after : plan->capacity,
		.request = &plan->requests[index], .steps = plan->steps / plan->left};
}

static int end_refusal(struct refusal *f)
{
	f->plan->steps -= f->plan->steps / f->plan->left - f->steps;
	f->plan->left--;
	return f->error;
}

static int explain_reasons(struct vfctl_ctx *ctx, struct refused_plan *plan, size_t index,
	struct vfctl_assignment *a)
{
	struct refusal f = begin_refusal(ctx, plan, index, a);
	size_t before;

	find_kind(&f);
	f.capacity = plan->capacity;
	if (!f.error && a->refusal == VFCTL_REFUSAL_OTHERS && f.steps) {
		refusal_say(&f, reason_add(a, VFCTL_REASON_SHORT, "it would fit alone, but not beside "
			"the other guests, which leave:"));
		f.capacity = plan->after;
	}
	before = a->reason_count;
	if (!f.error)
		tell_shortages(&f);
	if (!f.error && a->reason_count == before)
		refusal_say(&f, reason_add(a, VFCTL_REASON_SHORT, "%s", f.steps ?
			"each resource is available, but no placement was found that has all of them" :
			"the reason was not found within the search limit"));
	return end_refusal(&f);
}

static int explain_remedies(struct vfctl_ctx *ctx, struct refused_plan *plan, size_t index,
	struct vfctl_assignment *a)
{
	struct refusal f = begin_refusal(ctx, plan, index, a);

	tell_remedies(&f);
	return end_refusal(&f);
}

/* First find the reasons of all refusals, then their remedies, which take most of the steps. */
int explain_refusals(struct vfctl_ctx *ctx, struct refused_plan *plan,
	struct vfctl_assignment *assignments)
{
	int r = 0;

	for (int remedies = 0; remedies < 2; remedies++) {
		plan->left = plan->count - plan->placed;
		for (size_t i = 0; i < plan->count && r == 0; i++) {
			struct vfctl_assignment *a = &assignments[i];
			const struct vfctl_assignment *same;

			if (plan->chosen[i].placed)
				continue;
			same = find_same(plan, i);
			if (same)
				plan->left--;
			if (same && remedies)
				r = copy_refusal(ctx, same, a);
			else if (!same)
				r = remedies ? explain_remedies(ctx, plan, i, a)
					     : explain_reasons(ctx, plan, i, a);
		}
	}
	return r;
}
