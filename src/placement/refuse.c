// SPDX-License-Identifier: GPL-2.0-or-later
/* Why a guest does not fit, and the changes that were tried and would help. */
#include <errno.h>
#include <stdio.h>

#include "placement/refuse.h"

void refusal_say(struct refusal *f, bool ok)
{
	if (!ok)
		f->error = ctx_oom(f->ctx);
}

void refusal_nodes(const struct site *site, uint64_t nodes, char buf[128])
{
	struct vfctl_cpuset set = {0};
	bool many = nodes & (nodes - 1);
	int n;

	for (unsigned i = 0; i < site->node_count; i++)
		if (site_has(nodes, i))
			vfctl_cpuset_add(&set, (unsigned)site->nodes[i].id);
	n = snprintf(buf, 128, many ? "nodes " : "node ");
	vfctl_cpuset_format(&set, buf + n, (size_t)(128 - n));
}

/* ---- which kind of thing is short ---- */

/* The host with memory for everybody, for the question whether memory is short. */
static struct site *with_memory(const struct site *site)
{
	struct site *ample = malloc(sizeof(*ample));

	if (!ample)
		return NULL;
	*ample = *site;
	for (unsigned n = 0; n < site->node_count; n++)
		ample->start[n].memory[0] = UINT64_C(1) << 50;
	return ample;
}

/* With a vCPU to a cell: what is left to be short then are VFs. */
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
	_free_ struct site *ample = with_memory(f->plan->site);
	struct changed_request c;

	if (!ample) {
		f->error = ctx_oom(f->ctx);
		return;
	}
	if (f->plan->count > 1 && refusal_fits_on(f, f->plan->site, f->request)) {
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
	if (!f->request->want_count || refusal_fits_on(f, ample, &c.r))
		f->a->refusal = VFCTL_REFUSAL_CPUS;
}

/* A guest before it that asked the same: the answer is the same. */
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

static int explain_new(struct vfctl_ctx *ctx, struct vfctl_assignment *a,
	struct refused_plan *plan, size_t index)
{
	struct refusal f = {.ctx = ctx, .a = a, .plan = plan, .index = index,
		.site = plan->site, .request = &plan->requests[index],
		.steps = plan->steps / plan->left};
	uint64_t share = f.steps;
	size_t before;

	find_kind(&f);
	if (f.error)
		return f.error;
	if (a->refusal == VFCTL_REFUSAL_OTHERS) {
		refusal_say(&f, reason_add(a, VFCTL_REASON_SHORT, "it would fit alone, but not beside the "
			"others, which leave:"));
		f.site = plan->after;
	}
	before = a->reason_count;
	tell_shortages(&f);
	if (!f.error && a->reason_count == before)
		refusal_say(&f, reason_add(a, VFCTL_REASON_SHORT, "each thing by itself is there, but "
			"no place was found that has all of them"));
	if (!f.error)
		tell_remedies(&f);
	plan->steps -= share - f.steps;
	return f.error;
}

int explain_refusal(struct vfctl_ctx *ctx, struct vfctl_assignment *a,
	struct refused_plan *plan, size_t index)
{
	const struct vfctl_assignment *same = find_same(plan, index);
	int r = same ? copy_refusal(ctx, same, a) : explain_new(ctx, a, plan, index);

	plan->left--;
	return r;
}
