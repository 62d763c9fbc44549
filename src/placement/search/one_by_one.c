// SPDX-License-Identifier: GPL-2.0-or-later
/*
 * The guests of a batch one after the other, smallest first, each as if it were requested alone,
 * like an administrator who does not plan them together. The plan of a batch is never worse.
 */
#include <stdlib.h>

#include "placement/search/batch.h"
#include "placement/search/branch.h"

struct queue {
	struct vfctl_ctx *ctx;
	struct capacity after; /* borrows everything except the groups */
	const struct vfctl_request *requests;
	size_t count;
	struct search_limits limits; /* of each guest, as if it were alone */
	struct search_result *result;
};

/* In the order of their requests: vCPUs, then memory. */
static int smallest_first(const void *a, const void *b)
{
	const struct demand *x = a, *y = b;
	const struct vfctl_request *r = x->request, *q = y->request;

	if (r->vcpus != q->vcpus)
		return r->vcpus < q->vcpus ? -1 : 1;
	if (r->memory_bytes != q->memory_bytes)
		return r->memory_bytes < q->memory_bytes ? -1 : 1;
	return demands_by_index(a, b);
}

/* An equal guest did not fit, and the free resources have not grown since. */
static bool is_hopeless(const struct queue *q, const struct demand *order, size_t at)
{
	for (size_t i = at; i-- > 0;)
		if (!q->result->chosen[order[i].index].placed &&
			request_same(order[i].request, order[at].request))
			return true;
	return false;
}

static int place_next(struct queue *q, const struct demand *next)
{
	struct chosen *to = &q->result->chosen[next->index];
	struct search_result found;
	struct demand demand;
	int r;

	q->after.next_share = request_has_auto(next->request);
	capacity_judge(&q->after);
	demand_init(&q->after, next->request, 0, &demand);
	r = search_run(q->ctx, &q->after, &demand, 1, NULL, &q->limits, &found);
	if (r < 0)
		return r;
	*to = found.chosen[0];
	free(found.chosen);
	plan_take(&q->after, next->request, to, &q->after);
	q->result->steps += found.steps;
	q->result->clock |= found.clock;
	return 0;
}

int plan_one_by_one(struct vfctl_ctx *ctx, const struct capacity *capacity,
	const struct vfctl_request *requests, size_t count, const struct search_limits *limits,
	struct search_result *ret)
{
	_free_ struct demand *order = calloc(count + 1, sizeof(*order));
	_free_ struct vf_group *groups = calloc(capacity->group_count + 1, sizeof(*groups));
	_free_ struct queue *q = calloc(1, sizeof(*q));
	int r = 0;

	*ret = (struct search_result){.chosen = calloc(count + 1, sizeof(*ret->chosen))};
	if (!order || !groups || !q || !ret->chosen)
		return ctx_oom(ctx);
	*q = (struct queue){.ctx = ctx, .after = *capacity, .requests = requests, .count = count,
		.limits = *limits, .result = ret};
	q->after.groups = groups;
	memcpy(groups, capacity->groups, capacity->group_count * sizeof(*groups));
	for (size_t i = 0; i < count; i++)
		demand_init(capacity, &requests[i], i, &order[i]);
	qsort(order, count, sizeof(*order), smallest_first);
	for (size_t i = 0; i < count && r == 0; i++)
		if (!is_hopeless(q, order, i))
			r = place_next(q, &order[i]);
	return r;
}
